/**
 * The windows of extended public keys: each branch is derived as far as a window behind its furthest used index. What is
 * used stays so, also where the blocks leave the chain that used it, and an address that was derived stays in the list.
 *
 * A commit derives a bounded number of addresses, whatever a block pays; the rest is left to steps behind it.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type * as Derivation from "@headwater/core/keys/Derivation"
import * as Steps from "@headwater/core/Steps"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Completeness from "../../chain/Completeness.ts"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import type * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { inChunks, rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as WalletBranches from "../../wallets/WalletBranches.ts"
import { maxAddresses } from "../AddressLists.ts"
import * as PastBlocks from "./PastBlocks.ts"

/** Addresses that are derived at a time. */
export const Bounds = Context.Reference("@headwater/indexer/store/subscriptions/KeyWindows/Bounds", {
  defaultValue: () => ({
    /** By a commit, for one block: of one branch, and of all together. */
    branch: 500,
    commit: 2_000
  })
})

/** A branch of a subscription's key, with the key. */
export type Window = Pick<Row<"extended_key_branch">, "subscription" | "branch" | "used" | "derived" | "behind_from"> &
  Pick<Row<"extended_key">, "public_key" | "derivation" | "format" | "window_size"> & {
    /** Of the subscription. */
    readonly from_height: number | null
    readonly total: number
  }

/** The branches of some subscriptions on one chain that blocks are matched against. */
export const windowsOf = Effect.fnUntraced(function* (chain: number, subscriptions: ReadonlyArray<number>) {
  const { numbers, query } = yield* Database
  return yield* query(
    rows(sql<Window>`
      select b.subscription, b.branch, b.used, b.derived, b.behind_from,
        k.public_key, k.derivation, k.format, k.window_size, s.from_height, l.total
      from extended_key_branch b
      join extended_key k on k.subscription = b.subscription
      join subscription s on s.id = b.subscription
      join address_list l on l.subscription = b.subscription
      where b.chain = ${chain} and b.subscription in ${numbers(subscriptions)} and ${isMatched("s")}
      order by b.subscription, b.branch`)
  )
})

/** Addresses that one call of the derivation makes at most: about six milliseconds. */
const largestBatch = 64

/** Where a branch comes to: its new addresses, the index after the furthest used one, and the first that is not derived. */
export interface Reached {
  readonly fresh: ReadonlyArray<Derivation.DerivedAddress>
  readonly used: number
  readonly derived: number
}

/** Derives a branch until a window lies behind what is used, as far as `isUsed` says; no more than `most` addresses. */
export function* reach(
  branch: Derivation.Branch,
  window: Pick<Window, "derived" | "used" | "window_size">,
  isUsed: (address: AddressBytes) => boolean,
  most: number
): Generator<void, Reached> {
  const fresh: Array<Derivation.DerivedAddress> = []
  let batch: ReadonlyMap<number, Derivation.DerivedAddress> = new Map()
  let batchEnd = window.derived
  let { derived, used } = window
  for (; derived < used + window.window_size && derived < window.derived + most; derived++) {
    if (derived === batchEnd) {
      const wanted = used + window.window_size - derived
      const size = Math.min(largestBatch, window.derived + most - derived, Math.max(wanted, batch.size * 2))
      batch = new Map(WalletBranches.derive(branch, derived, derived + size - 1).map((one) => [one.index, one]))
      batchEnd = derived + size
      yield
    }
    const address = batch.get(derived)
    if (address === undefined) continue
    fresh.push(address)
    if (isUsed(address.bytes)) used = derived + 1
  }
  return { fresh, used, derived }
}

/** Whether a window is less than that behind what is used. */
const isBehind = ({ derived, used }: Reached, { window_size }: Window) => derived < used + window_size

/** What is new of a branch, in the transaction that has counted the chain's revision up. */
export interface Extension {
  readonly window: Window
  readonly reached: Reached
  /** Blocks above it are matched against what is derived now. */
  readonly since: number | null
  /** The first block that may have paid what is not derived yet. */
  readonly behindFrom: number
}

/**
 * Stores extensions. What a derived address had before is looked for in steps: in the record, as far as every address was
 * recorded, else in the blocks alone that came while the branch was behind.
 */
export const store = Effect.fnUntraced(function* (
  chain: Pick<ChainRow.ChainRow, "all_from" | "coins_lost_from" | "id" | "revision">,
  extensions: ReadonlyArray<Extension>
) {
  const { defer, insertMany } = yield* Database
  const created = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  for (const { behindFrom, reached, since, window } of extensions) {
    const { branch, subscription } = window
    const from = window.behind_from ?? behindFrom
    const recorded = chain.all_from === null || since === null || chain.all_from > since ? null : chain.all_from
    const known = recorded === null ? from - 1 : Math.max(window.from_height ?? -1, recorded - 1)
    yield* Completeness.begin(
      chain,
      reached.fresh.map(({ bytes }) => bytes),
      since
    )
    yield* insertMany(
      "listed_address",
      reached.fresh.map(({ bytes, index }) => ({
        ...{ subscription, chain: chain.id, address: bytes, revision: chain.revision, created },
        ...{ branch, address_index: index },
        ...{
          from_height: since === null ? null : known,
          past_from: recorded,
          past_to: recorded === null ? null : since
        }
      }))
    )
    if (recorded === null && since !== null)
      yield* PastBlocks.add(chain.id, subscription, PastBlocks.range(from, since))
    const mayGoOn = window.total + reached.fresh.length < maxAddresses
    const behind_from = mayGoOn && isBehind(reached, window) ? from : null
    yield* defer((db) =>
      db
        .updateTable("extended_key_branch")
        .set({ used: reached.used, derived: reached.derived, behind_from })
        .where("subscription", "=", subscription)
        .where("branch", "=", branch)
    )
    yield* defer((db) =>
      db
        .updateTable("address_list")
        .set({ total: sql<number>`total + ${reached.fresh.length}` })
        .where("subscription", "=", subscription)
    )
  }
})

/** The branch of a stored key. */
export const branchOf = (chain: Chain, window: Window): Derivation.Branch =>
  WalletBranches.of(chain, window)[window.branch]!

/** Derives the branches one after another. */
export const reachAll = Effect.fnUntraced(function* (
  chain: Chain,
  windows: ReadonlyArray<Window>,
  isUsed: (address: AddressBytes) => boolean
) {
  const bounds = yield* Bounds
  let left = bounds.commit
  const reached: Array<{ readonly window: Window; readonly reached: Reached }> = []
  for (const window of windows) {
    const most = Math.max(0, Math.min(bounds.branch, left, maxAddresses - window.total))
    const one = yield* TimeSlice.runInTransaction(() => reach(branchOf(chain, window), window, isUsed, most))
    left -= one.fresh.length
    reached.push({ window, reached: one })
  }
  return reached
})

/** The addresses that a block's transfers name and that `keep` picks, by their keys. */
export function* namedIn({ transfers }: Block, keep: (address: AddressBytes) => boolean) {
  const named = new Map<string, AddressBytes>()
  const see = (address: AddressBytes | undefined) => {
    if (address !== undefined && keep(address)) named.set(Bytes.key(address), address)
  }
  yield* Steps.forEach(transfers, ({ from, to }) => {
    see(from)
    see(to)
  })
  return named
}

/** The furthest of these addresses in each branch of each subscription that is matched. */
const furthest = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<AddressBytes>) {
  const { query } = yield* Database
  const found = yield* inChunks(addresses, (some) =>
    query((db) =>
      db
        .selectFrom("listed_address as a")
        .innerJoin("subscription as s", "s.id", "a.subscription")
        .select(["s.id", "a.branch", "a.address_index"])
        .where("a.chain", "=", chain)
        .where("a.address", "in", some)
        .where("a.branch", "is not", null)
        .where("a.left_revision", "is", null)
        .where(isMatched("s"))
    )
  )
  const last = new Map<string, number>()
  for (const { address_index, branch, id } of found) {
    const key = `${id} ${branch}`
    last.set(key, Math.max(last.get(key) ?? -1, address_index!))
  }
  return { last, subscriptions: [...new Set(found.map(({ id }) => id))] }
})

/** The branches that a block uses further than anything before, as far as it uses them by what is derived already. */
export const usedBy = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<AddressBytes>) {
  const { last, subscriptions } = yield* furthest(chain, addresses)
  if (subscriptions.length === 0) return []
  return (yield* windowsOf(chain, subscriptions)).flatMap((window) => {
    const used = (last.get(`${window.subscription} ${window.branch}`) ?? -1) + 1
    return used > window.used ? [{ ...window, used }] : []
  })
})
