import { assert, describe, it } from "@effect/vitest"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import * as StoreWatch from "@headwater/daemon/supervision/StoreWatch"
import { Database, DatabaseError, StoreTooNew } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"

const full = new DatabaseError({ cause: Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" }) })

const unused = { compatible: Effect.void as Database["Service"]["compatible"] } as Database["Service"]

describe("StoreWatch", () => {
  it.effect("says once that the store cannot be written, and once that it can again", () =>
    Effect.gen(function* () {
      let proof: Effect.Effect<void, DatabaseError> = Effect.void
      let damage: string | undefined
      let looks = 0
      const database = Layer.succeed(Database, {
        ...unused,
        read: () => Effect.succeed([] as never),
        damage: Effect.sync(() => damage),
        proveWrite: Effect.suspend(() => {
          looks++
          return proof
        })
      })
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatSimple, (line) => void lines.push(line))])
      yield* Effect.gen(function* () {
        const { lasting } = yield* OwnOutages
        const messages = Effect.map(lasting, (outages) => outages.map(({ error, message }) => `${message}: ${error}`))
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(yield* messages, [])

        proof = Effect.fail(full)
        yield* TestClock.adjust("1 minute")
        assert.match((yield* messages).join(), /^store: .*database or disk is full$/)
        assert.lengthOf(lines, 1)
        assert.include(lines[0], "level=ERROR")

        proof = Effect.void
        yield* TestClock.adjust("8 seconds")
        assert.deepStrictEqual(yield* messages, [])
        assert.lengthOf(lines, 2)

        // A store that has vanished is asked once.
        proof = Effect.never
        const before = looks
        yield* TestClock.adjust("1 minute")
        assert.match((yield* messages).join(), /no answer within 4 s$/)
        assert.strictEqual(looks, before + 1)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(looks, before + 1)
      }).pipe(
        Effect.provide(StoreWatch.layer.pipe(Layer.provideMerge(OwnOutages.layer), Layer.provide([database, logger])))
      )
    })
  )

  it.effect("does not forget a damaged file, though a look at it succeeds", () =>
    Effect.gen(function* () {
      const database = Layer.succeed(Database, {
        ...unused,
        read: () => Effect.succeed([] as never),
        damage: Effect.succeed("database disk image is malformed"),
        proveWrite: Effect.void
      })
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("1 minute")
        const [outage] = yield* (yield* OwnOutages).lasting
        assert.match(outage!.error, /the file is damaged: database disk image is malformed/)
      }).pipe(Effect.provide(StoreWatch.layer.pipe(Layer.provideMerge(OwnOutages.layer), Layer.provide(database))))
    })
  )

  it.effect("says that a newer program has changed the store for itself", () =>
    Effect.gen(function* () {
      let compatible: Database["Service"]["compatible"] = Effect.void
      const database = Layer.succeed(Database, {
        ...unused,
        compatible: Effect.suspend(() => compatible),
        read: () => Effect.succeed([] as never),
        damage: Effect.undefined,
        proveWrite: Effect.void
      })
      const said: Array<string> = []
      const onTooNew = Layer.succeed(StoreWatch.OnTooNew, (error: StoreTooNew) =>
        Effect.sync(() => {
          said.push(error.program)
        })
      )
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(said, [])
        compatible = Effect.fail(new StoreTooNew({ program: "7.8.9" }))
        yield* TestClock.adjust("4 seconds")
        assert.deepStrictEqual(said, ["7.8.9"])
        assert.deepStrictEqual(yield* (yield* OwnOutages).lasting, [])
      }).pipe(
        Effect.provide(StoreWatch.layer.pipe(Layer.provideMerge(OwnOutages.layer), Layer.provide([database, onTooNew])))
      )
    })
  )
})
