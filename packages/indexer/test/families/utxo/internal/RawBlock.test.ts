/**
 * Raw blocks as they are read, whose ids are hashed many at a time, beside a plain reading: one transaction after another,
 * each hashed by itself. Both give the same blocks, and refuse the same ones for the same reason, however bytes change.
 *
 * `HEADWATER_SEED` repeats a run.
 */
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import type * as Proof from "@headwater/indexer/families/node/Proof"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as SeededRandom from "../../../../../../test/SeededRandom.ts"
import * as BlockBody from "../../../../src/families/utxo/internal/BlockBody.ts"
import { sha256d } from "../../../../src/families/utxo/internal/DoubleSha256.ts"
import { Malformed } from "../../../../src/families/utxo/internal/Malformed.ts"
import * as RawBlock from "../../../../src/families/utxo/internal/RawBlock.ts"
import { RawBytes, written } from "../../../../src/families/utxo/internal/RawBytes.ts"
import * as RawTransaction from "../../../../src/families/utxo/internal/RawTransaction.ts"
import * as RawZcashTransaction from "../../../../src/families/utxo/internal/RawZcashTransaction.ts"
import * as WitnessCommitment from "../../../../src/families/utxo/internal/WitnessCommitment.ts"
import * as Fixtures from "../../../Fixtures.ts"
import * as Mutation from "../../Mutation.ts"
import * as UtxoBlocks from "../UtxoBlocks.ts"
import * as UtxoNode from "../UtxoNode.ts"

const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))
const large = 200_000

interface Recorded {
  readonly name: string
  readonly chain: Chain.Chain
  readonly bytes: Buffer
  readonly listed: ReadonlyArray<Uint8Array>
}

/** What is compared of a block. */
interface Read extends Omit<RawBlock.RawBlock, "witnesses"> {
  readonly outcome: Result.Result<Proof.Outcome, unknown>
}

const outcomeOf = (work: () => Generator<void, Proof.Outcome>) => Result.try(() => TimeSlice.atOnce(work()))

const read = ({ bytes, chain, listed }: Recorded): Read => {
  const { witnesses, ...block } = TimeSlice.atOnce(RawBlock.read(chain, bytes, listed))
  return { ...block, outcome: outcomeOf(witnesses) }
}

const plain = ({ bytes, chain, listed }: Recorded): Read => {
  const { auxPow, headerHash, mweb, wireFormat } = chain.utxo!
  const zcash = wireFormat === "zcash"
  const raw = new RawBytes(bytes)
  const version = raw.uint32()
  const parent = raw.hash()
  const merkleRoot = raw.hash()
  if (zcash) raw.skip(32)
  const time = raw.uint32()
  raw.skip(zcash ? 36 : 8)
  if (zcash) raw.skip(raw.size())
  const hash = headerHash === undefined ? written(sha256d(bytes.subarray(0, raw.at))) : undefined
  if (auxPow && (version & 0x100) !== 0) {
    RawTransaction.read(raw, chain, 0, BlockBody.empty())
    raw.skip(32)
    for (const _ of ["coinbase", "chain"]) {
      raw.skipMany(32)
      raw.skip(4)
    }
    raw.skip(80)
  }
  const count = raw.size()
  if (count !== listed.length) throw new Malformed(`${count} transactions, ${listed.length} listed`)
  const from = raw.at
  const body = BlockBody.empty()
  const places: Array<RawTransaction.Place> = []
  let lost = false
  for (const [index, id] of listed.entries()) {
    const add = (own: BlockBody.BlockBody) => {
      if (lost) throw new Malformed("stands in the raw block behind a transaction that is not understood")
      lost = true
      if (zcash) RawZcashTransaction.read(raw, chain, index, own)
      else places.push(RawTransaction.read(raw, chain, index, own))
      lost = false
    }
    BlockBody.add(body, lost ? "" : raw.bytes.subarray(raw.at), add, id)
  }
  if (!lost && !mweb && raw.at !== bytes.length) throw new Malformed("bytes behind the raw block")
  const outcome = outcomeOf(function* () {
    if (lost)
      return {
        mismatch: undefined,
        unproven: [{ part: "transactions", cause: "unknown", reason: "one of them is not understood" }]
      }
    if (zcash) return { mismatch: undefined, unproven: [] }
    return yield* WitnessCommitment.proof(chain, bytes.subarray(from), {
      areAny: () => places.slice(1).some(RawTransaction.hasWitness),
      hashes: function* () {
        const ids = yield* TimeSlice.map(places, (place, index) =>
          RawTransaction.hasWitness(place) ? RawTransaction.witnessIdOf(bytes, place) : body.transactions[index]!
        )
        return Uint8Array.from(ids.flatMap((id) => [...written(id)]))
      }
    })
  })
  return { hash, parent, merkleRoot, time, body, outcome, isBroken: lost }
}

const shown = (attempt: () => Read) =>
  Result.match(Result.try(attempt), {
    onFailure: String,
    onSuccess: ({ body, outcome, ...block }) => ({
      ...block,
      outcome: Result.mapError(outcome, String),
      body: { ...body, ...UtxoNode.plainMoves(body) }
    })
  })

const assertSame = (block: Recorded) => {
  const found = shown(() => read(block))
  assert.deepStrictEqual(
    found,
    shown(() => plain(block)),
    block.name
  )
  return found
}

/** Lengths that stand for more than there is, a number that is cut off, and a few other bytes. */
const inserted = ["ff", "ffffffffffffffff7f", "feffffffff", "fdffff", "0001", "0008", "00"]

const changed = (next: Mutation.Random, bytes: Buffer): Buffer => {
  const at = Mutation.below(next, bytes.length)
  switch (Mutation.below(next, 4)) {
    case 0:
      return bytes.subarray(0, at)
    case 1: {
      const more = Buffer.from(inserted[Mutation.below(next, inserted.length)]!, "hex")
      return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])
    }
    default: {
      const other = Buffer.from(bytes)
      other[at]! ^= 1 << Mutation.below(next, 8)
      return other
    }
  }
}

const assertSameWhenChanged = (block: Recorded, times: number) => {
  const next = SeededRandom.make(seed)
  for (let time = 0; time < times; time++) assertSame({ ...block, bytes: changed(next, block.bytes) })
}

const chainOf = (name: string, network = "mainnet") => Result.getOrThrow(Chain.find(name, network))
const bytesOf = (hex: string) => Buffer.from(hex, "hex")

const own = (name: string, chain: Chain.Chain): Recorded => ({
  ...{ name, chain, bytes: bytesOf(UtxoBlocks.tip.raw) },
  listed: [UtxoBlocks.coinbase, UtxoBlocks.second, UtxoBlocks.first].map(({ txid }) => bytesOf(txid))
})

/** Transactions with a witness, and with the mark of MWEB beside or instead of one. */
const extended = (): Recorded => {
  const [coinbase, ...others] = [UtxoBlocks.coinbase, UtxoBlocks.second, UtxoBlocks.first].map(
    ({ hex }) => hex as string
  )
  const [witnessed, hogEx] = others.map((hex, index) => {
    const [witness, flag] = index === 0 ? ["0203aabbcc01dd", "01"] : ["0100", "09"]
    return `${hex.slice(0, 8)}00${flag}${hex.slice(8, -8)}${witness}${index === 0 ? "" : "00"}${hex.slice(-8)}`
  })
  const last = `${others[0]!.slice(0, 8)}0008${others[0]!.slice(8, -8)}00${others[0]!.slice(-8)}`
  const raw = `${UtxoBlocks.tip.raw.slice(0, 160)}04${coinbase}${witnessed}${hogEx}${last}`
  const listed = Array.from({ length: 4 }, (_, index) => new Uint8Array(32).fill(index + 1))
  return { name: "extended", chain: chainOf("litecoin"), bytes: bytesOf(raw), listed }
}

const recorded = (): ReadonlyArray<Recorded> => {
  if (!Fixtures.exist) return []
  const folder = Fixtures.path("utxo-blocks/electrumx/tests/blocks/")
  const names: Readonly<Record<string, string>> = { bitcoincash: "bitcoin-cash", bitcoin_cash: "bitcoin-cash" }
  return readdirSync(folder).flatMap((name) => {
    const [, coin = "", network = ""] = /^(.*)_(mainnet|testnet)\d*_/.exec(name) ?? []
    const chain = Chain.find(names[coin] ?? coin, network)
    if (Result.isFailure(chain)) return []
    const json = Fixtures.json(`utxo-blocks/electrumx/tests/blocks/${name}`) as { block: string; tx: Array<string> }
    return [{ name, chain: chain.success, bytes: bytesOf(json.block), listed: json.tx.map(bytesOf) }]
  })
}

describe("raw blocks, beside a plain reading", () => {
  for (const block of [own("bitcoin", chainOf("bitcoin")), own("bitcoin-cash", chainOf("bitcoin-cash")), extended()]) {
    it(`${block.name}, made here (seed ${seed})`, () => {
      const found = assertSame(block)
      if (typeof found === "string") return assert.fail(found)
      assert.isUndefined(found.body.notUnderstood)
      assertSameWhenChanged(block, 300)
    })
  }

  describe.skipIf(!Fixtures.exist)("recorded", () => {
    for (const block of recorded()) {
      it(`${block.name} (seed ${seed})`, () => {
        assertSame(block)
        if (block.bytes.length < large) assertSameWhenChanged(block, 20)
      })
    }

    const file =
      "utxo-blocks/rust-bitcoin/bitcoin/tests/data/mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw"
    it(`a block of Bitcoin with 2,500 transactions (seed ${seed})`, () => {
      const bytes = readFileSync(Fixtures.path(file))
      const raw = new RawBytes(bytes)
      raw.skip(80)
      const listed = new Array<Uint8Array>(raw.size()).fill(new Uint8Array(32))
      const block = { name: file, chain: chainOf("bitcoin"), bytes, listed }
      assert.notTypeOf(assertSame(block), "string")
      assertSameWhenChanged(block, 5)
    })
  })
})
