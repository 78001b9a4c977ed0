/**
 * What addresses of extended public keys had before a window reached them, found and told in small steps behind the
 * commits: the record says which blocks used an address, the windows move by that, and each such block is read again from
 * the node (`sync/PastPaymentSync`) and told under the keys that its callbacks would have had. Where the store does not
 * record every address, that is so of blocks alone which came while a window was behind (`internal/KeyWindows`), and, on
 * chains of outputs, of what a search of the node's coins finds.
 *
 * Every step is a transaction with the lock of the chain's row: a kill between any two loses nothing.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import { eventKinds } from "@headwater/core/events/EventKinds"
import type { EventType } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { isMatched } from "../chain/MatchedSubscriptions.ts"
import * as ChainRow from "../database/ChainRow.ts"
import type { FoundCoins } from "../chain/FoundCoins.ts"
import { Database } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import * as KeyWindows from "./internal/KeyWindows.ts"
import * as LookTurns from "./internal/LookTurns.ts"
import * as MissedUses from "./internal/MissedUses.ts"
import * as PastBlocks from "./internal/PastBlocks.ts"
import * as RecordedUses from "./internal/RecordedUses.ts"

export interface Step {
  /** Whether something was looked for, so that there may be more. */
  readonly more: boolean
  /** The next block that is to be told, and the account whose turn it is. */
  readonly next: PastBlocks.Next | undefined
}

/** Addresses whose record one step looks through, and branches that one step derives further. */
const [addressesAtOnce, branchesAtOnce] = [16, 4]

/** Derives branches whose windows a commit has left behind, those of one account after those of another. */
const makeWiden = (chain: Chain, id: number) => {
  let last = -1

  const behindAfter = (account: number) =>
    Effect.flatMap(Database, ({ query }) =>
      query(
        rows(sql<{ readonly account: number; readonly subscription: number }>`
          select s.account, min(b.subscription) as subscription
          from extended_key_branch b join subscription s on s.id = b.subscription
          where b.chain = ${id} and b.behind_from is not null and s.account > ${account} and ${isMatched("s")}
          group by s.account order by s.account limit ${branchesAtOnce}`)
      )
    )

  /** Whether there were any. */
  return Effect.gen(function* () {
    const next = yield* behindAfter(last)
    const behind = next.length > 0 || last < 0 ? next : yield* behindAfter(-1)
    const accounts = new Map(behind.map(({ account, subscription }) => [subscription, account]))
    const windows = (yield* KeyWindows.windowsOf(id, [...accounts.keys()]))
      .filter(({ behind_from }) => behind_from !== null)
      .toSorted((a, b) => accounts.get(a.subscription)! - accounts.get(b.subscription)!)
      .slice(0, branchesAtOnce)
    last = -1
    if (windows.length === 0) return false
    const reached = yield* KeyWindows.reachAll(chain, windows, () => false)
    // The others are the next ones, where that was all that is derived at a time.
    const derived = reached.findLast(({ reached: { fresh } }) => fresh.length > 0) ?? reached.at(-1)
    if (derived !== undefined) last = accounts.get(derived.window.subscription)!
    const row = yield* ChainRow.lockAndBumpRevision(id)
    yield* KeyWindows.store(
      row,
      reached.map((one) => ({ ...one, since: row.height, behindFrom: one.window.behind_from! }))
    )
    return true
  })
}

interface Unread {
  readonly id: number
  readonly subscription: number
  readonly branch: number
  readonly address_index: number
  readonly address: AddressBytes
  readonly past_from: number
  readonly past_to: number
  readonly event: EventType
  readonly from_height: number | null
}

/** Derives branches further that are used up to these indices, by subscription and branch. */
const grow = Effect.fnUntraced(function* (chain: Chain, row: ChainRow.ChainRow, used: ReadonlyMap<string, number>) {
  if (used.size === 0) return
  const ids = [...new Set([...used.keys()].map((key) => Number(key.split(" ")[0])))]
  const windows = (yield* KeyWindows.windowsOf(row.id, ids)).flatMap((window) => {
    const end = used.get(`${window.subscription} ${window.branch}`) ?? 0
    return end > window.used ? [{ ...window, used: end }] : []
  })
  if (windows.length === 0) return
  const reached = yield* KeyWindows.reachAll(chain, windows, () => false)
  yield* KeyWindows.store(
    yield* ChainRow.lockAndBumpRevision(row.id),
    reached.map((one) => ({ ...one, since: row.height, behindFrom: (row.height ?? -1) + 1 }))
  )
})

/** Addresses of a subscription whose record is to be looked through. */
export const unreadOf = Effect.fnUntraced(function* (subscription: number) {
  const { query } = yield* Database
  return yield* query(
    rows(sql<Unread>`
      select a.id, a.subscription, a.branch, a.address_index, a.address, a.past_from, a.past_to, s.event, s.from_height
      from listed_address a join subscription s on s.id = a.subscription
      where a.subscription = ${subscription} and a.past_from is not null and a.left_revision is null and ${isMatched("s")}
      order by a.id limit ${addressesAtOnce}`)
  )
})

/** Looks through the record of some addresses of the subscription whose turn it is; whether there were any. */
const lookBack = Effect.fnUntraced(function* (chain: Chain, row: ChainRow.ChainRow, turns: LookTurns.LookTurns) {
  const { query } = yield* Database
  let unread: ReadonlyArray<Unread> = []
  while (unread.length === 0) {
    const next = turns.next()
    if (next === undefined) return false
    unread = yield* unreadOf(next)
    if (unread.length < addressesAtOnce) turns.end(next)
  }
  const used = new Map<string, number>()
  for (const { address, address_index, branch, event, from_height, id, past_from, past_to, subscription } of unread) {
    const range = { from: Math.max(past_from, row.all_from ?? 0), to: past_to }
    const uses = yield* RecordedUses.of(chain, row.id, address, eventKinds[event].class, range)
    const own = uses.heights.filter((height) => height > (from_height ?? -1))
    yield* PastBlocks.add(row.id, subscription, own, id)
    yield* query((db) =>
      db
        .updateTable("listed_address")
        .set({ past_from: uses.next ?? null })
        .where("id", "=", id)
    )
    const key = `${subscription} ${branch}`
    if (uses.any) used.set(key, Math.max(used.get(key) ?? 0, address_index + 1))
  }
  yield* grow(chain, row, used)
  return true
})

/**
 * In the transaction that enters coins which a search of the node has found: what the windows' addresses had before, as far
 * as that is unspent, is told, and moves the windows.
 */
export const found = Effect.fnUntraced(function* (chain: Chain, row: ChainRow.ChainRow, coins: FoundCoins) {
  const { query } = yield* Database
  // Those above the search too: a node that is behind may be searched below the block at which a window reached an address.
  const moves = [...coins.coins, ...coins.spent, ...coins.spent.map((coin) => ({ ...coin, height: coin.spentHeight }))]
  const heights = Map.groupBy(moves, ({ script }) => Bytes.key(script))
  const scripts = [...heights.values()].map(([coin]) => coin!.script)
  const owners = yield* inChunks(scripts, (some) =>
    query((db) =>
      db
        .selectFrom("listed_address as a")
        .innerJoin("subscription as s", "s.id", "a.subscription")
        .select(["a.id", "a.subscription", "a.branch", "a.address_index", "a.address", "s.event", "s.from_height"])
        .where("a.chain", "=", row.id)
        .where("a.address", "in", some)
        .where("a.branch", "is not", null)
        .where("a.left_revision", "is", null)
        .where(isMatched("s"))
    )
  )
  const used = new Map<string, number>()
  for (const { address, address_index, branch, event, from_height, id, subscription } of owners) {
    const own = new Set(heights.get(Bytes.key(address))!.map(({ height }) => height))
    if (eventKinds[event].class === "coin") {
      const later = [...own].filter((height) => height > (from_height ?? -1))
      yield* PastBlocks.add(row.id, subscription, later, id)
    }
    const key = `${subscription} ${branch}`
    used.set(key, Math.max(used.get(key) ?? 0, address_index! + 1))
  }
  yield* grow(chain, row, used)
})

/** Whether there is anything to look for on a row of `chain`. */
const isBehind = sql<boolean>`(
  (
    select 1 from extended_key_branch b join subscription s on s.id = b.subscription
    where b.chain = chain.id and b.behind_from is not null and ${isMatched("s")} limit 1
  ) is not null or (
    select 1 from listed_address a join subscription s on s.id = a.subscription
    where a.chain + 0 = chain.id and a.past_from is not null and a.left_revision is null and ${isMatched("s")} limit 1
  ) is not null
)`

/** Whether there is anything to look for, or to tell, on a row of `chain`. */
export const isWaiting = sql<boolean>`(${isBehind} or ${PastBlocks.isWaiting})`

/** Whether there is anything to look for, which is asked before others wait for the chain's row. */
const isWanted = Effect.fnUntraced(function* (id: number) {
  const { read } = yield* Database
  const found = yield* read(rows(sql`select 1 from chain where id = ${id} and ${isBehind}`))
  return found.length > 0
})

/** The steps of an open chain; `after`: the heights of each account behind which its next block is. */
export const make = Effect.fnUntraced(function* (chain: Chain, id: number) {
  const bounds = yield* KeyWindows.Bounds
  const widen = makeWiden(chain, id)
  const turns = LookTurns.make(id)
  const next = PastBlocks.turns(id)
  const look = Effect.gen(function* () {
    const row = yield* ChainRow.lock(id)
    const isWidened = yield* widen
    return (yield* lookBack(chain, row, turns)) || isWidened
  })
  return Effect.fn("PastPayments.step")(
    function* (after: ReadonlyMap<number, number>) {
      const { transaction } = yield* Database
      const looked = Effect.andThen(turns.refresh, transaction(look))
      // What is remembered of turns may be of subscriptions that other processes have looked through: then it is read anew.
      const more = (yield* isWanted(id)) && ((yield* looked) || (yield* looked))
      return { more, next: yield* next(after) } satisfies Step as Step
    },
    Effect.provideService(KeyWindows.Bounds, bounds)
  )
})

/** In the transaction that undoes the blocks above `fork`: what is committed in their place is matched. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* MissedUses.undo(chain, fork)
  yield* defer((db) => db.deleteFrom("past_payment").where("chain", "=", chain).where("height", ">", fork))
  yield* defer((db) =>
    db
      .updateTable("listed_address")
      .set({ past_to: fork })
      .where(sql`chain + 0`, "=", chain)
      .where("past_from", "is not", null)
      .where("past_to", ">", fork)
  )
  yield* defer((db) =>
    db
      .updateTable("extended_key_branch")
      .set({ behind_from: fork + 1 })
      .where("chain", "=", chain)
      .where("behind_from", ">", fork)
  )
})
