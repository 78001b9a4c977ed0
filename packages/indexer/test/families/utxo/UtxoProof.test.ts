/** Recorded blocks prove, and whatever a hash or root commits to is noticed where one field of an answer is changed. */
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { merkleRoot } from "../../../src/families/utxo/internal/MerkleRoot.ts"
import * as RawBlock from "../../../src/families/utxo/internal/RawBlock.ts"
import { RawBytes } from "../../../src/families/utxo/internal/RawBytes.ts"
import * as Fixtures from "../../Fixtures.ts"
import { coinbase, parent, part, second, tip } from "./UtxoBlocks.ts"
import * as UtxoNode from "./UtxoNode.ts"

type Json = Readonly<Record<string, unknown>>

const chainOf = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

/** A source over one block, which may be answered changed. */
const over = Effect.fnUntraced(function* (chain: Chain.Chain, block: UtxoNode.NodeBlock, raw?: string) {
  let change: Json = {}
  const answers = UtxoNode.answers("core", {
    blocks: [block],
    ...(raw === undefined ? {} : { raw: { [block.hash]: raw } })
  })
  const answer = (method: string, params: ReadonlyArray<unknown>) => {
    const found = answers(method, params)
    return method === "getblock" && typeof found === "object" ? { ...found, ...change } : found
  }
  const read = (level: "links" | "roots" | "full") =>
    Effect.map(UtxoNode.source(chain, answer, { verify: level }), (source) => (changed: Json) => {
      change = changed
      return Effect.ensuring(
        source.blockAt(block.height),
        Effect.sync(() => {
          change = {}
        })
      )
    })
  return { links: yield* read("links"), roots: yield* read("roots"), full: yield* read("full") }
})

const otherThan = (value: unknown): unknown =>
  typeof value === "number" ? value + 1 : String(value).replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))

const isList = (value: unknown): value is ReadonlyArray<Json> => Array.isArray(value)
const replaced = (list: ReadonlyArray<Json>, index: number, change: Json): ReadonlyArray<Json> =>
  list.map((each, at) => (at === index ? { ...each, ...change } : each))

/** Each change of one field that the header, an id or the root commits to, and that is read: its name and the answer. */
const changesOf = (block: UtxoNode.NodeBlock): ReadonlyArray<readonly [string, Json]> => {
  const header = ["version", "previousblockhash", "merkleroot", "time", "bits", "nonce", "solution", "blockcommitments"]
  const transactions = block.tx as ReadonlyArray<Json>
  const ofTransaction = (index: number, name: string, change: Json): readonly [string, Json] => [
    `tx[${index}].${name}`,
    { tx: replaced(transactions, index, change) }
  ]
  return [
    ...header
      .filter((field) => block[field] !== undefined)
      .map((field): [string, Json] => [field, { [field]: otherThan(block[field]) }]),
    ["another order", { tx: [...transactions].reverse() }] as const,
    ...transactions.flatMap((transaction, index) => {
      const { txid, vin, vout } = transaction
      return [
        ofTransaction(index, "txid", { txid: otherThan(txid) }),
        ...(isList(vin) ? vin : []).flatMap((input, at) =>
          ["txid", "vout"]
            .filter((field) => input[field] !== undefined)
            .map((field) =>
              ofTransaction(index, `vin[${at}].${field}`, {
                vin: replaced(vin as ReadonlyArray<Json>, at, { [field]: otherThan(input[field]) })
              })
            )
        ),
        ...(isList(vout) ? vout : []).flatMap((output, at) => {
          const { hex: script } = output.scriptPubKey as Json
          const changed = (change: Json) => ({ vout: replaced(vout as ReadonlyArray<Json>, at, change) })
          // What can never be spent is not read.
          if (String(script).startsWith("6a")) return []
          return [
            ofTransaction(index, `vout[${at}].value`, changed({ value: 0.00000777, valueZat: output.valueZat && 777 })),
            ofTransaction(index, `vout[${at}].scriptPubKey`, changed({ scriptPubKey: { hex: otherThan(script) } }))
          ]
        })
      ]
    })
  ].filter(([name]) => name !== "another order" || transactions.length > 1)
}

const noticed = Effect.fnUntraced(function* (
  read: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>
) {
  const result = yield* Effect.result(read)
  return Result.isFailure(result) && ["ProofFailed", "NodeInconsistent"].includes(result.failure._tag)
})

describe("UtxoSource: proofs", () => {
  const bitcoin = chainOf("bitcoin")

  it.effect("a block proves by its own bytes, and is read with what the bytes say", () =>
    Effect.gen(function* () {
      const { full, roots } = yield* over(bitcoin, tip.json, tip.raw)
      for (const read of [roots, full]) {
        const { unproven = [] } = yield* read({})
        assert.deepStrictEqual(
          unproven.map(({ cause, part }) => `${cause} ${part}`),
          ["uncommitted prevouts"]
        )
      }
      for (const [name, change] of changesOf(tip.json)) assert.isTrue(yield* noticed(roots(change)), name)
    })
  )

  it.effect("without bytes transactions are unproven at roots, and proved by the raw block at full", () =>
    Effect.gen(function* () {
      const bare = { ...tip.json, tx: (tip.json.tx as ReadonlyArray<Json>).map(({ hex: _, ...rest }) => rest) }
      const { full, links, roots } = yield* over(bitcoin, bare as never, tip.raw)
      const parts = (read: typeof roots) =>
        Effect.map(read({}), ({ unproven = [] }) => unproven.map(({ part }) => part))
      assert.deepStrictEqual(yield* parts(links), [])
      assert.deepStrictEqual(yield* parts(roots), ["prevouts", "transactions"])
      assert.deepStrictEqual(yield* parts(full), ["prevouts"])
      const changes = changesOf(bare as never)
      for (const [name, change] of changes) assert.isTrue(yield* noticed(full(change)), name)
      const value = changes.find(([name]) => name === "tx[0].vout[0].value")![1]
      assert.isFalse(yield* noticed(roots(value)))
    })
  )

  it.effect("bytes of a form that is not known are unproven, and bytes of another transaction a lie", () =>
    Effect.gen(function* () {
      const { roots } = yield* over(bitcoin, tip.json)
      const transactions = tip.json.tx as ReadonlyArray<Json>
      const odd = { tx: replaced(transactions, 0, { hex: `${String(coinbase.hex).slice(0, 8)}0010` }) }
      const { unproven = [] } = yield* roots(odd)
      assert.deepStrictEqual(
        unproven.map(({ cause, part }) => `${cause} ${part}`),
        ["uncommitted prevouts", "unknown transactions"]
      )
      const lie = yield* Effect.flip(roots({ tx: replaced(transactions, 0, { hex: second.hex }) }))
      assert.strictEqual(lie._tag, "ProofFailed")
      assert.include(lie.message, "tx[0].txid is not the hash")
    })
  )

  it.effect("blocks that are named by X11 say that their header is unproven", () =>
    Effect.gen(function* () {
      const source = yield* UtxoNode.source(chainOf("dash"), UtxoNode.answers("core", part))
      const { unproven = [] } = yield* source.blockAt(parent.json.height)
      assert.include(unproven[0]?.reason, "X11")
    })
  )
})

describe.skipIf(!Fixtures.exist)("UtxoSource: proofs of recorded blocks", () => {
  const etl = "utxo-blocks/bitcoin-etl/tests/resources/test_export_blocks_job"
  const files: ReadonlyArray<readonly [string, string]> = [
    [
      "bitcoin",
      `${etl}/bitcoin/block_0/rpc_response_getblock_000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f_2.json`
    ],
    [
      "bitcoin",
      `${etl}/bitcoin/block_with_transactions/rpc_response_getblock_000000001c920d495e1eeef2452b6d1c6c229a919b28196c103ecffebabee141_2.json`
    ],
    [
      "zcash",
      `${etl}/zcash/block_with_shielded_addresses/rpc_response_getblock_000000124b0ed07b3dc5fb8ac4ab6b488120e95cfad8d4f7e4488e03e993203d_2.json`
    ],
    ["zcash", "utxo-blocks/zebra/zebra-rpc/tests/vectors/getblock_response_2.json"]
  ]
  it.effect.each(files)("%s %s", ([blockchain, name]) =>
    Effect.gen(function* () {
      const json = UtxoNode.parse(readFileSync(Fixtures.path(name), "utf8")) as { readonly result?: UtxoNode.NodeBlock }
      const block = json.result ?? (json as unknown as UtxoNode.NodeBlock)
      const { full, roots } = yield* over(chainOf(blockchain), block)
      const { unproven = [] } = yield* full({})
      const withBytes = (block.tx as ReadonlyArray<Json>).every(({ hex }) => hex !== undefined)
      assert.notInclude(
        unproven.map(({ part }) => part),
        "header"
      )
      assert.strictEqual(
        unproven.some(({ part }) => part === "transactions"),
        !withBytes
      )
      const idsListed = unproven.some(({ part }) => part === "transaction ids")
      for (const [field, change] of changesOf(block)) {
        // What a node shows without bytes, or with bytes that its ids are no hashes of, is named as unproven.
        if (/\.(?:vin|vout|value|script)/.test(field) && !withBytes) continue
        assert.isTrue(yield* noticed(roots(change)), `${field}${idsListed ? " (ids listed)" : ""}`)
      }
    })
  )

  const raw = "utxo-blocks/rust-bitcoin/bitcoin/tests/data"
  const names = Fixtures.exist ? readdirSync(Fixtures.path(raw)) : []
  const samples = 25 * Number(process.env.HEADWATER_PROPERTY_RUNS ?? 1)
  it.each(names)("each byte of a raw block, witnesses included: %s", (name) => {
    const chain = chainOf("bitcoin")
    const bytes = readFileSync(Fixtures.path(`${raw}/${name}`))
    const counted = new RawBytes(bytes)
    counted.skip(80)
    const listed = new Array<Uint8Array>(counted.size()).fill(new Uint8Array(32))
    const good = TimeSlice.atOnce(RawBlock.read(chain, bytes, listed))
    assert.deepStrictEqual(TimeSlice.atOnce(good.witnesses()), { mismatch: undefined, unproven: [] })
    const isNoticed = (changed: Buffer) => {
      const read = Result.try(() => TimeSlice.atOnce(RawBlock.read(chain, changed, listed)))
      if (Result.isFailure(read)) return true
      const { body, hash, merkleRoot: root, witnesses } = read.success
      return (
        !same(hash!, good.hash!) ||
        !same(TimeSlice.atOnce(merkleRoot(body.transactions)), root) ||
        TimeSlice.atOnce(witnesses()).mismatch !== undefined
      )
    }
    for (let sample = 0; sample < samples; sample++) {
      const at = Math.floor(((sample + 0.5) * bytes.length) / samples)
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      assert.isTrue(isNoticed(changed), `byte ${at} of ${hex(good.hash!)}`)
    }
  })
})
