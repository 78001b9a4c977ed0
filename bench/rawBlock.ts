/**
 * A block of Bitcoin's size from its raw bytes, as a node's answers hold them, into SQLite: read, all ids, the Merkle root, the
 * header and the witnesses proved, matched and committed. The blocks are one recorded block whose transactions have other lock
 * times, hence ids of their own, and spend one another as they did.
 *
 *     node bench/rawBlock.ts [blocks, 40] [addresses that are watched and paid, 0] [verify, roots]
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as Chain from "@headwater/core/chains/Chain"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { JsonText } from "@headwater/indexer/families/node/JsonText"
import type * as Proof from "@headwater/indexer/families/node/Proof"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as BlockReader from "../packages/indexer/src/families/utxo/internal/BlockReader.ts"
import { sha256d } from "../packages/indexer/src/families/utxo/internal/DoubleSha256.ts"
import * as UtxoBlocks from "../packages/indexer/test/families/utxo/UtxoBlocks.ts"
import { median } from "./Samples.ts"

const [blocks = "40", watched = "0", verify = "roots"] = process.argv.slice(2)
const fixture = fileURLToPath(
  new URL(
    "../../shared/fixtures/utxo-blocks/rust-bitcoin/bitcoin/tests/data/mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw",
    import.meta.url
  )
)
const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const { resolve } = createRequire(new URL("../packages/core/package.json", import.meta.url))
const bitcoinjs = await import(pathToFileURL(resolve("bitcoinjs-lib")).href)

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const reversed = (bytes: Uint8Array) => Uint8Array.from(bytes).reverse()
/** As ids are written. */
const rootOf = (hashes: ReadonlyArray<Uint8Array>) =>
  UtxoBlocks.merkleRootOf(hashes.map((hash) => hexOf(reversed(hash))))
const bytesOf = (written: string) => reversed(Buffer.from(written, "hex"))

interface Made {
  readonly hash: string
  /** `getblock` 1, and the hexadecimal digits of `getblock` 0: bytes, since strings of all blocks would cost the collector. */
  readonly listed: Buffer
  readonly raw: Buffer
}

/** The recorded block at another height, behind another block. */
const blockAt = (height: number, previous: string): Made => {
  const block = bitcoinjs.Block.fromBuffer(readFileSync(fixture))
  const { transactions } = block
  const moved = new Map<string, Uint8Array>()
  for (const transaction of transactions) {
    const before = hexOf(transaction.getHash(false))
    transaction.locktime = height
    for (const input of transaction.ins) input.hash = moved.get(hexOf(input.hash)) ?? input.hash
    moved.set(before, transaction.getHash(false))
  }
  const [coinbase, ...others] = transactions
  const witnessRoot = rootOf([
    new Uint8Array(32),
    ...others.map((one: { getHash: (witness: boolean) => Uint8Array }) => one.getHash(true))
  ])
  const commitment = sha256d(Buffer.concat([bytesOf(witnessRoot), coinbase.ins[0].witness[0]]))
  const output = coinbase.outs.find(({ script }: { script: Uint8Array }) => hexOf(script).startsWith("6a24aa21a9ed"))
  output.script = Buffer.concat([output.script.subarray(0, 6), commitment])
  const ids = transactions.map((one: { getHash: (witness: boolean) => Uint8Array }) => one.getHash(false))
  const merkleroot = rootOf(ids)
  block.merkleRoot = Buffer.from(bytesOf(merkleroot))
  block.prevHash = Buffer.from(bytesOf(previous))
  const { bits, nonce, timestamp: time, version } = block
  return {
    hash: block.getId(),
    raw: Buffer.from(`"${block.toHex()}"`),
    listed: Buffer.from(
      JSON.stringify({
        ...{ hash: block.getId(), height, version, merkleroot, time, nonce, bits: bits.toString(16).padStart(8, "0") },
        ...{ nTx: ids.length, previousblockhash: previous, tx: ids.map((id: Uint8Array) => hexOf(reversed(id))) }
      })
    )
  }
}

const made: Array<Made> = []
for (let height = 1; height <= Number(blocks); height++)
  made.push(blockAt(height, made.at(-1)?.hash ?? "00".repeat(32)))

const refused = () => Effect.die(new Error("is not asked for"))
const rpc: JsonRpc = {
  ...{ node: "memory", batch: refused, results: refused },
  call: (_, [hash, verbosity]) =>
    Effect.sync(() => {
      const { listed, raw } = made.find((block) => block.hash === hash)!
      return verbosity === 0 ? new JsonText(raw) : JSON.parse(listed.toString())
    })
}

const milliseconds = ({ system, user }: NodeJS.CpuUsage) => (system + user) / 1_000

const program = Effect.gen(function* () {
  const reader = yield* BlockReader.make(
    bitcoin,
    rpc,
    { listed: [1], decoded: undefined, raw: [0], verbose: [1], txindex: false, prevouts: false },
    { only: "raw", verify: verify as Proof.Level }
  )
  const subscriptions = yield* Subscriptions
  const first = yield* reader.block(rpc, { hash: made[0]!.hash, height: 1 })
  const addresses = new Map(
    first.transfers.flatMap(({ to, transaction }) =>
      to === undefined || transaction % 200 !== 100 ? [] : [[transaction, to]]
    )
  )
  const store = yield* ChainStore.open(bitcoin, { record: "watched", undoDepth: 100 })
  for (const address of [...addresses.values()].slice(0, Number(watched))) {
    yield* subscriptions.create({
      ...{ account: 1, chain: bitcoin, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address },
      ...{ callbackUrl: "https://receiver.test/", secret: undefined, confirmations: 1, allowDuplicates: true }
    })
  }
  const read: Array<number> = []
  const commit: Array<number> = []
  const whole: Array<number> = []
  let callbacks = 0
  for (const [index, { hash }] of made.entries()) {
    const begin = process.cpuUsage()
    const block = yield* reader.block(rpc, { hash, height: index + 1 })
    const between = process.cpuUsage()
    callbacks += (yield* store.commit([block])).callbacks
    const [all, ofCommit] = [process.cpuUsage(begin), process.cpuUsage(between)].map(milliseconds) as [number, number]
    if (index < made.length / 3) continue
    whole.push(all)
    read.push(all - ofCommit)
    commit.push(ofCommit)
  }
  console.log(
    `${first.transactions.length} transactions, ${first.spends.length} inputs, ${first.transfers.length} outputs, ` +
      `${watched} addresses watched, ${callbacks} callbacks, verify = ${verify}: ` +
      `read ${median(read).toFixed(1)}, commit ${median(commit).toFixed(1)}, both ${median(whole).toFixed(1)} ms of CPU ` +
      `(${Math.min(...whole).toFixed(1)} to ${Math.max(...whole).toFixed(1)})`
  )
})
const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"))
await Effect.runPromise(
  program.pipe(
    Effect.provide(
      Subscriptions.layer.pipe(Layer.provideMerge(Database.layer({ kind: "sqlite", file: join(folder, "store.db") })))
    ),
    Effect.scoped
  ) as Effect.Effect<void>
)
rmSync(folder, { recursive: true })
