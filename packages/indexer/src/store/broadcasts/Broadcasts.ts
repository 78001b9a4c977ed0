/**
 * The transactions that accounts have broadcast. A row is there before anything is sent, so that whatever happens in
 * between is found out afterwards; each outcome is written in one transaction with the callback that tells it.
 */
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { BroadcastEvent } from "@headwater/core/events/EventType"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ProvenTime from "../chain/ProvenTime.ts"
import * as BlockRow from "../database/BlockRow.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as DueAccounts from "../database/DueAccounts.ts"
import * as SmallSteps from "../database/SmallSteps.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import type { BroadcastOutcome } from "../database/tables/BroadcastTables.ts"
import * as Removal from "../subscriptions/Removal.ts"
import * as ReservedNonces from "../wallets/ReservedNonces.ts"
import * as OutcomeCallback from "./internal/OutcomeCallback.ts"

export type Broadcast = Row<"broadcast">

/** What became of a transaction, with the block that has it, or why the chain will not have it. */
export interface Found {
  readonly outcome: BroadcastOutcome
  readonly error?: string | undefined
  readonly block?: { readonly height: number; readonly hash: Uint8Array } | undefined
}

interface NewBroadcast extends OutcomeCallback.Subscriber {
  readonly transactionId: Uint8Array
  readonly raw: Uint8Array
  /**
   * Height of the nodes' newest block: no block up to there has it. What is recorded may be far behind that, or nothing yet, and
   * the blocks in between would be looked through for what cannot be there.
   */
  readonly since: number
  /** Where the chain counts its sender's transactions. */
  readonly numbered?: ReservedNonces.Numbered | undefined
}

/** Blocks after the last change of an outcome, for which each new one is a reason to ask again; then looks become rarer. */
const freshBlocks = 100

/**
 * The height of the next look at an outcome that is so many blocks old; null where nobody asks for another one, since no block
 * that is older leaves the chain. A hundred blocks are hours on one chain, and seconds on another.
 */
const nextLook = ({ undoDepth }: Chain, looked: number, age: number) =>
  age < Math.max(freshBlocks, undoDepth) ? looked + Math.max(1, Math.ceil(age / freshBlocks)) : null

/** Seconds for which no node of an EVM chain has a transaction, at least, until it counts as dropped or replaced. */
const lostSeconds = 24

/**
 * Looks, each at another height, at which no node had a transaction, until it counts as dropped or replaced. Where blocks come
 * within a second or two, two of them are less than some nodes need to know it, or show what waits at all.
 */
export const absencesUntilLost = ({ blockSeconds, family }: Chain): number =>
  family === "evm" ? Math.max(2, Math.ceil(lostSeconds / blockSeconds)) : 2

/** Whether the nodes have it, as far as is known: there is nothing to be sent. */
export const isOnItsWay = ({ height, outcome }: Broadcast): boolean =>
  outcome === "sent" || outcome === "mined" || (outcome === "failed" && height !== null)

/** The event that tells an outcome; undefined while nothing is known. */
const eventOf = (row: Broadcast): BroadcastEvent | undefined =>
  isOnItsWay(row)
    ? "BROADCAST_TRANSACTION_SUCCESS"
    : row.outcome === "unknown"
      ? undefined
      : "BROADCAST_TRANSACTION_FAIL"

/** The transaction of an account, by its id; undefined where the account has not broadcast it. */
export const find = Effect.fn("Broadcasts.find")(function* (chain: Chain, account: number, transactionId: Uint8Array) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return undefined
  const [found] = yield* read((db) =>
    db
      .selectFrom("broadcast")
      .selectAll()
      .where("chain", "=", row.id)
      .where("transaction_id", "=", transactionId)
      .where("account", "=", account)
  )
  return found
})

/**
 * Takes note that a transaction is about to be sent. One that has been broadcast before is the same; a URL for its
 * callbacks is taken from the first request that names one.
 */
export const begin = Effect.fn("Broadcasts.begin")(function* (broadcast: NewBroadcast) {
  const { query, transaction } = yield* Database
  const { account, chain, numbered, raw, since, transactionId } = broadcast
  return yield* transaction(
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const { id } = yield* ChainRow.lock(yield* ChainRow.make(chain))
      const [known] = yield* query((db) =>
        db
          .selectFrom("broadcast")
          .selectAll()
          .where("chain", "=", id)
          .where("transaction_id", "=", transactionId)
          .where("account", "=", account)
      )
      const subscription = known?.subscription ?? (yield* OutcomeCallback.subscribe(broadcast))
      if (known !== undefined && isOnItsWay(known)) {
        if (subscription === known.subscription) return known
        const told = yield* OutcomeCallback.tell(chain, { ...known, subscription }, eventOf(known), now)
        const [changed] = yield* query((db) =>
          db
            .updateTable("broadcast")
            .set({ subscription, ...told })
            .where("id", "=", known.id)
            .returningAll()
        )
        return changed!
      }
      const unsent = {
        ...{ raw, subscription, outcome: "unknown" as const, error: null, height: null, hash: null, absences: 0 },
        ...{ since_height: since, next_look: 0, changed: now },
        ...{ sender: numbered?.sender ?? null, nonce: numbered?.number ?? null },
        ...{ cost: numbered === undefined ? null : String(numbered.cost) },
        ...ReservedNonces.tokenColumns(numbered?.tokens)
      }
      if (numbered !== undefined) yield* ReservedNonces.supersede(account, id, numbered)
      const [row] = yield* query((db) =>
        db
          .insertInto("broadcast")
          .values({ account, chain: id, transaction_id: transactionId, created: now, ...unsent })
          .onConflict((on) => on.columns(["chain", "transaction_id", "account"]).doUpdateSet(unsent))
          .returningAll()
      )
      return row!
    })
  )
})

const isSame = (row: Broadcast, { block, outcome }: Found) =>
  row.outcome === outcome &&
  (block === undefined ? row.height === null : row.hash !== null && Bytes.equal(row.hash, block.hash))

/** In a transaction that has the lock of the chain, whose height is `tip`. */
const write = Effect.fnUntraced(function* (
  chain: Chain,
  row: Broadcast,
  found: Found,
  { looked, tip }: { readonly looked: number; readonly tip: number | null }
) {
  const { query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const isLasting = isSame(row, found)
  const isOpen = found.outcome === "sent" || found.outcome === "unknown"
  // While it is open, a block may have it from where it was begun on, whatever was said in between.
  const since_height =
    isLasting || isOpen ? row.since_height : Math.max(row.since_height, tip ?? 0, found.block?.height ?? 0)
  const changed = {
    // PostgreSQL takes no NUL, and a contract may have a node say one: some nodes run a transaction before they take it.
    ...{ outcome: found.outcome, error: found.error?.replaceAll("\0", "") ?? null, absences: 0, since_height },
    ...{ height: found.block?.height ?? null, hash: found.block?.hash ?? null },
    next_look: isOpen ? looked + 1 : nextLook(chain, looked, looked - since_height),
    changed: isLasting ? row.changed : now
  }
  const next = { ...row, ...changed }
  const told = yield* OutcomeCallback.tell(chain, next, eventOf(next), now)
  yield* query((db) =>
    db
      .updateTable("broadcast")
      .set({ ...changed, ...told })
      .where("id", "=", row.id)
  )
})

/** In a transaction: a row under the lock of its chain, and the chain's height; undefined where it is gone. */
const locked = Effect.fnUntraced(function* (id: number) {
  const { query } = yield* Database
  const [before] = yield* query((db) => db.selectFrom("broadcast").select("chain").where("id", "=", id))
  if (before === undefined) return undefined
  const { height: tip } = yield* ChainRow.lock(before.chain)
  const [row] = yield* query((db) => db.selectFrom("broadcast").selectAll().where("id", "=", id))
  return row && { row, tip }
})

/** Writes what has become of a transaction, and the callback that tells it. */
export const record = Effect.fn("Broadcasts.record")(function* (chain: Chain, id: number, found: Found) {
  const { transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const there = yield* locked(id)
      if (there !== undefined) yield* write(chain, there.row, found, { looked: 0, tip: there.tip })
    })
  )
})

/** Whether anybody has written of a transaction since it was read: sent it again, or found out about it. */
const isOutdated = (read: Broadcast, row: Broadcast) =>
  row.outcome !== read.outcome ||
  row.changed !== read.changed ||
  row.absences !== read.absences ||
  row.next_look !== read.next_look

/**
 * As {@link record}, what a look has found that began with this row, at this height of the chain. Nothing is written where the
 * row has changed while nodes were asked: what they did not have then they may have been given since, and the next look says.
 */
export const recordLook = Effect.fn("Broadcasts.recordLook")(function* (
  chain: Chain,
  read: Broadcast,
  found: Found,
  looked: number
) {
  const { transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const there = yield* locked(read.id)
      if (there === undefined || isOutdated(read, there.row)) return
      yield* write(chain, there.row, found, { looked, tip: there.tip })
    })
  )
})

/**
 * Writes that the nodes that were asked refuse a transaction, and tells that, unless it is on its way meanwhile: another
 * request, or another process, may have had it taken by other nodes: then nothing is written, and the answer is false.
 */
export const refuse = Effect.fn("Broadcasts.refuse")(function* (chain: Chain, id: number, error: string) {
  const { transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const there = yield* locked(id)
      if (there === undefined || isOnItsWay(there.row)) return there === undefined
      yield* write(chain, there.row, { outcome: "failed", error }, { looked: 0, tip: there.tip })
      return true
    })
  )
})

/**
 * Takes note that no node had a transaction at this height of the chain; `times` in a row, this time included. Whoever has
 * looked at a later height since, or has told an outcome for good, knows better.
 */
export const miss = Effect.fn("Broadcasts.miss")(function* (id: number, looked: number, times: number) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      if ((yield* locked(id)) === undefined) return
      yield* query((db) =>
        db
          .updateTable("broadcast")
          .set({ absences: times, next_look: looked + 1 })
          .where("id", "=", id)
          .where("next_look", "<=", looked)
      )
    })
  )
})

/** Whether the block that had a transaction is still the recorded one at its height. */
export const isStillMined = Effect.fn("Broadcasts.isStillMined")(function* ({ chain, hash, height }: Broadcast) {
  if (height === null || hash === null) return false
  const block = yield* BlockRow.find(chain, height)
  return block !== undefined && Bytes.equal(block.hash, hash)
})

/** Whether any transaction of a row of `chain` is to be looked for. */
export const isWaiting = sql<boolean>`(
  select min(next_look) from broadcast b where b.chain = chain.id and b.next_look is not null
) <= chain.height`

/** The transactions that are to be looked for at this height of the chain, account by account. */
export const queue = (chain: number, height: number): DueAccounts.Queue<Broadcast> =>
  DueAccounts.queue(
    {
      ...{ table: "broadcast", number: "id", select: "select own.* from broadcast own" },
      placeOf: ({ account, id, next_look }) => ({ account, next: next_look!, id })
    },
    { chain, height }
  )

/** Rows of one step. */
const atOnce = 100

/** Forgets transactions whose outcome is final for so long, with the subscriptions that told it, in small steps. */
export const prune = Effect.fn("Broadcasts.prune")(function* (keptMillis: number) {
  const { numbers, query, transaction } = yield* Database
  const before = (yield* ProvenTime.now) - keptMillis
  const some = Effect.gen(function* () {
    const old = yield* query(
      rows(sql<Pick<Broadcast, "id" | "chain" | "subscription">>`
        select id, chain, subscription from broadcast where next_look is null and changed < ${before}
        order by chain, id limit ${atOnce}`)
    )
    const first = old[0]
    if (first === undefined) return false
    const own = old.filter(({ chain }) => chain === first.chain)
    yield* ChainRow.lockAndBumpRevision(first.chain)
    const subscriptions = own.flatMap(({ subscription }) => subscription ?? [])
    if (subscriptions.length > 0) {
      yield* Removal.removeOfBroadcasts(subscriptions)
    }
    yield* query(rows(sql`delete from broadcast where id in ${numbers(own.map(({ id }) => id))}`))
    return true
  })
  yield* SmallSteps.whileMore(transaction(some))
})
