/**
 * The keys that callback secrets are encrypted with in the store (AES-256-GCM). A key is 32 bytes, as base64 or 64
 * hexadecimal digits; of several, divided by white space or commas, the first encrypts and all decrypt. They stand in the
 * settings, or in a file that only its owner may read, which is made when the first key is needed: beside a SQLite file,
 * `headwater.key` in the working directory for PostgreSQL. The store holds no key, only the ids of those that it needs.
 */
import { createHash, createSecretKey, type KeyObject, randomBytes } from "node:crypto"
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Location } from "./Location.ts"

export interface SecretKey {
  /** The first digits of a hash of the key: they name the key, and do not help to find it. */
  readonly id: string
  readonly bytes: Uint8Array
  /** The same for ciphers, which take four times as long with bare bytes. */
  readonly key: KeyObject
}

const keyBytes = 32
const ownerOnly = 0o600

const keyOf = (text: string): SecretKey | undefined => {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? "hex" : "base64")
  if (bytes.length !== keyBytes) return undefined
  const id = createHash("sha256").update("headwater secret key").update(bytes).digest("hex").slice(0, 12)
  return { id, bytes, key: createSecretKey(bytes) }
}

/** The keys of a text, the one that encrypts first; undefined where anything in the text is no key. */
export const parse = (text: string): ReadonlyArray<SecretKey> | undefined => {
  const keys = text
    .split(/[\s,]+/)
    .filter((word) => word !== "")
    .map(keyOf)
  return keys.length > 0 && keys.every((key) => key !== undefined) ? keys : undefined
}

/** The file of a store's keys, which the settings may name in its place. */
export const fileOf = (location: Location): string =>
  location.kind === "sqlite" ? `${location.file}.key` : "headwater.key"

/** Where a store's keys are, in words. */
export const placeOf = (location: Location): string =>
  location.secretKeys === undefined ? fileOf(location) : "the setting store.secretKey"

const failed = (place: string) => (cause: unknown) =>
  new SecretKeysUnusable({
    message: `${place}: ${(cause as Error).message}`,
    code: (cause as { readonly code?: string }).code
  })

/** The keys of a store; none where there is no file yet. */
export const read = (location: Location): Effect.Effect<ReadonlyArray<SecretKey>, SecretKeysUnusable> =>
  Effect.suspend(() => {
    const place = placeOf(location)
    const readFile = Effect.try({ try: () => readFileSync(fileOf(location), "utf8"), catch: failed(place) }).pipe(
      Effect.catchIf(
        ({ code }) => code === "ENOENT",
        () => Effect.undefined
      )
    )
    const text = location.secretKeys === undefined ? readFile : Effect.succeed(Redacted.value(location.secretKeys))
    return Effect.flatMap(text, (text) => {
      if (text === undefined) return Effect.succeed([])
      const keys = parse(text)
      return keys === undefined
        ? new SecretKeysUnusable({ message: `${place} must have keys of 32 bytes, as base64 or hexadecimal digits` })
        : Effect.succeed(keys)
    })
  })

/** The mode of the file of a store's keys, which an operator may have made or put back; undefined where none can be looked at. */
export const modeOf = (location: Location): Effect.Effect<number | undefined> =>
  Effect.orElseSucceed(
    Effect.try(() => (location.secretKeys === undefined ? statSync(fileOf(location)).mode : undefined)),
    () => undefined
  )

const lineOf = (bytes: Uint8Array) => `${Buffer.from(bytes).toString("base64")}\n`

/**
 * Writes a file that is on the disk before the call ends; `flags` as of `open`. No new file is left that a full disk has kept
 * empty: it would count as a file of keys for good.
 */
const write = (file: string, flags: "wx" | "w", text: string) => {
  const descriptor = openSync(file, flags, ownerOnly)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } catch (error) {
    if (flags === "wx") rmSync(file)
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Makes the file with a new key; a process that did so a moment before is as good. */
export const make = (location: Location): Effect.Effect<void, SecretKeysUnusable> =>
  Effect.try({
    try: () => write(fileOf(location), "wx", lineOf(randomBytes(keyBytes))),
    catch: failed(fileOf(location))
  }).pipe(
    Effect.catchIf(
      ({ code }) => code === "EEXIST",
      () => Effect.void
    )
  )

/** Makes the file of another store with the keys of this one. */
export const copy = (from: Location, to: Location): Effect.Effect<void, SecretKeysUnusable> =>
  Effect.flatMap(read(from), (keys) =>
    Effect.try({
      try: () => write(fileOf(to), "wx", keys.map(({ bytes }) => lineOf(bytes)).join("")),
      catch: failed(fileOf(to))
    })
  )

const replace = (location: Location, keys: ReadonlyArray<Uint8Array>) =>
  Effect.try({
    try: () => {
      const next = `${fileOf(location)}.new`
      write(next, "w", keys.map(lineOf).join(""))
      renameSync(next, fileOf(location))
    },
    catch: failed(fileOf(location))
  })

/** Puts a new key before those of the file. */
export const addToFile = (location: Location): Effect.Effect<void, SecretKeysUnusable> =>
  Effect.flatMap(read(location), (keys) =>
    replace(location, [randomBytes(keyBytes), ...keys.map(({ bytes }) => bytes)])
  )

/** Takes the keys behind this one out of the file; those before it another process has added since. */
export const keepUpTo = (location: Location, last: string): Effect.Effect<void, SecretKeysUnusable> =>
  Effect.flatMap(read(location), (keys) => {
    const place = keys.findIndex(({ id }) => id === last)
    if (place === -1) return Effect.void
    return replace(
      location,
      keys.slice(0, place + 1).map(({ bytes }) => bytes)
    )
  })

/** The keys of callback secrets cannot be read or written, or are not those that the store needs. */
export class SecretKeysUnusable extends Schema.TaggedError<SecretKeysUnusable>()("SecretKeysUnusable", {
  message: Schema.String,
  /** Of the operating system's error. */
  code: Schema.optional(Schema.String)
}) {}
