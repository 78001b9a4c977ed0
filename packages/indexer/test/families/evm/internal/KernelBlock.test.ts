/**
 * What a kernel reads of an answer is what the plain path reads of the same bytes: over recorded blocks, and over random
 * changes of these. `HEADWATER_MUTATIONS=100000` makes so many, `HEADWATER_SEED` repeats a run.
 */
import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { Chain } from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as Failover from "@headwater/indexer/families/node/Failover"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { JsonText } from "@headwater/indexer/families/node/JsonText"
import type { NodeHttp } from "@headwater/indexer/families/node/NodeHttp"
import type * as Proof from "@headwater/indexer/families/node/Proof"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SeededRandom from "../../../../../../test/SeededRandom.ts"
import * as KernelBlock from "../../../../src/families/evm/internal/KernelBlock.ts"
import * as JsonRpcReply from "../../../../src/families/node/internal/JsonRpcReply.ts"
import * as Fixtures from "../../../Fixtures.ts"
import * as Mutation from "../../Mutation.ts"
import * as EvmBlocks from "../EvmBlocks.ts"
import * as EvmNode from "../EvmNode.ts"
import * as SealedBlock from "../SealedBlock.ts"

const count = Math.ceil(Number(process.env.HEADWATER_MUTATIONS ?? 2_500) / 25)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** JSON of a node's results, by method. */
interface Texts {
  readonly eth_getBlockByNumber: string
  readonly eth_getBlockReceipts: string
  readonly debug_traceBlockByHash: string
}

const textsOf = ({ block, callTracer = [], receipts }: EvmNode.RecordedBlock): Texts => ({
  eth_getBlockByNumber: JSON.stringify(block),
  eth_getBlockReceipts: JSON.stringify(receipts),
  debug_traceBlockByHash: JSON.stringify(
    callTracer.map((result, index) => ({ txHash: block.transactions[index].hash, result }))
  )
})

const http: NodeHttp = { name: "memory", post: () => Effect.die("not asked"), redact: (text) => text }

/** A client whose answers are bytes, read as those of a node; results as text only where `givesText`. */
const clientOf = (texts: Texts, givesText: boolean): JsonRpc => {
  const all: Readonly<Record<string, string>> = { ...texts, eth_chainId: '"0x1"' }
  const results: JsonRpc["results"] = (calls, numbers = "plain") => {
    const sent = calls.map(({ method }, id) => ({ id, method }))
    const answers = sent.map(({ id, method }) =>
      all[method] === undefined
        ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"method not found"}}`
        : `{"jsonrpc":"2.0","id":${id},"result":${all[method]}}`
    )
    const body = Buffer.from(answers.length === 1 ? answers[0]! : `[${answers.join()}]`)
    const exchange = { node: http, sent, reply: { status: 200, retryAfter: undefined, body } }
    return Effect.mapError(
      JsonRpcReply.read(exchange, givesText || numbers !== "text" ? numbers : "plain"),
      ({ error }) => error
    )
  }
  return {
    node: "memory",
    results,
    batch: (calls) => Effect.flatMap(results(calls), (found) => Effect.fromResult(Result.all(found))),
    call: (method, params) => Effect.flatMap(results([{ method, params }]), ([result]) => Effect.fromResult(result!))
  }
}

/** The block, or the error, that a source makes of the answers. */
const read = (
  texts: Texts,
  height: number,
  verify: Proof.Level,
  givesText: boolean,
  chain: Chain = EvmBlocks.ethereum
) =>
  Effect.runPromise(
    EvmBlocks.withoutWaiting(
      Effect.result(
        Effect.flatMap(
          EvmSource.make(chain, Failover.alone(clientOf(texts, givesText)), {
            internal: true,
            tracers: ["debug_traceBlockByHash"],
            verify
          }),
          ({ blockAt }) => blockAt(height)
        )
      )
    )
  )

const textOf = (json: string) => new JsonText(Buffer.from(json))

/** Whether the kernel reads the block, and the traces. */
const accepts = (texts: Texts, height: number, verify: Proof.Level, chain: Chain = EvmBlocks.ethereum) => {
  const [block, receipts] = [textOf(texts.eth_getBlockByNumber), textOf(texts.eth_getBlockReceipts)]
  const read = TimeSlice.atOnce(KernelBlock.read(chain, verify, height, block, receipts))
  if (read === undefined) return { block: false, traces: false }
  const traces = TimeSlice.atOnce(KernelBlock.traces(textOf(texts.debug_traceBlockByHash), read.hashes))
  return { block: true, traces: traces !== undefined }
}

const levels = ["links", "roots"] as const

/** Since Byzantium: older receipts are for the plain path. */
const bundles = Fixtures.exist
  ? readdirSync(Fixtures.path("evm-rpc/bundles"))
      .filter((name) => /^ethereum-\d{7,}\.json\.gz$/.test(name) && !name.includes("1000000"))
      .map((name) => name.replace(".json.gz", ""))
  : []

describe.skipIf(!Fixtures.exist)("blocks read by a kernel", () => {
  it.each(bundles)("%s is proved and read as the plain path does", async (name) => {
    const { recorded } = EvmNode.bundle(name)
    const texts = textsOf(recorded)
    const height = Number(recorded.block.number)
    for (const verify of levels) {
      assert.deepStrictEqual(accepts(texts, height, verify), { block: true, traces: recorded.callTracer !== undefined })
      const plain = await read(texts, height, verify, false)
      assert.isTrue(Result.isSuccess(plain))
      assert.deepStrictEqual(await read(texts, height, verify, true), plain)
    }
  })

  /** Compares both ways, and says whether the kernel has read the block, which must not depend on the level. */
  const readBoth = async (recorded: EvmNode.RecordedBlock, chain: Chain) => {
    const texts = textsOf(recorded)
    const height = Number(recorded.block.number)
    const accepted = levels.map((verify) => accepts(texts, height, verify, chain).block)
    for (const verify of levels) {
      const plain = await read(texts, height, verify, false, chain)
      assert.isTrue(Result.isSuccess(plain))
      assert.deepStrictEqual(await read(texts, height, verify, true, chain), plain)
    }
    assert.strictEqual(accepted[0], accepted[1])
    return accepted[0]
  }

  const kinds = [
    ["optimism", SealedBlock.opStack],
    ["base", SealedBlock.opStack],
    ["arbitrum", SealedBlock.nitro],
    ["avalanche", SealedBlock.avalanche],
    ["polygon", {}],
    ["binance-smart-chain", {}]
  ] as const

  const at = (height: number) => ({ height, parent: `0x${"12".repeat(32)}`, time: 1_760_000_000 })
  const sealed = (own: SealedBlock.Own, transactions = 12, calls = 4) =>
    SealedBlock.repeated(EvmNode.bundle("ethereum-17053184").recorded, transactions, calls, at(200_000_000), own)

  it.each(kinds)("of %s are proved and read as the plain path does", async (blockchain, own) => {
    assert.isTrue(await readBoth(sealed(own), EvmBlocks.chainOf(blockchain)))
  })

  it("of Nitro, as recorded, are proved and read as the plain path does", async () => {
    const folder = "evm-rpc/chainstorage/internal/utils/fixtures/parser/arbitrum"
    const recorded = EvmNode.ofChainstorage(Fixtures.json(`${folder}/native_block_150_000_000.json`) as EvmNode.Json)
    assert.isTrue(await readBoth(recorded, EvmBlocks.chainOf("arbitrum")))
  })

  it("before Nitro are for the plain path", () => {
    const [nitro, arbitrum] = [22_207_817, EvmBlocks.chainOf("arbitrum")]
    assert.isTrue(KernelBlock.mayRead(arbitrum, "roots", nitro))
    assert.isFalse(KernelBlock.mayRead(arbitrum, "roots", nitro - 1))
  })

  it("with a deposit that makes coins, or a contract, are for the plain path", async () => {
    const { first } = SealedBlock.opStack
    const with7e = (transaction: EvmNode.Json, receipt: EvmNode.Json = {}) =>
      sealed({
        ...SealedBlock.opStack,
        first: {
          transaction: { ...first!.transaction, ...transaction },
          receipt: { ...first!.receipt, ...receipt }
        }
      })
    const optimism = EvmBlocks.chainOf("optimism")
    const contract = "0xa6c4a5a7e0a4e0c51d2f0b11d4c5e6d8b3f1a2c3"
    assert.isFalse(await readBoth(with7e({ mint: "0x5" }), optimism))
    assert.isFalse(await readBoth(with7e({ value: "0x5" }), optimism))
    assert.isFalse(await readBoth(with7e({ mint: "0x7", value: "0x5" }), optimism))
    assert.isTrue(await readBoth(with7e({ mint: undefined, isSystemTx: true }), optimism))
    // As before Canyon.
    assert.isTrue(await readBoth(with7e({}, { depositReceiptVersion: undefined }), optimism))
    const creation = textsOf(with7e({ to: null }, { contractAddress: contract }))
    for (const verify of levels) assert.isFalse(accepts(creation, 200_000_000, verify, optimism).block)
  })

  it("with gas that a sequencer of the OP stack takes back are for the plain path, which proves and understands them", async () => {
    const receipt = { ...SealedBlock.opStack.first!.receipt, type: "0x7d", gasUsed: "0x0", cumulativeGasUsed: "0x0" }
    const transaction = { type: "0x7d", from: EvmBlocks.zero, gas: "0x0", value: "0x0", input: "0xc6012ac3c20307" }
    const recorded = sealed({ ...SealedBlock.opStack, first: { transaction, receipt } })
    const optimism = EvmBlocks.chainOf("optimism")
    assert.isFalse(await readBoth(recorded, optimism))
    const receipts = recorded.receipts.map((each, index) => (index === 0 ? each : { ...each, opGasRefund: "0x7" }))
    const block = Result.getOrThrow(await read(textsOf({ ...recorded, receipts }), 200_000_000, "full", true, optimism))
    assert.deepStrictEqual(
      (block.unproven ?? []).map(({ part }) => part),
      ["internal transactions"]
    )
    assert.isUndefined(block.notUnderstood)
    assert.isTrue(block.transfers.some(({ kind }) => kind === "internal"))
  })

  it("of Nitro whose first transaction is not ArbOS's are for the plain path", () => {
    const arbitrum = EvmBlocks.chainOf("arbitrum")
    for (const lie of [{ from: EvmBlocks.alice }, { to: EvmBlocks.alice }, { value: "0x1" }]) {
      const recorded = sealed(SealedBlock.nitro)
      const [first, ...others] = recorded.block.transactions as ReadonlyArray<EvmNode.Json>
      const changed = { ...recorded, block: { ...recorded.block, transactions: [{ ...first, ...lie }, ...others] } }
      assert.isTrue(accepts(textsOf(recorded), 200_000_000, "roots", arbitrum).block)
      assert.isFalse(accepts(textsOf(changed), 200_000_000, "roots", arbitrum).block)
    }
  })

  it("of Avalanche that say what they settle, hashed or not, are for the plain path", async () => {
    const chain = EvmBlocks.chainOf("avalanche")
    for (const field of ["settledHeight", "settledGasUnix", "settledGasNumerator", "settledExcess"]) {
      const recorded = sealed(SealedBlock.avalanche)
      const unhashed = textsOf({ ...recorded, block: { ...recorded.block, [field]: "0x0" } })
      const { header } = SealedBlock.avalanche
      const hashed = textsOf(sealed({ header: { ...header, [field]: "0x0" } }))
      for (const texts of [unhashed, hashed]) {
        assert.isFalse(accepts(texts, 200_000_000, "roots", chain).block, field)
        const plain = await read(texts, 200_000_000, "roots", false, chain)
        assert.deepStrictEqual(await read(texts, 200_000_000, "roots", true, chain), plain)
        assert.strictEqual(Result.isSuccess(plain), texts === hashed)
      }
    }
  })

  it("that Bor has added to are for the plain path", async () => {
    const recorded = sealed({})
    const [number, hashed] = [recorded.block.number, recorded.block.hash].map((hex) => hex.slice(2))
    const key = Buffer.from(`${number.padStart(16, "0")}${hashed}`, "hex")
    const hash = EvmBlocks.hex(SealedBlock.keccak(Buffer.concat([Buffer.from("matic-bor-receipt-"), key])))
    const added = {
      ...{ hash, type: "0x0", from: EvmBlocks.zero, to: EvmBlocks.zero, value: "0x0", input: "0x", nonce: "0x0" },
      ...{ gas: "0x0", gasPrice: "0x0", v: "0x0", r: "0x0", s: "0x0", transactionIndex: "0xc" },
      blockHash: recorded.block.hash
    }
    const whole = {
      ...recorded,
      block: { ...recorded.block, transactions: [...recorded.block.transactions, added] },
      receipts: [
        ...recorded.receipts,
        {
          ...{ transactionHash: hash, transactionIndex: "0xc", blockHash: recorded.block.hash, status: "0x1" },
          ...{ cumulativeGasUsed: "0x0", gasUsed: "0x0", logs: [], logsBloom: `0x${"00".repeat(256)}` }
        }
      ],
      callTracer: [...recorded.callTracer!, { type: "CALL", from: EvmBlocks.zero, to: EvmBlocks.zero, value: "0x0" }]
    }
    assert.isFalse(await readBoth(whole, EvmBlocks.chainOf("polygon")))
  })

  it.each([1, 2, 127, 129, 300])("%i transactions have the roots that they should have", (transactions) => {
    const recorded = SealedBlock.repeated(EvmNode.bundle("ethereum-17053184").recorded, transactions, 1)
    const height = Number(recorded.block.number)
    assert.deepStrictEqual(accepts(textsOf(recorded), height, "roots"), { block: true, traces: true })
    const [first, ...others] = recorded.block.transactions as ReadonlyArray<EvmNode.Json>
    const lie = { ...recorded, block: { ...recorded.block, transactions: [{ ...first, value: "0x5" }, ...others] } }
    assert.isFalse(accepts(textsOf(lie), height, "roots").block)
  })

  it("tell nothing of tokens where the chain itself logs its coins (EIP-7708)", async () => {
    const { recorded } = EvmNode.bundle("ethereum-17053184")
    const height = Number(recorded.block.number)
    const contracts = async (texts: Texts, givesText: boolean) => {
      const { transfers } = Result.getOrThrow(await read(texts, height, "links", givesText))
      return transfers.flatMap((transfer) => (transfer.kind === "token" ? EvmBlocks.hex(transfer.contract) : []))
    }
    const all = await contracts(textsOf(recorded), true)
    const token = all[0]!
    const texts = textsOf(recorded)
    const coins = texts.eth_getBlockReceipts.replaceAll(`"address":"${token}"`, `"address":"0x${"ff".repeat(19)}fe"`)
    const withCoins = { ...texts, eth_getBlockReceipts: coins }
    assert.isTrue(accepts(withCoins, height, "links").block)
    const others = all.filter((contract) => contract !== token)
    assert.isAbove(others.length, 0)
    for (const givesText of [true, false]) assert.deepStrictEqual(await contracts(withCoins, givesText), others)
  })

  it("whose numbers are larger than JavaScript's are for the plain path", () => {
    const { recorded } = EvmNode.bundle("ethereum-17053184")
    for (const timestamp of ["0x1fffffffffffff", "0x20000000000000"]) {
      const later = { ...recorded, block: { ...recorded.block, timestamp } }
      const { block } = accepts(textsOf(later), Number(recorded.block.number), "links")
      assert.strictEqual(block, timestamp === "0x1fffffffffffff")
    }
  })

  const place = (next: Mutation.Random, text: string) => Mutation.below(next, text.length)

  const splice = (text: string, at: number, remove: number, insert: string) =>
    text.slice(0, at) + insert + text.slice(at + remove)

  /** One of the members of the text, as `"name":value,`. */
  const member = (next: Mutation.Random, text: string) => {
    const from = place(next, text)
    const found = /"[a-zA-Z]+":(?:"[^"\\]*"|null|true|false),/g
    found.lastIndex = from
    const match = found.exec(text)
    return match === null ? undefined : { at: match.index, text: match[0] }
  }

  /** The members of every object in another order. */
  const reordered = (next: Mutation.Random, json: unknown): unknown =>
    Array.isArray(json)
      ? json.map((item) => reordered(next, item))
      : typeof json === "object" && json !== null
        ? Object.fromEntries(
            Mutation.shuffled(next, Object.entries(json)).map(([name, v]) => [name, reordered(next, v)])
          )
        : json

  const changes: ReadonlyArray<(next: Mutation.Random, text: string) => string> = [
    (next, text) => splice(text, place(next, text), 1, String.fromCharCode(Mutation.below(next, 128))),
    (next, text) => splice(text, place(next, text), 1, "0"),
    (next, text) => splice(text, place(next, text), 1, ""),
    (next, text) => text.slice(0, place(next, text)),
    (next, text) => JSON.stringify(Mutation.mutate(next, JSON.parse(text))),
    (next, text) => JSON.stringify(Mutation.mutate(next, JSON.parse(text))),
    (next, text) => JSON.stringify(reordered(next, JSON.parse(text))),
    (_, text) => JSON.stringify(JSON.parse(text), undefined, 1),
    // A member twice, the first one as it was or not.
    (next, text) => {
      const found = member(next, text)
      return found === undefined
        ? text
        : splice(text, found.at, 0, next() < 0.5 ? found.text : `${found.text.replace(/"0x./, '"0x5')} `)
    },
    (next, text) => {
      const found = member(next, text)
      return found === undefined ? text : splice(text, found.at, found.text.length, "")
    },
    // An escape in a name or a value.
    (next, text) => {
      const found = member(next, text)
      if (found === undefined) return text
      const letters = [...found.text.matchAll(/[0-9a-zA-Z]/g)]
      const at = found.at + letters[Mutation.below(next, letters.length)]!.index
      return splice(text, at, 1, `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`)
    },
    // Letters of digits in the other case, zeros before a number, a number too long.
    (next, text) => {
      const found = member(next, text)
      return found === undefined
        ? text
        : splice(
            text,
            found.at,
            found.text.length,
            found.text.replace(/"0x[^"]*"/, (hex) => `"0x${hex.slice(3).toUpperCase()}`)
          )
    },
    (next, text) => {
      const found = member(next, text)
      const zeros = "0".repeat(Mutation.below(next, 80))
      return found === undefined
        ? text
        : splice(text, found.at, found.text.length, found.text.replace('"0x', `"0x${zeros}`))
    },
    (next, text) => {
      const found = member(next, text)
      return found === undefined
        ? text
        : splice(
            text,
            found.at,
            found.text.length,
            found.text.replace(/"0x[^"]*"/, `"0x${"f".repeat(64 + Mutation.below(next, 3))}"`)
          )
    },
    // What no proof looks at.
    (next, text) => {
      const names =
        /"(?:logIndex|gasUsed|effectiveGasPrice|blockNumber|size|input|output|gas|removed)":(?:"[^"]*"|false)/g
      const found = [...text.matchAll(names)]
      const one = found[Mutation.below(next, found.length)]
      return one === undefined ? text : splice(text, one.index, one[0].length, one[0].replace(/:.*/, ':"later"'))
    }
  ]

  it(`are refused, or the same, under ${count} random changes (seed ${seed})`, async () => {
    const next = SeededRandom.make(seed)
    const height = 200_000_000
    const bases = [["ethereum", {}] as const, ...kinds].map(([blockchain, own]) => ({
      chain: EvmBlocks.chainOf(blockchain),
      texts: textsOf(sealed(own))
    }))
    const methods = Object.keys(bases[0]!.texts) as ReadonlyArray<keyof Texts>
    for (const { chain, texts } of bases) {
      for (const verify of levels) {
        assert.deepStrictEqual(accepts(texts, height, verify, chain), { block: true, traces: true })
      }
    }
    let accepted = 0
    for (let index = 0; index < count; index++) {
      const verify = levels[index % 2]!
      const { chain, texts } = bases[Mutation.below(next, bases.length)]!
      const method = methods[Mutation.below(next, 3)]!
      const change = Mutation.below(next, changes.length)
      const changed: Texts = { ...texts, [method]: changes[change]!(next, texts[method]) }
      const [plain, byKernel] = [
        await read(changed, height, verify, false, chain),
        await read(changed, height, verify, true, chain)
      ]
      const told = `change ${index} (kind ${change}) of ${method} at ${verify} of ${chain.blockchain}`
      assert.deepStrictEqual(byKernel, plain, told)
      if (Result.isSuccess(Result.try(() => JSON.parse(changed[method])))) {
        const { block, traces } = accepts(changed, height, verify, chain)
        if (block && traces) accepted++
      }
    }
    assert.isAbove(accepted, count / 20)
    assert.isBelow(accepted, count)
  })
})
