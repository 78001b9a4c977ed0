/** Settings that UTXO chains have beside those of every chain. */
import * as Schema from "effect/Schema"
import * as Url from "../../node/Url.ts"

export const fields = {
  /** Endpoints at which the node announces blocks and transactions over ZeroMQ. */
  zmq: Schema.optionalKey(Schema.Array(Url.ofSchemes(["tcp", "ipc"])))
}

export type Fields = typeof fields
