/**
 * Two daemons on one PostgreSQL are stopped and started again in turn, as for an upgrade, while blocks, callbacks and
 * requests flow: no request fails at a client that takes the other daemon where a connection is refused, and each
 * event is told once. `HEADWATER_ROLLS=10` makes ten rounds, in which no callback may be later than two seconds.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { Wallet } from "ethers"
import pg from "pg"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

/** On a machine that runs other tests meanwhile everything takes its time: only the rounds that are asked for are timed. */
const asked = process.env.HEADWATER_ROLLS
const isTimed = asked !== undefined
const rolls = Number(asked ?? 1)
const isTried = isInTurn(import.meta.url, asked)

const postgres = locations.find(({ name }) => name === "postgres")

/** Whether there was no connection: refused, or made by the system alone, which nobody listened to any more. */
const isRefused = (error: unknown) => {
  const { code, syscall } =
    (error as { readonly cause?: { readonly code?: string; readonly syscall?: string } }).cause ?? {}
  return code === "ECONNREFUSED" || (code === "ECONNRESET" && syscall === "connect")
}

describe.skipIf(!isTried)("two daemons on one PostgreSQL that are started again in turn", () => {
  it.live.skipIf(postgres === undefined)("fail no request, and bring no callback late", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start({})
      const receiver = yield* Receiver.start()
      const location = yield* postgres!.location
      const settings = {
        chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
        callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
      }
      const one = yield* Headwater.start(location as never, settings)
      const two = yield* Headwater.start(location as never, settings, { apiKey: one.apiKey })
      const daemons = [one, two]
      const isReady = ({ status }: Headwater.Answer) => status === 200
      const ready = (daemon: Headwater.Headwater) =>
        Effect.repeat(Effect.delay(daemon.get("/ready"), "20 millis"), { until: isReady })
      yield* Effect.forEach(daemons, ready, { discard: true })

      const targets = Array.from({ length: 4 }, () => Wallet.createRandom().address)
      const path = "/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed"
      for (const address of targets) yield* one.post(path, { address, callbackUrl: `${receiver.url}/` })

      const statuses = new Map<number, number>()
      const failed: Array<string> = []
      /** Asks a daemon, and the other one where the connection is refused: half of all over connections that are kept. */
      const ask = Effect.fnUntraced(function* (i: number) {
        const address = Wallet.createRandom().address
        const body = JSON.stringify({ data: { item: { address, callbackUrl: `${receiver.url}/` } } })
        const request =
          i % 2 === 0
            ? { url: "/blockchain-events/ethereum/devnet", method: "GET" }
            : { url: path, method: "POST", body }
        const kept = i % 4 < 2 ? undefined : { connection: "close" }
        const headers = { "x-api-key": one.apiKey, "content-type": "application/json", ...kept }
        for (const daemon of [daemons[i % 2]!, daemons[(i + 1) % 2]!]) {
          const status = yield* Effect.promise(() =>
            fetch(`${daemon.url}${request.url}`, { ...request, headers }).then(
              (response) => response.text().then(() => response.status),
              (error) => (isRefused(error) ? undefined : String(error.cause ?? error))
            )
          )
          if (status === undefined) continue
          if (typeof status === "string") failed.push(status)
          else statuses.set(status, (statuses.get(status) ?? 0) + 1)
          return
        }
        failed.push("both refuse")
      }, Effect.uninterruptible)
      const requests = yield* Effect.forkChild(
        Effect.gen(function* () {
          for (let i = 0; ; i++) yield* Effect.andThen(ask(i), Effect.sleep("20 millis"))
        })
      )

      const [payer] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
      const minedAt = new Map<string, number>()
      const pay = Effect.fnUntraced(function* (i: number) {
        const payment = { from: payer, to: targets[i % targets.length], value: `0x${(i + 1).toString(16)}` }
        const hash = yield* anvil.rpc<string>("eth_sendTransaction", [payment])
        while ((yield* anvil.rpc("eth_getTransactionReceipt", [hash])) === null) yield* Effect.sleep("2 millis")
        minedAt.set(hash, Date.now())
      }, Effect.uninterruptible)
      const payments = yield* Effect.forkChild(
        Effect.gen(function* () {
          for (let i = 0; ; i++) yield* Effect.andThen(pay(i), Effect.sleep("100 millis"))
        })
      )

      for (let roll = 0; roll < rolls; roll++) {
        for (const daemon of daemons) {
          assert.strictEqual(yield* daemon.terminate, 0)
          yield* Effect.sleep("500 millis")
          yield* daemon.launch
          yield* ready(daemon)
        }
      }
      yield* Fiber.interrupt(payments)
      yield* Fiber.interrupt(requests)
      yield* receiver.until((accepted) => accepted.length >= minedAt.size)
      const late = receiver.accepted().map(({ at, body }) => at - minedAt.get(body.data.item.transactionId)!)
      const sorted = [...late].sort((a, b) => a - b)
      const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
      const asked = [...statuses].map(([status, count]) => `${count} answered ${status}`).join(", ")
      yield* Effect.logInfo(
        `${rolls} rounds: ${asked}; ${late.length} callbacks, p50 ${share(0.5)} ms, p99 ${share(0.99)} ms, last ${share(1)} ms`
      )
      assert.deepStrictEqual(failed, [])
      assert.deepStrictEqual([...statuses.keys()].sort(), [200, 201])
      const keys = new Set(receiver.accepted().map(({ body }) => body.idempotencyKey))
      assert.strictEqual(keys.size, minedAt.size, "each event once")
      if (isTimed) assert.isAtMost(sorted.at(-1)!, 2_000)

      // A newer daemon that removes something ends the older ones.
      const client = new pg.Client({
        connectionString: Redacted.value((location as never as { url: Redacted.Redacted }).url)
      })
      yield* Effect.promise(async () => {
        await client.connect()
        await client.query("update store_format set oldest_migration = '9999_change', oldest_program = '7.8.9'")
        await client.end()
      })
      for (const daemon of daemons) {
        assert.strictEqual(yield* daemon.exit, 1)
        assert.include(daemon.log(), "headwater 7.8.9 is the oldest that may run on it")
      }
    }).pipe(Effect.scoped)
  )
})
