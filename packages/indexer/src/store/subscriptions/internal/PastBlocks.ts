/** Committed blocks that subscriptions on extended public keys are yet to be told of, since they paid addresses too early. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import { Database } from "../../database/Database.ts"
import { inChunks, rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as MissedUses from "./MissedUses.ts"
import * as UndoneBlocks from "../UndoneBlocks.ts"

/** Blocks that are entered at a time. */
const rangeAtOnce = 256

/** The heights from one to another, both among them, but no more than are entered at a time. */
export const range = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.min(rangeAtOnce, Math.max(0, to - from + 1)) }, (_, i) => from + i)

/** Whether a block was ever committed at a height: the first one may be far above, and others may have been skipped. */
const isCommitted = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) => db.selectFrom("chain").select("first_height").where("id", "=", chain))
  const skipped = yield* query((db) =>
    db.selectFrom("skipped_blocks").select(["from_height", "to_height"]).where("chain", "=", chain)
  )
  const first = row?.first_height ?? 0
  return (height: number) =>
    height >= first && !skipped.some(({ from_height, to_height }) => from_height <= height && height <= to_height)
})

/**
 * Blocks of which a subscription is to be told what it was not told yet, but those that its feed names as missed;
 * `fromAddress`: the row of the list with what is to be told, or the first of them. What is told of such a block in part
 * begins anew.
 */
export const add = Effect.fnUntraced(function* (
  chain: number,
  subscription: number,
  heights: ReadonlyArray<number>,
  fromAddress = 0
) {
  if (heights.length === 0) return
  const { insertMany } = yield* Database
  const isMissed = yield* MissedUses.isMissed(subscription)
  const isThere = yield* isCommitted(chain)
  yield* insertMany(
    "past_payment",
    heights
      .filter((height) => isThere(height) && !isMissed(height))
      .map((height) => ({ chain, height, subscription, from_address: fromAddress })),
    `on conflict (chain, height, subscription) do update set told = 0, from_address =
       case when excluded.from_address < past_payment.from_address
       then excluded.from_address else past_payment.from_address end`
  )
})

/**
 * What is told now, by the name `s`: subscriptions that blocks are matched against, whose addresses have all begun
 * again. What the others have stays until then.
 */
const isTold = sql<boolean>`${isMatched("s")} and not exists (
  select 1 from address_list l where l.subscription = s.id and l.begin_after is not null
)`

/** Whether anybody is to be told of any block of a row of `chain` now. */
export const isWaiting = sql<boolean>`(
  select 1 from extended_key k join subscription s on s.id = k.subscription
  where k.chain = chain.id and ${isTold} and exists (select 1 from past_payment p where p.subscription = s.id) limit 1
) is not null`

/** Accounts that are to be told of any block now. */
const accountsOf = Effect.fnUntraced(function* (chain: number) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<Pick<Row<"subscription">, "account">>`
      select distinct s.account from extended_key k join subscription s on s.id = k.subscription
      where k.chain = ${chain} and ${isTold} and exists (select 1 from past_payment p where p.subscription = s.id)
      order by s.account`)
  )
  return found.map(({ account }) => account)
})

/** The first block between two heights of which an account is to be told now. */
const firstOf = Effect.fnUntraced(function* (chain: number, account: number, above: number, below: number) {
  const { read } = yield* Database
  const [found] = yield* read(
    rows(sql<{ readonly height: number | null }>`
      select min((
        select min(p.height) from past_payment p
        where p.subscription = s.id and p.height > ${above} and p.height < ${below}
      )) as height
      from extended_key k join subscription s on s.id = k.subscription
      where k.chain = ${chain} and s.account = ${account} and ${isTold}`)
  )
  return found?.height ?? undefined
})

/** A block of which an account is to be told. */
export interface Next {
  readonly account: number
  readonly height: number
}

/** The next block that is to be told now: of one account after another, each of which may have very many. */
export const turns = (chain: number) => {
  let last = -1
  /** `after`: the heights of each account behind which the next one is. */
  return Effect.fnUntraced(function* (after: ReadonlyMap<number, number>) {
    const accounts = yield* accountsOf(chain)
    // What was told at these heights is not known before all is taken back that other blocks told there.
    const below = accounts.length === 0 ? undefined : yield* UndoneBlocks.lowest(chain)
    for (const account of [...accounts.filter((one) => one > last), ...accounts.filter((one) => one <= last)]) {
      const height = yield* firstOf(chain, account, after.get(account) ?? -1, below ?? Number.MAX_SAFE_INTEGER)
      if (height === undefined) continue
      last = account
      return { account, height: Number(height) } satisfies Next as Next
    }
    return undefined
  })
}

/** What a subscription is to be told of a block. */
export type Owed = Pick<Row<"past_payment">, "from_address" | "subscription" | "told">

/** Some of the subscriptions that are to be told of a block now, at most so many: first those that were told least of it. */
export const at = Effect.fnUntraced(function* (chain: number, height: number, most: number) {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom("past_payment as p")
      .innerJoin("subscription as s", "s.id", "p.subscription")
      .select(["p.subscription", "p.told", "p.from_address"])
      .where("p.chain", "=", chain)
      .where("p.height", "=", height)
      .where(isTold)
      .orderBy("p.told")
      .orderBy("p.subscription")
      .limit(most)
  )
})

/**
 * Whether an address of a subscription is one of those that are to be told: not one that the block was matched against when
 * it was committed, nor one of which it was told before.
 */
export const late = Effect.fnUntraced(function* (
  height: number,
  owed: ReadonlyArray<Owed>,
  addresses: ReadonlyArray<AddressBytes>
) {
  const { numbers, query } = yield* Database
  const found = yield* inChunks(addresses, (some) =>
    query((db) =>
      db
        .selectFrom("listed_address")
        .select(["id", "subscription", "address", "past_to"])
        .where(sql<boolean>`subscription in ${numbers(owed.map(({ subscription }) => subscription))}`)
        .where("address", "in", some)
        .where("left_revision", "is", null)
    )
  )
  const from = new Map(owed.map(({ from_address, subscription }) => [subscription, from_address]))
  const wanted = found.filter(
    ({ id, past_to, subscription }) => id >= from.get(subscription)! && (past_to === null || past_to >= height)
  )
  const nameOf = (subscription: number, address: Uint8Array) => `${subscription} ${Bytes.key(address)}`
  const names = new Set(wanted.map(({ address, subscription }) => nameOf(subscription, address)))
  return (subscription: number, address: Uint8Array) => names.has(nameOf(subscription, address))
})

/** The occurrences of a block that one transaction tells. */
export interface Part extends Pick<Owed, "subscription"> {
  /** Of the subscription's own occurrences, in their order: the first, and the first behind the last. */
  readonly from: number
  readonly end: number
  readonly isLast: boolean
}

/** The next parts of what is owed, `most` occurrences together; `counts`: how many each subscription has in all. */
export const partsOf = (owed: ReadonlyArray<Owed>, counts: ReadonlyMap<number, number>, most: number) => {
  let left = most
  return owed.map(({ subscription, told }): Part => {
    const count = counts.get(subscription) ?? 0
    const end = Math.min(count, told + left)
    left -= Math.max(0, end - told)
    return { subscription, from: told, end, isLast: end === count }
  })
}

/** These parts have been told. */
export const pass = Effect.fnUntraced(function* (chain: number, height: number, parts: ReadonlyArray<Part>) {
  const { query } = yield* Database
  const of = (subscriptions: ReadonlyArray<number>) => sql<boolean>`
    chain = ${chain} and height = ${height} and subscription in (${sql.join(subscriptions)})`
  const last = parts.filter(({ isLast }) => isLast).map(({ subscription }) => subscription)
  if (last.length > 0) yield* query((db) => db.deleteFrom("past_payment").where(of(last)))
  for (const { end, from, isLast, subscription } of parts) {
    if (isLast || end === from) continue
    yield* query((db) =>
      db
        .updateTable("past_payment")
        .set({ told: end })
        .where(of([subscription]))
    )
  }
})
