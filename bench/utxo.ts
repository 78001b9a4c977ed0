/**
 * UTXO chains: indexing litecoind's blocks into a watched wallet, a block of Bitcoin's size, a large mempool.
 *
 *     node bench/utxo.ts index [blocks] [rounds]    against a bare download, litecoind's own rescan and bcoin's index
 *     node bench/utxo.ts block [file] [rounds]      a raw block of Bitcoin, shown as a node shows it
 *     node bench/utxo.ts mempool [transactions]
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { json } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type { Mempool } from "@headwater/indexer/families/SideSources"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { Wallets, type InTransaction } from "@headwater/indexer/store/wallets/Wallets"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as MempoolWatch from "@headwater/indexer/sync/MempoolWatch"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Agent, request } from "undici"
import * as Folder from "../test/Folder.ts"
import * as HdWallet from "../test/HdWallet.ts"
import * as Litecoind from "../test/Litecoind.ts"
import * as LocalServer from "../test/LocalServer.ts"
import * as BcoinPeer from "./BcoinPeer.ts"
import * as NodeJson from "./NodeJson.ts"
import * as Comparison from "./Comparison.ts"
import { type Measured, medians, timed } from "./Timed.ts"

const [part = "index", ...options] = process.argv.slice(2)
const litecoin = HdWallet.chain
const alone: InTransaction<never, never> = (change) => change
const concurrency = 8

const storeAt = (file: string) =>
  Layer.mergeAll(Wallets.layer, Subscriptions.layer, ChainStatus.layer).pipe(
    Layer.provideMerge(Database.layer({ kind: "sqlite", file }))
  )

/** The addresses of the wallet that are paid. */
const paid = 2_000
const perBlock = 120

/** A chain whose blocks pay the addresses of one key. */
interface Paid {
  readonly chain: Chain.Chain
  readonly url: string
  readonly extendedPublicKey: string
  /** To the key's addresses, 10,000 units each. */
  readonly outputs: number
}

const indexed = Effect.fnUntraced(
  function* ({ chain, extendedPublicKey, outputs, url }: Paid, record: RecordingMode, _file: string) {
    const rpc = yield* JsonRpc.make({ urls: [url], connections: concurrency })
    const source = yield* UtxoSource.make(chain, rpc)
    const wallets = yield* Wallets
    const key = Result.getOrThrow(keyOf(1, chain, extendedPublicKey, "account"))
    yield* wallets.deriveAndSync(key, paid, alone)
    const store = yield* ChainStore.open(chain, { record, undoDepth: 100, gapLimit: paid })
    const follow = yield* Follow.make(source, store, {
      ...{ start: 0, pollInterval: Duration.millis(100), undoDepth: 100 },
      concurrency
    })
    const measured = yield* timed(follow.step)
    const { balance } = (yield* wallets.get(key))!
    const expected = BigInt(outputs) * 10_000n
    if (balance !== expected) throw new Error(`the balance is ${balance}, not ${expected}`)
    return measured
  },
  (self, _paid, _record, file: string) => self.pipe(Effect.provide(storeAt(file)), Effect.scoped)
)

const index = Effect.fnUntraced(function* (blocks: number, rounds: number) {
  const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
  yield* node.mine(160)
  const wallet = yield* HdWallet.make(node, "bench", 1)
  const [receive] = [`wpkh(${wallet.extendedPublicKey}/0/*)`]
  const described = yield* node.rpc<{ readonly descriptor: string }>("getdescriptorinfo", receive)
  const addresses = yield* node.rpc<ReadonlyArray<string>>("deriveaddresses", described.descriptor, [0, paid - 1])
  let next = 0
  for (let block = 0; block < blocks; block++) {
    const pays: Record<string, number> = {}
    for (let i = 0; i < perBlock; i++) pays[addresses[next++ % paid]!] = 0.0001
    yield* node.rpc("sendmany", "", pays)
    yield* node.mine(1)
  }
  const tip = yield* node.rpc<number>("getblockcount")
  const heights = Array.from({ length: tip + 1 }, (_, height) => height)

  const floor = Effect.fnUntraced(function* () {
    const agent = new Agent({ connections: concurrency })
    const { origin, password, username } = new URL(node.url)
    const call = (method: string, params: ReadonlyArray<unknown>) =>
      Effect.promise(async () => {
        const { body } = await request(origin, {
          method: "POST",
          dispatcher: agent,
          headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` },
          body: JSON.stringify({ id: 1, method, params })
        })
        return (await body.json()) as { readonly result: unknown }
      })
    const download = (height: number) =>
      Effect.flatMap(call("getblockhash", [height]), ({ result }) => call("getblock", [result, 2]))
    yield* Effect.forEach(heights, download, { concurrency, discard: true })
    yield* Effect.promise(() => agent.close())
  })

  const rescanned = Effect.fnUntraced(function* (name: string) {
    const rpc = yield* node.wallet(name, true)
    const range = [0, paid - 1]
    return yield* timed(
      rpc("importmulti", [{ desc: described.descriptor, range, timestamp: 0, watchonly: true }], { rescan: true })
    )
  })

  const directory = yield* Folder.scoped
  const ours = {
    chain: litecoin,
    url: node.url,
    extendedPublicKey: wallet.extendedPublicKey,
    outputs: blocks * perBlock
  }
  const results = { floor: [] as Array<Measured>, watched: [] as Array<Measured>, all: [] as Array<Measured> }
  for (let round = 0; round < rounds; round++) {
    results.floor.push(yield* timed(floor()))
    // In turns, since the first to run has its code compiled.
    for (const record of round % 2 === 0 ? (["watched", "all"] as const) : (["all", "watched"] as const))
      results[record].push(yield* indexed(ours, record, join(directory, `${record}${round}.db`)))
  }
  const rescan = yield* rescanned("rescan")
  const peer = yield* BcoinPeer.start(blocks, perBlock, paid / 2)
  const { extendedPublicKey } = peer
  const theirs = { chain: peer.node.chain, url: peer.node.url, extendedPublicKey, outputs: ours.outputs }
  const bcoin = { sync: [] as Array<Measured>, reindex: [] as Array<Measured> }
  const fromBcoin: Array<Measured> = []
  for (let round = 0; round < rounds; round++) {
    for (const way of ["sync", "reindex"] as const) {
      const measured = yield* peer[way]
      if (measured.coins !== peer.coins) throw new Error(`bcoin has indexed ${measured.coins} outputs`)
      bcoin[way].push(measured)
    }
    fromBcoin.push(yield* indexed(theirs, "all", join(directory, `bcoin${round}.db`)))
  }
  const base = medians(results.floor)
  console.log(
    `${tip} blocks, ${blocks * perBlock} outputs to ${paid} addresses of one key, medians of ${rounds} rounds (own CPU):`
  )
  const line = (name: string, { cpu, seconds }: Measured) =>
    console.log(
      `${name.padEnd(28)} ${seconds.toFixed(2)} s (${(seconds / base.seconds).toFixed(2)}), CPU ${cpu.toFixed(2)} s (${(cpu / base.cpu).toFixed(2)})`
    )
  line("floor: fetched and parsed", base)
  line("headwater, record watched", medians(results.watched))
  line("headwater, record all", medians(results.all))
  console.log(`litecoind's rescan of the key ${rescan.seconds.toFixed(2)} s`)
  console.log(`as many outputs in ${peer.height} blocks of bcoin's:`)
  line("bcoin, indexed from a bcoin", medians(bcoin.sync))
  line("bcoin, blocks at hand", medians(bcoin.reindex))
  line("headwater, all, from bcoin", medians(fromBcoin))
  const costs = (measured: ReadonlyArray<Measured>) => measured.map(({ cpu }) => cpu)
  Comparison.report({
    ...{ work: `${blocks * perBlock} outputs to one wallet, of litecoind`, unit: "CPU s", better: "less" },
    ...{ ours: costs(results.watched), floor: { name: "fetched and parsed", values: costs(results.floor) } }
  })
  Comparison.report({
    ...{ work: `${blocks * perBlock} outputs to one wallet, of bcoin`, unit: "CPU s", better: "less" },
    ...{ ours: costs(fromBcoin), peer: { name: "bcoin's index", values: costs(bcoin.sync) } }
  })
})

const block = Effect.fnUntraced(function* (file: string, rounds: number) {
  const raw = readFileSync(file)
  const { hash, text } = yield* Effect.promise(() => NodeJson.ofBlock(raw))
  const answer = (method: string) => {
    if (method === "getblockchaininfo") return JSON.stringify({ chain: "main", blocks: 1, bestblockhash: hash })
    return method === "getblock" ? text : JSON.stringify(hash)
  }
  const url = yield* LocalServer.http(async (request, response) => {
    const { id, method } = (await json(request)) as { id: number; method: string }
    response.end(`{"result":${answer(method)},"error":null,"id":${id}}`)
  })
  const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
  const rpc = yield* JsonRpc.make({ urls: [url] })
  const source = yield* UtxoSource.make(bitcoin, rpc)
  const directory = yield* Folder.scoped
  const parse: Array<Measured> = []
  const read: Array<Measured> = []
  const commit: Record<RecordingMode, Array<Measured>> = { watched: [], all: [] }
  let shape = ""
  for (let round = 0; round < rounds; round++) {
    parse.push(yield* timed(Effect.sync(() => JSON.parse(text))))
    read.push(yield* timed(source.blockAt(1)))
    const found = yield* source.blockAt(1)
    shape = `${found.transactions.length} transactions, ${found.spends.length} inputs, ${found.transfers.length} outputs`
    for (const record of ["watched", "all"] as const) {
      const measured = yield* Effect.gen(function* () {
        const store = yield* ChainStore.open(bitcoin, { record, undoDepth: 100 })
        return yield* timed(store.commit([found]))
      }).pipe(Effect.provide(storeAt(join(directory, `${record}${round}.db`))), Effect.scoped)
      commit[record].push(measured)
    }
  }
  const line = (name: string, { cpu, seconds }: Measured) =>
    console.log(`${name.padEnd(34)} ${(seconds * 1000).toFixed(1)} ms, CPU ${(cpu * 1000).toFixed(1)} ms`)
  console.log(
    `${shape}, ${(text.length / 1e6).toFixed(1)} MB of JSON, medians of ${rounds} rounds (the server's CPU is in them):`
  )
  line("JSON.parse alone", medians(parse))
  line("fetched, parsed, checked, decoded", medians(read))
  line("committed, nothing watched", medians(commit.watched))
  line("committed, every output kept", medians(commit.all))
  console.log(`JSON.parse is ${((medians(parse).seconds / medians(read).seconds) * 100).toFixed(0)} % of reading it`)
})

const mempool = Effect.fnUntraced(function* (count: number) {
  const idOf = (number: number) => {
    const id = Buffer.alloc(32, 7)
    id.writeUInt32BE(number)
    return id
  }
  const script = (number: number) => {
    const bytes = Buffer.alloc(22, 1)
    bytes.writeUInt32BE(number, 2)
    return Address.fromBytes(bytes)
  }
  const transaction = (number: number) => ({
    id: idOf(number),
    transfers: [0, 1].map((position) => ({
      ...{ kind: "coin" as const, transaction: 0, position, from: undefined },
      ...{ to: script(2 * number + position), amount: 1_000n }
    })),
    spends: [0, 1].map((position) => ({
      ...{ transaction: 0, position },
      outpoint: { transactionId: idOf(number + 0x40000000), index: position }
    }))
  })
  let first = 0
  let fetched = 0
  /** The text is made anew and parsed, as it comes from a node. */
  const text = () => JSON.stringify(Array.from({ length: count }, (_, i) => idOf(first + i).toString("hex")))
  const node: Mempool = {
    ids: Effect.sync(() => JSON.parse(listing) as Array<string>),
    transactions: (ids) =>
      Effect.sync(() => {
        fetched += ids.length
        return ids.map((id) => transaction(Number.parseInt(id.slice(0, 8), 16)))
      }),
    tip: Effect.succeed(new Uint8Array(32)),
    timeOf: () => Effect.succeed(1),
    outputs: (outpoints) => Effect.sync(() => outpoints.map(() => ({ script: script(0x30000000), amount: 600n })))
  }
  let listing = text()
  const memory = () => {
    ;(globalThis as { readonly gc?: () => void }).gc?.()
    return process.memoryUsage().heapUsed / 1e6
  }
  const directory = yield* Folder.scoped
  yield* Effect.gen(function* () {
    yield* ChainStore.open(litecoin, { record: "watched", undoDepth: 100 })
    const subscriptions = yield* Subscriptions
    yield* subscriptions.create({
      ...{ account: 1, chain: litecoin, event: "ADDRESS_COINS_TRANSACTION_UNCONFIRMED", address: script(0x7fffffff) },
      ...{ callbackUrl: "https://receiver.test/", secret: undefined, confirmations: 1, allowDuplicates: true }
    })
    const watch = yield* MempoolWatch.make(litecoin, node, { pollInterval: Duration.seconds(1) })
    const before = memory()
    const look = yield* timed(watch.step)
    const after = memory()
    const polls: Array<Measured> = []
    const changed: Array<Measured> = []
    for (let i = 0; i < 9; i++) {
      polls.push(yield* timed(watch.step))
      first += 20
      listing = text()
      changed.push(yield* timed(watch.step))
    }
    console.log(`${count} transactions, ${fetched} fetched in all, ${watch.size()} remembered:`)
    console.log(`first look    ${look.seconds.toFixed(2)} s, CPU ${look.cpu.toFixed(2)} s`)
    console.log(`a poll        ${(medians(polls).seconds * 1000).toFixed(0)} ms without news`)
    console.log(`              ${(medians(changed).seconds * 1000).toFixed(0)} ms with 20 new and 20 gone`)
    console.log(
      `kept          ${(after - before).toFixed(1)} MB${"gc" in globalThis ? "" : " (node --expose-gc to be exact)"}`
    )
  }).pipe(Effect.provide(storeAt(join(directory, "mempool.db"))), Effect.scoped)
})

const numbers = options.map(Number)
const fixture = fileURLToPath(
  new URL(
    "../../shared/fixtures/utxo-blocks/rust-bitcoin/bitcoin/tests/data/mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw",
    import.meta.url
  )
)
const program =
  part === "block"
    ? block(options[0] ?? fixture, numbers[1] ?? 9)
    : part === "mempool"
      ? mempool(numbers[0] ?? 100_000)
      : index(numbers[0] ?? 500, numbers[1] ?? 3)
await Effect.runPromise(Effect.scoped(program as Effect.Effect<void, unknown>))
