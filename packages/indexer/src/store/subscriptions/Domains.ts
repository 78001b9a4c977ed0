/**
 * The hosts that accounts want callbacks on, and which of these hosts they have proved to control.
 *
 * A proof belongs to one account: its token is random and nobody else's, so that no account sends callbacks to a host
 * that only another one has verified. Proofs are never taken back.
 */
import { randomBytes } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as Limits from "../accounts/Limits.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { callbacksAtOnce, whileMore } from "../database/SmallSteps.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import { HostPermission, HostPermissions, type Target } from "./HostPermission.ts"
import * as CallbackIndexes from "./internal/CallbackIndexes.ts"

export interface Domain {
  /** A host name in lower case. */
  readonly name: string
  /** What its owner publishes there. */
  readonly token: string
  /** Milliseconds since the Unix epoch. */
  readonly created: number
  /** When the token was found; undefined until then. */
  readonly verified: number | undefined
}

/** The account has added no such domain. */
export class DomainNotFound extends Schema.TaggedError<DomainNotFound>()("DomainNotFound", { name: Schema.String }) {
  override get message() {
    return `The account has no domain "${this.name}"`
  }
}

/** The token is in neither place where it may be published. */
export class DomainNotVerified extends Schema.TaggedError<DomainNotVerified>()("DomainNotVerified", {
  name: Schema.String,
  /** What the DNS record and the file have instead. */
  dns: Schema.String,
  file: Schema.String
}) {
  override get message() {
    return `The challenge of "${this.name}" was found neither in DNS (${this.dns}) nor in the file (${this.file})`
  }
}

/** Reads a domain's token where its owner publishes it, and records that the domain is verified; `also` in the same transaction. */
export class DomainVerifier extends Context.Service<
  DomainVerifier,
  {
    readonly verify: (
      account: number,
      name: string,
      also?: Effect.Effect<void, DatabaseError>
    ) => Effect.Effect<Domain, DomainNotFound | DomainNotVerified | DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/Domains/DomainVerifier") {}

/** Where the token may be published: the name of a TXT record, and the URL of a text file. */
export const challengeRecord = (name: string): string => `_headwater-challenge.${name}`
export const challengeUrl = (name: string): string => `https://${name}/.well-known/headwater-challenge.txt`

export class Domains extends Context.Service<
  Domains,
  {
    /** Makes a token for the domain; the same one every time. */
    readonly add: (account: number, name: string) => Effect.Effect<Domain, Limits.LimitReached | DatabaseError>
    readonly list: (account: number) => Effect.Effect<ReadonlyArray<Domain>, DatabaseError>
    readonly get: (account: number, name: string) => Effect.Effect<Domain, DomainNotFound | DatabaseError>
    /** Counts a look for a token, which is limited by the hour. */
    readonly countVerification: (account: number) => Effect.Effect<void, Limits.LimitReached | DatabaseError>
    /** Notes that the token was found; callbacks that waited for it become due. `also` is done in the same transaction. */
    readonly setVerified: (
      account: number,
      name: string,
      also?: Effect.Effect<void, DatabaseError>
    ) => Effect.Effect<Domain, DomainNotFound | DatabaseError>
    readonly isVerified: (account: number, host: string) => Effect.Effect<boolean, DatabaseError>
    /** The same of many, in their order. */
    readonly areVerified: (targets: ReadonlyArray<Target>) => Effect.Effect<ReadonlyArray<boolean>, DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/Domains") {
  static readonly layer = Layer.effect(
    Domains,
    Effect.suspend(() => make)
  )
}

/** Lets callbacks go to hosts that their account has verified, and to those that the operator allows to everybody. */
export const hostPermission = (allowedHosts: ReadonlySet<string>): Layer.Layer<never, never, Domains> =>
  Layer.merge(
    Layer.effect(
      HostPermission,
      Effect.map(
        Domains,
        (domains) => (account: number, host: string) =>
          allowedHosts.has(host) ? Effect.succeed(true) : domains.isVerified(account, host)
      )
    ),
    Layer.effect(
      HostPermissions,
      Effect.map(
        Domains,
        ({ areVerified }) =>
          (targets: ReadonlyArray<Target>) =>
            Effect.map(areVerified(targets), (verified) =>
              targets.map(({ host }, i) => allowedHosts.has(host) || verified[i]!)
            )
      )
    )
  )

const toDomain = ({ created, name, token, verified }: Row<"domain">): Domain => ({
  name,
  token,
  created,
  verified: verified ?? undefined
})

const one = (name: string, rows: ReadonlyArray<Row<"domain">>) =>
  rows[0] === undefined ? Effect.fail(new DomainNotFound({ name })) : Effect.succeed(toDomain(rows[0]))

const get = Effect.fnUntraced(function* (account: number, name: string) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db.selectFrom("domain").selectAll().where("account", "=", account).where("name", "=", name)
  )
  return yield* one(name, rows)
})

/** In a transaction. */
const add = Effect.fnUntraced(function* (account: number, name: string, limits: Limits.Maxima) {
  const { query } = yield* Database
  yield* Limits.lockAccount(account)
  const present = yield* Effect.result(get(account, name))
  if (Result.isSuccess(present)) return present.success
  if (present.failure._tag === "DatabaseError") return yield* present.failure
  yield* Limits.check("domains", yield* Limits.domainsOf(account), limits)
  const created = yield* Clock.currentTimeMillis
  const token = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
  yield* query((db) =>
    db
      .insertInto("domain")
      .values({ account, name, token, created, verified: null })
      .onConflict((on) => on.columns(["account", "name"]).doNothing())
  )
  return yield* Effect.catchTag(get(account, name), "DomainNotFound", Effect.die)
})

const list = Effect.fnUntraced(function* (account: number) {
  const { read } = yield* Database
  const rows = yield* read((db) => db.selectFrom("domain").selectAll().where("account", "=", account).orderBy("name"))
  return rows.map(toDomain)
})

const note = Effect.fnUntraced(function* (account: number, name: string) {
  const { query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const rows = yield* query((db) =>
    db
      .updateTable("domain")
      .set({ verified: sql<number>`coalesce(verified, ${now})` })
      .where("account", "=", account)
      .where("name", "=", name)
      .returningAll()
  )
  return yield* one(name, rows)
})

/** Subscriptions that one step looks at. */
const page = 1_000

/**
 * In a transaction: lets parked callbacks of some subscriptions behind `after` go to a host that was verified; the last of
 * these, or undefined where there are no more. Who sends lets the others of these go.
 */
const resumeSome = Effect.fnUntraced(function* (account: number, host: string, after: number) {
  const { forUpdate, numbers, query } = yield* Database
  // A process that is about to park a callback has this lock: the callback is seen below.
  const found = yield* query((db) =>
    db
      .selectFrom("subscription")
      .select(["id", "active"])
      .where("account", "=", account)
      .where("host", "=", host)
      .where("id", ">", after)
      .orderBy("id")
      .limit(page)
      .modifyEnd(forUpdate)
  )
  const active = found.flatMap(({ active, id }) => (active === 1 ? [id] : []))
  const parked = yield* query(
    rows(sql<{ id: number }>`
      select id from subscription where id in ${numbers(active)}
        and exists (select 1 from callback where ${CallbackIndexes.parked} and callback.subscription = subscription.id)
      order by id`)
  )
  const now = yield* Clock.currentTimeMillis
  let left = callbacksAtOnce
  for (const { id } of parked) {
    left -= yield* CallbackState.resume(id, now, left)
    if (left === 0) return id
  }
  return found.length < page ? undefined : found.at(-1)!.id
})

const isVerified = Effect.fnUntraced(function* (account: number, host: string) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db
      .selectFrom("domain")
      .select("id")
      .where("account", "=", account)
      .where("name", "=", host)
      .where("verified", "is not", null)
  )
  return rows.length > 0
})

const areVerified = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
  const { read } = yield* Database
  const accounts = [...new Set(targets.map(({ account }) => account))]
  const found = yield* inChunks(accounts, (some) =>
    read((db) =>
      db.selectFrom("domain").select(["account", "name"]).where("account", "in", some).where("verified", "is not", null)
    )
  )
  const verified = new Set(found.map(({ account, name }) => `${account} ${name}`))
  return targets.map(({ account, host }) => verified.has(`${account} ${host}`))
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const stored = Effect.provideService(Database, database)
  const limits = yield* Limits.Limits
  /** Asked at every lease; a proof is never taken back, so it need not be looked up twice. */
  const known = new Set<string>()

  return Domains.of({
    add: Effect.fn("Domains.add")((account, name) => database.transaction(add(account, name, limits)), stored),
    list: Effect.fn("Domains.list")(list, stored),
    get: Effect.fn("Domains.get")(get, stored),
    countVerification: (account) => stored(Limits.countVerification(account, limits)),
    setVerified: Effect.fn("Domains.setVerified")(function* (account, name, also = Effect.void) {
      const domain = yield* database.transaction(Effect.tap(note(account, name), also))
      let after = 0
      yield* whileMore(
        Effect.map(
          Effect.suspend(() => database.transaction(resumeSome(account, name, after))),
          (last) => {
            after = last ?? after
            return last !== undefined
          }
        )
      )
      return domain
    }, stored),
    isVerified: Effect.fnUntraced(function* (account, host) {
      const key = `${account} ${host}`
      if (known.has(key)) return true
      const verified = yield* isVerified(account, host)
      if (verified) known.add(key)
      return verified
    }, stored),
    areVerified: Effect.fn("Domains.areVerified")(areVerified, stored)
  })
})
