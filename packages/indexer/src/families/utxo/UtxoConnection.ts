/** The nodes of a UTXO chain, connected: blocks, mempool, and the coins of wallets. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ConnectedNode, type NodeAccess, urlsOf } from "../Family.ts"
import * as JsonRpc from "../node/JsonRpc.ts"
import * as Announcements from "./Announcements.ts"
import * as MinedOutputs from "./MinedOutputs.ts"
import * as TransactionExplorer from "./TransactionExplorer.ts"
import * as UtxoSelfReport from "./internal/UtxoSelfReport.ts"
import type * as UtxoSettings from "./internal/UtxoSettings.ts"
import * as WaitingTransactions from "./WaitingTransactions.ts"
import * as UtxoPreparation from "./UtxoPreparation.ts"
import * as UtxoSource from "./UtxoSource.ts"

export interface UtxoConnection extends ConnectedNode {
  readonly family: "utxo"
  readonly source: UtxoSource.UtxoSource
  readonly preparation: UtxoPreparation.UtxoPreparation
  readonly transactions: TransactionExplorer.TransactionExplorer
  readonly waiting: WaitingTransactions.WaitingTransactions
}

type Access = NodeAccess<UtxoConnection, UtxoSettings.Fields>

/** How long a node may search through all of its coins. */
const searchMillis = 3_600_000

export const connect: Access["connect"] = Effect.fnUntraced(function* (chain, settings) {
  const nodes = { urls: urlsOf(settings), cookie: settings.cookie }
  const rpc = yield* JsonRpc.make({
    ...nodes,
    timeoutMillis: settings.timeoutMillis,
    connections: settings.parallel * 2
  })
  const longCalls = yield* JsonRpc.make({ ...nodes, connections: 1, attempts: 1, timeoutMillis: searchMillis })
  // Of several nodes one alone may have an index of transactions.
  const each = yield* Effect.forEach(nodes.urls, (url) =>
    JsonRpc.make({
      ...{ urls: [url], cookie: settings.cookie },
      ...{ connections: 1, attempts: 1, timeoutMillis: settings.timeoutMillis }
    })
  )
  const announcements = yield* Announcements.make(settings.announcements === false ? [] : (settings.zmq ?? []))
  const source = yield* UtxoSource.make(chain, rpc, {
    longCalls,
    announcements,
    verify: settings.verify,
    ...(settings.maximumFee === undefined ? {} : { maximumFee: settings.maximumFee }),
    ...(settings.quorum === undefined ? {} : { quorum: settings.quorum })
  })
  const minedOutputs = MinedOutputs.make(chain, each)
  return {
    family: "utxo" as const,
    source,
    transactions: TransactionExplorer.make(chain, rpc, source.capable, minedOutputs),
    waiting: WaitingTransactions.make(source.mempool),
    preparation: UtxoPreparation.make(chain, rpc, settings.maximumFee),
    sideSources: {
      broadcasting: source.broadcasting,
      mempool: source.mempool,
      coinSearch: source.search,
      minedOutputs
    }
  }
})

export const selfReport: Access["selfReport"] = Effect.fnUntraced(function* (_chain, settings) {
  const { cookie, timeoutMillis } = settings
  const rpc = yield* JsonRpc.make({ urls: urlsOf(settings), cookie, timeoutMillis, attempts: 1 })
  const [network, chain, indexes] = yield* rpc.results([
    { method: "getnetworkinfo", params: [] },
    { method: "getblockchaininfo", params: [] },
    { method: "getindexinfo", params: [] }
  ])
  return UtxoSelfReport.read({
    network: Result.getOrUndefined(network!),
    chain: Result.getOrUndefined(chain!),
    indexes: Result.getOrUndefined(indexes!)
  })
})
