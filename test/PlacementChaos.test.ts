/**
 * Three daemons on one PostgreSQL follow six chains, whose blocks come and are reorganised, while a random daemon is killed,
 * stopped by SIGTERM or held up every 5 to 20 seconds. Afterwards every event that an oracle reads off the chains has
 * arrived, each under one key and no other, and the figures say how long a chain stood still each time.
 * Runs for `HEADWATER_PLACEMENT_SECONDS`; not without.
 */
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import * as Receiver from "./Receiver.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"

const seconds = Number(process.env.HEADWATER_PLACEMENT_SECONDS ?? 0)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))
const postgres = locations.find(({ name }) => name === "postgres")
const evmChains = ["ethereum", "polygon", "arbitrum", "base", "optimism"].map((name) => `${name}/devnet`)
const litecoin = "litecoin/regtest"

/** How a daemon goes: it dies, is stopped in good order, or is held up for so long that it counts as dead. */
type Blow = "kill -9" | "SIGTERM" | "SIGSTOP"

/** `HEADWATER_BLOWS=SIGTERM` has blows of one kind alone. */
const mix = (process.env.HEADWATER_BLOWS?.split(",") ?? [
  "kill -9",
  "kill -9",
  "kill -9",
  "SIGTERM",
  "SIGSTOP"
]) as ReadonlyArray<Blow>

/** What a blow did to a chain: the milliseconds until another daemon followed the chain, and until one had committed a block. */
interface Gap {
  readonly blow: Blow
  readonly followed: number
  readonly committed: number
}

const quantile = (values: ReadonlyArray<number>, q: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0

/** Events that the litecoind chain owes a subscription to an address that is only ever paid. */
const expectedOf = Effect.fnUntraced(function* (node: Litecoind.Litecoind, reference: string, address: string) {
  interface Block {
    readonly hash: string
    readonly tx: ReadonlyArray<{
      readonly txid: string
      readonly vout: ReadonlyArray<{ readonly scriptPubKey: { readonly addresses?: ReadonlyArray<string> } }>
    }>
  }
  const events = new Set<string>()
  const height = yield* node.rpc<number>("getblockcount")
  for (let at = 1; at <= height; at++) {
    const block = yield* node.rpc<Block>("getblock", yield* node.rpc<string>("getblockhash", at), 2)
    for (const { txid, vout } of block.tx) {
      const isPaid = vout.some(({ scriptPubKey }) => scriptPubKey.addresses?.includes(address))
      if (isPaid) events.add(`${reference} ${block.hash} ${txid} incoming`)
    }
  }
  return events
})

describe("placement under blows", () => {
  it.live.skipIf(seconds === 0 || postgres === undefined || !Litecoind.installed)(
    `three daemons, six chains, ${seconds} s (seed ${seed})`,
    () =>
      Effect.gen(function* () {
        const random = SeededRandom.make(seed)
        const between = (least: number, most: number) => least + Math.floor(random() * (most - least))
        const receiver = yield* Receiver.start()
        const anvils = yield* Effect.forEach(evmChains, () => Anvil.start({}))
        const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
        yield* node.mine(110)
        const location = (yield* postgres!.location) as Location
        const store = yield* Layer.build(Database.layer(location))
        const stored = <A, E>(effect: Effect.Effect<A, E, Database>) =>
          Effect.orDie(Effect.provideContext(effect, store))
        const chain = (url: string) => ({ nodes: [url], start: 0, pollMillis: 200 })
        const settings = {
          chains: {
            ...Object.fromEntries(anvils.map(({ url }, i) => [evmChains[i], chain(url)])),
            [litecoin]: chain(node.url)
          },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca, retry: "standard-webhooks" }
        }
        const first = yield* Headwater.start(location, { name: "a", ...settings })
        const others = yield* Effect.forEach(["b", "c"], (name) =>
          Headwater.start(location, { name, ...settings }, { apiKey: first.apiKey })
        )
        const daemons = new Map([["a", first] as const, ["b", others[0]!] as const, ["c", others[1]!] as const])

        const targets = Array.from({ length: 3 }, () => Wallet.createRandom().address)
        // Of a wallet that pays nobody.
        const target = yield* (yield* node.wallet("watched"))<string>("getnewaddress", "", "bech32")
        const subscribe = Effect.fnUntraced(function* (name: string, address: string) {
          const { body } = yield* first.post(`/blockchain-events/${name}/address-coins-transactions-confirmed`, {
            ...{ address, callbackUrl: `${receiver.url}/`, callbackSecretKey: "s" }
          })
          return body.data.item.referenceId as string
        })
        const wanted = yield* Effect.forEach(evmChains, (name) =>
          Effect.map(
            Effect.forEach(targets, (address) =>
              Effect.map(
                subscribe(name, address),
                (reference) => [reference, { address: address.toLowerCase(), confirmations: 1 }] as const
              )
            ),
            (entries) => new Map<string, Traffic.Wanted>(entries)
          )
        )
        const reference = yield* subscribe(litecoin, target)

        const pause = () => 250 + Math.floor(Math.random() * 500)
        const traffics = yield* Effect.forEach(anvils, (anvil) => Traffic.start(anvil, targets, Math.random, pause))
        const mine = Effect.fnUntraced(function* (i: number) {
          yield* node.rpc("sendtoaddress", target, 0.01)
          yield* node.mine(1)
          if (i % 15 < 14) return
          const height = yield* node.rpc<number>("getblockcount")
          yield* node.rpc("invalidateblock", yield* node.rpc<string>("getblockhash", height - 1))
          yield* node.mine(3)
        }, Effect.uninterruptible)
        const mining = yield* Effect.gen(function* () {
          for (let i = 0; ; i++) yield* Effect.andThen(mine(i), Effect.sleep("700 millis"))
        }).pipe(Effect.forkScoped)

        const gaps: Array<Gap> = []
        const refused = () =>
          [...daemons.values()].reduce(
            (sum, { log }) => sum + log().split("followed by another daemon since").length - 1,
            0
          )
        const rowsNow = Effect.map(stored(ChainRow.all), (rows) => new Map(rows.map((row) => [row.name, row])))
        /** Waits until somebody else follows each of these chains and has committed a block. */
        const untilTheyGoOn = Effect.fnUntraced(function* (
          blow: Blow,
          chains: ReadonlyArray<string>,
          at: number,
          before: Effect.Success<typeof rowsNow>
        ) {
          const left = new Set(chains)
          const followed = new Map<string, number>()
          while (left.size > 0) {
            const rows = yield* rowsNow
            const now = Date.now()
            for (const name of left) {
              const [was, is] = [before.get(name)!, rows.get(name)!]
              if (is.epoch === was.epoch) continue
              if (!followed.has(name)) followed.set(name, now - at)
              if (is.height === was.height && Buffer.compare(is.hash!, was.hash!) === 0) continue
              left.delete(name)
              gaps.push({ blow, followed: followed.get(name)!, committed: now - at })
              yield* Effect.log(`${name}: followed after ${followed.get(name)} ms, a block after ${now - at} ms`)
            }
            yield* Effect.sleep("20 millis")
          }
        })
        const followedBy = (name: string) =>
          Effect.map(
            stored(Placements.read),
            (found) => Placements.shown(found).daemons.find((one) => one.name === name)?.follows ?? []
          )

        const blows: Record<Blow, number> = { "kill -9": 0, SIGTERM: 0, SIGSTOP: 0 }
        const end = Date.now() + seconds * 1000
        while (Date.now() < end) {
          yield* Effect.sleep(between(5_000, 20_000))
          const name = (["a", "b", "c"] as const)[between(0, 3)]!
          const daemon = daemons.get(name)!
          const before = yield* rowsNow
          const chains = yield* followedBy(name)
          const blow = mix[between(0, mix.length)]!
          blows[blow]++
          yield* Effect.log(`${blow} for ${name}, which follows ${chains.join(", ")}`)
          const at = Date.now()
          if (blow === "SIGSTOP") {
            process.kill(daemon.pid(), "SIGSTOP")
            yield* untilTheyGoOn(blow, chains, at, before)
            yield* Effect.sleep(Math.max(0, at + 60_000 - Date.now()))
            process.kill(daemon.pid(), "SIGCONT")
          } else {
            const gone = yield* Effect.forkScoped(blow === "SIGTERM" ? daemon.terminate : daemon.kill)
            // Some are started again at once, and take their chains back themselves.
            if (random() < 0.7) yield* untilTheyGoOn(blow, chains, at, before)
            yield* Fiber.join(gone)
            yield* daemon.launch
          }
        }
        yield* Effect.log("The last blow has fallen")
        for (const traffic of traffics) yield* traffic.stop
        yield* Fiber.interrupt(mining)
        yield* node.mine(1)

        const expected = [
          ...(yield* Effect.forEach(anvils, (anvil, i) => Traffic.expected(anvil, wanted[i]!))),
          yield* expectedOf(node, reference, target)
        ]
        const missing = () => {
          const seen = new Set(receiver.accepted().map(Traffic.eventOf))
          return expected.flatMap((events) => [...events].filter((event) => !seen.has(event)))
        }
        const [late] = yield* receiver
          .until(() => missing().length === 0, 180)
          .pipe(
            Effect.tapDefect(() =>
              Effect.logError(
                `missing: ${missing().join("\n")}`,
                ...[...daemons.values()].map(({ log }) => log().slice(-3_000))
              )
            ),
            Effect.timed
          )
        const ofChain = (name: string) =>
          receiver.deliveries.filter(({ body }) => `${body.data.item.blockchain}/${body.data.item.network}` === name)
        for (const [i, anvil] of anvils.entries()) yield* Traffic.check(anvil, ofChain(evmChains[i]!), expected[i]!)
        const keys = new Map<string, string>()
        for (const delivery of ofChain(litecoin)) {
          const event = Traffic.eventOf(delivery)
          assert.strictEqual(delivery.body.idempotencyKey, keys.get(event) ?? delivery.body.idempotencyKey)
          keys.set(event, delivery.body.idempotencyKey)
        }
        assert.strictEqual(new Set(keys.values()).size, keys.size)

        const shown = (millis: ReadonlyArray<number>) =>
          `median ${quantile(millis, 0.5)} ms, p99 ${quantile(millis, 0.99)} ms`
        const figures = (["kill -9", "SIGTERM", "SIGSTOP"] as const).map((blow) => {
          const of = gaps.filter((gap) => gap.blow === blow)
          return (
            `${blow} ${blows[blow]} times, of ${of.length} chains: followed after ${shown(of.map(({ followed }) => followed))}; ` +
            `a block after ${shown(of.map(({ committed }) => committed))}`
          )
        })
        const count = expected.reduce((sum, { size }) => sum + size, 0)
        yield* Effect.log(
          [
            ...figures,
            `${count} events in ${receiver.deliveries.length} deliveries, none lost, none under another key`,
            `followers refused ${refused()} times; the last callback came ${Math.round(Duration.toMillis(late))} ms after the last block`
          ].join("\n")
        )
        const killed = gaps.flatMap(({ blow, followed }) => (blow === "kill -9" ? [followed] : []))
        assert.isBelow(quantile(killed, 0.99), 15_000)
      }).pipe(Effect.scoped),
    seconds * 1_000 + 900_000
  )
})
