/** The nodes of an EVM chain, connected: blocks, and what endpoints ask beyond blocks. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ConnectedNode, type NodeAccess, urlsOf } from "../Family.ts"
import * as JsonRpc from "../node/JsonRpc.ts"
import * as EvmNode from "./EvmNode.ts"
import * as EvmSource from "./EvmSource.ts"
import * as EvmSelfReport from "./internal/EvmSelfReport.ts"
import * as Past from "./Past.ts"

export interface EvmConnection extends ConnectedNode {
  readonly family: "evm"
  readonly evm: EvmNode.EvmNode
}

type Access = NodeAccess<EvmConnection>

export const connect: Access["connect"] = Effect.fnUntraced(function* (chain, settings) {
  const rpc = yield* JsonRpc.make({
    urls: urlsOf(settings),
    timeoutMillis: settings.timeoutMillis,
    connections: settings.parallel * 2
  })
  const source = yield* EvmSource.make(chain, rpc, {
    internal: settings.internalTransactions,
    verify: settings.verify
  })
  const evm = EvmNode.make(rpc)
  return { family: "evm" as const, source, sideSources: { unusedAt: evm.unusedAt, past: Past.make(rpc) }, evm }
})

export const selfReport: Access["selfReport"] = Effect.fnUntraced(function* (_chain, settings) {
  const rpc = yield* JsonRpc.make({ urls: urlsOf(settings), timeoutMillis: settings.timeoutMillis, attempts: 1 })
  const [version, syncing] = yield* rpc.results([
    { method: "web3_clientVersion", params: [] },
    { method: "eth_syncing", params: [] }
  ])
  return EvmSelfReport.read(Result.getOrUndefined(version!), Result.getOrUndefined(syncing!))
})
