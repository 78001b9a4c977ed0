import { assert, layer } from "@effect/vitest"
import { HeartbeatMillis } from "@headwater/http/server/FeedStreams"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import { Database } from "@headwater/indexer/store/database/Database"
import * as StoreEpoch from "@headwater/indexer/store/database/StoreEpoch"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as FeedReader from "../../../../test/FeedReader.ts"
import { stores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const events = "/blockchain-events/ethereum/mainnet"

const transports = { "server-sent events": FeedReader.byEvents, WebSocket: FeedReader.overSocket }
const maxima = { ...defaultMaxima, streams: 2 }
const references = Layer.mergeAll(Layer.succeed(HeartbeatMillis, 100), Layer.succeed(Limits, maxima))
const limited = stores.map((store) => ({ ...store, layer: Layer.merge(store.layer, references) }))

for (const store of limited) {
  layer(testServer(store), { excludeTestServices: true })(`The account's feed over HTTP on ${store.name}`, (it) => {
    const subscribe = Effect.fnUntraced(function* (key: string) {
      const { url } = yield* TestServer
      const item = { callbackUrl: `https://example.com/${crypto.randomUUID()}` }
      const { body } = yield* send(url, {
        method: "POST",
        path: `${events}/block-mined`,
        key,
        body: { data: { item } }
      })
      return body.data.item.referenceId as string
    })
    /** Makes a callback. */
    const tell = Effect.fnUntraced(function* (key: string, reference: string) {
      const { url } = yield* TestServer
      const { status } = yield* send(url, { method: "POST", path: `${events}/${reference}/test`, key })
      assert.strictEqual(status, 201)
    })
    const read = Effect.fnUntraced(function* (key: string, query = "") {
      const { url } = yield* TestServer
      const answer = yield* send(url, { path: `/callbacks?${query}`, key })
      assert.isUndefined(wrongWith(operationNamed("feed.read"), answer.status, answer.body))
      return answer
    })

    it.effect("has the callbacks of all subscriptions, page by page, and waits for what is to come", () =>
      Effect.gen(function* () {
        const { bob, url } = yield* TestServer
        const now = (yield* read(bob, "startingAfter=now")).body.data
        assert.deepInclude(now, { items: [], hasMore: false, missed: 0, startingAfter: "now" })
        const [one, two] = [yield* subscribe(bob), yield* subscribe(bob)]
        for (const reference of [one, two, one]) yield* tell(bob, reference)
        const first = (yield* read(bob, `startingAfter=${now.nextStartingAfter}&limit=2`)).body.data
        const rest = (yield* read(bob, `startingAfter=${first.nextStartingAfter}`)).body.data
        assert.deepStrictEqual([first.hasMore, rest.hasMore], [true, false])
        type Item = Readonly<Record<"blockchain" | "network" | "position" | "referenceId" | "sequence", string>>
        assert.deepStrictEqual(
          [...first.items, ...rest.items].map(({ blockchain, network, referenceId, sequence }: Item) => [
            ...[referenceId, sequence, `${blockchain}/${network}`]
          ]),
          [
            [one, 1, "ethereum/mainnet"],
            [two, 1, "ethereum/mainnet"],
            [one, 2, "ethereum/mainnet"]
          ]
        )
        assert.strictEqual(rest.nextStartingAfter, rest.items[0].position)
        const [waited] = yield* Effect.all(
          [read(bob, `startingAfter=${rest.nextStartingAfter}&wait=20`), Effect.delay(tell(bob, two), "300 millis")],
          { concurrency: 2 }
        )
        assert.deepStrictEqual([waited.body.data.items.length, waited.body.data.items[0].sequence], [1, 2])
        yield* send(url, { method: "DELETE", path: `${events}/${one}`, key: bob })
        const left = (yield* read(bob, `startingAfter=${now.nextStartingAfter}`)).body.data
        assert.deepStrictEqual([left.items.length, left.missed], [2, 2])
      })
    )

    it.effect("belongs to an account, whose keys may read it or not, and refuses places that are none of its own", () =>
      Effect.gen(function* () {
        const { alice, bob, few, reading } = yield* TestServer
        const reference = yield* subscribe(alice)
        yield* tell(alice, reference)
        const own = (yield* read(reading)).body.data
        assert.strictEqual(own.items.at(-1).referenceId, reference)
        assert.isFalse(
          (yield* read(bob)).body.data.items.some((item: { referenceId: string }) => item.referenceId === reference)
        )
        assert.strictEqual((yield* read(few)).body.error.code, "endpoint_not_allowed_for_api_key")
        const foreign = yield* read(bob, `startingAfter=${own.nextStartingAfter}`)
        assert.deepStrictEqual([foreign.status, foreign.body.error.code], [400, "invalid_pagination"])
        assert.strictEqual((yield* read(alice, "startingAfter=later")).status, 400)
        assert.strictEqual((yield* read(alice, "startingAfter=1000000")).status, 409)
        yield* StoreEpoch.renew
        const former = yield* read(alice, `startingAfter=${own.nextStartingAfter}&wait=60`)
        assert.strictEqual(former.status, 409)
        assert.match(former.body.error.message, /restored from a backup.*startingAfter=0/)
        assert.strictEqual(former.body.error.details[0].attribute, "startingAfter")
      })
    )

    /** Waits for a condition. */
    const until = Effect.fnUntraced(function* (holds: () => boolean, what: () => string) {
      for (let i = 0; !holds(); i++) {
        assert.isBelow(i, 3_000, what())
        yield* Effect.sleep("10 millis")
      }
    })
    const used = Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      return (yield* send(url, { path: "/limits", key: bob })).body.data.item.streams.used as number
    })
    const allGone = Effect.gen(function* () {
      for (let i = 0; (yield* used) > 0; i++) {
        assert.isBelow(i, 600)
        yield* Effect.sleep("50 millis")
      }
    })

    for (const [name, connect] of Object.entries(transports)) {
      it.effect(`goes on behind the last position over ${name}, and gives signs of life`, () =>
        Effect.gen(function* () {
          const { bob: key, url } = yield* TestServer
          const reference = yield* subscribe(key)
          const start = (yield* read(key, "startingAfter=now")).body.data.nextStartingAfter as string
          const told: Array<FeedReader.Told> = []
          const reading = (after: string, count: number) =>
            connect({
              ...{ url, key, after },
              take: (one, cut) => {
                told.push(one)
                if (told.filter(({ type }) => type === "callback").length === count) cut()
              }
            })
          const first = yield* Effect.forkScoped(reading(start, 2))
          yield* until(
            () => told.some(({ type }) => type === "heartbeat"),
            () => "a sign of life"
          )
          for (let i = 0; i < 4; i++) yield* tell(key, reference)
          assert.strictEqual(yield* Fiber.join(first), "closed")
          const second = yield* Effect.forkScoped(reading(told.at(-1)!.position!, 4))
          assert.strictEqual(yield* Fiber.join(second), "closed")
          const callbacks = told.filter(({ type }) => type === "callback")
          assert.deepStrictEqual(
            callbacks.map(({ data }) => data.sequence),
            [1, 2, 3, 4]
          )
          const { items } = (yield* read(key, `startingAfter=${start}`)).body.data
          // What becomes of a callback may have changed since.
          assert.deepStrictEqual(
            callbacks.map(({ data, position }) => [position, data.position, data.body]),
            items.map(({ body, position }: { body: string; position: string }) => [position, position, body])
          )
          yield* allGone
        }).pipe(Effect.scoped)
      )

      it.effect(`refuses by an answer what it would not stream over ${name}, and lets go a key that is revoked`, () =>
        Effect.gen(function* () {
          const { bob, url } = yield* TestServer
          const accounts = yield* Accounts
          const { id: account } = yield* accounts.find("bob")
          const { id, key } = yield* accounts.createKey(account, { name: "short-lived" })
          const refusal = Effect.fnUntraced(function* (key: string, after: string | undefined) {
            const end = yield* connect({ url, key, after, take: () => assert.fail("reads") })
            assert.isObject(end)
            return end as Exclude<FeedReader.End, string>
          })
          assert.strictEqual((yield* refusal("hw_none", undefined)).status, 401)
          const beyond = yield* refusal(bob, "999999")
          assert.strictEqual(beyond.status, 409)
          assert.include(beyond.text, "startingAfter=0")
          assert.strictEqual((yield* refusal(bob, "nonsense")).status, 400)
          const after = (yield* read(bob, "startingAfter=now")).body.data.nextStartingAfter as string
          const alive: ReadonlyArray<Array<string>> = [[], []]
          const readers = yield* Effect.forEach(alive, (signs) =>
            Effect.forkScoped(
              connect({ url, key: Redacted.value(key), after, take: ({ type }) => void signs.push(type) })
            )
          )
          yield* until(
            () => alive.every(({ length }) => length > 0),
            () => `${alive}`
          )
          assert.strictEqual(yield* used, 2)
          const third = yield* refusal(bob, after)
          assert.strictEqual(third.status, 429)
          assert.include(third.text, "An account may have 2 readers")
          yield* accounts.revokeKey(account, id)
          for (const reader of readers) assert.strictEqual(yield* Fiber.join(reader), "closed")
          yield* allGone
        }).pipe(Effect.scoped)
      )

      it.effect(`reads no further over ${name} than the reader takes`, () =>
        Effect.gen(function* () {
          const { bob: key, url } = yield* TestServer
          const { insertMany, query } = yield* Database
          const reference = yield* subscribe(key)
          const after = (yield* read(key, "startingAfter=now")).body.data.nextStartingAfter as string
          const [subscription] = yield* query((db) =>
            db.selectFrom("subscription").select(["id", "account", "chain"]).where("reference_id", "=", reference)
          )
          const { account, chain, id } = subscription!
          const total = 1_000
          yield* insertMany(
            "callback",
            Array.from({ length: total }, (_, i) => ({
              ...{ subscription: id, account, chain, host: "example.com", height: null, event: "BLOCK_MINED" },
              ...{ idempotency_key: `${reference}-${i}`, state: "delivered" as const, due: 0, created: 9e12 },
              body: "x".repeat(40_000)
            }))
          )
          const unread = Effect.map(
            query((db) =>
              db.selectFrom("callback").select("id").where("subscription", "=", id).where("feed_position", "is", null)
            ),
            ({ length }) => length
          )
          const sequences: Array<number> = []
          let resume = () => {}
          const reader = yield* Effect.forkScoped(
            connect({
              ...{ url, key, after },
              connected: (stream) => {
                stream.pause()
                resume = () => void stream.resume()
              },
              take: ({ data, type }, cut) => {
                if (type === "callback" && sequences.push(data.sequence) === total) cut()
              }
            })
          )
          let left = yield* unread
          for (let unchanged = 0; unchanged < 10 || left === total; unchanged++) {
            yield* Effect.sleep("50 millis")
            const now = yield* unread
            if (now !== left) unchanged = 0
            left = now
          }
          assert.isAbove(left, 0)
          resume()
          assert.strictEqual(yield* Fiber.join(reader), "closed")
          assert.deepStrictEqual(
            sequences,
            Array.from({ length: total }, (_, i) => i + 1)
          )
          yield* query((db) => db.deleteFrom("callback").where("subscription", "=", id))
          yield* allGone
        }).pipe(Effect.scoped)
      )
    }
  })
}
