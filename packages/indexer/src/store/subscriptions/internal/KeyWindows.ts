/**
 * The windows of extended public keys: each branch is derived as far as a window behind its furthest used index. What is
 * used stays so, also where the blocks leave the chain that used it, and an address that was derived stays in the list.
 *
 * A commit moves a bounded number of windows by a bounded number of addresses, whatever a block pays; the rest is left to
 * steps behind it.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Watched from "@headwater/core/events/Watched"
import type * as Derivation from "@headwater/core/keys/Derivation"
import * as Steps from "@headwater/core/Steps"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as UnixTime from "../../../UnixTime.ts"
import * as Completeness from "../../chain/Completeness.ts"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import type * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { inChunks, rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import { maxAddresses } from "../AddressLists.ts"
import * as DerivedBranches from "./DerivedBranches.ts"
import * as PastBlocks from "./PastBlocks.ts"

/** What is done at a time: an address of each window takes some hundredths of a millisecond, and a tenth to derive. */
export const Bounds = Context.Reference("@headwater/indexer/store/subscriptions/KeyWindows/Bounds", {
  defaultValue: () => ({
    /** Addresses of one branch that a commit adds for one block, those of all together, and the branches. */
    branch: 250,
    commit: 500,
    windows: 32
  })
})

/** A branch of a subscription's key, with the key. */
export type Window = Pick<Row<"extended_key_branch">, "subscription" | "branch" | "used" | "derived" | "behind_from"> &
  Pick<Row<"extended_key">, "public_key" | "derivation" | "format" | "window_size"> & {
    /** Of the subscription. */
    readonly from_height: number | null
    readonly total: number
  }

const columns = sql`
  b.subscription, b.branch, b.used, b.derived, b.behind_from,
  k.public_key, k.derivation, k.format, k.window_size, s.from_height, l.total`

/** The other tables of a window. */
const joined = sql`
  join extended_key k on k.subscription = b.subscription
  join subscription s on s.id = b.subscription
  join address_list l on l.subscription = b.subscription`

/** The branches of some subscriptions on one chain that blocks are matched against. */
export const windowsOf = Effect.fnUntraced(function* (chain: number, subscriptions: ReadonlyArray<number>) {
  const { numbers, query } = yield* Database
  return yield* query(
    rows(sql<Window>`
      select ${columns} from extended_key_branch b ${joined}
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
  branch: DerivedBranches.DerivedBranch,
  window: Pick<Window, "derived" | "used" | "window_size">,
  isUsed: (address: AddressBytes) => boolean,
  most: number
): Generator<void, Reached> {
  const fresh: Array<Derivation.DerivedAddress> = []
  let size = 0
  let { derived, used } = window
  for (; derived < used + window.window_size && derived < window.derived + most; derived++) {
    if (!branch.has(derived)) {
      const wanted = used + window.window_size - derived
      size = Math.min(largestBatch, window.derived + most - derived, Math.max(wanted, size * 2))
      branch.derive(derived, size)
      yield
    }
    const address = branch.at(derived)
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
  /** Blocks above this height are matched against the addresses that are derived now. */
  readonly since: number | null
  /** The first block that may have paid what is not derived yet. */
  readonly behindFrom: number
}

/**
 * Stores extensions. What a derived address had before is looked for in steps: in the record, as far as every address was
 * recorded, else in the blocks alone that came while the branch was behind: some of these at a time, and the branch counts as
 * behind until the last of them.
 */
export const store = Effect.fnUntraced(function* (
  chain: Pick<ChainRow.ChainRow, "all_from" | "coins_lost_from" | "first_height" | "id" | "revision">,
  extensions: ReadonlyArray<Extension>
) {
  const { defer, insertMany, numbers } = yield* Database
  const created = yield* UnixTime.seconds
  const placed = extensions.map((extension) => {
    const { behindFrom, reached, since, window } = extension
    const recorded = chain.all_from === null || since === null || chain.all_from > since ? null : chain.all_from
    // A key may be there before the first block of all.
    const from = Math.max(window.behind_from ?? behindFrom, chain.first_height ?? 0)
    if (window.total + reached.fresh.length < maxAddresses && isBehind(reached, window)) {
      return { ...extension, recorded, from, behind_from: from, past: [] }
    }
    const past = recorded === null && since !== null ? PastBlocks.range(from, since) : []
    const behind_from = recorded === null && since !== null && from + past.length <= since ? from + past.length : null
    return { ...extension, recorded, from, behind_from, past }
  })
  for (const [since, own] of Map.groupBy(placed, ({ since }) => since)) {
    const all = own.flatMap(({ reached }) => reached.fresh.map(({ bytes }) => [Bytes.key(bytes), bytes] as const))
    // Several subscriptions may be on one key.
    yield* Completeness.begin(chain, [...new Map(all).values()], since)
  }
  yield* insertMany(
    "listed_address",
    placed.flatMap(({ from, reached, recorded, since, window: { branch, from_height, subscription } }) => {
      const known = recorded === null ? from - 1 : Math.max(from_height ?? -1, recorded - 1)
      return reached.fresh.map(({ bytes, index }) => ({
        ...{ subscription, chain: chain.id, address: bytes, revision: chain.revision, created },
        ...{ branch, address_index: index },
        ...{
          from_height: since === null ? null : known,
          past_from: recorded,
          past_to: since ?? -1
        }
      }))
    })
  )
  for (const { past, window } of placed) yield* PastBlocks.add(chain.id, window.subscription, past)
  yield* insertMany(
    "extended_key_branch",
    placed.map(({ behind_from, reached: { derived, used }, window: { branch, subscription } }) => ({
      ...{ subscription, branch, chain: chain.id, used, derived, behind_from }
    })),
    `on conflict (subscription, branch)
     do update set used = excluded.used, derived = excluded.derived, behind_from = excluded.behind_from`
  )
  const added = [...Map.groupBy(placed, ({ window }) => window.subscription)].map(([subscription, own]) => ({
    subscription,
    count: own.reduce((sum, { reached }) => sum + reached.fresh.length, 0)
  }))
  for (const [count, own] of Map.groupBy(added, ({ count }) => count)) {
    const subscriptions = numbers(own.map(({ subscription }) => subscription))
    yield* defer((db) =>
      db
        .updateTable("address_list")
        .set({ total: sql<number>`total + ${count}` })
        .where(sql<boolean>`subscription in ${subscriptions}`)
    )
  }
})

/** Derives the branches one after another. */
export const reachAll = Effect.fnUntraced(function* (
  chain: Chain,
  windows: ReadonlyArray<Window>,
  isUsed: (address: AddressBytes) => boolean
) {
  const bounds = yield* Bounds
  let left = bounds.commit
  const branchOf = DerivedBranches.ofKeys(chain)
  const reached: Array<{ readonly window: Window; readonly reached: Reached }> = []
  for (const window of windows) {
    const most = Math.max(0, Math.min(bounds.branch, left, maxAddresses - window.total))
    const one = yield* TimeSlice.runInTransaction(() => reach(branchOf(window), window, isUsed, most))
    left -= one.fresh.length
    reached.push({ window, reached: one })
  }
  return reached
})

/** The addresses that a block's transfers name, by their keys: those that may be in a set, or all. */
export function* namedIn({ transfers }: Block, watched?: Watched.Watched) {
  const named = new Map<string, AddressBytes>()
  const see = (address: AddressBytes | undefined) => {
    if (address !== undefined) named.set(Bytes.key(address), address)
  }
  yield* Steps.forEach(transfers, (transfer) => {
    const { from } = transfer
    if (watched === undefined || (from !== undefined && watched.has(from))) see(from)
    if (watched === undefined || Watched.isPaid(watched, transfer)) see(transfer.to)
  })
  return named
}

/** Branches of a chain of which some addresses are used further than anything before, and how far. */
const usedFurther = (chain: number, addresses: ReadonlyArray<AddressBytes>) => sql`
  select a.subscription, a.branch, max(a.address_index) + 1 as used
  from listed_address a
  join subscription s on s.id = a.subscription
  join extended_key_branch b on b.subscription = a.subscription and b.branch = a.branch
  where a.chain = ${chain} and a.address in (${sql.join(addresses)}) and a.left_revision is null
    and a.address_index >= b.used and ${isMatched("s")}
  group by a.subscription, a.branch`

/**
 * The branches that a block at this height uses further than anything before, as far as it uses them by what is derived
 * already. Where they are too many, the others are noted as behind, for the steps.
 */
export const usedBy = Effect.fnUntraced(function* (
  chain: number,
  addresses: ReadonlyArray<AddressBytes>,
  height: number
) {
  const { query } = yield* Database
  const { windows: most } = yield* Bounds
  const found = yield* inChunks(addresses, (some) =>
    query(
      rows(sql<Window & { readonly reaches: number }>`
        select ${columns}, f.used as reaches
        from (${usedFurther(chain, some)}) f
        join extended_key_branch b on b.subscription = f.subscription and b.branch = f.branch ${joined}
        order by b.subscription, b.branch limit ${sql.lit(most + 1)}`)
    )
  )
  const windows = [...Map.groupBy(found, ({ branch, subscription }) => `${subscription} ${branch}`).values()]
    .map((own) => {
      const { reaches: _, ...window } = own[0]!
      return { ...window, used: Math.max(...own.map(({ reaches }) => Number(reaches))) }
    })
    .sort((a, b) => a.subscription - b.subscription || a.branch - b.branch)
  if (windows.length <= most) return windows
  yield* inChunks(addresses, (some) =>
    query(
      rows(sql<never>`
        update extended_key_branch
        set used = f.used, behind_from = coalesce(extended_key_branch.behind_from, ${height})
        from (${usedFurther(chain, some)}) f
        where extended_key_branch.subscription = f.subscription and extended_key_branch.branch = f.branch`)
    )
  )
  return windows.slice(0, most)
})
