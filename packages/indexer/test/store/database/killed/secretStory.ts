/** A store with callback secrets, before and after a change of the key that they are encrypted with. */
import { assert } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as SecretKeyChange from "@headwater/indexer/store/database/SecretKeyChange"
import * as SecretKeys from "@headwater/indexer/store/database/SecretKeys"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Seed from "../../Seed.ts"

const secretOf = (i: number) => `a secret of one subscription, ${i}`
const count = 3

const services = (location: Location) => Subscriptions.layer.pipe(Layer.provideMerge(Database.layer(location)))

export const make = (location: Location) =>
  Effect.gen(function* () {
    const account = yield* Seed.account
    for (let i = 0; i < count; i++) yield* Seed.subscription(account, "https://example.com/", secretOf(i))
  }).pipe(Effect.provide(services(location)), Effect.scoped)

/** The keys of a location in their new order: a new one first, but in a file, where the command adds it. */
export const nextKeys = (location: Location): Location =>
  location.secretKeys === undefined
    ? location
    : {
        ...location,
        secretKeys: Redacted.make(`${Buffer.alloc(32, 9).toString("base64")}\n${Redacted.value(location.secretKeys)}`)
      }

/** What `headwater secrets rotate` does. */
export const change = Effect.fnUntraced(function* (location: Location) {
  const inFile = location.secretKeys === undefined
  if (inFile && (yield* SecretKeys.read(location)).length > 0) yield* SecretKeys.addToFile(location)
  const id = yield* SecretKeyChange.encryptAll(location)
  if (inFile) yield* SecretKeys.keepUpTo(location, id)
})

/** Every secret is readable as the store stands, and with the new key alone when the change has been asked for again. */
export const isWhole = (location: Location) =>
  Effect.gen(function* () {
    const both = nextKeys(location)
    const read = Effect.gen(function* () {
      const { query, secrets } = yield* Database
      yield* secrets.prepare
      const rows = yield* query((db) => db.selectFrom("subscription").select(["secret", "reference_id"]).orderBy("id"))
      const found = yield* Effect.forEach(rows, ({ reference_id, secret }) => secrets.open(secret!, reference_id))
      assert.deepStrictEqual(
        found,
        Array.from({ length: count }, (_, i) => secretOf(i))
      )
    })
    yield* read.pipe(Effect.provide(services(both)), Effect.scoped)
    yield* change(both).pipe(Effect.provide(services(both)), Effect.scoped)
    const after = both.secretKeys === undefined ? both : { ...both, secretKeys: firstOf(both.secretKeys) }
    yield* read.pipe(Effect.provide(services(after)), Effect.scoped)
  })

const firstOf = (keys: Redacted.Redacted) => Redacted.make(Redacted.value(keys).split("\n")[0]!)
