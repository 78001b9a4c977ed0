/**
 * Single addresses that accounts sync: watched from then on, and their past read from a block that the account names; of
 * UTXO chains the coins that they had are looked for at the node.
 */
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import {
  AlreadyExists,
  Conflict,
  invalidField,
  NodeUnavailable,
  ResourceNotFound,
  SyncAddressAlreadyActive,
  SyncAddressesLimitReached
} from "../contract/Errors.ts"
import { decodeAddress } from "./Field.ts"
import type { Caller, ChainOperations } from "./Operations.ts"

export interface Options {
  /** Blocks of the past that one sync may read. */
  readonly syncBlocks: number
  /** How nodes show what an address had before: by the logs of past blocks, by a search for coins (UTXO chains), or not. */
  readonly past: "logs" | "search" | "none"
}

type Operations = Pick<
  ChainOperations,
  "syncedAddresses" | "syncAddress" | "deactivateSyncedAddress" | "activateSyncedAddress"
>

const notFound = new ResourceNotFound({ message: "The account has not synced the address" })

const alreadyActive = new SyncAddressAlreadyActive({ message: "The address is active already" })
const alreadyInactive = new Conflict({ message: "The address is inactive already" })

const invalidBirth = (rule: string) => Effect.fail(invalidField("birthHeight", rule))

/**
 * The last recorded block. Before the first one nobody knows what of an address is its past, and what its record is to have
 * from then on: a sync would count as done without a block of the past having been read.
 */
export const begun = Effect.fnUntraced(function* (record: ChainReader) {
  const tip = yield* Effect.orDie(record.tip)
  if (tip !== undefined) return tip
  return yield* new NodeUnavailable({
    message: `${record.name} has no block yet; try again later`,
    retryAfter: Math.max(1, Math.ceil(record.chain.blockSeconds))
  })
})

/** Refuses to count the past from a height on where the node is asked for what there is, whenever that came. */
export const checkNoBirth = (birth: number | undefined) =>
  birth === undefined
    ? Effect.void
    : invalidBirth("must be absent: the node is asked for what came before, however old")

/** Refuses a past that the nodes do not show. */
export const checkPast = Effect.fnUntraced(function* (
  record: ChainReader,
  { past }: Options,
  birth: number | undefined
) {
  if (past === "search") return yield* checkNoBirth(birth)
  if (birth === undefined && past === "none") return
  const tip = yield* begun(record)
  if (birth === undefined || past === "logs" || birth > tip.height) return
  return yield* invalidBirth(`nodes of ${record.name} do not show the transfers of past blocks: leave it out`)
})

const costOf = ({ blocks }: SyncedAddresses.PastTooLong, { syncBlocks }: Options) =>
  `${blocks} blocks would have to be read, and this server reads ${syncBlocks} for an address`

/** Refuses a sync whose past would cost the node more than the operator allows. */
export const tooLong = (options: Options) => (error: SyncedAddresses.PastTooLong) =>
  invalidBirth(`${costOf(error, options)}: begin at block ${error.last - options.syncBlocks + 1} or later`)

/** As {@link tooLong}, of what was synced before. */
export const tooLongByNow = (options: Options) => (error: SyncedAddresses.PastTooLong) =>
  Effect.fail(new Conflict({ message: `The past since it was synced is too long by now: ${costOf(error, options)}` }))

export const make = Effect.fnUntraced(function* (record: ChainReader, options: Options) {
  const database = yield* Database
  const limits = yield* Limits.Limits
  const { chain } = record
  const { blockchain, network } = chain
  const stored = Effect.provideService(Database, database)
  const textOf = (address: Address.AddressBytes) => Address.encode(chain, address)!

  type Status = SyncedAddresses.SyncedAddress["status"]

  /** The state of addresses, by their keys where the record of their coins tells. */
  const statusesOf = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<Pick<SyncedAddresses.SyncedAddress, "address" | "status">>
  ) {
    const known =
      options.past === "search"
        ? yield* Effect.orDie(record.completeness(addresses.map(({ address }) => address)))
        : undefined
    return addresses.map(({ address, status }): Status => {
      if (known === undefined) return status
      return known.get(Bytes.key(address))?.coins === undefined ? "syncing" : "synced"
    })
  })

  const syncAddress: Operations["syncAddress"] = Effect.fn("ManagedAddresses.syncAddress")(function* (request) {
    const { account, birthHeight, callbackUrl } = request
    const address = yield* decodeAddress(chain, "address", request.address)
    yield* checkPast(record, options, birthHeight)
    const added = yield* request
      .paying(
        database.transaction(
          SyncedAddresses.add(
            { account, chain, address },
            { birth: birthHeight, callbackUrl, readsPast: options.past === "logs", mostBlocks: options.syncBlocks }
          ).pipe(Effect.provideService(Limits.Limits, limits))
        ),
        () => 1
      )
      .pipe(
        Effect.catchTags({
          DatabaseError: Effect.die,
          LimitReached: ({ message }) => Effect.fail(new SyncAddressesLimitReached({ message })),
          PastTooLong: tooLong(options),
          AddressConflict: ({ isActive }) =>
            Effect.fail(
              new AlreadyExists({
                message: isActive
                  ? "The account has synced the address already"
                  : "The account has synced the address before: activate the address"
              })
            )
        }),
        stored
      )
    const [syncStatus] = yield* statusesOf([added])
    return {
      ...{ address: textOf(address), blockchain, network, isActive: added.isActive, syncStatus: syncStatus! },
      ...(added.callbackUrl === undefined ? {} : { callcackUrl: added.callbackUrl })
    }
  })

  const setActive = Effect.fnUntraced(function* <E>(
    { account, address: text, paying }: Caller & { readonly address: string },
    isActive: boolean,
    already: E
  ) {
    const address = yield* decodeAddress(chain, "address", text)
    const change = database.transaction(
      SyncedAddresses.setActive({ account, chain, address }, isActive, { mostBlocks: options.syncBlocks })
    )
    const changed = yield* (isActive ? paying(change, () => 1) : change).pipe(
      Effect.catchTags({
        AddressNotFound: () => Effect.fail(notFound),
        PastTooLong: tooLongByNow(options),
        AddressConflict: () => Effect.fail(already),
        DatabaseError: Effect.die
      }),
      stored
    )
    const [syncStatus] = yield* statusesOf([changed])
    return { isActive, syncStatus: syncStatus! }
  })

  const syncedAddresses: Operations["syncedAddresses"] = Effect.fn("ManagedAddresses.syncedAddresses")(function* ({
    account,
    after,
    limit,
    sortingOrder
  }) {
    const found = yield* SyncedAddresses.list(
      { account, chain },
      { after: after?.[0], limit: limit + 1, order: sortingOrder === "ASCENDING" ? "asc" : "desc" }
    ).pipe(Effect.orDie, stored)
    const items = found.slice(0, limit)
    const last = items.at(-1)
    const statuses = yield* statusesOf(items)
    return {
      next: found.length > limit && last !== undefined ? [last.id, 0, 0] : undefined,
      items: items.map(({ address, blocksLeft, id, isActive }, index) => ({
        ...(blocksLeft === undefined ? {} : { blocksLeft }),
        ...{ address: textOf(address), blockchain, network, id: String(id), isActive, syncStatus: statuses[index]! }
      }))
    }
  })

  return {
    syncAddress,
    syncedAddresses,
    deactivateSyncedAddress: (request) => setActive(request, false, alreadyInactive),
    activateSyncedAddress: (request) => setActive(request, true, alreadyActive)
  } satisfies Operations as Operations
})
