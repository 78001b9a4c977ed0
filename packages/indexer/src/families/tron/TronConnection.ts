/** The nodes of a Tron chain, connected. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { type ConnectedNode, type NodeAccess, type NodeSettings, urlsOf } from "../Family.ts"
import type { Explorer } from "../evm/Explorer.ts"
import type { NodeError } from "../node/NodeError.ts"
import * as TronSelfReport from "./internal/TronSelfReport.ts"
import type * as TronSettings from "./internal/TronSettings.ts"
import * as TronHttp from "./TronHttp.ts"
import * as TronSource from "./TronSource.ts"

export interface TronConnection extends ConnectedNode {
  readonly family: "tron"
  readonly source: TronSource.TronSource
  readonly explorer: Explorer
}

type Access = NodeAccess<TronConnection, TronSettings.Fields>

const httpOptions = (settings: NodeSettings & Schema.Struct.Type<TronSettings.Fields>) => ({
  urls: urlsOf(settings),
  timeoutMillis: settings.timeoutMillis,
  headers: settings.apiKey === undefined ? {} : { "TRON-PRO-API-KEY": Redacted.value(settings.apiKey) }
})

export const connect: Access["connect"] = Effect.fnUntraced(function* (chain, settings) {
  const source = yield* TronSource.make(chain, {
    ...httpOptions(settings),
    connections: settings.parallel * 2,
    internal: settings.internalTransactions,
    verify: settings.verify,
    ...(settings.quorum === undefined ? {} : { quorum: settings.quorum })
  })
  return {
    family: "tron" as const,
    source,
    explorer: source.explorer,
    sideSources: { unusedAt: source.unusedAt, broadcasting: source.broadcasting }
  }
})

export const selfReport: Access["selfReport"] = Effect.fnUntraced(function* (_chain, settings) {
  const http = yield* TronHttp.make({ ...httpOptions(settings), attempts: 1 })
  const orNothing = <A>(asked: Effect.Effect<A, NodeError>) =>
    Effect.catchTag(asked, ["NodeRejected", "NodeInconsistent"], () => Effect.undefined)
  const info = yield* orNothing(http.post("/wallet/getnodeinfo"))
  return TronSelfReport.read(info)
})
