/** Subscriptions as sending needs them. */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import type { HostPermission } from "../HostPermission.ts"
import { parked } from "./CallbackIndexes.ts"

export type Receiver = Pick<
  Row<"subscription">,
  | "id"
  | "reference_id"
  | "account"
  | "host"
  | "callback_url"
  | "secret"
  | "previous_secret"
  | "previous_secret_until"
  | "active"
  | "last_sequence"
> & {
  /** 1 where callbacks of the subscription are parked. */
  readonly has_parked: number
}

const select = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, end: RawBuilder<unknown>) {
  if (ids.length === 0) return new Map<number, Receiver>()
  const { numbers, read } = yield* Database
  const found = yield* read(
    rows(sql<Receiver>`
      select id, reference_id, account, host, callback_url, secret, previous_secret, previous_secret_until, active,
        last_sequence,
        case when exists (
          select 1 from callback where ${parked} and callback.subscription = subscription.id
        ) then 1 else 0 end as has_parked
      from subscription where id in ${numbers(ids)} ${end}`)
  )
  return new Map(found.map((receiver) => [receiver.id, receiver]))
})

/** By their ids. */
export const find = (ids: ReadonlyArray<number>) => select(ids, sql.raw(""))

/** As {@link find}, those of them that no other transaction has locked, until the transaction ends. */
export const lock = (ids: ReadonlyArray<number>) =>
  Effect.flatMap(Database, ({ forUpdateSkipLocked }) => select(ids, forUpdateSkipLocked))

/** Accounts that are looked at for {@link some}. */
const accounts = 32

/** URLs that callbacks may be sent to: of some accounts, of each the first and the last host by name. */
export const some = Effect.fnUntraced(function* (mayReceive: typeof HostPermission.Service) {
  const { read } = yield* Database
  const found = yield* read(
    rows(sql<Pick<Row<"subscription">, "account" | "host" | "callback_url">>`
      select subscription.account, host, callback_url
      from (select id from account order by random() limit ${sql.lit(accounts)}) some
      join subscription on subscription.id in (
        (select first.id from subscription first where first.account = some.id order by first.host limit 1),
        (select last.id from subscription last where last.account = some.id order by last.host desc limit 1)
      )`)
  )
  const open = yield* Effect.filter(found, ({ account, host }) => mayReceive(account, host))
  return open.map(({ callback_url }) => callback_url)
})

/** The secrets that sign the subscription's callbacks at this moment. */
export const secretsOf = ({ previous_secret, previous_secret_until, reference_id, secret }: Receiver, now: number) => {
  if (secret === null) return Effect.succeed([])
  const used = previous_secret !== null && (previous_secret_until ?? 0) > now ? [secret, previous_secret] : [secret]
  return Effect.flatMap(Database, ({ secrets }) => Effect.forEach(used, (text) => secrets.open(text, reference_id)))
}
