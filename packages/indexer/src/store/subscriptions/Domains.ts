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
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "./CallbackState.ts"
import { HostPermission } from "./HostPermission.ts"

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

/** Reads a domain's token where its owner publishes it, and records that the domain is verified. */
export class DomainVerifier extends Context.Service<
  DomainVerifier,
  {
    readonly verify: (
      account: number,
      name: string
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
    /** Notes that the token was found; callbacks that waited for it become due. */
    readonly setVerified: (account: number, name: string) => Effect.Effect<Domain, DomainNotFound | DatabaseError>
    readonly isVerified: (account: number, host: string) => Effect.Effect<boolean, DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/Domains") {
  static readonly layer = Layer.effect(
    Domains,
    Effect.suspend(() => make)
  )
}

/** Lets callbacks go to hosts that their account has verified, and to those that the operator allows to everybody. */
export const hostPermission = (allowedHosts: ReadonlySet<string>): Layer.Layer<never, never, Domains> =>
  Layer.effect(
    HostPermission,
    Effect.map(
      Domains,
      (domains) => (account: number, host: string) =>
        allowedHosts.has(host) ? Effect.succeed(true) : domains.isVerified(account, host)
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

/** In a transaction. */
const setVerified = Effect.fnUntraced(function* (account: number, name: string) {
  const { lockRows, query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const rows = yield* query((db) =>
    db
      .updateTable("domain")
      .set({ verified: sql<number>`coalesce(verified, ${now})` })
      .where("account", "=", account)
      .where("name", "=", name)
      .returningAll()
  )
  const domain = yield* one(name, rows)
  // A process that is about to park a callback has this lock: the callback is seen below.
  yield* lockRows((db) =>
    db.selectFrom("subscription").select("id").where("account", "=", account).where("host", "=", name).orderBy("id")
  )
  yield* CallbackState.resume(
    sql`select id from subscription where account = ${account} and host = ${name} and active = 1`,
    now
  )
  return domain
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
    setVerified: Effect.fn("Domains.setVerified")((account, name) => database.transaction(setVerified(account, name))),
    isVerified: Effect.fnUntraced(function* (account, host) {
      const key = `${account} ${host}`
      if (known.has(key)) return true
      const verified = yield* isVerified(account, host)
      if (verified) known.add(key)
      return verified
    }, stored)
  })
})
