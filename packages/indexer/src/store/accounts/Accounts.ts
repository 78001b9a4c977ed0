/**
 * Accounts and their API keys.
 *
 * A key is 256 random bits, shown once. The store keeps only the key's SHA-256, which is enough for a key that cannot be guessed.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
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

/** What the store knows of a key, which is not the key. */
export interface ApiKey {
  /** The first bytes of the key's hash: they name the key, and do not help to find it. */
  readonly id: string
  readonly name: string
  /** Operations that the key may call; undefined for all. */
  readonly endpoints: ReadonlyArray<string> | undefined
  /** Milliseconds since the Unix epoch. */
  readonly created: number
  readonly revoked: number | undefined
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
    readonly create: (name: string) => Effect.Effect<Account, DuplicateAccount | DatabaseError>
    readonly list: Effect.Effect<ReadonlyArray<Account>, DatabaseError>
    readonly find: (name: string) => Effect.Effect<Account, AccountNotFound | DatabaseError>
    /** Whether callbacks whose block leaves the chain are followed by retractions; off at first. */
    readonly setRetractions: (account: number, wanted: boolean) => Effect.Effect<void, DatabaseError>
    /** Makes a key. This is the only moment at which the key can be read. */
    readonly createKey: (
      account: number,
      options: { readonly name: string; readonly endpoints?: ReadonlyArray<string> | undefined }
    ) => Effect.Effect<{ readonly key: Redacted.Redacted; readonly id: string }, DatabaseError>
    readonly listKeys: (account: number) => Effect.Effect<ReadonlyArray<ApiKey>, DatabaseError>
    /** Revokes for good; a key that is revoked already stays so. */
    readonly revokeKey: (account: number, id: string) => Effect.Effect<void, KeyNotFound | DatabaseError>
    /** The caller of a key; undefined where the key is unknown or revoked. */
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

const hashOf = (key: Redacted.Redacted) => createHash("sha256").update(Redacted.value(key)).digest()

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
  const remembered = RememberedCallers.make()

  const create = Effect.fn("Accounts.create")(function* (name: string) {
    const created = yield* Clock.currentTimeMillis
    const [row] = yield* database
      .query((db) => db.insertInto("account").values({ name, created }).returningAll())
      .pipe(
        Effect.catchIf(
          (error) => error.duplicate,
          () => Effect.fail(new DuplicateAccount({ name }))
        )
      )
    return toAccount(row!)
  })

  const list = Effect.map(
    database.read((db) => db.selectFrom("account").selectAll().orderBy("id")),
    (rows) => rows.map(toAccount)
  )

  const find = Effect.fn("Accounts.find")(function* (name: string) {
    const [row] = yield* database.read((db) => db.selectFrom("account").selectAll().where("name", "=", name))
    return row === undefined ? yield* new AccountNotFound({ name }) : toAccount(row)
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
    const created = yield* Clock.currentTimeMillis
    const key = yield* Effect.sync(() => Redacted.make(`${keyPrefix}${randomBytes(32).toString("base64url")}`))
    const hash = hashOf(key)
    const endpoints = options.endpoints === undefined ? null : JSON.stringify(options.endpoints)
    yield* database.query((db) =>
      db.insertInto("api_key").values({ hash, account, name: options.name, endpoints, created, revoked: null })
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
          created: row.created,
          revoked: row.revoked ?? undefined
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

  const byHash = prepared((db, hash: Uint8Array) =>
    db.selectFrom("api_key").select(["hash", "account", "endpoints", "revoked"]).where("hash", "=", hash)
  )

  const authenticate = Effect.fnUntraced(function* (key: Redacted.Redacted) {
    const hash = hashOf(key)
    const now = yield* Clock.currentTimeMillis
    const known = remembered.find(hash, now)
    if (known !== undefined) return known
    const [row] = yield* database.read(byHash(hash))
    if (row === undefined || row.revoked !== null || !timingSafeEqual(row.hash, hash)) return undefined
    const endpoints = yield* endpointsOf(row)
    const caller: RememberedCallers.Caller = {
      account: row.account,
      endpoints: endpoints === undefined ? undefined : new Set(endpoints)
    }
    remembered.add(hash, caller, now)
    return caller
  })

  return Accounts.of({ create, list, find, setRetractions, createKey, listKeys, revokeKey, authenticate })
})
