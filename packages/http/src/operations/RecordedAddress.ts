/** Addresses that a list of what is recorded is asked for: the account has to have asked for the record. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Completeness } from "@headwater/indexer/store/chain/Completeness"
import type { ChainReader, PageRequest, Position } from "@headwater/indexer/store/chain/ChainReader"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import * as Effect from "effect/Effect"
import { AddressNotSynced, SyncAddressNotActive } from "../contract/Errors.ts"
import type { CursorRequest } from "./Operations.ts"

/** A page of the record by a page of a list; the contract gives positions of these lists their three numbers. */
export const pageRequest = ({ after, limit, sortingOrder }: CursorRequest): PageRequest => ({
  limit,
  order: sortingOrder === "ASCENDING" ? "ascending" : "descending",
  after: after as Position | undefined
})

/** One of the two checks below. */
export type Check<E> = (
  record: ChainReader,
  mode: RecordingMode,
  account: number,
  address: AddressBytes
) => Effect.Effect<void, E>

/** Fails where only watched addresses are recorded, and the account watches this one neither by a subscription nor a sync. */
export const check = Effect.fnUntraced(function* (
  record: ChainReader,
  mode: RecordingMode,
  account: number,
  address: AddressBytes
) {
  if (mode === "all") return
  const [watched] = yield* Effect.orDie(record.watchedBy(account, [address]))
  if (watched !== undefined) return
  return yield* new AddressNotSynced({
    message: "The account has neither synced the address nor subscribed to it, so nothing is recorded of it"
  })
})

/** As {@link check}, of the operations that tell of an address that the account has synced and stopped syncing. */
export const checkSynced = (record: ChainReader, mode: RecordingMode, account: number, address: AddressBytes) =>
  Effect.catchTag(
    check(record, mode, account, address),
    "address_not_synced",
    Effect.fnUntraced(function* (refused) {
      return yield* (yield* Effect.orDie(record.isDeactivatedBy(account, address)))
        ? new SyncAddressNotActive({
            message: "The account has stopped syncing the address, so nothing is recorded of it: activate the address"
          })
        : refused
    })
  )

/** The block from which on a part of the address is recorded; fails where nothing proves any. */
export const recordedFrom = Effect.fnUntraced(function* (
  record: ChainReader,
  address: AddressBytes,
  part: keyof Completeness,
  unknown = "It is not known yet from which block on the address is recorded: try again after the next block"
) {
  const found = (yield* Effect.orDie(record.completeness([address]))).get(Bytes.key(address))?.[part]
  return found ?? (yield* new AddressNotSynced({ message: unknown }))
})

/** As answers have it. */
export const completeFrom = (height: number): number | undefined => (height === 0 ? undefined : height)
