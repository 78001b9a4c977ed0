/** The transactions that name an address of an EVM chain: which ones is recorded, and the node shows each. */
import * as Effect from "effect/Effect"
import * as Explorer from "@headwater/indexer/families/evm/Explorer"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { decodeAddress } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { Caller, ChainOperations, CursorRequest } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"
import * as TransactionItem from "./TransactionItem.ts"

export interface Options {
  readonly record: RecordingMode
}

type Operations = Pick<ChainOperations, "evmLatestTransactions" | "evmTransactions" | "evmTransactionsSince">

type Request = Pick<Caller, "account"> & CursorRequest & { readonly address: string }

export const make = <Node extends ConnectedNode & { readonly explorer: Explorer.Explorer }>(
  record: ChainReader,
  freshness: Freshness<Node>,
  { record: mode }: Options
): Operations => {
  const { chain } = record

  const page = Effect.fnUntraced(function* <E>(request: Request, check: RecordedAddress.Check<E>, since?: number) {
    const address = yield* decodeAddress(chain, "address", request.address)
    yield* check(record, mode, request.account, address)
    const { node } = yield* freshness.recorded(request.after === undefined)
    // Read before the page: a block that comes in between is whole in both.
    const recordedFrom = yield* RecordedAddress.recordedFrom(record, address, "transactions")
    const { coin } = yield* Effect.orDie(record.wholeFrom)
    const from = Math.max(recordedFrom, coin)
    const { next, transactions } = yield* Effect.orDie(
      record.transactions(address, { ...RecordedAddress.pageRequest(request), since })
    )
    const shown = yield* freshness.orUnavailable(node.explorer.mined(transactions.map(Explorer.minedOf)))
    const isTold = since !== undefined && (yield* Effect.orDie(record.heightSince(since))) >= from
    return {
      ...{ next, answeredFrom: "record" as const },
      completeFrom: isTold ? undefined : RecordedAddress.completeFrom(from),
      items: shown.map((transaction) => TransactionItem.of(chain, transaction))
    }
  })

  /** With fields of clients that know the value and the bandwidth by other names. */
  const history = (request: Request, since?: number) =>
    Effect.map(page(request, RecordedAddress.checkSynced, since), ({ items, ...rest }) => ({
      ...rest,
      items: items.map((item) => ({ ...TransactionItem.withBandwith(item), vallue: item.value }))
    }))

  return {
    evmLatestTransactions: Effect.fn("AddressTransactions.evmLatestTransactions")((request) =>
      page(request, RecordedAddress.check)
    ),
    evmTransactions: Effect.fn("AddressTransactions.evmTransactions")((request) => history(request)),
    evmTransactionsSince: Effect.fn("AddressTransactions.evmTransactionsSince")((request) =>
      history(request, request.timestamp)
    )
  }
}
