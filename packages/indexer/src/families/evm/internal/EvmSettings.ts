/** Settings that EVM chains have beside those of every chain. */
import * as Schema from "effect/Schema"
import * as Url from "../../node/Url.ts"
import type { Tracer } from "./Trace.ts"

/** The node's method for each tracer. */
export const methodOf = {
  callTracer: "debug_traceBlockByHash",
  trace_block: "trace_block"
} satisfies Record<string, Tracer>

export const fields = {
  /** How internal transactions are read; without it, the first way that a node has. */
  tracer: Schema.optionalKey(Schema.Literals(["callTracer", "trace_block"])),
  /** Where nodes announce new heads over WebSocket; by default where the URLs of the nodes suggest. None: not at all. */
  newHeads: Schema.optionalKey(Schema.Array(Schema.RedactedFromValue(Url.ofSchemes(["ws", "wss"])))),
  /** How long a node may take for the traces of a block; by default `timeoutMillis`. */
  traceTimeoutMillis: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 100, maximum: 3_600_000 }, { message: "must be a whole number from 100 to 3600000" })
    )
  )
}

export type Fields = typeof fields
