/** Validated ledgers of the XRP Ledger and their transactions, from its servers (wider interface, *Blocks*, *Transactions*). */
import * as Hash from "@headwater/core/Hash"
import type { ExplorerLedger, Wanted } from "@headwater/indexer/families/xrp/LedgerExplorer"
import type { XrpConnection } from "@headwater/indexer/families/xrp/XrpConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { BlockNotFound, ResourceNotFound } from "../../contract/Errors.ts"
import { newestByDefault } from "../../contract/Paging.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations, OffsetRequest } from "../Operations.ts"

type Operations = Pick<
  ChainOperations,
  | ("xrpByHash" | "xrpByHeight" | "xrpLatest" | "xrpNewest" | "xrpTransactions" | "xrpTransactionsByHeight")
  | "xrpTransaction"
>

export const make = ({ chain, name }: ChainReader, freshness: Freshness<XrpConnection>): Operations => {
  const explorer = Effect.map(freshness.node, ({ source }) => source.explorer)
  const none = `No validated ledger that the servers of ${name} have`
  const noLedger = new ResourceNotFound({ message: none })
  const noBlock = new BlockNotFound({ message: none })
  const noTransaction = new ResourceNotFound({ message: `${none} has this transaction` })

  const coins = (drops: bigint) => CoinAmount.of(chain, drops)

  const ledgerItem = (ledger: ExplorerLedger) => ({
    hash: Hash.encode(chain, ledger.hash),
    height: ledger.height,
    previousBlockHash: Hash.encode(chain, ledger.parent),
    timestamp: ledger.time,
    totalCoins: coins(ledger.totalCoins),
    totalFees: coins(ledger.fees),
    transactionsCount: ledger.count
  })

  const ledgerBy = Effect.fnUntraced(function* (wanted: Wanted) {
    const found = (yield* explorer).ledger(wanted)
    return yield* Effect.catchTag(found, "BlockMissing", () => Effect.fail(noLedger)).pipe(freshness.orUnavailable)
  })

  const details = (wanted: Wanted) =>
    Effect.map(ledgerBy(wanted), (ledger) => ({
      ...ledgerItem(ledger),
      nextBlockHash: ledger.next === undefined ? "" : Hash.encode(chain, ledger.next)
    }))

  const transactionsOf = Effect.fnUntraced(function* (wanted: Wanted, { limit, offset }: OffsetRequest) {
    const found = (yield* explorer).transactionsOf(wanted, { limit, offset })
    return yield* Effect.catchTag(found, "BlockMissing", () => Effect.fail(noBlock)).pipe(freshness.orUnavailable)
  })

  /** An index that no ledger can have is that of none: servers refuse to look for one. */
  const isIndex = (height: number) => height >= 1 && height < 2 ** 32

  const byHash = (blockHash: string): Wanted => ({ ledger_hash: blockHash.toUpperCase() })

  return {
    xrpByHash: Effect.fn("Explore.xrpByHash")(({ blockHash }) => details(byHash(blockHash))),
    xrpByHeight: Effect.fn("Explore.xrpByHeight")(({ blockHeight }) =>
      isIndex(blockHeight) ? details({ ledger_index: blockHeight }) : Effect.fail(noLedger)
    ),
    xrpLatest: Effect.fn("Explore.xrpLatest")(() => Effect.map(ledgerBy({ ledger_index: "validated" }), ledgerItem)),
    xrpNewest: Effect.fn("Explore.xrpNewest")(function* ({ count = newestByDefault }) {
      const ledgers = yield* freshness.orUnavailable((yield* explorer).newest(count))
      return { items: ledgers.map(ledgerItem) }
    }),
    xrpTransactions: Effect.fn("Explore.xrpTransactions")((request) =>
      transactionsOf(byHash(request.blockHash), request)
    ),
    xrpTransactionsByHeight: Effect.fn("Explore.xrpTransactionsByHeight")((request) =>
      isIndex(request.blockHeight)
        ? transactionsOf({ ledger_index: request.blockHeight }, request)
        : Effect.fail(noBlock)
    ),
    xrpTransaction: Effect.fn("Explore.xrpTransaction")(function* ({ transactionHash }) {
      const found = yield* freshness.orUnavailable((yield* explorer).transaction(transactionHash.toUpperCase()))
      if (found === undefined) return yield* noTransaction
      const { additionalData = "", positionInBlock, ...item } = found.item
      const { hash, height } = found.ledger
      return {
        ...item,
        ...{ additionalData, positionInBlock: String(positionInBlock) },
        minedInBlock: { hash: Hash.encode(chain, hash), height }
      }
    })
  }
}
