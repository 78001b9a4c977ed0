/**
 * Who changed what, when, from where, and with which outcome. An entry is written in the transaction of its change, or in
 * the one that begins it where a change is several; wrong passwords of an hour are one entry that counts them. Entries are kept
 * for a year, and hold no secret.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ProvenTime from "../chain/ProvenTime.ts"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as Page from "./internal/Page.ts"

/** Who does something. */
export interface Actor {
  readonly user: string
  readonly role: string
  /** The address of the peer, or `command line`. */
  readonly from: string
}

/** The actor of everything that a command does. */
export const commandLine: Actor = { user: "command line", role: "command line", from: "command line" }

export interface Deed {
  /** As in `key.revoke`. */
  readonly action: string
  readonly subject: string
  /** The name of the account that is concerned. */
  readonly account?: string | undefined
  /** `done` if not given. */
  readonly outcome?: Row<"audit_entry">["outcome"] | undefined
  readonly detail?: string | undefined
}

const keptMillis = 366 * 86_400_000
const hourMillis = 3_600_000

/** Texts that others choose are cut; PostgreSQL takes no NUL. */
const cut = (text: string) => text.replaceAll("\0", "").slice(0, 300)

const rowOf = (actor: Actor, { account, action, detail, outcome = "done", subject }: Deed, at: number) => ({
  ...{ at, actor: cut(actor.user), role: actor.role, origin: cut(actor.from), action, outcome },
  ...{ subject: cut(subject), account: account === undefined ? null : cut(account) },
  detail: detail === undefined ? null : cut(detail)
})

/** Enters a deed, in the surrounding transaction if there is one. */
export const write = Effect.fn("AuditLog.write")(function* (actor: Actor, deed: Deed) {
  const { query } = yield* Database
  const at = yield* Clock.currentTimeMillis
  yield* query((db) => db.insertInto("audit_entry").values(rowOf(actor, deed, at)))
})

/** Runs a change and enters the deed in one transaction. */
export const during = <A, E, R>(actor: Actor, deed: Deed, change: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, ({ transaction }) => transaction(Effect.tap(change, () => write(actor, deed))))

/** Counts deeds that may be very many as one entry an hour for each actor, action and outcome; the last one is described. */
export const count = Effect.fn("AuditLog.count")(function* (actor: Actor, deed: Deed, times: number) {
  const { query } = yield* Database
  const at = yield* Clock.currentTimeMillis
  const row = rowOf(actor, deed, at)
  const repeat_key = JSON.stringify([row.action, row.outcome, row.actor, Math.floor(at / hourMillis)])
  yield* query((db) =>
    db
      .insertInto("audit_entry")
      .values({ ...row, times, repeat_key })
      .onConflict((on) =>
        on.column("repeat_key").doUpdateSet({
          ...{ at, origin: row.origin, subject: row.subject, account: row.account, detail: row.detail },
          times: sql<number>`audit_entry.times + ${times}`
        })
      )
  )
})

export interface Entry extends Actor {
  readonly id: number
  /** Milliseconds since the Unix epoch; of several times the last one. */
  readonly at: number
  readonly action: string
  readonly subject: string
  readonly account: string | null
  readonly outcome: Row<"audit_entry">["outcome"]
  readonly detail: string | null
  readonly count: number
}

export interface Which {
  /** Only entries with a lower id. */
  readonly before?: number | undefined
  readonly account?: string | undefined
  readonly user?: string | undefined
}

/** A page of entries, the newest first, and the id behind which the next page begins; null where there is none. */
export const read = Effect.fn("AuditLog.read")(function* ({ account, before, user }: Which) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("audit_entry")
      .selectAll()
      .$if(before !== undefined, (select) => select.where("id", "<", before!))
      .$if(account !== undefined, (select) => select.where("account", "=", account!))
      .$if(user !== undefined, (select) => select.where("actor", "=", user!))
      .orderBy("id", "desc")
      .limit(Page.size + 1)
  )
  const { hasMore, items } = Page.of(rows)
  return {
    items: items.map(
      ({ account, action, actor, at, detail, id, origin, outcome, role, subject, times }): Entry => ({
        ...{ id, at, user: actor, role, from: origin, action, subject, account, outcome, detail },
        count: Number(times)
      })
    ),
    next: hasMore ? items.at(-1)!.id : null
  }
})

/** Forgets what is older than a year. */
export const prune = Effect.gen(function* () {
  const { query } = yield* Database
  const before = (yield* ProvenTime.now) - keptMillis
  yield* query((db) => db.deleteFrom("audit_entry").where("at", "<", before))
}).pipe(Effect.withSpan("AuditLog.prune"))
