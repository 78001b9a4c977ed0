import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Anvil from "../../../test/Anvil.ts"
import * as Headwater from "../../../test/Headwater.ts"
import * as Receiver from "../../../test/Receiver.ts"
import { locations } from "../../../test/Stores.ts"

const watched = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

interface Ready {
  readonly ready: boolean
  readonly reasons: ReadonlyArray<string>
  readonly chains: Readonly<Record<string, { readonly state: string; readonly message: string | null }>>
}

/** Asks until the answer is as wanted. */
const readyUntil = (headwater: Headwater.Headwater, wanted: (status: number, body: Ready) => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 2_400; i++) {
      const { body, status } = yield* headwater.get("/ready")
      if (wanted(status, body)) return body as Ready
      yield* Effect.sleep("50 millis")
    }
    return yield* Effect.die(new Error(`Not so: ${JSON.stringify(yield* headwater.get("/ready"))}`))
  })

const setup = (settings: Record<string, unknown>, behaviour?: Receiver.Behaviour) =>
  Effect.gen(function* () {
    const anvil = yield* Anvil.start()
    const receiver = yield* Receiver.start(behaviour)
    const [{ location }] = locations as [(typeof locations)[number]]
    const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
      chains: {
        "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 },
        ...(settings.chains as Record<string, unknown> | undefined)
      },
      callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
    })
    const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
    const subscribe = headwater.post("/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed", {
      address: watched,
      callbackUrl: `${receiver.url}/`,
      callbackSecretKey: "secret"
    })
    const send = anvil.rpc("eth_sendTransaction", [{ from, to: watched, value: "0x1" }])
    return { anvil, receiver, headwater, subscribe, send }
  })

describe("headwater serve", () => {
  it.live("follows the other chains while a node cannot be reached, and says which one", () =>
    Effect.gen(function* () {
      const { headwater, receiver, send, subscribe } = yield* setup({
        chains: { "litecoin/regtest": { nodes: ["http://user:hunter2@127.0.0.1:1"] } }
      })
      const body = yield* readyUntil(headwater, (status) => status === 503)
      assert.isFalse(body.ready)
      assert.match(body.reasons[0]!, /^litecoin\/regtest (starting|failing)/)
      const failing = yield* readyUntil(headwater, (_, { chains }) => chains["litecoin/regtest"]?.state === "failing")
      assert.include(failing.chains["litecoin/regtest"]?.message ?? "", "ECONNREFUSED")
      assert.strictEqual((yield* headwater.get("/health")).status, 200)
      assert.strictEqual((yield* subscribe).status, 201)
      yield* send
      yield* receiver.until((accepted) => accepted.length === 1)
      assert.notInclude(headwater.log(), "hunter2")
    }).pipe(Effect.scoped)
  )

  it.live("follows nothing from a node of another network, not even behind a right one", () =>
    Effect.gen(function* () {
      const other = yield* Anvil.start({ args: ["--chain-id", "137"] })
      const right = yield* Anvil.start({ args: ["--chain-id", "1"] })
      const { headwater } = yield* setup({
        chains: {
          "polygon/amoy": { nodes: [other.url] },
          "ethereum/mainnet": { nodes: [right.url, other.url] },
          "polygon/mainnet": { nodes: [other.url], start: 0 }
        }
      })
      const { chains } = yield* readyUntil(
        headwater,
        (_, { chains }) =>
          chains["polygon/amoy"]?.state === "stopped" && chains["ethereum/mainnet"]?.state === "stopped"
      )
      assert.match(
        chains["polygon/amoy"]!.message ?? "",
        /^127\.0\.0\.1:\d+: the node is on chain id 137, not 80002: .* correct the node's URL, and start again$/
      )
      // The chain id that a node says is no proof.
      assert.match(
        chains["ethereum/mainnet"]!.message ?? "",
        /is on (chain id 137, not 1|a network whose block 0 is 0x)/
      )
      const { chains: later } = yield* readyUntil(
        headwater,
        (_, { chains }) =>
          chains["polygon/mainnet"]?.state === "stopped" && chains["ethereum/devnet"]?.state === "following"
      )
      assert.match(
        later["polygon/mainnet"]!.message ?? "",
        /^127\.0\.0\.1:\d+: the node is on a network whose block 0 is 0x[0-9a-f]{64}, not on polygon\/mainnet/
      )
      for (const name of ["ethereum/mainnet", "polygon/mainnet"]) {
        assert.isNull((later[name] as { readonly height?: number | null }).height)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is ready at the head, and no longer once the node is gone, without a console where no password is set", () =>
    Effect.gen(function* () {
      const { anvil, headwater } = yield* setup({})
      yield* readyUntil(headwater, (status) => status === 200)
      process.kill(anvil.pid, "SIGKILL")
      const body = yield* readyUntil(headwater, (status) => status === 503)
      assert.match(body.reasons[0]!, /^ethereum\/devnet failing for \d+ s: /)
      assert.notInclude(headwater.log(), "GET - ", "readiness is asked for too often to be told of each time")
      assert.notInclude(headwater.log(), "console")
      assert.strictEqual((yield* headwater.get("/console.js")).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("stops cleanly: what is under way ends, nothing is sent twice, exit code 0", () =>
    Effect.gen(function* () {
      const { headwater, receiver, send, subscribe } = yield* setup({}, () => ({ status: 200, afterMillis: 1500 }))
      yield* subscribe
      yield* send
      for (let i = 0; receiver.deliveries.length === 0 && i < 6_000; i++) yield* Effect.sleep("20 millis")
      assert.lengthOf(receiver.deliveries, 1)
      assert.strictEqual(yield* headwater.terminate, 0)
      assert.match(headwater.log(), /Stopped\s*$/)
      yield* headwater.launch
      yield* Effect.sleep("1 second")
      assert.lengthOf(receiver.deliveries, 1)
      yield* send
      yield* receiver.until((accepted) => accepted.length === 2)
    }).pipe(Effect.scoped)
  )
})
