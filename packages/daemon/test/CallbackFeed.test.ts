import { createServer, type Server } from "node:http"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Signature from "@headwater/core/events/Signature"
import type * as Client from "@headwater/http/contract/Client"
import { Conflict, ResourceNotFound, UnexpectedServerError } from "@headwater/http/contract/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as CallbackFeed from "../src/CallbackFeed.ts"

interface Got {
  readonly sequence: string
  readonly id: string
  readonly signedWith: ReadonlyArray<string>
}

const secrets = ["first secret", "second secret"] as const

/** A receiver that answers with the statuses in turn, and 204 after them. */
const receiver = (statuses: Array<number>, got: Array<Got>, now: () => number) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const { headers } = request
          const signedWith = secrets.filter((secret) =>
            Result.isSuccess(Signature.verify(headers, Buffer.concat(chunks), [secret], now()))
          )
          got.push({ sequence: String(headers["x-callback-sequence"]), id: String(headers["webhook-id"]), signedWith })
          response.writeHead(statuses.shift() ?? 204).end()
        })
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.closeAllConnections() ?? server.close())
  )

/** A service whose callbacks, secrets and state the test sets; counts what is asked. */
const fakeService = () => {
  const state = { down: false, restored: false, secret: secrets[0] as string, asked: new Map<string, number>() }
  const feeds = new Map<string, Array<number>>()
  const answer = <A>(name: string, value: () => Effect.Effect<A, Conflict | ResourceNotFound>) =>
    Effect.suspend((): Effect.Effect<A, Conflict | ResourceNotFound | UnexpectedServerError> => {
      state.asked.set(name, (state.asked.get(name) ?? 0) + 1)
      return state.down ? Effect.fail(new UnexpectedServerError({ message: "is down" })) : value()
    })
  const feedOf = (referenceId: string) => {
    const feed = feeds.get(referenceId)
    return feed === undefined ? Effect.fail(new ResourceNotFound({ message: "no subscription" })) : Effect.succeed(feed)
  }
  type Call = {
    readonly params: { readonly referenceId: string }
    readonly query: { startingAfter: number; wait: number }
  }
  const client = {
    limits: { get: () => answer("limits", () => Effect.succeed({ item: { subscriptions: { used: feeds.size } } })) },
    subscriptions: {
      list: () =>
        answer("list", () =>
          Effect.succeed({ items: [...feeds.keys()].map((referenceId) => ({ referenceId })), total: feeds.size })
        ),
      get: () => answer("get", () => Effect.succeed({ item: { callbackSecretKey: state.secret } }))
    },
    callbacks: {
      status: ({ params }: Call) =>
        answer("status", () =>
          Effect.map(feedOf(params.referenceId), ({ length }) => ({ item: { lastSequence: length } }))
        ),
      list: ({ params, query }: Call) =>
        answer("feed", () =>
          Effect.gen(function* () {
            if (state.restored) return yield* new Conflict({ message: "The position is none of this store" })
            for (let waited = 0; ; waited++) {
              const feed = yield* feedOf(params.referenceId)
              const items = feed
                .filter((sequence) => sequence > query.startingAfter)
                .map((sequence) => {
                  const idempotencyKey = `${params.referenceId}-${sequence}`
                  return { sequence, idempotencyKey, event: "BLOCK_MINED", state: "delivered", body: "{}" }
                })
              if (items.length > 0 || waited === query.wait) return { items }
              yield* Effect.sleep("1 second")
            }
          })
        )
    }
  }
  return { client: client as unknown as Client.Client, feeds, state }
}

const scenario = Effect.fnUntraced(function* (statuses: Array<number> = []) {
  const service = fakeService()
  const got: Array<Got> = []
  const said: Array<string> = []
  const clock = yield* Clock.Clock
  const server = yield* receiver(statuses, got, () => Math.floor(clock.currentTimeMillisUnsafe() / 1000))
  const { port } = server.address() as { readonly port: number }
  const listen = CallbackFeed.forward(service.client, {
    ...{ params: { blockchain: "ethereum", network: "devnet" }, to: `http://127.0.0.1:${port}/`, only: undefined },
    ...{ state: undefined, onForwarded: () => Effect.void }
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
      const { feeds, got, listen, said, state, until } = yield* scenario([500, 503])
      feeds.set("a", [])
      yield* listen
      yield* until(() => state.asked.has("feed"), "listens")
      feeds.get("a")!.push(1, 2)
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
    "begins now with what was there before, and with the first callback of a subscription that is made later",
    () =>
      Effect.gen(function* () {
        const { feeds, got, listen, state, until } = yield* scenario()
        feeds.set("a", [1, 2])
        yield* listen
        yield* until(() => state.asked.has("feed"), "listens")
        feeds.set("b", [1])
        yield* until(() => got.length === 1, "the new one is read")
        feeds.get("a")!.push(3)
        yield* until(() => got.length === 2, "the old one is read")
        assert.deepStrictEqual(
          got.map(({ id }) => id),
          ["b-1", "a-3"]
        )
      })
  )

  it.effect("signs with the new secret after a rotation", () =>
    Effect.gen(function* () {
      const { feeds, got, listen, state, until } = yield* scenario()
      feeds.set("a", [])
      yield* listen
      yield* until(() => state.asked.has("feed"), "listens")
      feeds.get("a")!.push(1)
      yield* until(() => got.length === 1, "signed with the first")
      state.secret = secrets[1]
      yield* TestClock.adjust("11 seconds")
      feeds.get("a")!.push(2)
      yield* until(() => got.length === 2, "signed with the second")
      assert.deepStrictEqual(
        got.map(({ signedWith }) => signedWith),
        [["first secret"], ["second secret"]]
      )
    })
  )

  it.effect("asks for nothing that costs credits while nothing happens", () =>
    Effect.gen(function* () {
      const { feeds, listen, state, until } = yield* scenario()
      for (const name of ["a", "b", "c"]) feeds.set(name, [])
      yield* listen
      yield* until(() => (state.asked.get("limits") ?? 0) > 60, "ten minutes pass")
      assert.deepStrictEqual([state.asked.get("list"), state.asked.get("get")], [1, undefined])
    })
  )

  it.effect("ends with what to do where the service knows its place no more", () =>
    Effect.gen(function* () {
      const { feeds, listen, state, until } = yield* scenario()
      feeds.set("a", [])
      const listening = yield* listen
      yield* until(() => state.asked.has("feed"), "listens")
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
      const { feeds, got, listen, said, state, until } = yield* scenario()
      feeds.set("a", [])
      state.down = true
      yield* listen
      yield* until(() => said.length > 0, "it is said")
      assert.strictEqual(state.asked.get("limits"), 1)
      assert.include(said[0], "does not answer")
      yield* until(() => (state.asked.get("limits") ?? 0) > 5, "it is asked again")
      state.down = false
      yield* until(() => state.asked.has("feed"), "listens")
      feeds.get("a")!.push(1)
      yield* until(() => got.length === 1, "goes on")
      assert.lengthOf(
        said.filter((text) => text.includes("does not answer")),
        1
      )
    })
  )
})
