/**
 * An outage of 40 minutes beside a node whose traces reach 50 blocks back: coins, tokens and blocks arrive at once; internal
 * transactions are missing by range, and are filled in from a second node once that can trace them, through a kill.
 * `HEADWATER_EVERY_WAY` runs the test on each store.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { formatEther, Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Contracts from "./Contracts.ts"
import * as EvmOracle from "./EvmOracle.ts"
import * as Headwater from "./Headwater.ts"
import * as LocalServer from "./LocalServer.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const name = "ethereum/devnet"
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

/** Seconds between blocks, blocks of the outage, and blocks below the newest one that the first node can trace. */
const [spacing, outage, reach] = [12, 200, 50]

/** Of so many blocks of the outage, so many have transactions. */
const [cycle, paid] = [20, 2]

/** A node in front of anvil that can trace the blocks from a height on alone, and says of others what geth says. */
const nodeBefore = Effect.fnUntraced(function* (anvil: Anvil.Anvil, from: Effect.Effect<number>) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const answer = async (call: LocalServer.Call): Promise<unknown> => {
    if (call.method !== "debug_traceBlockByHash") return LocalServer.ask(anvil.url, call)
    const named = { jsonrpc: "2.0", id: 0, method: "eth_getBlockByHash", params: [call.params[0], false] }
    const { result } = (await LocalServer.ask(anvil.url, named)) as { readonly result: { readonly number: string } }
    if (Number(result.number) >= (await run(from))) return LocalServer.ask(anvil.url, call)
    const error = { code: -32000, message: "required historical state unavailable (reexec=128)" }
    return { jsonrpc: "2.0", id: call.id, error }
  }
  return yield* LocalServer.jsonRpc(answer)
})

/** Names what a callback tells: the event, its place, and how much. */
const told = ({ body }: Receiver.Delivery): string => {
  const { event, item } = body.data
  if (event === "BLOCK_MINED") return `${event} ${item.hash}`
  const { amount, minedInBlock, operationId = "", parentTransactionId, token, transactionId } = item
  const place = `${minedInBlock.hash} ${transactionId ?? parentTransactionId} ${operationId}`
  return `${event} ${place} ${amount ?? token?.amount}`
}

interface Owed {
  readonly height: number
  /** In the words of {@link told}. */
  readonly event: string
}

/** What the chain owes to the subscriptions, from a height on. */
const owed = Effect.fnUntraced(function* (anvil: Anvil.Anvil, address: string, from: number) {
  const { coins, internals, tip, tokens } = yield* EvmOracle.history(anvil)
  const all: Array<Owed> = []
  for (let height = from; height <= tip; height++) {
    const params = [`0x${height.toString(16)}`, false]
    const { hash } = yield* anvil.rpc<{ readonly hash: string }>("eth_getBlockByNumber", params)
    all.push({ height, event: `BLOCK_MINED ${hash}` })
  }
  const add = (kind: string, moved: EvmOracle.Moved, amount: string, operation = "") => {
    if (moved.height < from || moved.to !== address) return
    const event = `ADDRESS_${kind}_TRANSACTION_CONFIRMED ${moved.hash} ${moved.transaction} ${operation} ${amount}`
    all.push({ height: moved.height, event })
  }
  const coin = (amount: bigint) => formatEther(amount)
  for (const moved of coins) add("COINS", moved, coin(moved.amount))
  for (const moved of tokens) {
    add("TOKENS", moved, EvmOracle.amountOf(moved, { name: "Test Coin", symbol: "COIN", decimals: 6 }))
  }
  for (const moved of internals) add("INTERNAL", moved, coin(moved.amount), moved.operation)
  return all
})

const isTried = isInTurn(import.meta.url)
const everyStore = process.env.HEADWATER_EVERY_WAY !== undefined

for (const { location, name: storeName } of everyStore ? locations : locations.slice(0, 1)) {
  describe.skipIf(!isTried)(`an outage beside a node that keeps little state, on ${storeName}`, () => {
    it.live(
      "loses nothing and tells nothing twice",
      () =>
        Effect.gen(function* () {
          // An hour ago, so that no block is from the future.
          const began = Math.floor(Date.now() / 1000) - 3_600
          const anvil = yield* Anvil.start({ args: ["--timestamp", String(began)] })
          yield* anvil.rpc("evm_setAutomine", [false])
          const mine = (blocks: number) =>
            anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`, `0x${spacing.toString(16)}`])
          const tip = Effect.map(anvil.rpc("eth_blockNumber", []), Number)
          const target = Wallet.createRandom().address
          const sender = yield* Contracts.sender(anvil)
          const [coin, mover] = [yield* sender.deploy("Coin"), yield* sender.deploy("Mover")]
          yield* mine(1)
          /** Blocks with coins, tokens and internal transactions of the address. */
          const pay = Effect.fnUntraced(function* (blocks: number) {
            for (let block = 0; block < blocks; block++) {
              yield* sender.send({ to: target, value: 1_000n, gasLimit: 21_000n })
              yield* sender.send(coin.call("transfer", [target, 5n]))
              yield* sender.send(mover.call("split", [[target, sender.address, target]], 12_000n))
              yield* mine(1)
            }
          })

          let isArchive = false
          const first = yield* nodeBefore(
            anvil,
            Effect.map(tip, (height) => height - reach)
          )
          const second = yield* nodeBefore(
            anvil,
            Effect.sync(() => (isArchive ? 0 : Number.POSITIVE_INFINITY))
          )
          const receiver = yield* Receiver.start()
          const store = yield* location as Effect.Effect<Location>
          const headwater = yield* Headwater.start(store, {
            chains: { [name]: { nodes: [first, second], start: 0, pollMillis: 200 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
          })
          const status = Effect.map(headwater.get("/ready"), ({ body }) => body.chains[name])
          const reached = Effect.repeat(Effect.delay(status, "20 millis"), {
            until: ({ height, state }) => state === "following" && height === 1
          })
          yield* reached
          const subscribe = (event: string, item: Record<string, unknown>) =>
            headwater.post(`/blockchain-events/${name}/${event}`, { callbackUrl: `${receiver.url}/`, ...item })
          for (const event of ["coins", "tokens", "internal"]) {
            yield* subscribe(`address-${event}-transactions-confirmed`, { address: target })
          }
          yield* subscribe("block-mined", {})
          const heard = () => new Set(receiver.accepted().map(told))
          const until = (events: ReadonlyArray<Owed>) =>
            receiver.until(() => {
              const now = heard()
              return events.every(({ event }) => now.has(event))
            })

          yield* pay(3)
          yield* until(yield* owed(anvil, target, 2))
          yield* headwater.kill
          const last = yield* tip
          for (let i = 0; i < outage / cycle; i++) {
            yield* pay(paid)
            yield* mine(cycle - paid)
          }
          const all = yield* owed(anvil, target, 2)
          const oldest = (yield* tip) - reach
          const isMissing = ({ event, height }: Owed) =>
            event.startsWith("ADDRESS_INTERNAL") && height > last && height < oldest
          const missing = all.filter(isMissing)
          const heights = new Set(missing.map(({ height }) => height))

          yield* headwater.launch
          yield* until(all.filter((one) => !isMissing(one)))
          const known = heard()
          assert.isFalse(missing.some(({ event }) => known.has(event)))
          const gap = Effect.provide(MissingParts.missingInternal(chain), Database.layer(store))
          const found = yield* gap
          assert.deepStrictEqual(
            found?.ranges,
            Array.from({ length: heights.size / paid }, (_, i) => ({
              from: last + 1 + cycle * i,
              to: last + paid + cycle * i
            }))
          )
          const { host } = new URL(first)
          assert.include(found?.reason, `${host}: required historical state unavailable (reexec=128)`)
          const gauge = Effect.promise(async () => {
            const text = await (await fetch(`${headwater.url}/metrics`, { headers: headwater.operator })).text()
            return /headwater_chain_missing_internal_blocks\{[^}]*\} (\d+)/.exec(text)?.[1]
          })
          assert.strictEqual(yield* gauge, String(heights.size))

          // A start looks at what is missing at once.
          isArchive = true
          yield* headwater.kill
          yield* headwater.launch
          const filled = new Set(missing.map(({ event }) => event))
          yield* receiver.until((accepted) => accepted.some((delivery) => filled.has(told(delivery))))
          yield* headwater.kill
          yield* headwater.launch
          yield* until(all)
          assert.isUndefined(yield* gap)
          assert.strictEqual(yield* gauge, "0")
          assert.deepStrictEqual(heard(), new Set(all.map(({ event }) => event)))
          const keys = new Map(receiver.deliveries.map((delivery) => [delivery.body.idempotencyKey, told(delivery)]))
          assert.strictEqual(keys.size, all.length, "one key an event, and one event a key")
        }).pipe(Effect.scoped),
      { timeout: 300_000 }
    )
  })
}
