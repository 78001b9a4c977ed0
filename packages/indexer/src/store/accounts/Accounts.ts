/**
 * Accounts and their API keys.
 *
 * A key is 256 random bits, shown once. The store keeps only the key's SHA-256, which is enough for a key that cannot be guessed.
 */
import { hash as digestOf, randomBytes, timingSafeEqual } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SteadyTime from "../../SteadyTime.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { prepared } from "../database/Prepared.ts"
import type { Row } from "../database/Tables.ts"
import * as RememberedCallers from "./internal/RememberedCallers.ts"

export type { Caller } from "./internal/RememberedCallers.ts"

export interface Account {
  readonly id: number
  readonly name: string
  /** Milliseconds since the Unix epoch. */
  readonly created: number
  /** Whether a callback is followed by a retraction when its block leaves the chain. */
  readonly retractions: boolean
}

/** A key as the store knows it: without the key itself. */
export interface ApiKey {
  /** The first bytes of the key's hash: they name the key, and do not help to find it. */
  readonly id: string
  readonly name: string
  /** Operations that the key may call, as `group.endpoint` or `group.*`; undefined for all. */
  readonly endpoints: ReadonlyArray<string> | undefined
  /** Whether the key may call only what changes nothing. */
  readonly readOnly: boolean
  /** Milliseconds since the Unix epoch. */
  readonly created: number
  readonly revoked: number | undefined
  /** When the key ends; undefined for never. */
  readonly expires: number | undefined
  /** When the key was used, an hour late at most; undefined for never. */
  readonly lastUsed: number | undefined
}

export interface NewKey {
  readonly name: string
  /** Operations as `group.endpoint`, or all of a group as `group.*`; all if not given. The store takes any name. */
  readonly endpoints?: ReadonlyArray<string> | undefined
  readonly readOnly?: boolean | undefined
  /** Milliseconds since the Unix epoch; never if not given. */
  readonly expires?: number | undefined
}

/** No account is given such a name. */
export class InvalidAccountName extends Schema.TaggedError<InvalidAccountName>()("InvalidAccountName", {
  name: Schema.String
}) {
  override get message() {
    return (
      `${JSON.stringify(this.name)} is no name of an account: it must have 1 to ${maxNameLength} characters, no control ` +
      'characters, no space at its ends, and not be "." or ".."'
    )
  }
}

/** No key is given such a name. */
export class InvalidKeyName extends Schema.TaggedError<InvalidKeyName>()("InvalidKeyName", {
  name: Schema.String
}) {
  override get message() {
    return (
      `${JSON.stringify(this.name)} is no name of a key: it must have 1 to ${maxKeyNameLength} characters, no control ` +
      "characters, and no space at its ends"
    )
  }
}

/** An account of this name exists. */
export class DuplicateAccount extends Schema.TaggedError<DuplicateAccount>()("DuplicateAccount", {
  name: Schema.String
}) {
  override get message() {
    return `An account named "${this.name}" exists`
  }
}

/** No account has this name. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", {
  name: Schema.String
}) {
  override get message() {
    return `No account is named "${this.name}"`
  }
}

/** The account has no key of this id. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { id: Schema.String }) {
  override get message() {
    return `The account has no key "${this.id}"`
  }
}

export class Accounts extends Context.Service<
  Accounts,
  {
    readonly create: (name: string) => Effect.Effect<Account, InvalidAccountName | DuplicateAccount | DatabaseError>
    readonly rename: (
      account: number,
      name: string
    ) => Effect.Effect<void, InvalidAccountName | DuplicateAccount | DatabaseError>
    readonly list: Effect.Effect<ReadonlyArray<Account>, DatabaseError>
    readonly find: (name: string) => Effect.Effect<Account, AccountNotFound | DatabaseError>
    /** The account of an id; undefined where it was removed. */
    readonly get: (id: number) => Effect.Effect<Account | undefined, DatabaseError>
    /** Whether callbacks whose block leaves the chain are followed by retractions; off at first. */
    readonly setRetractions: (account: number, wanted: boolean) => Effect.Effect<void, DatabaseError>
    /** Makes a key. This is the only moment at which the key can be read. */
    readonly createKey: (
      account: number,
      options: NewKey
    ) => Effect.Effect<{ readonly key: Redacted.Redacted; readonly id: string }, InvalidKeyName | DatabaseError>
    readonly listKeys: (account: number) => Effect.Effect<ReadonlyArray<ApiKey>, DatabaseError>
    /** Revokes for good; a key that is revoked already stays so. */
    readonly revokeKey: (account: number, id: string) => Effect.Effect<void, KeyNotFound | DatabaseError>
    /** The caller of a key; undefined where the key is unknown, revoked or expired. */
    readonly authenticate: (
      key: Redacted.Redacted
    ) => Effect.Effect<RememberedCallers.Caller | undefined, DatabaseError>
  }
>()("@headwater/indexer/store/accounts/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.suspend(() => make)
  )
}

const keyPrefix = "hw_"
const idLength = 12
const maxNameLength = 64
const maxKeyNameLength = 100

/** What stays in its place in a line of a terminal or a page. */
const isLegible = (name: string, most: number) =>
  name.length <= most && /^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u.test(name)

/** Uses of a key are noted so far apart, in milliseconds. */
const noteMillis = 3_600_000

/** "." and "..", however they are encoded, are no part of a URL's path, in which the console asks for an account. */
const checkName = (name: string) =>
  isLegible(name, maxNameLength) && !/^\.{1,2}$/.test(name) ? Effect.void : new InvalidAccountName({ name })

/** The hash in hexadecimal digits: text is made, and found among what is remembered, in a third of the time of bytes. */
const digitsOf = (key: Redacted.Redacted): string => digestOf("sha256", Redacted.value(key), "hex")

const hashOf = (digits: string): Buffer => Buffer.from(digits, "hex")

const idOf = (hash: Uint8Array) => Buffer.from(hash).toString("hex").slice(0, idLength)

const Endpoints = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeEndpoints = Schema.decodeUnknownEffect(Endpoints)

/** Written by this module only: anything else in there is a defect. */
const endpointsOf = (row: Pick<Row<"api_key">, "endpoints">) =>
  row.endpoints === null ? Effect.undefined : Effect.orDie(decodeEndpoints(row.endpoints))

const toAccount = ({ created, id, name, retractions }: Row<"account">): Account => ({
  id,
  name,
  created,
  retractions: retractions === 1
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const scope = yield* Effect.scope
  const remembered = RememberedCallers.make()
  /** Keys whose use is being noted. */
  const noting = new Set<string>()

  const unlessDuplicate =
    (name: string) =>
    <A, R>(written: Effect.Effect<A, DatabaseError, R>) =>
      Effect.catchIf(
        written,
        (error) => error.duplicate,
        () => Effect.fail(new DuplicateAccount({ name }))
      )

  const create = Effect.fn("Accounts.create")(function* (name: string) {
    yield* checkName(name)
    const created = yield* Clock.currentTimeMillis
    const [row] = yield* database
      .query((db) => db.insertInto("account").values({ name, created }).returningAll())
      .pipe(unlessDuplicate(name))
    return toAccount(row!)
  })

  const rename = Effect.fn("Accounts.rename")(function* (account: number, name: string) {
    yield* checkName(name)
    yield* database
      .query((db) => db.updateTable("account").set({ name }).where("id", "=", account))
      .pipe(unlessDuplicate(name))
  })

  const list = Effect.map(
    database.read((db) => db.selectFrom("account").selectAll().orderBy("id")),
    (rows) => rows.map(toAccount)
  )

  const find = Effect.fn("Accounts.find")(function* (name: string) {
    const [row] = yield* database.read((db) => db.selectFrom("account").selectAll().where("name", "=", name))
    return row === undefined ? yield* new AccountNotFound({ name }) : toAccount(row)
  })

  const get = Effect.fn("Accounts.get")(function* (id: number) {
    const [row] = yield* database.read((db) => db.selectFrom("account").selectAll().where("id", "=", id))
    return row === undefined ? undefined : toAccount(row)
  })

  const setRetractions = Effect.fn("Accounts.setRetractions")(function* (account: number, wanted: boolean) {
    yield* database.query((db) =>
      db
        .updateTable("account")
        .set({ retractions: wanted ? 1 : 0 })
        .where("id", "=", account)
    )
  })

  const createKey: Accounts["Service"]["createKey"] = Effect.fn("Accounts.createKey")(function* (account, options) {
    const { name } = options
    if (!isLegible(name, maxKeyNameLength)) return yield* new InvalidKeyName({ name })
    const created = yield* Clock.currentTimeMillis
    const key = yield* Effect.sync(() => Redacted.make(`${keyPrefix}${randomBytes(32).toString("base64url")}`))
    const hash = hashOf(digitsOf(key))
    const endpoints = options.endpoints === undefined ? null : JSON.stringify(options.endpoints)
    yield* database.query((db) =>
      db.insertInto("api_key").values({
        ...{ hash, account, name, endpoints, created, revoked: null },
        expires: options.expires ?? null,
        read_only: options.readOnly === true ? 1 : 0
      })
    )
    return { key, id: idOf(hash) }
  })

  const keys = (account: number) =>
    database.read((db) => db.selectFrom("api_key").selectAll().where("account", "=", account).orderBy("created"))

  const listKeys = Effect.fn("Accounts.listKeys")(function* (account: number) {
    return yield* Effect.forEach(yield* keys(account), (row) =>
      Effect.map(
        endpointsOf(row),
        (endpoints): ApiKey => ({
          id: idOf(row.hash),
          name: row.name,
          endpoints,
          readOnly: row.read_only === 1,
          created: row.created,
          revoked: row.revoked ?? undefined,
          expires: row.expires ?? undefined,
          lastUsed: row.last_used ?? undefined
        })
      )
    )
  })

  const revokeKey = Effect.fn("Accounts.revokeKey")(function* (account: number, id: string) {
    const row = (yield* keys(account)).find(({ hash }) => idOf(hash) === id)
    if (row === undefined) return yield* new KeyNotFound({ id })
    const revoked = yield* Clock.currentTimeMillis
    yield* database.query((db) =>
      db.updateTable("api_key").set({ revoked }).where("hash", "=", row.hash).where("revoked", "is", null)
    )
    remembered.clear()
  })

  const byHash = prepared((db, hash: Uint8Array) => db.selectFrom("api_key").selectAll().where("hash", "=", hash))

  /** Notes the use of a key beside the request, which need not wait for a write. */
  const noteUse = (digits: string, now: number) => {
    if (noting.has(digits)) return Effect.void
    noting.add(digits)
    return database
      .query((db) => db.updateTable("api_key").set({ last_used: now }).where("hash", "=", hashOf(digits)))
      .pipe(Effect.ignore, Effect.ensuring(Effect.sync(() => noting.delete(digits))), Effect.forkIn(scope))
  }

  const lookUp = Effect.fnUntraced(function* (digits: string, moment: RememberedCallers.Moment) {
    const { now } = moment
    const hash = hashOf(digits)
    const [row] = yield* database.read(byHash(hash))
    if (row === undefined || row.revoked !== null || !timingSafeEqual(row.hash, hash)) return undefined
    const expires = row.expires ?? Infinity
    if (now >= expires) return undefined
    const endpoints = yield* endpointsOf(row)
    const caller: RememberedCallers.Caller = {
      account: row.account,
      endpoints: endpoints === undefined ? undefined : new Set(endpoints),
      readOnly: row.read_only === 1
    }
    remembered.add(digits, caller, moment, expires)
    if (now - (row.last_used ?? 0) >= noteMillis) yield* noteUse(digits, now)
    return caller
  })

  const authenticate: Accounts["Service"]["authenticate"] = (key) =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const digits = digitsOf(key)
      const moment = { now: clock.currentTimeMillisUnsafe(), steady: SteadyTime.millisBy(clock) }
      const known = remembered.find(digits, moment)
      return known === undefined ? lookUp(digits, moment) : Effect.succeed(known)
    })

  return Accounts.of({ create, rename, list, find, get, setRetractions, createKey, listKeys, revokeKey, authenticate })
})
