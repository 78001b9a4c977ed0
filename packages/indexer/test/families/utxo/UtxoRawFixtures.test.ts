/** Recorded raw blocks, and Zebra's answers, read to what their publishers say of them. */
import { existsSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Spend } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Payers from "@headwater/core/events/Payers"
import * as Watched from "@headwater/core/events/Watched"
import * as Unlocking from "@headwater/core/utxo/Unlocking"
import * as UtxoKernel from "@headwater/core/utxo/UtxoKernel"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as MinedOutputs from "@headwater/indexer/families/utxo/MinedOutputs"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Result from "effect/Result"
import { merkleRoot } from "../../../src/families/utxo/internal/MerkleRoot.ts"
import * as RawBlock from "../../../src/families/utxo/internal/RawBlock.ts"
import { RawBytes } from "../../../src/families/utxo/internal/RawBytes.ts"
import * as FakeNode from "../../FakeNode.ts"
import { chainOf, coinsOf, fixtures, foldersIn, hex, open, present, textOf } from "./UtxoFixtures.ts"
import * as UtxoNode from "./UtxoNode.ts"

/** Fixtures that are wrong on purpose say so in their names. */
const isWrong = (name: string) => /bad|altered/.test(name)

describe.skipIf(!present)("electrumx: raw blocks of many chains and their ids", () => {
  const at = ["electrumx", "tests", "blocks"]
  const names: Readonly<Record<string, string>> = { bitcoincash: "bitcoin-cash", bitcoin_cash: "bitcoin-cash" }
  for (const name of foldersIn(...at)) {
    const [, coin = "", network = ""] = /^(.*)_(mainnet|testnet)\d*_/.exec(name) ?? []
    const chain = Chain.find(names[coin] ?? coin, network)
    it.effect.skipIf(Result.isFailure(chain))(name, () =>
      Effect.gen(function* () {
        const block = JSON.parse(textOf(...at, name)) as UtxoNode.NodeBlock & { readonly block: string }
        const part = { blocks: [block], raw: { [block.hash]: block.block } }
        const source = yield* open(Result.getOrThrow(chain), "boolean", part)
        if (isWrong(name)) return assert.isDefined(yield* Effect.flip(source.blockAt(block.height)))
        const read = yield* source.blockAt(block.height)
        assert.deepStrictEqual(read.transactions.map(hex), block.tx as ReadonlyArray<string>)
        assert.strictEqual(hex(read.hash), block.hash)
        assert.strictEqual(hex(read.parent), block.previousblockhash)
        // Every transaction but the first spends something, unless it spends from a shielded pool.
        if (coin !== "zcash") assert.isAtLeast(read.spends.length, read.transactions.length - 1)
        assert.isTrue((yield* source.capabilities)[0]!.detail.includes("raw"))
      })
    )
  }
})

/** As many placeholders as the raw block has transactions: ids that are computed need no list. */
const unlisted = (bytes: Buffer, headerSize: number) => {
  const raw = new RawBytes(bytes)
  raw.skip(headerSize)
  return new Array<Uint8Array>(raw.size()).fill(new Uint8Array(32))
}

describe.skipIf(!present)("zebra: raw Zcash blocks from genesis to the borders of the upgrades", () => {
  const at = ["zebra", "zebra-test", "src", "vectors"]
  const headerSize = 140 + 3 + 1344
  for (const name of foldersIn(...at)) {
    const network = name.startsWith("block-test") ? "testnet" : "mainnet"
    it(`${name}${isWrong(name) ? ": refused" : ""}`, () => {
      const bytes = Buffer.from(textOf(...at, name).trim(), "hex")
      const read = () => {
        const block = TimeSlice.atOnce(RawBlock.read(chainOf("zcash", network), bytes, unlisted(bytes, headerSize)))
        assert.strictEqual(hex(TimeSlice.atOnce(merkleRoot(block.body.transactions))), hex(block.merkleRoot))
        return block
      }
      if (isWrong(name)) return assert.throws(read)
      const { body, hash } = read()
      assert.isTrue(hex(hash!).startsWith("000"), "the hash of a block has zeros in front")
      assert.isAtLeast(body.transfers.length, 1)
    })
  }

  it.effect("a block with a version 5 transaction, as Zebra shows it and raw", () =>
    Effect.gen(function* () {
      const vectors = ["zebra", "zebra-rpc", "tests", "vectors"]
      const block = UtxoNode.parse(textOf(...vectors, "getblock_response_2.json")) as UtxoNode.NodeBlock
      const source = yield* open(chainOf("zcash"), "numeric", { blocks: [block] })
      const read = yield* source.blockAt(2222000)
      assert.strictEqual(read.transactions.length, 2)
      assert.deepStrictEqual(
        coinsOf(read)
          .slice(0, 5)
          .map(({ amount }) => amount),
        [250002408n, 25000000n, 21875000n, 15625000n, 54n]
      )
      // Fees of this block, 0.00005 shielded value less 48 outputs of 0.00000054 each, went to the coinbase.
      const minted = coinsOf(read)
        .filter(({ transaction }) => transaction === 0)
        .reduce((sum, { amount }) => sum + amount, 0n)
      const paid = coinsOf(read)
        .filter(({ transaction }) => transaction === 1)
        .reduce((sum, { amount }) => sum + amount, 0n)
      assert.strictEqual(minted - 312500000n, 5000n - paid)
      assert.deepInclude(yield* source.latestDetails, { difficulty: 79650795, size: 5702, weight: 5702 * 4 })

      const transactions = block.tx as ReadonlyArray<UtxoNode.NodeTransaction>
      const header = Buffer.alloc(140)
      header.set(Buffer.from(block.merkleroot as string, "hex").reverse(), 36)
      const raw = [
        header.toString("hex"),
        `fd4005${block.solution as string}`,
        "02",
        ...transactions.map((transaction) => transaction.hex as string)
      ].join("")
      const ids = transactions.map(({ txid }) => Buffer.from(txid, "hex"))
      const { body } = TimeSlice.atOnce(RawBlock.read(chainOf("zcash"), Buffer.from(raw, "hex"), ids))
      assert.deepStrictEqual(body.transactions.map(hex), read.transactions.map(hex))
      assert.deepStrictEqual<unknown>(UtxoNode.plainMoves(body).transfers, read.transfers)
    })
  )

  it.effect(
    "a node that shows a version 5 transaction with another amount, in its bytes too, is told from the id",
    () =>
      Effect.gen(function* () {
        const text = textOf("zebra", "zebra-rpc", "tests", "vectors", "getblock_response_2.json")
        const block = UtxoNode.parse(text) as UtxoNode.NodeBlock
        const honest = yield* open(chainOf("zcash"), "numeric", { blocks: [block] })
        const { unproven = [] } = yield* honest.blockAt(2222000)
        assert.deepStrictEqual(unproven, [])
        const [coinbase, paying] = block.tx as ReadonlyArray<UtxoNode.NodeTransaction>
        const changed = {
          ...paying!,
          hex: (paying!.hex as string).replace("3600000000000000", "3700000000000000"),
          vout: [{ ...paying!.vout[0], value: UtxoNode.number("0.00000055"), valueZat: 55 }, ...paying!.vout.slice(1)]
        }
        assert.notStrictEqual(changed.hex, paying!.hex)
        const lying = yield* open(chainOf("zcash"), "numeric", { blocks: [{ ...block, tx: [coinbase!, changed] }] })
        const { message } = yield* Effect.flip(lying.blockAt(2222000))
        assert.include(message, "txid is not the hash of the transaction")

        // What an input of somebody spends is shown by such a transaction, too.
        const spentBy = (hex: unknown) =>
          Effect.gen(function* () {
            const node = yield* FakeNode.make(() => hex)
            const rpc = yield* JsonRpc.make({ urls: [node.url] })
            const transactionId = new Uint8Array(Buffer.from(paying!.txid, "hex"))
            const [output] = yield* MinedOutputs.make(chainOf("zcash"), [rpc])([{ transactionId, index: 0 }])
            return output?.amount
          })
        assert.deepStrictEqual([yield* spentBy(paying!.hex), yield* spentBy(changed.hex)], [54n, undefined])
      }).pipe(Effect.provideService(References.MinimumLogLevel, "Error"))
  )

  it.effect("the list of ids of an older Zebra has no size: it is that of the raw block", () =>
    Effect.gen(function* () {
      const vectors = ["zebra", "zebra-rpc", "tests", "vectors"]
      const block = UtxoNode.parse(textOf(...vectors, "getblock_response_1.json")) as UtxoNode.NodeBlock
      const source = yield* open(chainOf("zcash"), "numeric", {
        blocks: [block],
        raw: { [block.hash]: "00".repeat(5702) }
      })
      assert.deepInclude(yield* source.latestDetails, { size: 5702, weight: 22808, chainwork: "" })
    })
  )
})

describe.skipIf(!present)("rust-bitcoin: raw blocks named by their hash", () => {
  const at = ["rust-bitcoin", "bitcoin", "tests", "data"]
  for (const name of foldersIn(...at)) {
    it(name, () => {
      const bytes = readFileSync(join(fixtures, ...at, name))
      const {
        hash,
        merkleRoot: root,
        body
      } = TimeSlice.atOnce(RawBlock.read(chainOf("bitcoin"), bytes, unlisted(bytes, 80)))
      assert.strictEqual(hex(hash!), basename(name, ".raw").split("_").at(-1))
      assert.strictEqual(hex(TimeSlice.atOnce(merkleRoot(body.transactions))), hex(root))
      // The subsidy bounds what a coinbase makes from nothing.
      assert.isBelow(Number(body.transfers.find(({ transaction }) => transaction === 0)!.amount), 51e8)
    })
  }
})

/**
 * Asserts that inputs unlock the scripts that they spend, and none that another one spends, unless both are taproot.
 * Returns the lengths of the scripts.
 */
const assertOwners = (inputs: ReadonlyArray<{ readonly script: Uint8Array; readonly spend: Spend }>) => {
  const isTaproot = (script: Uint8Array) => script[0] === 0x51 && script.length === 34
  const seen = new Map(inputs.map((input) => [hex(input.script), input]))
  for (const { script, spend } of inputs) {
    const unlocks = Unlocking.mayUnlock([spend.unlocking!()])
    assert.isTrue(unlocks(script as AddressBytes), hex(script))
    for (const other of seen.values()) {
      const same = Buffer.compare(script, other.script) === 0
      if (same || (isTaproot(script) && isTaproot(other.script))) continue
      assert.isFalse(unlocks(other.script as AddressBytes), `${hex(script)} ${hex(other.script)}`)
    }
  }
  return [...seen.values()].map(({ script }) => script.length)
}

describe.skipIf(!present)("rust-bitcoin: a block of Bitcoin that spends outputs of its own", () => {
  const block =
    "rust-bitcoin/bitcoin/tests/data/mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw"
  /** The block, and those of its inputs that spend its outputs, with the scripts that these have. */
  const read = () => {
    const bytes = readFileSync(join(fixtures, block))
    const { body } = TimeSlice.atOnce(RawBlock.read(chainOf("bitcoin"), bytes, unlisted(bytes, 80)))
    const outputs = new Map(
      body.transfers.map(({ position, to, transaction }) => [
        `${hex(body.transactions[transaction]!)}:${position}`,
        to!
      ])
    )
    const inputs = body.spends.flatMap((spend) => {
      const script = outputs.get(`${hex(spend.outpoint.transactionId)}:${spend.outpoint.index}`)
      return script === undefined ? [] : [{ script, spend }]
    })
    return { body, inputs }
  }

  it.skipIf(!existsSync(join(fixtures, block)))("each input shows whose output it spends, and whose not", () => {
    // P2WPKH, P2SH, P2PKH, and P2WSH or P2TR.
    assert.includeMembers(assertOwners(read().inputs), [22, 23, 25, 34])
  })

  it.skipIf(!existsSync(join(fixtures, block)))("the payers that are watched, hashed by the kernel and without", () => {
    const { body, inputs } = read()
    const watched = Watched.make([3, 4])
    const owners = inputs.filter(({ script }) => script[0] !== 0x51)
    for (const { script } of owners) watched.add(script)
    const header = { height: 1, hash: new Uint8Array(32), parent: new Uint8Array(32), time: 1 }
    const shown = (hashesOf: Unlocking.HashesOf) =>
      TimeSlice.atOnce(Payers.shownInSteps({ ...header, ...body }, watched, hashesOf))
    const found = shown(UtxoKernel.hashesOf)
    assert.deepStrictEqual(found, shown(Unlocking.hashesOf))
    const keys = new Set(found.map(({ address, transaction }) => `${transaction}:${hex(address)}`))
    assert.isAbove(owners.length, 100)
    for (const { script, spend } of owners) assert.isTrue(keys.has(`${spend.transaction}:${hex(script)}`), hex(script))
  })

  it.skipIf(!existsSync(join(fixtures, block)))("the payers that are watched, of one form of script alone", () => {
    const { body, inputs } = read()
    const header = { height: 1, hash: new Uint8Array(32), parent: new Uint8Array(32), time: 1 }
    const shown = (watched: Watched.WatchedAddresses) =>
      TimeSlice.atOnce(Payers.shownInSteps({ ...header, ...body }, watched, UtxoKernel.hashesOf))
    const ofForm = Map.groupBy(inputs, ({ script }) => `${script.length} ${script[0]}`)
    assert.isAbove(ofForm.size, 3)
    for (const [form, owners] of ofForm) {
      const { has, hasLike, size, ...watched } = Watched.make([3, 4])
      for (const { script } of owners) watched.add(script)
      assert.deepStrictEqual(shown({ has, hasLike, size }), shown({ has, size }), form)
      const [length, first] = form.split(" ").map(Number)
      assert.isTrue(hasLike(length!, first!))
      assert.isFalse(hasLike(length! + 1, first!))
    }
  })
})

describe.skipIf(!present)("bitcoin-core: raw blocks with statistics", () => {
  it.skipIf(!existsSync(join(fixtures, "bitcoin-core/src/test/data/blockfilters.json")))(
    "blockfilters.json: as many inputs as there are scripts that they spent",
    () => {
      type Row = readonly [number, string, string, ReadonlyArray<string>]
      const rows = JSON.parse(textOf("bitcoin-core", "src", "test", "data", "blockfilters.json")) as ReadonlyArray<Row>
      for (const [, hash, block, spent] of rows.filter((row) => row.length > 1)) {
        const bytes = Buffer.from(block, "hex")
        const read = TimeSlice.atOnce(RawBlock.read(chainOf("bitcoin", "testnet"), bytes, unlisted(bytes, 80)))
        assert.strictEqual(hex(read.hash!), hash)
        assert.strictEqual(hex(TimeSlice.atOnce(merkleRoot(read.body.transactions))), hex(read.merkleRoot))
        assert.strictEqual(read.body.spends.length, spent.length, hash)
        const scripts = spent.map((script) => new Uint8Array(Buffer.from(script, "hex")))
        for (const script of scripts.filter(({ length }) => length === 25)) {
          const owners = read.body.spends.filter(({ unlocking }) =>
            Unlocking.mayUnlock([unlocking!()])(script as AddressBytes)
          )
          assert.lengthOf(owners, scripts.filter((other) => Buffer.compare(other, script) === 0).length, hex(script))
        }
      }
    }
  )

  it.skipIf(!existsSync(join(fixtures, "bitcoin-core/test/functional/data/rpc_getblockstats.json")))(
    "rpc_getblockstats.json: transactions, inputs, outputs and fees of a chain",
    () => {
      interface Stats {
        readonly blockhash: string
        readonly height: number
        readonly ins: number
        readonly txs: number
        readonly totalfee: number
        readonly total_out: number
        readonly utxo_increase_actual: number
      }
      const { blocks, stats } = JSON.parse(
        textOf("bitcoin-core", "test", "functional", "data", "rpc_getblockstats.json")
      ) as { readonly blocks: ReadonlyArray<string>; readonly stats: ReadonlyArray<Stats> }
      const outputs = new Map<string, bigint>()
      let checked = 0
      for (const block of blocks) {
        const bytes = Buffer.from(block, "hex")
        const { hash, body } = TimeSlice.atOnce(
          RawBlock.read(chainOf("bitcoin", "regtest"), bytes, unlisted(bytes, 80))
        )
        const key = (id: Uint8Array, index: number) => `${hex(id)}:${index}`
        const created = body.transfers.filter(({ to }) => to !== undefined)
        for (const { transaction, position, amount } of created) {
          outputs.set(key(body.transactions[transaction]!, position), amount)
        }
        const spent = body.spends.map(({ outpoint }) => outputs.get(key(outpoint.transactionId, outpoint.index))!)
        const expected = stats.find(({ blockhash }) => blockhash === hex(hash!))
        if (expected === undefined) continue
        checked++
        const paid = created.filter(({ transaction }) => transaction > 0).reduce((sum, { amount }) => sum + amount, 0n)
        assert.strictEqual(body.transactions.length, expected.txs)
        assert.strictEqual(body.spends.length, expected.ins)
        assert.strictEqual(paid, BigInt(expected.total_out))
        assert.strictEqual(spent.reduce((sum, amount) => sum + amount, 0n) - paid, BigInt(expected.totalfee))
        assert.strictEqual(created.length - spent.length, expected.utxo_increase_actual)
      }
      assert.strictEqual(checked, stats.length)
    }
  )
})
