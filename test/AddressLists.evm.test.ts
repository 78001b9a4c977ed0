/**
 * One subscription on a list of addresses on a real chain, edited while blocks come: what it is told equals what the
 * blocks hold for the addresses that it had. HEADWATER_LISTED_ADDRESSES=100000 is the whole run.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"

const count = Number(process.env.HEADWATER_LISTED_ADDRESSES ?? 1_000)
const rounds = count < 100_000 ? 3 : 10
const paymentsARound = 20
const atOnce = Math.min(10_000, Math.floor(count / 10))

/** The same address for a number in every run, and another one for each. */
const addressOf = (i: number) => `0x${(Math.imul(i, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0").repeat(5)}`
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

for (const { location, name } of taken(import.meta.url)) {
  describe(`A list of addresses on ${name}`, () => {
    it.live(
      "is told of its addresses, and of no other, while it is edited and blocks come",
      () =>
        Effect.gen(function* () {
          const anvil = yield* Anvil.start({})
          yield* anvil.rpc("evm_setAutomine", [false])
          const receiver = yield* Receiver.start()
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: {
              "ethereum/devnet": {
                nodes: [anvil.url],
                start: 0,
                record: "watched",
                pollMillis: 200,
                timeoutMillis: 5_000
              }
            },
            // The rate of an account is that of 300 addresses a second.
            credits: { perSecond: 1_000_000_000 },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
          })
          const path = "/blockchain-events/ethereum/devnet"
          const post = Effect.fnUntraced(function* (more: string, item: Record<string, unknown>) {
            const { body, status } = yield* headwater.post(`${path}${more}`, item)
            assert.isBelow(status, 300, JSON.stringify(body))
            return body.data.item
          })
          yield* post("/block-mined", { callbackUrl: `${receiver.url}/witness` })
          const eventType = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
          const { referenceId } = yield* post("/address-lists", { eventType, callbackUrl: `${receiver.url}/list` })
          const edit = Effect.fnUntraced(function* (how: "" | "/remove", which: ReadonlyArray<number>) {
            for (let i = 0; i < which.length; i += atOnce) {
              const addresses = which.slice(i, i + atOnce).map(addressOf)
              yield* post(`/${referenceId}/addresses${how}`, { addresses })
            }
          })
          const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
          const expected: Array<string> = []
          const mine = Effect.fnUntraced(function* (to: ReadonlyArray<number>, isMember: (i: number) => boolean) {
            for (const i of to) {
              const transaction = { from, to: addressOf(i), value: "0x1", gas: "0x5208" }
              const id = yield* anvil.rpc<string>("eth_sendTransaction", [transaction])
              if (isMember(i)) expected.push(`${id} ${addressOf(i)}`)
            }
            yield* anvil.rpc("anvil_mine", ["0x1"])
          })
          const caughtUp = Effect.gen(function* () {
            const { hash } = yield* anvil.rpc<{ readonly hash: string }>("eth_getBlockByNumber", ["latest", false])
            yield* receiver.until((accepted) => accepted.some(({ body }) => body.data.item.hash === hash))
          })

          // All addresses of the list are in it from the next block on.
          const size = count - atOnce * 2
          yield* edit("", range(0, size))
          let seed = 1
          const random = (below: number) => {
            seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
            return Math.floor(seed / 8) % below
          }
          const removed = new Set<number>()
          for (let round = 0; round < rounds; round++) {
            const coming = range(size + (round % 2) * atOnce, size + ((round % 2) + 1) * atOnce)
            const leaving = range(round * 20, round * 20 + 10)
            const beingEdited = new Set([...coming, ...leaving])
            const payments = Array.from({ length: paymentsARound }, () => random(count + 200)).filter(
              (i) => !beingEdited.has(i) && (i < size || i >= count)
            )
            // Blocks and edits at the same time: of what is being edited, nothing is paid.
            yield* Effect.all(
              [
                mine(payments, (i) => i < size && !removed.has(i)),
                Effect.andThen(edit("", coming), edit("/remove", leaving)),
                Effect.andThen(Effect.sleep("30 millis"), anvil.rpc("anvil_mine", ["0x3"]))
              ],
              { concurrency: 3 }
            )
            for (const i of leaving) removed.add(i)
            // What has just come and left counts from the next block on.
            yield* mine([coming[0]!, leaving[0]!, leaving[9]!, coming.at(-1)!], (i) => coming.includes(i))
            yield* caughtUp
            yield* edit("/remove", coming)
            yield* mine([coming[0]!], () => false)
          }
          yield* caughtUp
          yield* receiver.until((accepted) => accepted.filter(({ path }) => path === "/list").length >= expected.length)
          const told = receiver
            .accepted()
            .filter(({ path }) => path === "/list")
            .map(({ body }) => `${body.data.item.transactionId} ${body.data.item.address.toLowerCase()}`)
          assert.isAbove(expected.length, rounds * 5)
          assert.deepStrictEqual(told.sort(), expected.sort())
          const shown = yield* headwater.get(`${path}/${referenceId}`)
          assert.isTrue(shown.body.data.item.isActive)
        }).pipe(Effect.scoped),
      { timeout: 600_000 }
    )
  })
}
