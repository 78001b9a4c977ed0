/** What became of a block: which callbacks it brought, in which state these are, and whether it was undone. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Bytes from "@headwater/core/Bytes"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as BlockRow from "../../database/BlockRow.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { CallbackState } from "../../database/tables/CallbackTables.ts"
import * as CallbackSummary from "./CallbackSummary.ts"
import * as HashText from "./HashText.ts"
import { inOrder, moment } from "./Moment.ts"
import * as Page from "./Page.ts"
import * as Scope from "./Scope.ts"

/** Callbacks of a block that are counted; a block may have a million. */
const countLimit = 20_000
/** Blocks among which one is looked for by its hash, which no index has. */
const hashLimit = 20_000

const heightOf = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, text: string) {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const hash = HashText.decode(text)
  return hash === undefined ? undefined : yield* heightOfHash(chain.id, hash)
})

/** The height of a block of the newest ones, or of one that was undone, by its hash; `among`: how many blocks are looked at. */
export const heightOfHash = Effect.fnUntraced(function* (chain: number, hash: Uint8Array, among = hashLimit) {
  const { read } = yield* Database
  const [found] = yield* read(
    rows(sql<{ height: number }>`
      select height from (
        select height, hash from block where chain = ${chain} order by height desc limit ${among}
      ) newest where hash = ${hash} limit 1`)
  )
  if (found !== undefined) return found.height
  const [undone] = yield* read(
    rows(sql<{ height: number }>`
      select fork_height + depth as height from reorganisation
      where chain = ${chain} and old_hash = ${hash} order by id desc limit 1`)
  )
  return undone === undefined ? undefined : Number(undone.height)
})

const callbacksAt = Effect.fnUntraced(function* (chain: number, height: number, scope: Scope.Scope) {
  const { read } = yield* Database
  const own = sql`chain = ${chain} and height = ${height} ${Scope.and(scope, "account")}`
  const states = yield* read(
    rows(sql<{ state: CallbackState; count: number; first: number; delivered: number | null }>`
      select state, count(*) as count, min(created) as first, max(delivered) as delivered
      from (select state, created, delivered from every_callback where ${own} limit ${countLimit}) counted group by state`)
  )
  const [matched] = yield* read(
    rows(sql<{ count: number }>`
      select count(distinct subscription) as count
      from (select subscription from every_callback where ${own} limit ${countLimit}) counted`)
  )
  const latest = yield* read(
    rows(
      sql<CallbackSummary.SummaryRow>`${CallbackSummary.select(
        sql`select id from every_callback where ${own} order by account desc, id desc limit ${Page.size}`
      )} order by c.id desc`
    )
  )
  return {
    states: states.map(({ count, ...row }) => ({ ...row, count: Number(count) })),
    subscriptions: Number(matched?.count ?? 0),
    latest: latest.map(CallbackSummary.of)
  }
})

const pendingAt = Effect.fnUntraced(function* (chain: number, height: number, scope: Scope.Scope) {
  const { read } = yield* Database
  const [row] = yield* read(
    rows(sql<{ count: number }>`
      select count(*) as count from (
        select 1 as one from waiting where chain = ${chain} and height = ${height} ${Scope.and(scope, "account")}
        limit ${countLimit}
      ) counted`)
  )
  return Number(row?.count ?? 0)
})

/** Matches of which not every callback is written. They are of no account. */
const unwrittenAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { read } = yield* Database
  const [row] = yield* read(
    rows(sql<{ count: number }>`
      select count(*) as count from matched where chain = ${chain} and height = ${height}`)
  )
  return Number(row?.count ?? 0)
})

/** What the record lacks of a block. */
const missingAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { read } = yield* Database
  const within = sql`chain = ${chain} and from_height <= ${height} and to_height >= ${height}`
  const skipped = yield* read(rows(sql`select 1 from skipped_blocks where ${within} limit 1`))
  const parts = yield* read(rows(sql<{ reason: string }>`select reason from missing_parts where ${within} limit 1`))
  const [unread] = yield* read(
    rows(sql<{ count: number }>`
      select count(*) as count from not_understood where chain = ${chain} and height = ${height}`)
  )
  const transactions = Number(unread?.count ?? 0)
  return [
    ...(skipped.length > 0 ? ["The block was skipped by an operator: nothing of it is recorded"] : []),
    ...parts.map(({ reason }) => `Internal transactions are missing: ${reason}`),
    ...(transactions > 0 ? [`Transactions that were not understood in full: ${transactions}`] : [])
  ]
})

const undoingsOf = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, height: number) {
  const { read } = yield* Database
  const known = Chain.ofName(chain.name)
  const found = yield* read((db) =>
    db
      .selectFrom("reorganisation")
      .select(["at", "fork_height", "depth", "old_hash"])
      .where("chain", "=", chain.id)
      .where("depth", ">", 0)
      .where("fork_height", "<", height)
      .where(sql<number>`fork_height + depth`, ">=", height)
      .orderBy("id", "desc")
      .limit(20)
  )
  return found.map(({ at, depth, fork_height, old_hash }) => ({
    ...{ at, depth, forkHeight: fork_height },
    oldHash: known === undefined ? "" : Hash.encode(known, old_hash)
  }))
})

/** The story of a block by its height, or by the hash of one of the newest blocks; undefined where there is none. */
export const read = Effect.fnUntraced(function* (chainName: string, text: string, scope: Scope.Scope) {
  const known = Chain.ofName(chainName)
  const chain = known === undefined ? undefined : yield* ChainRow.find(known)
  if (chain === undefined || known === undefined) return undefined
  const height = yield* heightOf(chain, text)
  if (height === undefined) return undefined
  const block = yield* BlockRow.find(chain.id, height)
  const asked = HashText.decode(text)
  const isUndone = asked !== undefined && !(block !== undefined && Bytes.equal(block.hash, asked))
  const callbacks = yield* callbacksAt(chain.id, height, scope)
  const reorganisations = yield* undoingsOf(chain, height)
  const pending = yield* pendingAt(chain.id, height, scope)
  const unwritten = scope === undefined ? yield* unwrittenAt(chain.id, height) : 0
  const total = callbacks.states.reduce((sum, { count }) => sum + count, 0)
  const [entered, accepted] = [
    callbacks.states.map(({ first }) => first),
    callbacks.states.flatMap((s) => s.delivered ?? [])
  ]
  const time = block === undefined ? null : block.time * 1000
  return {
    ...{ chain: chain.name, height, time, hash: block === undefined ? null : Hash.encode(known, block.hash) },
    ...{ tip: chain.height, confirmations: block === undefined ? null : chain.height! - height + 1 },
    ...{ committed: block !== undefined, final: chain.final_height !== null && height <= chain.final_height },
    ...{ subscriptionsMatched: callbacks.subscriptions, counted: total < countLimit, unwritten, pending },
    callbacks: callbacks.states.map(({ count, state }) => ({ state, count })),
    ...{ latest: callbacks.latest, reorganisations },
    missing: scope === undefined ? yield* missingAt(chain.id, height) : [],
    moments: inOrder([
      ...(time === null ? [] : [moment("event", time, "The block was made, by its own time")]),
      ...reorganisations.map(({ at, depth }) =>
        moment("bad", at, "A block at this height left the chain", `A reorganisation undid ${depth} blocks`)
      ),
      ...(entered.length === 0
        ? []
        : [moment("event", Math.min(...entered), "The first of its callbacks was entered", `Callbacks: ${total}`)]),
      ...(pending === 0 ? [] : [moment("wait", null, `Callbacks wait for confirmations: ${pending}`)]),
      ...(accepted.length === 0
        ? []
        : [moment("good", Math.max(...accepted), "The last of its callbacks was received")])
    ]),
    notKept: [
      "When the block was first seen and when it was committed is not kept",
      ...(isUndone ? ["The block of this hash has left the chain; what is shown is what is at its height now"] : []),
      ...(total < countLimit ? [] : [`The block has more callbacks than the ${countLimit} that are counted here`])
    ]
  }
})
