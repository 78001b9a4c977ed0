/** Heads that a real anvil announces, and a node that announces whatever it should not. */
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as NewHeads from "@headwater/indexer/families/evm/NewHeads"
import * as Families from "@headwater/indexer/families/families"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ChainSettings from "@headwater/indexer/sync/ChainSettings"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as HeadSocket from "@headwater/indexer/families/evm/internal/HeadSocket"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { vi } from "vitest"
import { type WebSocket, WebSocketServer } from "ws"
import * as Anvil from "../../../../../test/Anvil.ts"
import * as LocalServer from "../../../../../test/LocalServer.ts"
import { stores } from "../../../../../test/Stores.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

const hashOf = (text: string) => `0x${text.padStart(64, "0")}`
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text.padStart(64, "0"), "hex"))

const announcement = (height: number, hash: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    method: "eth_subscription",
    params: { subscription: "0x1", result: { number: `0x${height.toString(16)}`, hash: hashOf(hash) } }
  })

interface Node {
  readonly url: string
  readonly connections: () => number
  /** Credentials of the last connection. */
  readonly authorization: () => string | undefined
  /** Says the same to all who have subscribed. */
  readonly say: (message: string | Buffer) => void
  /** Ends all connections. */
  readonly drop: () => void
}

/** A node that agrees to announce heads, or answers something else. */
const node = (answer: string | undefined = JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1" })) =>
  Effect.gen(function* () {
    const server = createServer()
    const sockets = new WebSocketServer({ server })
    const subscribed = new Set<WebSocket>()
    let connections = 0
    let authorization: string | undefined
    sockets.on("connection", (socket, request) => {
      connections++
      authorization = request.headers.authorization
      socket.on("error", () => undefined)
      socket.on("close", () => subscribed.delete(socket))
      socket.on("message", (text) => {
        assert.strictEqual((JSON.parse(String(text)) as { method: string }).method, "eth_subscribe")
        if (answer !== undefined) socket.send(answer)
        subscribed.add(socket)
      })
    })
    const port = yield* LocalServer.listen(server)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const socket of sockets.clients) socket.terminate()
      })
    )
    const each = (act: (socket: WebSocket) => void) => () => {
      for (const socket of subscribed) act(socket)
    }
    return {
      url: `ws://127.0.0.1:${port}`,
      connections: () => connections,
      authorization: () => authorization,
      say: (message) => each((socket) => socket.send(message))(),
      drop: each((socket) => socket.terminate())
    } satisfies Node
  })

const settings = (newHeads: ReadonlyArray<string> | undefined, nodes = ["http://127.0.0.1:1"]) => ({
  nodes: nodes.map((url) => Redacted.make(url)) as [Redacted.Redacted<string>],
  ...(newHeads === undefined ? {} : { newHeads: newHeads.map((url) => Redacted.make(url)) })
})

/** Does it again and again until the effect ends: what is announced before the subscription is lost. */
const until = <A>(effect: Effect.Effect<A>, again: () => void) =>
  Effect.raceFirst(effect, Effect.forever(Effect.andThen(Effect.sync(again), Effect.sleep("20 millis"))))

/** Waits until something holds. */
const holds = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* Effect.sleep("10 millis")
  })

/** Listens until the connection ends; why it ended, and the heads. */
const listened = (url: string, silenceMillis = 60_000) => {
  const heads: Array<number> = []
  return Effect.map(
    HeadSocket.listen(new URL(url), {
      silenceMillis,
      onHead: ({ height }) => heads.push(height),
      onSubscribed: Effect.void
    }),
    ({ name, reason }) => ({ name, reason, heads })
  )
}

describe("NewHeads", () => {
  it.live(
    "hears of each block of a real node, by the URL of the node alone",
    () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start({ args: ["--no-mining"] })
        const derived = settings(undefined, [anvil.webSocket.replace("ws:", "http:")])
        const findings = yield* NewHeads.report({ ...derived, timeoutMillis: 5_000 })
        assert.deepStrictEqual(
          findings.map(({ level, message }) => `${level}: ${message}`),
          [`ok: ${new URL(anvil.webSocket).host} announces new heads over WebSocket`]
        )
        const heads = (yield* NewHeads.make(chain, derived))!
        const mine = anvil.rpc("evm_mine", [])
        yield* Effect.raceFirst(heads.announced, Effect.forever(Effect.andThen(mine, Effect.sleep("50 millis"))))
        // Connected now: each of them is heard.
        for (let i = 0; i < 20; i++) {
          const heard = yield* Effect.forkChild(heads.announced)
          yield* mine
          yield* Fiber.join(heard)
        }
      }).pipe(Effect.scoped),
    { timeout: 60_000 }
  )

  it.live(
    "has a chain followed by announcements alone, unless it is not to listen",
    () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start({ args: ["--no-mining"] })
        const devnet = Result.getOrThrow(Chain.find("ethereum", "devnet"))
        const written = { nodes: [anvil.url], newHeads: [anvil.webSocket] }
        const decoded = yield* Schema.decodeUnknownEffect(ChainSettings.schema(devnet))(written)
        const deaf = yield* Families.connect(devnet, { ...decoded, announcements: false })
        assert.isUndefined(deaf.source.announced)
        const { source } = yield* Families.connect(devnet, decoded)
        const store = yield* ChainStore.open(devnet, { record: "watched", undoDepth: 64 })
        const follow = yield* Follow.make(source, store, {
          ...{ start: 0, pollInterval: Duration.minutes(10), undoDepth: 64, concurrency: 1 }
        })
        yield* Effect.forkScoped(follow.run)
        /** Of which the later ones are announced for sure: the connection is made beside everything else. */
        const mine = anvil.rpc("evm_mine", [])
        const reached = (height: number) =>
          Effect.gen(function* () {
            while (((yield* store.cursor)?.height ?? -1) < height) yield* Effect.sleep("5 millis")
          })
        yield* Effect.raceFirst(reached(1), Effect.forever(Effect.andThen(mine, Effect.sleep("100 millis"))))
        for (let i = 0; i < 5; i++) {
          yield* mine
          yield* reached(Number(yield* anvil.rpc("eth_blockNumber", [])))
        }
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(ChainStatus.layer, stores[0]!.layer))),
    { timeout: 60_000 }
  )

  it.live("passes over what the nodes have shown, and goes on looking where they lag behind", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* node(), yield* node()]
      const heads = (yield* NewHeads.make(chain, settings([one.url, other.url])))!
      yield* until(heads.announced, () => one.say(announcement(7, "a7")))
      yield* until(heads.announced, () => other.say(announcement(7, "a7")))
      // Over HTTP the block is not there yet.
      heads.shown({ height: 6, hash: bytesOf("a6") })
      yield* heads.announced
      yield* heads.announced
      heads.shown({ height: 7, hash: bytesOf("a7") })
      const next = yield* Effect.forkChild(heads.announced)
      for (let i = 0; i < 20; i++) one.say(announcement(7, "a7"))
      yield* Effect.sleep("100 millis")
      assert.isUndefined(next.pollUnsafe())
      one.say(announcement(7, "b7"))
      yield* Fiber.join(next)
    }).pipe(Effect.scoped)
  )

  it.live("looks at a head that never comes a few times, and no more than so often at a flood of them", () =>
    Effect.gen(function* () {
      const far = yield* node()
      const heads = (yield* NewHeads.make(chain, settings([far.url])))!
      let looks = 0
      yield* Effect.forkChild(
        Effect.forever(
          Effect.tap(heads.announced, () =>
            Effect.sync(() => {
              looks++
              heads.shown({ height: 6, hash: bytesOf("a6") })
            })
          )
        )
      )
      yield* until(
        holds(() => looks > 0),
        () => far.say(announcement(Number.MAX_SAFE_INTEGER, "ff"))
      )
      const before = performance.now()
      looks = 0
      for (let i = 0; i < 100; i++) {
        far.say(announcement(8 + i, `c${i}`))
        yield* Effect.sleep("2 millis")
      }
      const most = (performance.now() - before) / 10 + 1
      assert.isAbove(looks, 0)
      assert.isBelow(looks, most)
    }).pipe(Effect.scoped)
  )

  it.live("ends a connection that is of no use, with a reason that holds no word of the node", () =>
    Effect.gen(function* () {
      const secret = "of the node"
      const cases: ReadonlyArray<readonly [string, string | Buffer, RegExp]> = [
        ["JSON that breaks off", `{"${secret}": `, /^the node sent something that is no head$/],
        ["another message", JSON.stringify({ [secret]: 1 }), /^the node sent something that is no head$/],
        ["a head without hash", announcement(1, `${secret}z`), /^the node sent something that is no head$/],
        ["bytes", Buffer.from(secret), /^the node sent bytes$/],
        ["a huge message", announcement(1, "a").padEnd(100_000), /^(no connection|the connection was closed)/]
      ]
      for (const [what, message, reason] of cases) {
        const hostile = yield* node()
        const end = yield* until(listened(hostile.url), () => hostile.say(message))
        assert.match(end.reason, reason, what)
        assert.strictEqual(end.name, new URL(hostile.url).host)
      }
      const refusing = yield* node(JSON.stringify({ id: 1, error: { code: -32_601, message: secret } }))
      assert.strictEqual((yield* listened(refusing.url)).reason, "the node refuses eth_subscribe")
      const silent = yield* node()
      assert.strictEqual((yield* listened(silent.url, 50)).reason, "no head within 50 ms")
      const flood = yield* node()
      const flooded = yield* until(listened(flood.url), () => {
        for (let i = 0; i < 500; i++) flood.say(announcement(i, "a"))
      })
      assert.strictEqual(flooded.reason, "more than 200 messages a second")
      const gone = yield* Effect.scoped(node())
      assert.strictEqual((yield* listened(gone.url)).reason, "no connection")
    }).pipe(Effect.scoped)
  )

  it.live("a node that agrees to announce heads leaves nothing for which a program would wait", () =>
    Effect.gen(function* () {
      const { url } = yield* node()
      const limit = 23_456
      const begun = vi.spyOn(globalThis, "setTimeout")
      const ended = vi.spyOn(globalThis, "clearTimeout")
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
      assert.isUndefined((yield* HeadSocket.probe(new URL(url), limit)).reason)
      const timers = begun.mock.results.filter((_, index) => begun.mock.calls[index]![1] === limit)
      assert.isNotEmpty(timers)
      const cleared = new Set<unknown>(ended.mock.calls.map(([timer]) => timer))
      for (const { value } of timers) assert.isTrue(cleared.has(value))
    }).pipe(Effect.scoped)
  )

  it.live("connects again, says in the log when heads end and begin, and shows no secret", () => {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    return Effect.gen(function* () {
      const named = yield* node()
      const url = named.url.replace("//", "//user:hidden@")
      const heads = (yield* NewHeads.make(chain, settings([`${url}/hidden?key=hidden`])))!
      yield* until(heads.announced, () => named.say(announcement(1, "a1")))
      assert.strictEqual(named.authorization(), `Basic ${Buffer.from("user:hidden").toString("base64")}`)
      named.drop()
      yield* until(heads.announced, () => named.say(announcement(2, "a2")))
      assert.isAtLeast(named.connections(), 2)
      const host = new URL(named.url).host
      assert.strictEqual(lines[0], `${host} announces new heads`)
      assert.match(lines[1]!, new RegExp(`^${host} announces no new heads, .* only: the connection was closed`))
      assert.strictEqual(lines[2], `${host} announces new heads`)
      assert.notInclude(lines.join(), "hidden")
    }).pipe(Effect.provide(Logger.layer([logger])), Effect.scoped)
  })

  it.live("is not there with newHeads = [], and reports what does not answer", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* NewHeads.make(chain, settings([])))
      assert.deepStrictEqual(yield* NewHeads.report({ ...settings([]), timeoutMillis: 5_000 }), [])
      const gone = yield* Effect.scoped(node())
      const [named] = yield* NewHeads.report({ ...settings([`${gone.url}/hidden`]), timeoutMillis: 5_000 })
      assert.strictEqual(named?.code, "no_new_heads")
      assert.match(named!.message, /^127\.0\.0\.1:\d+ announces no new heads over WebSocket: /)
      const http = gone.url.replace("ws:", "http:")
      const [derived] = yield* NewHeads.report({ ...settings(undefined, [http]), timeoutMillis: 5_000 })
      assert.strictEqual(derived?.level, "ok")
      assert.notInclude(JSON.stringify([named, derived]), "hidden")
    }).pipe(Effect.scoped)
  )
})
