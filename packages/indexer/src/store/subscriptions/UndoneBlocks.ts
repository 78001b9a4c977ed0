/**
 * Takes back what very many callbacks told of blocks that have left the chain: in small steps behind the undo, so that
 * the chain goes on meanwhile. The undo notes each block with the accounts that have anything of it; the steps take one
 * account after another, and of an account its newest block first, in transactions of their own: a kill between any two
 * loses nothing, and any process that has the chain goes on.
 *
 * An account is told as if the blocks had left the chain a little later: whatever the chain has for it meanwhile, matches
 * and confirmations, is left to steps and waits until everything is taken back. Other accounts wait for nothing of that:
 * commits tell them by themselves, at addresses that they share with it too.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as PendingConfirmations from "./PendingConfirmations.ts"
import * as Retractions from "./Retractions.ts"
import * as RevertedBlocks from "./RevertedBlocks.ts"

/** The blocks that leave a chain: those above `fork`, the last of which is `tip`. */
export interface Leaving {
  readonly fork: number
  readonly tip: Uint8Array
  /** The chain's revision. */
  readonly revision: number
  /** Whether an operator has rewound them, so that what was sent is as true as before where they come again. */
  readonly rewound: boolean
  /** Blocks whose leaving is told to subscriptions. */
  readonly reverted: ReadonlyArray<RevertedBlocks.RevertedBlock>
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/**
 * The heights above `fork` at which a table has rows of a chain, and the accounts of each, without a look at every row. An
 * account of -1 stands for the beginning of a height.
 */
const pairs = Effect.fnUntraced(function* (table: "every_callback" | "waiting", chain: number, fork: number) {
  const { query } = yield* Database
  const of = sql.raw(table)
  const account = sql`
    (select min(account) from ${of} where chain = ${chain} and height = pair.height and account > pair.account)`
  return yield* query(
    rows(sql<{ height: number; account: number }>`
      with recursive pair(height, account) as (
        select (select min(height) from ${of} where chain = ${chain} and height > ${fork}), cast(-1 as bigint)
        union all
        select
          case when ${account} is null
            then (select min(height) from ${of} where chain = ${chain} and height > pair.height) else pair.height end,
          coalesce(${account}, -1)
        from pair where height is not null
      )
      select height, account from pair where account >= 0 and height is not null`)
  )
})

/**
 * Whether a callback is of a block that has left the chain, and is to be taken back: until then nobody is sent it.
 * Of rows of `callback`, as the text of a statement.
 */
export const hasLeft = `exists (
    select 1 from undoing join undone_block on undone_block.id = undoing.undone
    where undoing.chain = callback.chain and undoing.account = callback.account and callback.id < undoing.callback
      and undone_block.height = callback.height
  )`

/** Whether the callback is one of these and has no number: nobody has heard of it, and it is deleted. */
export const isUntold = `case when callback.sequence is null and ${hasLeft} then 1 else 0 end`

/** Those of a list that are to be heard of: no number waits for what will be forgotten. */
export const withoutUntold = <A extends { readonly is_untold: number }>(list: ReadonlyArray<A>): ReadonlyArray<A> =>
  list.filter(({ is_untold }) => is_untold === 0)

/** The lowest height of which something is still to be taken back, if any is. */
export const lowest = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom("undone_block")
      .select((select) => select.fn.min("height").as("height"))
      .where("chain", "=", chain)
  )
  return row?.height ?? undefined
})

/** Whether something is still to be taken back that blocks at the height, or lower, told: what was told there is not known yet. */
export const mayReach = (chain: number, height: number) =>
  Effect.map(lowest(chain), (undone) => undone !== undefined && undone <= height)

/**
 * Whether the blocks above `fork` have more than `most` that is to be taken back, or told; or whether something of earlier
 * blocks is, which goes before.
 */
export const areMany = Effect.fnUntraced(function* (
  chain: number,
  { fork, reverted }: Pick<Leaving, "fork" | "reverted">,
  most: number
) {
  const { query } = yield* Database
  if ((yield* lowest(chain)) !== undefined) return true
  const ofBlocks = sql`chain = ${chain} and height > ${fork} limit ${most + 1}`
  const found = yield* query(
    rows(sql`
      select 1 from (select id from every_callback where ${ofBlocks}) callbacks
      union all
      select 1 from (select id from waiting where ${ofBlocks}) pending`)
  )
  if (found.length > most) return true
  const subscribers = reverted.length === 0 ? [] : yield* RevertedBlocks.subscribersOf(chain, most + 1)
  return found.length + subscribers.length * reverted.length > most
})

/** Forgets rewound blocks above a height that leave for good: more than what is to be done for them is done then. */
const forgetRewound = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { query } = yield* Database
  const rewound = sql`chain = ${chain} and height > ${fork} and rewound = 1`
  yield* query(rows(sql`delete from undoing where undone in (select id from undone_block where ${rewound})`))
  yield* query(rows(sql`delete from undone_block where ${rewound}`))
})

/** In the transaction in which blocks leave: leaves to the steps what they told. */
export const leave = Effect.fnUntraced(function* (chain: number, leaving: Leaving) {
  const { insertMany, query } = yield* Database
  const { at, fork, reverted, revision, rewound, tip } = leaving
  if (!rewound) yield* forgetRewound(chain, fork)
  const [before] = yield* query(
    rows(sql<{ undone: number; callbacks_before: number; pending_before: number }>`
      select
        (select coalesce(max(id), 0) from undone_block) as undone,
        (select coalesce(max(id), 0) + 1 from every_callback) as callbacks_before,
        (select coalesce(max(id), 0) + 1 from waiting) as pending_before`)
  )
  const { callbacks_before, pending_before, undone } = before!
  const subscribed = reverted.length === 0 ? [] : yield* RevertedBlocks.accountsOf(chain)
  const blocks = subscribed.length === 0 ? [] : reverted
  const found = [...(yield* pairs("every_callback", chain, fork)), ...(yield* pairs("waiting", chain, fork))]
  const accountsOf = new Map(blocks.map(({ height }) => [height, new Set(subscribed)]))
  for (const { account, height } of found) accountsOf.set(height, (accountsOf.get(height) ?? new Set()).add(account))
  const blockAt = new Map(blocks.map((block) => [block.height, block]))
  yield* insertMany(
    "undone_block",
    [...accountsOf.keys()]
      .sort((a, b) => b - a)
      .map((height) => ({
        ...{ chain, height, tip, revision, at, callbacks_before, pending_before, rewound: rewound ? 1 : 0 },
        ...{ hash: blockAt.get(height)?.hash ?? null, time: blockAt.get(height)?.time ?? 0 }
      }))
  )
  const noted = yield* query((db) =>
    db.selectFrom("undone_block").select(["id", "height"]).where("chain", "=", chain).where("id", ">", undone)
  )
  const asks = new Set(subscribed)
  yield* insertMany(
    "undoing",
    noted.flatMap(({ height, id }) =>
      [...accountsOf.get(height)!].map((account) => ({
        ...{ chain, account, undone: id, callback: callbacks_before },
        subscription: blockAt.has(height) && asks.has(account) ? 0 : null
      }))
    )
  )
})

/** Accounts of which something is still to be taken back. */
export const accounts = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const found = yield* query((db) => db.selectFrom("undoing").select("account").distinct().where("chain", "=", chain))
  return new Set(found.map(({ account }) => account))
})

type Undoing = Pick<Row<"undoing">, "subscription" | "callback" | "account"> & Row<"undone_block">

/** The newest block of the first undo of which something is to be taken back for the account. */
const next = Effect.fnUntraced(function* (chain: number, account: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom("undoing")
      .innerJoin("undone_block", "undone_block.id", "undoing.undone")
      .selectAll("undone_block")
      .select(["undoing.subscription", "undoing.callback", "undoing.account"])
      .where("undoing.chain", "=", chain)
      .where("undoing.account", "=", account)
      .orderBy("undoing.undone")
      .limit(1)
  )
  return row
})

/** The next callbacks of the account in the block, the newest first. */
const callbacksOf = Effect.fnUntraced(function* ({ account, callback, chain, height }: Undoing, most: number) {
  const { query } = yield* Database
  const found = yield* query(
    rows(sql<{ id: number }>`
      select id from every_callback
      where chain = ${chain} and height = ${height} and account = ${account} and id < ${callback}
      order by id desc limit ${most}`)
  )
  return found.map(({ id }) => id)
})

/** Takes back some of what an account has of a block; how many rows, and how far. */
const takeBackSome = Effect.fnUntraced(function* (chain: Chain, at: Undoing, most: number) {
  const { account, chain: id, hash, height, pending_before, rewound, tip } = at
  if (hash !== null && at.subscription !== null) {
    const told = yield* RevertedBlocks.tellSome(chain, at, { ...at, hash, after: at.subscription }, most)
    return { done: told.length, hasLocked: false, left: { subscription: told.length < most ? null : told.at(-1)! } }
  }
  const ofAccount = sql`chain = ${id} and height = ${height} and account = ${account} and id < ${pending_before}`
  const pending = yield* PendingConfirmations.removeSome(ofAccount, most)
  if (pending === most) return { done: most, hasLocked: false, left: {} }
  const ids = yield* callbacksOf(at, most - pending)
  if (ids.length > 0) {
    yield* Retractions.withdrawSome(ids)
    if (rewound === 0) yield* Retractions.takeBackSome(ids, { chain: id, tip }, at.at)
  }
  const isDone = ids.length < most - pending
  const hasLocked = ids.length > 0
  return { done: pending + ids.length, hasLocked, left: isDone ? undefined : { callback: ids.at(-1)! } }
})

/**
 * In a transaction that has the lock of the chain: takes back up to `most` rows of an account, and callbacks of one block
 * alone; how many. Who gives positions in the account's feed locks its subscriptions in the order of their ids, as this does
 * once: a second time it would wait for who waits for it.
 */
export const takeBack = Effect.fnUntraced(function* (chain: Chain, id: number, account: number, most: number) {
  const { query } = yield* Database
  let all = 0
  for (let budget = most; budget > 0; ) {
    const at = yield* next(id, account)
    if (at === undefined) break
    const { done, hasLocked, left } = yield* takeBackSome(chain, at, budget)
    budget -= Math.max(1, done)
    all += done
    const which = sql`chain = ${id} and account = ${account} and undone = ${at.id}`
    if (left === undefined) {
      yield* query(rows(sql`delete from undoing where ${which}`))
      yield* query(
        rows(
          sql`delete from undone_block
          where id = ${at.id} and not exists (select 1 from undoing where undone = undone_block.id)`
        )
      )
    } else if (Object.keys(left).length > 0) {
      yield* query((db) => db.updateTable("undoing").set(left).where(sql<boolean>`${which}`))
    }
    if (hasLocked) break
  }
  return all
})
