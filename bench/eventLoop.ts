/**
 * How long reading and committing large blocks holds up the event loop: blocks as large as they come, or as a node may make
 * them, from a node in another process. The longest turn of the loop is told in CPU time of its thread, which other
 * programs on the machine do not lengthen, and beside it in time that passed.
 *
 * An address that the block pays is subscribed to, so that matching has its work.
 *
 *     node bench/eventLoop.ts [sqlite|postgres] [traces|evm|evm-calls|utxo|consolidation|raw-32|small-32|xrp|tron …]
 */
import startPostgres from "../test/PostgresServer.ts"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type * as Proof from "@headwater/indexer/families/node/Proof"
import type { Source } from "@headwater/indexer/families/Source"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as XrpSource from "@headwater/indexer/families/xrp/XrpSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as NodeProcess from "./NodeProcess.ts"

const chainOf = (name: string) => Result.getOrThrow(Chain.find(name, "mainnet"))
const [ethereum, bitcoin, bitcoinCash, xrp, tron] = ["ethereum", "bitcoin", "bitcoin-cash", "xrp", "tron"].map(
  chainOf
) as [Chain.Chain, Chain.Chain, Chain.Chain, Chain.Chain, Chain.Chain]

type Open = (url: string, verify: Proof.Level) => Effect.Effect<Source, unknown, Scope.Scope>

const evm: Open = (url, verify) =>
  Effect.flatMap(JsonRpc.make({ urls: [url] }), (rpc) => EvmSource.make(ethereum, rpc, { internal: true, verify }))
const utxo: Open = (url, verify) =>
  Effect.flatMap(JsonRpc.make({ urls: [url] }), (rpc) => UtxoSource.make(bitcoin, rpc, { verify }))
const rawOf =
  (chain: Chain.Chain): Open =>
  (url, verify) =>
    Effect.flatMap(JsonRpc.make({ urls: [url] }), (rpc) => UtxoSource.make(chain, rpc, { verify, strategy: "raw" }))
const [raw, rawCash] = [rawOf(bitcoin), rawOf(bitcoinCash)]

interface Kind {
  readonly chain: Chain.Chain
  /** The ways to read a block. */
  readonly ways: Readonly<Record<string, readonly [Open, Proof.Level]>>
  readonly node: ReadonlyArray<string>
}

const huge = (name: string) => ["HugeBlocks.ts", name]
const ofOutputs = { roots: [utxo, "roots"], raw: [raw, "roots"] } as const
const both = (open: Open) => ({ roots: [open, "roots"], full: [open, "full"] }) as const

const kinds: Readonly<Record<string, Kind>> = {
  traces: { chain: ethereum, ways: { roots: [evm, "roots"] }, node: ["LargeTraces.ts", "40"] },
  evm: { chain: ethereum, ways: both(evm), node: huge("evm") },
  "evm-calls": { chain: ethereum, ways: { roots: [evm, "roots"] }, node: huge("evm-calls") },
  utxo: { chain: bitcoin, ways: ofOutputs, node: huge("utxo") },
  consolidation: { chain: bitcoin, ways: ofOutputs, node: huge("consolidation") },
  "raw-32": { chain: bitcoinCash, ways: { raw: [rawCash, "roots"] }, node: huge("raw-32") },
  "small-32": { chain: bitcoinCash, ways: { raw: [rawCash, "roots"] }, node: huge("small-32") },
  xrp: {
    chain: xrp,
    ways: { roots: [(url, verify) => XrpSource.make(xrp, { urls: [url], verify }), "roots"] },
    node: huge("xrp")
  },
  tron: { chain: tron, ways: both((url, verify) => TronSource.make(tron, { urls: [url], verify })), node: huge("tron") }
}

/** Runs an effect, and says how long the longest turn of the event loop took meanwhile. */
const held = <A, E, R>(name: string, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let goesOn = true
    let [longest, longestWall, cpu, wall] = [0, 0, process.threadCpuUsage(), performance.now()]
    const turn = () => {
      const [now, { system, user }] = [performance.now(), process.threadCpuUsage(cpu)]
      longest = Math.max(longest, (user + system) / 1000)
      longestWall = Math.max(longestWall, now - wall)
      wall = performance.now()
      cpu = process.threadCpuUsage()
      if (goesOn) setImmediate(turn)
    }
    yield* Effect.sleep(20)
    cpu = process.threadCpuUsage()
    wall = performance.now()
    const begin = performance.now()
    setImmediate(turn)
    const value = yield* self
    const seconds = (performance.now() - begin) / 1000
    yield* Effect.sleep(5)
    goesOn = false
    console.log(
      `${name.padEnd(28)} ${seconds.toFixed(2).padStart(6)} s, longest turn ${longest.toFixed(0).padStart(4)} ms CPU, ` +
        `${longestWall.toFixed(0).padStart(4)} ms passed`
    )
    return value
  })

/** Subscribes to the coins of the address that a block pays first. */
const subscribe = Effect.fnUntraced(function* (chain: Chain.Chain, { transfers }: Block) {
  const address = transfers.find(({ to }) => to !== undefined)?.to
  const { create } = yield* Subscriptions
  yield* create({
    ...({ account: 1, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, secret: "" } as const),
    ...{ address, callbackUrl: "https://example.com/callbacks", allowDuplicates: true }
  })
})

const measure = Effect.fnUntraced(function* (name: string) {
  const { chain, node, ways } = kinds[name]!
  const { heights, url } = yield* NodeProcess.start(...node)
  const bytes = BytesInFlight.make(BytesInFlight.defaultLimit)
  yield* Effect.gen(function* () {
    const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
    for (const height of heights) {
      const of = heights.length === 1 ? name : `${name} ${height}`
      let block: Block | undefined
      for (const [way, [open, verify]] of Object.entries(ways)) {
        const source = yield* Effect.provideService(open(url, verify), BytesInFlight.Current, bytes)
        for (const round of ["", " again"]) {
          block = yield* held(`${of} read, ${way}${round}`, bytes.block(source.blockAt(height)))
        }
      }
      const { notUnderstood = [], spends, transactions, transfers, unproven = [] } = block!
      const lacking = [...unproven.map(({ part }) => part), ...notUnderstood.map(({ reason }) => reason)].slice(0, 3)
      console.log(
        `${of}: ${transactions.length} transactions, ${transfers.length} transfers, ${spends.length} spends` +
          (lacking.length === 0 ? "" : `; lacks ${lacking.join(", ")}`)
      )
      yield* subscribe(chain, block!)
      yield* held(`${of} committed`, store.commit([block!]))
      yield* held(`${of} entered again`, store.reprocess(block!, { callbacks: true, internalFrom: 0, learned: [] }))
    }
  }).pipe(Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(layer))))
})

const [store, ...wanted] = process.argv.slice(2)
const named = store === "sqlite" || store === "postgres" ? wanted : process.argv.slice(2)
const stop = store === "postgres" ? await startPostgres() : undefined
// The stores of tests see whether there is a server.
const { stores } = await import("../test/Stores.ts")
const { layer } = stores.find(({ name }) => name === (stop === undefined ? "sqlite" : "postgres"))!
for (const name of named.length === 0 ? Object.keys(kinds) : named) {
  await Effect.runPromise(Effect.scoped(measure(name)))
}
await stop?.()
process.exit()
