/**
 * What is recorded of an address of a UTXO chain: its transactions, whose parts the node shows, and its unspent outputs.
 * What waits for a block is the node's alone.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Hash from "@headwater/core/Hash"
import type { ExplorerTransaction } from "@headwater/indexer/families/utxo/ExplorerTransaction"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import * as AddressCoins from "@headwater/indexer/store/chain/AddressCoins"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { AddressNotSynced, NodeUnavailable } from "../../contract/Errors.ts"
import { decodeAddress } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { Caller, ChainOperations, CursorRequest } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"
import * as Refusals from "./Refusals.ts"
import * as TransactionItem from "./TransactionItem.ts"

export interface Options {
  readonly record: RecordingMode
  /** Calls of the node that one request may take. */
  readonly nodeCalls: number
}

type Operations = Pick<
  ChainOperations,
  | ("utxoLatestTransactions" | "utxoTransactions" | "utxoTransactionsSince" | "utxoUnconfirmed")
  | ("utxoLatestBalance" | "utxoBalance" | "utxoUnspent")
>

type OfAddress = Pick<Caller, "account"> & { readonly address: string }

const coinsUnknown =
  "The coins that the address had before it was watched are not known yet: try again later. They are looked for where the " +
  "account has an active subscription for the address, and the node can search for coins"

export const make = Effect.fnUntraced(function* (
  record: ChainReader,
  freshness: Freshness<UtxoConnection>,
  { nodeCalls, record: mode }: Options
) {
  const database = yield* Database
  const { chain, name } = record
  const answered = Refusals.make(freshness, nodeCalls)
  const stored = <A, E>(read: Effect.Effect<A, E, Database>) =>
    Effect.orDie(Effect.provideService(read, Database, database))

  /** The address of a request, which is recorded for the account. */
  const recordedAddress = Effect.fnUntraced(function* <E>(
    { account, address: text }: OfAddress,
    check: RecordedAddress.Check<E>,
    of = mode
  ) {
    const address = yield* decodeAddress(chain, "address", text)
    yield* check(record, of, account, address)
    return address
  })

  const transactionsOf = Effect.fnUntraced(function* <E>(
    request: OfAddress & CursorRequest,
    check: RecordedAddress.Check<E>,
    since?: number
  ) {
    // The coins of all addresses may be recorded, but transactions are those of watched ones alone.
    const address = yield* recordedAddress(request, check, "watched")
    const { node } = yield* freshness.recorded(request.after === undefined)
    // Read before the page: a block that comes in between is whole in both.
    const recordedFrom = yield* RecordedAddress.recordedFrom(record, address, "transactions", coinsUnknown)
    const { coin } = yield* Effect.orDie(record.wholeFrom)
    const from = Math.max(recordedFrom, coin)
    const { next, transactions } = yield* Effect.orDie(
      record.transactions(address, { ...RecordedAddress.pageRequest(request), since })
    )
    const shown = yield* answered(
      node.transactions.mined(
        transactions.map((one) => TransactionItem.minedOf(chain, one)),
        nodeCalls
      )
    )
    const isTold = since !== undefined && (yield* Effect.orDie(record.heightSince(since))) >= from
    return {
      ...{ items: shown, next, answeredFrom: "record" as const },
      completeFrom: isTold ? undefined : RecordedAddress.completeFrom(from)
    }
  })

  const itemOf = (shown: ExplorerTransaction) => TransactionItem.of(chain, shown)

  const historyItemOf = (shown: ExplorerTransaction) => {
    const item = itemOf(shown)
    const { versionGroupId = "" } = ("blockchainSpecific" in item ? item.blockchainSpecific : undefined) ?? {}
    return { ...item, blockchaiSpecific: { versionGroupId } }
  }

  const denominated = (amount: bigint) => ({ ...CoinAmount.of(chain, amount), denomination: chain.decimals })

  /**
   * The address of a request, whose coins are known. They are looked for of watched addresses alone: where they are not known,
   * and the account has stopped watching the address, the refusal says so. Of an address that nobody watches, coins are recorded
   * nevertheless, if not from the first.
   */
  const addressOfCoins = Effect.fnUntraced(function* <E>(request: OfAddress, check: RecordedAddress.Check<E>) {
    const address = yield* recordedAddress(request, check)
    const { node } = yield* freshness.recorded(true)
    yield* Effect.tapError(RecordedAddress.recordedFrom(record, address, "coins", coinsUnknown), () =>
      Effect.catchIf(
        check(record, "watched", request.account, address),
        (refused) => refused instanceof AddressNotSynced,
        () => Effect.void
      )
    )
    return { address, node }
  })

  const balance = Effect.fnUntraced(function* <E>(request: OfAddress, check: RecordedAddress.Check<E>) {
    const { address } = yield* addressOfCoins(request, check)
    const { amount } = yield* stored(AddressCoins.total(chain, address))
    return { confirmedBalance: denominated(amount) }
  })

  /** The times of the blocks of coins from before the record, by the node. */
  const timesOf = Effect.fnUntraced(function* (node: UtxoConnection, coins: ReadonlyArray<AddressCoins.PlacedCoin>) {
    const heights = new Set(coins.flatMap(({ height, time }) => (time === undefined ? [height] : [])))
    const times = yield* Effect.forEach(heights, (height) =>
      Effect.map(answered(node.source.blocks.block({ height })), ({ timestamp }) => [height, timestamp] as const)
    )
    return new Map(times)
  })

  const utxoUnspent: Operations["utxoUnspent"] = Effect.fn("AddressHistory.utxoUnspent")(function* (request) {
    const { address, node } = yield* addressOfCoins(request, RecordedAddress.checkSynced)
    const { count } = yield* stored(AddressCoins.total(chain, address))
    const coins = yield* stored(AddressCoins.page(chain, address, request))
    const states = yield* freshness.orUnavailable(node.preparation.statesOf(coins))
    const times = yield* timesOf(node, coins)
    return {
      total: count,
      answeredFrom: "record" as const,
      items: coins.map(({ amount, height, outpoint, time }, index) => ({
        ...{ address: Address.encode(chain, address)!, index: outpoint.index, isConfirmed: true },
        isAvailable: states[index] === "spendable",
        timestamp: time ?? times.get(height)!,
        transactionId: Hash.encode(chain, outpoint.transactionId),
        value: denominated(amount)
      }))
    }
  })

  const isOf = (address: AddressBytes) => {
    const text = Address.encode(chain, address)
    return ({ recipients, senders }: ReturnType<typeof itemOf>) =>
      [...recipients, ...senders].some((each) => each.address === text)
  }

  const utxoUnconfirmed: Operations["utxoUnconfirmed"] = Effect.fn("AddressHistory.utxoUnconfirmed")(function* ({
    address: text,
    limit,
    offset
  }) {
    const address = yield* decodeAddress(chain, "address", text)
    const node = yield* freshness.node
    const { ids, left } = yield* freshness.orUnavailable(node.waiting.naming(address, nodeCalls))
    if (left > 0) {
      return yield* new NodeUnavailable({
        message: `The transactions that wait at the node of ${name} are being read, ${left} are left: try again`,
        retryAfter: 1
      })
    }
    const waiting = yield* answered(node.transactions.waiting(ids, nodeCalls))
    const newestFirst = [...waiting].sort(
      (a, b) => b.time - a.time || Buffer.compare(a.transaction.id, b.transaction.id)
    )
    const items = newestFirst.map(itemOf).filter(isOf(address))
    return { total: items.length, items: items.slice(offset, offset + limit), answeredFrom: "node" as const }
  })

  return {
    utxoLatestTransactions: Effect.fn("AddressHistory.utxoLatestTransactions")((request) =>
      Effect.map(transactionsOf(request, RecordedAddress.check), ({ items, ...page }) => ({
        ...page,
        items: items.map(itemOf)
      }))
    ),
    utxoTransactions: Effect.fn("AddressHistory.utxoTransactions")((request) =>
      Effect.map(transactionsOf(request, RecordedAddress.checkSynced), ({ items, ...page }) => ({
        ...page,
        items: items.map(historyItemOf)
      }))
    ),
    utxoTransactionsSince: Effect.fn("AddressHistory.utxoTransactionsSince")((request) =>
      Effect.map(transactionsOf(request, RecordedAddress.checkSynced, request.timestamp), ({ items, ...page }) => ({
        ...page,
        items: items.map(historyItemOf)
      }))
    ),
    utxoLatestBalance: Effect.fn("AddressHistory.utxoLatestBalance")((request) =>
      balance(request, RecordedAddress.check)
    ),
    utxoBalance: Effect.fn("AddressHistory.utxoBalance")((request) => balance(request, RecordedAddress.checkSynced)),
    utxoUnspent,
    utxoUnconfirmed
  } satisfies Operations as Operations
})
