/** Callback secrets as they stand in the store: encrypted, each bound to its owner, under one of the store's keys. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import * as Effect from "effect/Effect"
import { DatabaseError } from "../DatabaseError.ts"
import type { Location } from "../Location.ts"
import * as SecretKeys from "../SecretKeys.ts"
import type { Adapter } from "./Adapter.ts"
import type { Connection } from "./Connection.ts"

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** Secrets that are kept as they were opened last: the same subscriptions have callbacks again and again. */
const opened = 8_192

/** No secret begins so: control characters are refused. What does not begin so is from before secrets were encrypted. */
const mark = "\u0001"
const sealedForm = /^([0-9a-f]{12})\.([\w-]+)$/

/** The key's id and the encrypted part of a text of the store; null for a text that is not encrypted. */
const partsOf = (text: string) => (text.startsWith(mark) ? sealedForm.exec(text.slice(mark.length)) : null)

/** How each text begins that is encrypted with a key. */
export const beginningOf = (id: string): string => `${mark}${id}.`

export interface SecretBox {
  /**
   * Sees to it that secrets can be read and written: makes the first key of a store that has none. Fails where the store
   * needs a key that is not there.
   */
  readonly prepare: Effect.Effect<void, SecretKeys.SecretKeysUnusable | DatabaseError>
  /** The text of a secret for the store. `owner`: what it belongs to, which nothing else has. */
  readonly seal: (secret: string, owner: string) => Effect.Effect<string, DatabaseError>
  /** As `seal`, for many at a time: one for each owner, in their order. */
  readonly sealEach: (
    secrets: ReadonlyArray<{ readonly secret: string; readonly owner: string }>
  ) => Effect.Effect<ReadonlyArray<string>, DatabaseError>
  /** A secret from its text in the store; fails where the text is another owner's, was changed, or its key is missing. */
  readonly open: (text: string, owner: string) => Effect.Effect<string, DatabaseError>
  /** Whether a text of the store is encrypted with the key that encrypts now. */
  readonly isCurrent: (text: string) => Effect.Effect<boolean, DatabaseError>
}

const seal = ({ id, key }: SecretKeys.SecretKey, secret: string, owner: string): string => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner))
  const text = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()])
  return `${beginningOf(id)}${text.toString("base64url")}`
}

const open = ({ key }: SecretKeys.SecretKey, text: string, owner: string): string => {
  const bytes = Buffer.from(text, "base64url")
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-tagBytes))
  return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8")
}

/** The id of the key that a text of the store is encrypted with; undefined for one that is not. */
export const keyIdOf = (text: string): string | undefined => partsOf(text)?.[1]

const asDatabaseError = (cause: unknown) => new DatabaseError({ cause })

export const make = (
  location: Location,
  { query, transaction }: Pick<Connection, "query" | "transaction">,
  { defer, forUpdate }: Pick<Adapter, "defer" | "forUpdate">
): SecretBox => {
  let known: ReadonlyArray<SecretKeys.SecretKey> | undefined
  const lastOpened = new Map<string, { readonly owner: string; readonly secret: string }>()

  const register = (id: string) =>
    defer((db) =>
      db
        .insertInto("secret_key")
        .values({ id })
        .onConflict((on) => on.column("id").doNothing())
    )

  /** The keys with those of the store compared, one process at a time. */
  const compare = Effect.gen(function* () {
    yield* query((db) => db.selectFrom("store_format").select("id").modifyEnd(forUpdate))
    const needed = (yield* query((db) => db.selectFrom("secret_key").select("id"))).map(({ id }) => id)
    let keys = yield* SecretKeys.read(location)
    if (keys.length === 0 && needed.length === 0) {
      yield* SecretKeys.make(location)
      keys = yield* SecretKeys.read(location)
    }
    const missing = needed.filter((id) => keys.every((key) => key.id !== id))
    if (missing.length > 0) {
      return yield* new SecretKeys.SecretKeysUnusable({
        message:
          `Callback secrets in the store are encrypted with the key ${missing.join(", ")}, which is not in ` +
          `${SecretKeys.placeOf(location)}`
      })
    }
    yield* register(keys[0]!.id)
    return keys
  })

  const load = Effect.suspend(() =>
    known !== undefined
      ? Effect.succeed(known)
      : Effect.tap(transaction(compare), (keys) =>
          Effect.sync(() => {
            known = keys
          })
        )
  )
  const keys = Effect.mapError(load, (error) => (error._tag === "DatabaseError" ? error : asDatabaseError(error)))

  const sealEach: SecretBox["sealEach"] = Effect.fnUntraced(function* (secrets) {
    if (secrets.length === 0) return []
    const [key] = yield* keys
    // With the secrets: the transaction that made the key's row known here may have failed.
    yield* register(key!.id)
    return secrets.map(({ owner, secret }) => seal(key!, secret, owner))
  })

  const keep = (text: string, owner: string, secret: string) => {
    if (lastOpened.size >= opened) lastOpened.delete(lastOpened.keys().next().value!)
    lastOpened.set(text, { owner, secret })
    return secret
  }

  return {
    prepare: Effect.asVoid(load),
    seal: (secret, owner) => Effect.map(sealEach([{ secret, owner }]), ([sealed]) => sealed!),
    sealEach,
    // Run for every lease: a generator would cost as much as the rest of it.
    open: (text, owner) => {
      const found = partsOf(text)
      if (found === null) return Effect.succeed(text)
      const last = lastOpened.get(text)
      if (last?.owner === owner) return Effect.succeed(last.secret)
      const [, id, encrypted] = found
      return Effect.flatMap(keys, (keys) => {
        const key = keys.find((key) => key.id === id)
        if (key !== undefined) {
          return Effect.try({ try: () => keep(text, owner, open(key, encrypted!, owner)), catch: asDatabaseError })
        }
        const message = `A callback secret is encrypted with the key ${id}, which this process does not have`
        return asDatabaseError(new SecretKeys.SecretKeysUnusable({ message }))
      })
    },
    isCurrent: (text) => Effect.map(keys, ([key]) => keyIdOf(text) === key!.id)
  }
}
