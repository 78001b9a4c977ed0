/**
 * Readers of the account's feed are cut off at random, and daemons are killed, while blocks, reorganisations and callbacks
 * flow: what each has read in the end is the feed, in its order, every entry once. `HEADWATER_CUTS=200` cuts each so often.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as FeedReader from "./FeedReader.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { taken } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"
import { isInTurn } from "./Turn.ts"

const cuts = Number(process.env.HEADWATER_CUTS ?? 4)
const kills = Math.ceil(cuts / 20)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** What a reader has read, by its positions and keys, over all its connections. */
interface Read {
  readonly keys: Array<string>
  after: string | undefined
  cuts: number
  connections: number
}

for (const { location, name } of taken(import.meta.url)) {
  describe.skipIf(!isInTurn(import.meta.url, process.env.HEADWATER_CUTS))(`Readers of the feed on ${name}`, () => {
    it.live(
      `read every entry once, however often they are cut off (seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const random = SeededRandom.make(seed)
          const anvil = yield* Anvil.start()
          const receiver = yield* Receiver.start()
          const store: Location = yield* location
          const settings = {
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca },
            // Readers that are cut off come back at once.
            credits: { perSecond: 1_000_000 }
          }
          const first = yield* Headwater.start(store, settings)
          const { apiKey: key } = first
          const daemons =
            name === "postgres" ? [first, yield* Headwater.start(store, settings, { apiKey: key })] : [first]
          const targets = Array.from({ length: 3 }, () => Wallet.createRandom().address)
          const chain = "/blockchain-events/ethereum/devnet"
          const references: Array<string> = []
          const subscribe = Effect.fnUntraced(function* (event: string, item: Record<string, unknown>) {
            const callbackUrl = `${receiver.url}/${references.length}`
            const { body } = yield* first.post(`${chain}/${event}`, { ...item, callbackUrl })
            references.push(body.data.item.referenceId)
          })
          for (const address of targets) {
            yield* subscribe("address-coins-transactions-confirmed", { address })
            yield* subscribe("address-coins-transactions-confirmed-each-confirmation", {
              address,
              confirmationsCount: 2
            })
          }
          yield* subscribe("block-mined", {})

          let ended = false
          /** How many entries the feed has, once nothing comes any more. */
          let total = Number.POSITIVE_INFINITY
          const readers: Array<Read> = []
          const keep = (transport: typeof FeedReader.byEvents) => {
            const read: Read = { keys: [], after: undefined, cuts: 0, connections: 0 }
            readers.push(read)
            const connect = Effect.suspend(() => {
              const { url } = daemons[Math.floor(random() * daemons.length)]!
              // A cut comes behind so many entries.
              let left = 1 + Math.floor(random() * 8)
              read.connections++
              return transport({
                ...{ url, key, after: read.after },
                take: ({ data, position, type }, cut) => {
                  if (type === "heartbeat") return
                  assert.strictEqual(type, "callback")
                  assert.strictEqual(data.position, position)
                  read.after = position
                  read.keys.push(data.idempotencyKey)
                  if ((read.cuts < cuts && --left === 0) || read.keys.length >= total) {
                    read.cuts++
                    cut()
                  }
                }
              })
            })
            return Effect.gen(function* () {
              while (read.keys.length < total) {
                // Or a cut comes at any moment, whatever is on its way.
                const isCutByTime = read.cuts < cuts && random() < 0.5
                const patience = isCutByTime ? Math.floor(random() * 1_000) : ended ? 3_000 : 10_000
                const end = yield* connect.pipe(Effect.timeoutOption(patience))
                if (isCutByTime && end._tag === "None") read.cuts++
                const refusal = end._tag === "Some" && end.value !== "closed" ? end.value : undefined
                // A daemon that is away refuses the connection. One that was busy has still to hear that readers are gone, of
                // which an account may have some. Whatever else it says is wrong.
                if (refusal !== undefined && refusal.status !== 429) assert.fail(JSON.stringify(refusal))
                yield* Effect.sleep(refusal === undefined ? "20 millis" : "500 millis")
              }
            })
          }
          const reading = yield* Effect.forEach(
            [FeedReader.byEvents, FeedReader.overSocket, FeedReader.byEvents, FeedReader.overSocket],
            (transport) => Effect.forkScoped(keep(transport))
          )
          const traffic = yield* Traffic.start(anvil, targets, random)
          for (let i = 0; i < kills; i++) {
            yield* Effect.sleep(`${500 + Math.floor(random() * 1_500)} millis`)
            const daemon = daemons[i % daemons.length]!
            yield* daemon.kill
            yield* daemon.launch
          }
          for (let i = 0; readers.some((read) => read.cuts < cuts); i++) {
            // One that has read something wrong has ended.
            for (const reader of reading) {
              const exit = reader.pollUnsafe()
              if (exit !== undefined) yield* exit
            }
            assert.isBelow(
              i,
              20 * (600 + 10 * cuts),
              JSON.stringify(readers.map(({ cuts, keys }) => [cuts, keys.length]))
            )
            yield* Effect.sleep("50 millis")
          }
          yield* traffic.stop
          /** The feed as a reader has it that was never cut off. */
          const pages = Effect.gen(function* () {
            const keys: Array<string> = []
            for (let after = "0"; ; ) {
              const { body, status } = yield* first.get(`/callbacks?startingAfter=${after}`)
              assert.strictEqual(status, 200)
              assert.strictEqual(body.data.missed, 0)
              keys.push(...body.data.items.map(({ idempotencyKey }: { idempotencyKey: string }) => idempotencyKey))
              if (!body.data.hasMore) return keys
              after = body.data.nextStartingAfter
            }
          })
          // Nothing comes any more once the daemons have read the last block, and told what it has.
          let feed = yield* pages
          for (let quiet = 0; quiet < 10; quiet++) {
            yield* Effect.sleep("100 millis")
            const { body } = yield* first.get("/ready")
            const tip = Number(yield* anvil.rpc<string>("eth_blockNumber", []))
            const now = yield* pages
            if (body.chains["ethereum/devnet"].height !== tip || now.length !== feed.length) quiet = 0
            feed = now
          }
          total = feed.length
          ended = true
          yield* Effect.forEach(reading, Fiber.join)
          assert.strictEqual(new Set(feed).size, feed.length)
          for (const { keys } of readers) assert.deepStrictEqual(keys, feed)
          // Nothing is in the feeds of the subscriptions that is not in the account's, in the same order for each.
          let inSubscriptions = 0
          for (const reference of references) {
            const own: Array<string> = []
            for (let after = 0; ; after = own.length) {
              const { body } = yield* first.get(`${chain}/${reference}/callbacks?startingAfter=${after}`)
              own.push(...body.data.items.map(({ idempotencyKey }: { idempotencyKey: string }) => idempotencyKey))
              if (!body.data.hasMore) break
            }
            const of = new Set(own)
            assert.deepStrictEqual(
              feed.filter((one) => of.has(one)),
              own
            )
            inSubscriptions += own.length
          }
          assert.strictEqual(inSubscriptions, feed.length)
          const counted = readers.map(({ connections, cuts }) => `${cuts} of ${connections}`).join(", ")
          console.log(`${name}: ${feed.length} entries, ${kills} kills, cuts of connections: ${counted}`)
        }).pipe(Effect.scoped),
      { timeout: 1_200_000 }
    )
  })
}
