/**
 * `kill -9` at random moments while blocks and callbacks flow and the receiver fails now and then: afterwards every
 * event that a simple oracle reads off the chain has arrived, each under one key, and no other.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"

/** The embedded default has the full count; the other store, whose commits are the same code, a third of it. */
const killsOn = (store: "sqlite" | "postgres") => Number(process.env.HEADWATER_KILLS ?? (store === "sqlite" ? 30 : 10))
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Mulberry32: small, seeded, good enough to pick moments. */
const random = (() => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
})()

interface RpcBlock {
  readonly hash: string
  readonly number: string
  readonly transactions: ReadonlyArray<{ readonly hash: string; readonly from: string; readonly to: string | null }>
}

for (const { location, name } of locations) {
  const kills = killsOn(name)
  describe(`kill -9, ${name}`, () => {
    it.live(
      `loses nothing over ${kills} kills (seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const anvil = yield* Anvil.start({})
          // Each callback fails once at the most: the profile's second retry would come after five minutes.
          const failed = new Set<string>()
          const receiver = yield* Receiver.start((text) => {
            if (random() >= 0.1 || failed.has(text)) return { status: 200, afterMillis: Math.floor(random() * 5) }
            failed.add(text)
            return { status: 503 }
          })
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca, retry: "standard-webhooks" }
          })
          const accounts = (yield* anvil.rpc("eth_accounts", [])) as ReadonlyArray<string>
          const targets = Array.from({ length: 4 }, () => Wallet.createRandom().address)
          const subscriptions = new Map<string, { readonly address: string; readonly confirmations: number }>()
          for (const address of [...targets, accounts[0]!]) {
            for (const confirmations of [1, 3]) {
              const { body } = yield* headwater.post(
                "/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed",
                { address, callbackUrl: `${receiver.url}/`, callbackSecretKey: "s", receiveCallbackOn: confirmations }
              )
              subscriptions.set(body.data.item.referenceId, { address: address.toLowerCase(), confirmations })
            }
          }

          const act = Effect.fnUntraced(function* (i: number) {
            const from = accounts[i % 3]
            const to = targets[Math.floor(random() * targets.length)]
            const hash = yield* anvil.rpc("eth_sendTransaction", [{ from, to, value: `0x${(i + 1).toString(16)}` }])
            // anvil loses blocks when it is told to reorganise while it mines.
            while ((yield* anvil.rpc("eth_getTransactionReceipt", [hash])) === null) yield* Effect.sleep("2 millis")
            if (i % 25 === 24) yield* anvil.rpc("anvil_reorg", [1 + Math.floor(random() * 4), []])
          }, Effect.uninterruptible)
          const traffic = yield* Effect.gen(function* () {
            for (let i = 0; ; i++) {
              yield* act(i)
              yield* Effect.sleep(`${10 + Math.floor(random() * 40)} millis`)
            }
          }).pipe(Effect.forkChild)

          for (let kill = 0; kill < kills; kill++) {
            yield* Effect.sleep(`${Math.floor(random() * 1200)} millis`)
            yield* headwater.kill
            yield* headwater.launch
          }
          yield* Fiber.interrupt(traffic)
          yield* anvil.rpc("anvil_mine", ["0x5"])

          const height = Number(yield* anvil.rpc("eth_blockNumber", []))
          const expected = new Set<string>()
          for (let i = 0; i <= height; i++) {
            const block = (yield* anvil.rpc("eth_getBlockByNumber", [`0x${i.toString(16)}`, true])) as RpcBlock
            for (const { from, hash, to } of block.transactions) {
              for (const [reference, { address, confirmations }] of subscriptions) {
                if (height - i + 1 < confirmations) continue
                if (from === address) expected.add(`${reference} ${block.hash} ${hash} outgoing`)
                if (to === address) expected.add(`${reference} ${block.hash} ${hash} incoming`)
              }
            }
          }
          const eventOf = ({ body }: Receiver.Delivery) => {
            const { direction, minedInBlock, transactionId } = body.data.item
            return `${body.referenceId} ${minedInBlock.hash} ${transactionId} ${direction}`
          }
          const missing = () => {
            const seen = new Set(receiver.accepted().map(eventOf))
            return [...expected].filter((event) => !seen.has(event))
          }
          yield* receiver
            .until(() => missing().length === 0, 90)
            .pipe(
              Effect.tapDefect(() => Effect.logError(`missing: ${missing().join(", ")}`, headwater.log().slice(-5000)))
            )

          const keys = new Map<string, string>()
          const canonical = new Set<string>()
          for (const delivery of receiver.deliveries) {
            const event = eventOf(delivery)
            const known = keys.get(event) ?? delivery.body.idempotencyKey
            assert.strictEqual(delivery.body.idempotencyKey, known, "one event, one key")
            keys.set(event, known)
            if (expected.has(event)) canonical.add(event)
            else {
              // Only a block that was on the chain when it was sent may be told of, and it is gone now.
              const block = yield* anvil.rpc("eth_getBlockByHash", [event.split(" ")[1], false])
              assert.strictEqual(block, null, `unexpected: ${event}`)
            }
          }
          assert.strictEqual(new Set(keys.values()).size, keys.size, "one key, one event")
          assert.strictEqual(canonical.size, expected.size)
          assert.isAbove(expected.size, kills * 5)
          assert.isAbove(failed.size, 0)
        }).pipe(Effect.scoped),
      600_000
    )
  })
}
