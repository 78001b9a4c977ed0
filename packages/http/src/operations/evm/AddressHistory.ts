/**
 * What is recorded of an address: internal transactions of the last 14 days, and token transfers. A list of which the
 * beginning is not recorded says from which block on it is whole.
 */

import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Hash from "@headwater/core/Hash"
import * as Capability from "@headwater/indexer/families/Capability"
import type { ChainReader, RecordedTransfer } from "@headwater/indexer/store/chain/ChainReader"
import * as InternalRetention from "@headwater/indexer/store/chain/InternalRetention"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import * as UnixTime from "@headwater/indexer/UnixTime"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { Unimplemented } from "../../contract/Errors.ts"
import { decodeAddress } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { Caller, ChainOperations, CursorRequest } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"
import * as TokenData from "./TokenData.ts"
import * as TokenNames from "./TokenNames.ts"

export interface Options {
  /** Whether transfers of every address are recorded, or only of watched ones. */
  readonly record: RecordingMode
}

type Operations = Pick<
  ChainOperations,
  "internalTransactions" | "tokensTransfers" | "evmLatestTokens" | "evmInternalHistory" | "evmInternalOfAddress"
>

export const make = (record: ChainReader, freshness: Freshness, options: Options): Operations => {
  const { chain } = record
  // Bytes out of blocks of the same chain always have a text.
  const addressText = (bytes: Address.AddressBytes) => Address.encode(chain, bytes)!

  const placed = ({
    block,
    height,
    transactionId
  }: Pick<RecordedTransfer<"internal">, "block" | "height" | "transactionId">) => ({
    transactionHash: Hash.encode(chain, transactionId),
    minedInBlock: { hash: Hash.encode(chain, block.hash), height },
    timestamp: block.time
  })

  /** A page of internal transactions of the days for which they are kept, of whatever address. */
  const internalPage = Effect.fnUntraced(function* (request: CursorRequest, address: Address.AddressBytes) {
    const { node, tip } = yield* freshness.recorded(request.after === undefined)
    const capabilities = yield* freshness.orUnavailable(node.source.capabilities)
    const traces = Capability.lacking(capabilities, Capability.internalTransactions)
    if (traces !== undefined) {
      return yield* new Unimplemented({ message: `Internal transactions: ${traces.detail}` })
    }
    const now = yield* UnixTime.seconds
    const since = now - InternalRetention.keptSeconds
    // Read before the page: a block that comes in between is whole in both.
    const recordedFrom = (yield* Effect.orDie(record.wholeFrom)).internal ?? tip.height + 1
    const first = yield* Effect.orDie(record.heightSince(since))
    const { next, transfers } = yield* Effect.orDie(
      record.page("internal", address, { ...RecordedAddress.pageRequest(request), since })
    )
    const items = transfers.map((recorded) => ({
      ...placed(recorded),
      operationId: recorded.transfer.operation,
      operationType: recorded.transfer.operationType,
      recipient: addressText(recorded.transfer.to),
      sender: addressText(recorded.transfer.from),
      value: CoinAmount.of(chain, recorded.transfer.amount)
    }))
    return { next, items, recordedFrom, first }
  })

  const internalTransactions: Operations["internalTransactions"] = Effect.fn("AddressHistory.internalTransactions")(
    function* (request) {
      const address = yield* decodeAddress(chain, "address", request.address)
      const { first, items, next, recordedFrom } = yield* internalPage(request, address)
      return { next, items, completeFrom: recordedFrom === 0 || recordedFrom < first ? undefined : recordedFrom }
    }
  )

  const evmInternalHistory: Operations["evmInternalHistory"] = Effect.fn("AddressHistory.evmInternalHistory")(
    function* (request) {
      const address = yield* decodeAddress(chain, "address", request.address)
      yield* RecordedAddress.checkSynced(record, options.record, request.account, address)
      const { first, items, next, recordedFrom } = yield* internalPage(request, address)
      // What is older is kept of no address.
      const from = Math.max(recordedFrom, first)
      return { next, items, completeFrom: RecordedAddress.completeFrom(from), answeredFrom: "record" as const }
    }
  )

  /** A page of the token transfers of an address that the account has asked to be recorded, and what their contracts say. */
  const tokenPage = Effect.fnUntraced(function* <E>(
    request: CursorRequest & Pick<Caller, "account"> & { readonly address: string },
    check: RecordedAddress.Check<E>
  ) {
    const address = yield* decodeAddress(chain, "address", request.address)
    yield* check(record, options.record, request.account, address)
    const { node, tip } = yield* freshness.recorded(request.after === undefined)
    // Read before the page: what is recorded further back meanwhile is only not told yet.
    const recordedFrom = yield* RecordedAddress.recordedFrom(record, address, "tokens")
    const { next, transfers } = yield* Effect.orDie(record.page("token", address, RecordedAddress.pageRequest(request)))
    const mentions = transfers.map(({ transfer }) => transfer)
    const tokens = yield* freshness.orUnavailable(TokenNames.find(record, node.source, tip.height, mentions))
    const items = transfers.map((recorded) => {
      const { contract, from, to } = recorded.transfer
      const metadata = tokens.get(Bytes.key(contract))
      return {
        metadata,
        transfer: recorded.transfer,
        item: {
          ...placed(recorded),
          recipient: addressText(to),
          sender: addressText(from),
          tokenData: TokenData.of(chain, recorded.transfer, metadata)
        }
      }
    })
    return { next, items, completeFrom: RecordedAddress.completeFrom(recordedFrom) }
  })

  const tokensTransfers: Operations["tokensTransfers"] = Effect.fn("AddressHistory.tokensTransfers")((request) =>
    Effect.map(tokenPage(request, RecordedAddress.checkSynced), ({ items, ...page }) => ({
      ...page,
      items: items.map(({ item }) => item)
    }))
  )

  const evmLatestTokens: Operations["evmLatestTokens"] = Effect.fn("AddressHistory.evmLatestTokens")((request) =>
    Effect.map(tokenPage(request, RecordedAddress.check), ({ items, ...page }) => ({
      ...{ ...page, answeredFrom: "record" as const },
      items: items.map(({ item, metadata, transfer }) => ({
        ...item,
        tokenData: TokenData.withEveryDecimals(item.tokenData, transfer, metadata)
      }))
    }))
  )

  return {
    internalTransactions,
    tokensTransfers,
    evmLatestTokens,
    evmInternalHistory,
    evmInternalOfAddress: evmInternalHistory
  }
}
