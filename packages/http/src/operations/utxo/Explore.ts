/** Blocks and transactions of a UTXO chain, recorded or not, from its node (wider interface, *Blocks*, *Transactions*). */
import type { BlockName } from "@headwater/indexer/families/utxo/BlockExplorer"
import type { Refused } from "@headwater/indexer/families/utxo/ExplorerTransaction"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { BlockNotFound, TransactionNotFound } from "../../contract/Errors.ts"
import { newestByDefault } from "../../contract/Paging.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations, OffsetRequest } from "../Operations.ts"
import * as Refusals from "./Refusals.ts"
import * as TransactionItem from "./TransactionItem.ts"

type Operations = Pick<
  ChainOperations,
  | (
      | "utxoByHash"
      | "utxoByHeight"
      | "utxoLatest"
      | "utxoNewest"
      | "utxoTransactionsByHash"
      | "utxoTransactionsByHeight"
    )
  | ("utxoTransaction" | "utxoRaw")
>

export const make = (
  { chain, name }: ChainReader,
  freshness: Freshness<UtxoConnection>,
  nodeCalls: number
): Operations => {
  const noBlock = new BlockNotFound({ message: `${name} has no such block` })
  const noTransaction = new TransactionNotFound({ message: `${name} has no such transaction` })

  /** What the node shows of a transaction; undefined where there is none. */
  const found = Refusals.make(freshness, nodeCalls)

  /** What the node shows of a block. */
  const shown = <A>(asked: Effect.Effect<A, NodeError | Refused>) =>
    found(Effect.catchTag(asked, "BlockMissing", () => Effect.fail(noBlock)))

  const details = Effect.fnUntraced(function* (wanted: BlockName) {
    const { source } = yield* freshness.node
    const { next = "", ...block } = yield* shown(source.blocks.block(wanted))
    return { ...block, merkleroot: block.merkleRoot, nextBlockHash: next }
  })

  const transactionsOf = Effect.fnUntraced(function* (wanted: BlockName, { limit, offset }: OffsetRequest) {
    const { transactions } = yield* freshness.node
    const { items, total } = yield* shown(transactions.transactionsOf(wanted, { limit, offset }, nodeCalls))
    return { total, items: items.map((each) => TransactionItem.of(chain, each)) }
  })

  return {
    utxoByHash: Effect.fn("Explore.utxoByHash")(({ blockHash }) => details({ hash: blockHash.toLowerCase() })),
    utxoByHeight: Effect.fn("Explore.utxoByHeight")(({ blockHeight }) => details({ height: blockHeight })),
    utxoLatest: Effect.fn("Explore.utxoLatest")(function* () {
      const { source } = yield* freshness.node
      return yield* freshness.orUnavailable(source.latestDetails)
    }),
    utxoNewest: Effect.fn("Explore.utxoNewest")(function* ({ count = newestByDefault }) {
      const { source } = yield* freshness.node
      const blocks = yield* freshness.orUnavailable(source.blocks.newest(count))
      return { items: blocks.map((block, i) => (i === 0 ? block : { ...block, nextBlockHash: blocks[i - 1]!.hash })) }
    }),
    utxoTransactionsByHash: Effect.fn("Explore.utxoTransactionsByHash")((request) =>
      transactionsOf({ hash: request.blockHash.toLowerCase() }, request)
    ),
    utxoTransactionsByHeight: Effect.fn("Explore.utxoTransactionsByHeight")((request) =>
      transactionsOf({ height: request.blockHeight }, request)
    ),
    utxoTransaction: Effect.fn("Explore.utxoTransaction")(function* ({ transactionHash }) {
      const { transactions } = yield* freshness.node
      const transaction = yield* found(transactions.transaction(transactionHash.toLowerCase(), nodeCalls))
      return TransactionItem.of(chain, transaction ?? (yield* noTransaction))
    }),
    utxoRaw: Effect.fn("Explore.utxoRaw")(function* ({ transactionHash }) {
      const { transactions } = yield* freshness.node
      const transactionHex = yield* found(transactions.rawData(transactionHash.toLowerCase()))
      return { transactionHex: transactionHex ?? (yield* noTransaction) }
    })
  }
}
