import { buffer } from "node:stream/consumers"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Signature from "@headwater/core/events/Signature"
import type * as Client from "@headwater/http/contract/Client"
import { Conflict, ResourceNotFound, UnexpectedServerError } from "@headwater/http/contract/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as LocalServer from "../../../test/LocalServer.ts"
import * as CallbackFeed from "../src/CallbackFeed.ts"

interface Got {
  readonly sequence: string
  readonly id: string
  readonly signedWith: ReadonlyArray<string>
}

const secrets = ["first secret", "second secret"] as const

/** A receiver that answers with the statuses in turn, and 204 after them. */
const receiver = (statuses: Array<number>, got: Array<Got>, now: () => number) =>
  LocalServer.http(async (request, response) => {
    const { headers } = request
    const body = await buffer(request)
    const signedWith = secrets.filter((secret) => Result.isSuccess(Signature.verify(headers, body, [secret], now())))
    got.push({ sequence: String(headers["x-callback-sequence"]), id: String(headers["webhook-id"]), signedWith })
    response.writeHead(statuses.shift() ?? 204).end()
  })

/** A service whose feed, secrets and state the test sets; counts what is asked. */
const fakeService = () => {
  const state = {
    down: false,
    restored: false,
    secret: secrets[0] as string,
    missed: 0,
    asked: new Map<string, number>()
  }
  const chain = { blockchain: "ethereum", network: "devnet" }
  const feed: Array<{ readonly referenceId: string; readonly sequence: number; readonly blockchain: string }> = []
  const tell = (referenceId: string, blockchain = "ethereum") => {
    const sequence = 1 + feed.filter((one) => one.referenceId === referenceId).length
    feed.push({ referenceId, sequence, blockchain })
  }
  const answer = <A>(name: string, value: () => Effect.Effect<A, Conflict | ResourceNotFound>) =>
    Effect.suspend((): Effect.Effect<A, Conflict | ResourceNotFound | UnexpectedServerError> => {
      state.asked.set(name, (state.asked.get(name) ?? 0) + 1)
      return state.down ? Effect.fail(new UnexpectedServerError({ message: "is down" })) : value()
    })
  const page = (after: number) => ({
    items: feed.slice(after).map(({ blockchain, referenceId, sequence }, i) => ({
      ...{ ...chain, blockchain, referenceId, sequence, position: `${after + i + 1}-0123456789ab-01234567` },
      ...{ idempotencyKey: `${referenceId}-${sequence}`, event: "BLOCK_MINED", state: "delivered", body: "{}" }
    })),
    nextStartingAfter: `${feed.length}-0123456789ab-01234567`,
    missed: state.missed
  })
  const client = {
    limits: { get: () => answer("limits", () => Effect.succeed({ item: { subscriptions: { used: feed.length } } })) },
    subscriptions: {
      get: ({ params }: { params: { referenceId: string } }) =>
        answer("get", () =>
          params.referenceId === "deleted"
            ? Effect.fail(new ResourceNotFound({ message: "no subscription" }))
            : Effect.succeed({ item: { callbackSecretKey: state.secret } })
        )
    },
    feed: {
      read: ({ query }: { query: { startingAfter: number | string; wait?: number } }) =>
        answer("feed", () =>
          Effect.gen(function* () {
            if (state.restored) return yield* new Conflict({ message: "The position is none of this store" })
            if (query.startingAfter === "now") return page(feed.length)
            for (let waited = 0; ; waited++) {
              const found = page(Number.parseInt(String(query.startingAfter), 10))
              if (found.items.length > 0 || waited === query.wait) return found
              yield* Effect.sleep("1 second")
            }
          })
        )
    }
  }
  return { client: client as unknown as Client.Client, feed, tell, state }
}

const scenario = Effect.fnUntraced(function* (
  statuses: Array<number> = [],
  options: Partial<CallbackFeed.Options> = {}
) {
  const service = fakeService()
  const got: Array<Got> = []
  const said: Array<string> = []
  const clock = yield* Clock.Clock
  const url = yield* receiver(statuses, got, () => Math.floor(clock.currentTimeMillisUnsafe() / 1000))
  const listen = CallbackFeed.forward(service.client, {
    ...{ of: undefined, to: `${url}/`, state: undefined, onBegun: Effect.void, onForwarded: () => Effect.void },
    ...options
  }).pipe(
    Effect.provide([
      NodeFileSystem.layer,
      Logger.layer([Logger.make(({ message }) => void said.push(String(message)))])
    ]),
    Effect.forkScoped
  )
  /** Lets the clock run until the condition holds. */
  const until = Effect.fnUntraced(function* (holds: () => boolean, what: string) {
    for (let i = 0; !holds(); i++) {
      assert.isBelow(i, 2_000, `${what}: ${JSON.stringify(got)} ${JSON.stringify(said)}`)
      yield* TestClock.adjust("500 millis")
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
    }
  })
  return { ...service, got, listen, said, until }
})

describe("CallbackFeed", () => {
  it.effect("passes a callback on again until it is accepted, before the ones after it", () =>
    Effect.gen(function* () {
      const { got, listen, said, state, tell, until } = yield* scenario([500, 503])
      yield* listen
      yield* until(() => state.asked.has("feed"), "listens")
      tell("a")
      tell("a")
      yield* until(() => got.length === 4, "all are accepted")
      assert.deepStrictEqual(
        got.map(({ sequence }) => sequence),
        ["1", "1", "1", "2"]
      )
      assert.lengthOf(new Set(got.slice(0, 3).map(({ id }) => id)), 1)
      assert.include(said.join(), "answered 500 to #1")
    })
  )

  it.effect(
    "begins once it says so, and passes on the callbacks of all subscriptions, but those that are deleted",
    () =>
      Effect.gen(function* () {
        let begun = false
        const onBegun = Effect.sync(() => {
          begun = true
        })
        const { got, listen, said, state, tell, until } = yield* scenario([], { onBegun })
        tell("a")
        state.down = true
        yield* listen
        yield* until(() => said.length > 0, "the service is asked")
        assert.isFalse(begun)
        state.down = false
        yield* until(() => begun, "listens")
        for (const referenceId of ["b", "deleted", "a"]) tell(referenceId)
        yield* until(() => got.length === 2, "all are read")
        assert.deepStrictEqual(
          got.map(({ id }) => id),
          ["b-1", "a-2"]
        )
        assert.include(said.join(), "#1 of deleted is not passed on: no subscription")
      })
  )

  it.effect(
    "passes on the callbacks of one chain, and goes on where its file says, also that of an older release",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = `${yield* fs.makeTempDirectoryScoped()}/state.json`
        const chain = { blockchain: "ethereum", network: "devnet" }
        // Of an older release, which had passed on the first callback of a.
        yield* fs.writeFileString(file, '{"a":1}')
        const { got, listen, tell, until } = yield* scenario([], { of: { chain }, state: file })
        tell("a")
        tell("t", "tron")
        tell("a")
        tell("b")
        const listening = yield* listen
        yield* until(() => got.length === 2, "what is left is read")
        tell("t", "tron")
        tell("b")
        yield* until(() => got.length === 3, "what comes is read")
        assert.deepStrictEqual(
          got.map(({ id }) => id),
          ["a-2", "b-1", "b-2"]
        )
        while (!(yield* fs.readFileString(file)).includes('"6-')) {
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
        }
        yield* Fiber.interrupt(listening)
        assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(file)), {
          ...{ a: 1, "ethereum/devnet": "6-0123456789ab-01234567" }
        })
      }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.effect("signs with the new secret after a rotation", () =>
    Effect.gen(function* () {
      const { got, listen, state, tell, until } = yield* scenario()
      yield* listen
      yield* until(() => state.asked.has("feed"), "listens")
      tell("a")
      yield* until(() => got.length === 1, "signed with the first")
      state.secret = secrets[1]
      yield* TestClock.adjust("11 seconds")
      tell("a")
      yield* until(() => got.length === 2, "signed with the second")
      assert.deepStrictEqual(
        got.map(({ signedWith }) => signedWith),
        [["first secret"], ["second secret"]]
      )
    })
  )

  it.effect("asks for nothing that costs credits while nothing happens", () =>
    Effect.gen(function* () {
      const { listen, state, until } = yield* scenario()
      yield* listen
      yield* until(() => (state.asked.get("feed") ?? 0) > 20, "ten minutes pass")
      assert.deepStrictEqual([...state.asked.keys()].sort(), ["feed", "limits"])
    })
  )

  it.effect("says that there is no subscription yet, and what the service keeps no longer", () =>
    Effect.gen(function* () {
      const { listen, said, state, tell, until } = yield* scenario()
      yield* listen
      yield* until(() => said.length > 0, "it is said")
      assert.include(said[0], "The account has no subscription yet")
      state.missed = 7
      tell("a")
      yield* until(() => said.length > 1, "it is said")
      assert.include(said[1], "7 callbacks are not passed on")
    })
  )

  it.effect("ends with what to do where the service knows its place no more", () =>
    Effect.gen(function* () {
      const { listen, state, until } = yield* scenario()
      const listening = yield* listen
      yield* until(() => (state.asked.get("feed") ?? 0) > 1, "listens")
      state.restored = true
      yield* until(() => listening.pollUnsafe() !== undefined, "ends")
      const error = yield* Effect.flip(Fiber.join(listening))
      assert.strictEqual(
        error.message,
        "The position is none of this store. Start listen again: it begins with what comes then"
      )
    })
  )

  it.effect("says at once, and once, that the service does not answer, and goes on when it does", () =>
    Effect.gen(function* () {
      const { got, listen, said, state, tell, until } = yield* scenario()
      state.down = true
      yield* listen
      yield* until(() => said.length > 0, "it is said")
      assert.strictEqual(state.asked.get("limits"), 1)
      assert.include(said[0], "does not answer")
      yield* until(() => (state.asked.get("limits") ?? 0) > 5, "it is asked again")
      state.down = false
      yield* until(() => (state.asked.get("feed") ?? 0) > 1, "listens")
      tell("a")
      yield* until(() => got.length === 1, "goes on")
      assert.lengthOf(
        said.filter((text) => text.includes("does not answer")),
        1
      )
    })
  )
})
