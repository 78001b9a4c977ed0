/**
 * Every family's decoder under random changes of recorded blocks: no change of a transaction stops a block or changes
 * another transaction.
 *
 * `HEADWATER_MUTATIONS=100000` makes so many, `HEADWATER_SEED` repeats a run.
 */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as TokenTransfers from "@headwater/indexer/families/evm/TokenTransfers"
import * as DecimalText from "@headwater/indexer/families/node/DecimalText"
import * as Failover from "@headwater/indexer/families/node/Failover"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SeededRandom from "../../../../test/SeededRandom.ts"
import * as TronBlock from "../../src/families/tron/internal/TronBlock.ts"
import * as Ledger from "../../src/families/xrp/internal/Ledger.ts"
import * as FakeNode from "../FakeNode.ts"
import * as Fixtures from "../Fixtures.ts"
import * as EvmBlocks from "./evm/EvmBlocks.ts"
import * as EvmNode from "./evm/EvmNode.ts"
import * as Mutation from "./Mutation.ts"
import * as TronBlocks from "./tron/TronBlocks.ts"
import * as UtxoBlocks from "./utxo/UtxoBlocks.ts"
import * as UtxoNode from "./utxo/UtxoNode.ts"
import * as XrpLedgers from "./xrp/XrpLedgers.ts"

type Json = Mutation.Json

const count = Number(process.env.HEADWATER_MUTATIONS ?? 800)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Answers about a block: lists whose entries are each of one transaction. */
type Lists = Readonly<Record<string, ReadonlyArray<Json>>>

interface Subject {
  readonly family: string
  readonly name: string
  readonly lists: Lists
  /** The id of the transaction that an entry is of. */
  readonly idOf: (entry: Json) => unknown
  readonly decode: (lists: Lists) => Promise<Result.Result<Block, string>>
  /** Refusals of what contradicts a hash or a root, or of an answer without what was asked for. */
  readonly proved: RegExp
  /** Whether later transactions may be left out, each with a row of its own, since their place cannot be told. */
  readonly mayLose?: true
  /** Whether the place of a token among the others may move: on Tron nothing but the infos tells how many logs there are. */
  readonly mayMove?: true
  /** Changes entries in the family's own way, in place of {@link Mutation.mutate}. */
  readonly mutate?: (next: Mutation.Random, entry: Json) => Json
}

const run = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
  Effect.runPromise(EvmBlocks.withoutWaiting(Effect.result(Effect.mapError(effect, ({ message }) => message))))

const first = <A>(all: ReadonlyArray<A>) => all.slice(0, 8)

/** A client whose answers come from memory. */
const clientOf = (answer: FakeNode.Answer): JsonRpc => {
  const one = ({ method, params }: { readonly method: string; readonly params: ReadonlyArray<unknown> }) =>
    Result.try({
      try: () => answer(method, params) ?? null,
      catch: (error) => {
        if (!(error instanceof FakeNode.RpcError)) throw error
        return new NodeRejected({ node: "fake", method, code: error.code, message: error.message })
      }
    })
  return {
    node: "fake",
    call: (method, params) => Effect.suspend(() => Effect.fromResult(one({ method, params }))),
    batch: (calls) => Effect.suspend(() => Effect.fromResult(Result.all(calls.map(one)))),
    results: (calls) => Effect.sync(() => calls.map(one))
  }
}

const evm = async (
  name: string,
  recorded: EvmNode.RecordedBlock,
  chain = EvmBlocks.ethereum
): Promise<ReadonlyArray<Subject>> => {
  const transactions = first(recorded.block.transactions as ReadonlyArray<Json>)
  const hashes = new Set(transactions.map(({ hash }) => hash))
  const whole: EvmNode.RecordedBlock = {
    block: { ...recorded.block, transactions },
    receipts: first(recorded.receipts),
    callTracer: first(recorded.callTracer ?? []),
    traceBlock: recorded.traceBlock?.filter(({ transactionHash }) => hashes.has(transactionHash)) ?? []
  }
  const tree = whole.callTracer!.map((result, i) => ({ txHash: transactions[i].hash, result }))
  const subjectOf = async (tracer: "debug_traceBlockByHash" | "trace_block"): Promise<Subject> => {
    const lists: Lists = {
      transactions,
      receipts: whole.receipts,
      traces: tracer === "trace_block" ? whole.traceBlock! : tree
    }
    let shown: Lists = lists
    const answers = EvmNode.answers([whole])
    const client = clientOf((method, params) => {
      if (method === "eth_getBlockByNumber" && params[1] === true)
        return { ...whole.block, transactions: shown.transactions }
      if (method === "eth_getBlockReceipts") return shown.receipts
      if (method === tracer) return shown.traces
      return method === "eth_getTransactionReceipt"
        ? shown.receipts!.find((receipt) => receipt?.transactionHash === params[0])
        : answers(method, params)
    })
    const options = { internal: true, tracers: [tracer], verify: "links" } as const
    const source = Result.getOrThrow(await run(EvmSource.make(chain, Failover.alone(client), options)))
    return {
      ...{ family: "evm", name: `${name} by ${tracer}`, lists, proved: /^$/ },
      idOf: (entry) => entry.hash ?? entry.txHash ?? entry.transactionHash,
      decode: (mutated) => {
        shown = mutated
        return run(source.blockAt(Number(whole.block.number)))
      }
    }
  }
  return [await subjectOf("debug_traceBlockByHash"), await subjectOf("trace_block")]
}

const decodeTron = Schema.decodeUnknownResult(TronBlock.Answer)

const tron = (name: string, { block, infos }: ReturnType<typeof TronBlocks.blockOf>): Subject => {
  const { number: height } = block.block_header.raw_data
  return {
    ...{ family: "tron", name, lists: { transactions: block.transactions, infos }, mayLose: true, mayMove: true },
    idOf: (entry) => entry.txID ?? entry.id,
    proved: /does not hash to its id|has a transaction twice/,
    decode: async ({ infos, transactions }) =>
      Result.mapError(
        Result.flatMap(decodeTron({ ...block, transactions }), (answer) =>
          TimeSlice.atOnce(TronBlock.decode(TronBlocks.mainnet, answer, infos!, { height, internal: true }))
        ),
        String
      )
  }
}

const xrp = (name: string, ledger: Json): Subject => ({
  ...{ family: "xrp", name, lists: { transactions: ledger.transactions } },
  idOf: ({ hash }) => hash,
  proved: /^$/,
  decode: async ({ transactions }) =>
    Result.map(TimeSlice.atOnce(Ledger.decode({ ledger: { ...ledger, transactions }, validated: true })), (read) =>
      TimeSlice.atOnce(Ledger.toBlock(XrpLedgers.mainnet, read!))
    )
})

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

const utxo = async (name: string, block: Json, chain = bitcoin): Promise<Subject> => {
  const exact = DecimalText.parse(Buffer.from(JSON.stringify(block))) as Json
  let shown = exact
  const answers = UtxoNode.answers("core", { blocks: [exact] })
  const client = clientOf((method, params) =>
    method === "getblock" && Number(params[1]) >= 2 ? shown : answers(method, params)
  )
  const source = Result.getOrThrow(await run(UtxoSource.make(chain, Failover.alone(client), { strategy: "decoded" })))
  return {
    ...{ family: "utxo", name, lists: { transactions: exact.tx } },
    idOf: ({ txid }) => txid,
    proved: /merkleroot|must not have a transaction twice|is not what the bytes of the transaction say/,
    decode: ({ transactions }) => {
      shown = { ...exact, tx: transactions }
      return run(source.blockAt(exact.height))
    }
  }
}

/** Raw blocks of a later format: a transaction's bytes change, and its id, which the Merkle root and the node's list have. */
const utxoRaw = async (): Promise<Subject> => {
  const { tip } = UtxoBlocks
  const transactions = [UtxoBlocks.coinbase, UtxoBlocks.first, UtxoBlocks.second].map(({ hex, txid }) => ({
    ...{ hex, txid, vin: [], vout: [] }
  }))
  let shown = UtxoBlocks.block(tip.json.height, tip.json.previousblockhash as string, transactions)
  const client = clientOf((method, params) =>
    UtxoNode.answers("core", { blocks: [shown.json], raw: { [shown.json.hash]: shown.raw } })(method, params)
  )
  const source = Result.getOrThrow(await run(UtxoSource.make(bitcoin, Failover.alone(client), { strategy: "raw" })))
  return {
    ...{ family: "utxo", name: "raw", lists: { transactions }, mayLose: true },
    idOf: ({ txid }) => txid,
    proved: /merkleroot|must not have a transaction twice|bytes behind the raw block/,
    mutate: (next, entry) => {
      const bytes = Buffer.from(entry.hex, "hex")
      const at = Mutation.below(next, bytes.length)
      const changed = [
        () => Buffer.concat([bytes.subarray(0, 4), Buffer.from([0, 2 + Mutation.below(next, 253)]), bytes.subarray(4)]),
        () => bytes.subarray(0, at),
        () => Buffer.concat([bytes.subarray(0, at), Buffer.from([Mutation.below(next, 256)]), bytes.subarray(at)]),
        () => bytes.map((byte, i) => (i === at ? Mutation.below(next, 256) : byte))
      ][Mutation.below(next, 4)]!()
      const hex = Buffer.from(changed).toString("hex")
      // Half of them as a format whose id is no hash of these bytes.
      const digest = (data: Uint8Array) => createHash("sha256").update(data).digest()
      const id = next() < 0.5 ? digest(Buffer.from(entry.txid)) : digest(digest(changed)).reverse()
      return { ...entry, hex, txid: id.toString("hex"), vin: [], vout: [] }
    },
    decode: ({ transactions }) => {
      shown = UtxoBlocks.block(tip.json.height, tip.json.previousblockhash as string, transactions as never)
      return run(source.blockAt(tip.json.height))
    }
  }
}

/** A block of each family that was made here. */
const own = async (): Promise<ReadonlyArray<Subject>> => {
  const { alice, bob, carol, padded, recorded, token } = EvmBlocks
  const log = {
    address: token,
    topics: [TokenTransfers.transferTopic, padded(alice), padded(carol)],
    data: padded(bob)
  }
  const calls = [
    { type: "CALL", from: bob, to: carol, value: "0x2", calls: [{ type: "STATICCALL", from: carol, to: bob }] }
  ]
  const block = recorded([
    { tx: { value: "0x1", type: "0x2" }, logs: [log, { topics: [], data: "0x" }], trace: { calls } },
    { tx: { value: "0x5" }, receipt: { status: "0x0" } },
    { logs: [log], trace: { calls } },
    { tx: { value: "0x7", to: null }, receipt: { contractAddress: carol } }
  ])
  const { call, infoOf, internal, transfer, trc20 } = TronBlocks
  const height = 66_987_565
  const called = [call(1, 50, 7), call(2, 51), call(3, 52, 9)]
  const infos = called.map((each, i) =>
    infoOf(each, height, { log: [trc20(50, i, 2, 5n)], internal_transactions: [internal(50, 60 + i, 5)] })
  )
  const payments = [5n, 7n, 11n, 13n].map((drops, i) => ({ from: i, to: i + 1, drops }))
  return [
    ...(await evm("own", block)),
    tron("own", TronBlocks.blockOf(height, [...called, transfer(1, 2, 5), transfer(2, 3, 6)], infos)),
    xrp("own", XrpLedgers.chainOf(9_000_000, 1, () => payments)[0]!),
    await utxo("own", UtxoBlocks.tip.json),
    await utxoRaw()
  ]
}

/** Real blocks, beside the checkout. */
const fixtures = async (): Promise<ReadonlyArray<Subject>> => {
  if (!Fixtures.exist) return []
  const bundles = ["ethereum-18000000", "ethereum-4404763", "ethereum-1000000", "ethereum-363366-rosetta"]
  const ledgers = ["11119015", "11119610", "11119616"].map(
    (name) => Fixtures.json(`xrp/rippled-historical-database/test/mock/ledgers/${name}.json`) as Json
  )
  const { transactionInfos, transactions } = Fixtures.json("tron/transcribed/ledger-live-trongrid.json") as Json
  const height = 66_987_565
  const shown = first(transactions as ReadonlyArray<Json>).map((each) => ({
    ...each,
    ret: [{ contractRet: "SUCCESS" }]
  }))
  // The recorded infos in transactions made here, whose bytes were not recorded.
  const called = (transactionInfos as ReadonlyArray<Json>).map(() => TronBlocks.call(1, 50))
  const infos = (transactionInfos as ReadonlyArray<Json>).map((info, i) => ({
    ...{ ...info, id: called[i]!.txID },
    blockNumber: height
  }))
  const folder = "utxo-blocks/bitcoin-etl/tests/resources/test_export_blocks_job"
  const hash = "000000001c920d495e1eeef2452b6d1c6c229a919b28196c103ecffebabee141"
  const block = Fixtures.json(`${folder}/bitcoin/block_with_transactions/rpc_response_getblock_${hash}_2.json`) as Json
  return [
    ...(await Promise.all(bundles.map((name) => evm(name, EvmNode.bundle(name).recorded)))).flat(),
    ...ledgers.map((ledger) => xrp(`ledger ${ledger.ledger_index}`, ledger)),
    tron("recorded", TronBlocks.blockOf(height, [...called, ...shown], infos)),
    await utxo("bitcoin", block.result ?? block)
  ]
}

const text = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value)

/** What each transaction moves and spends, by its id. */
const byTransaction = (
  { spends, transactions, transfers }: Block,
  { mayMove }: Subject
): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = new Map<string, Array<string>>()
  const add = ({ transaction, ...rest }: { readonly transaction: number }) => {
    const id = String(text(transactions[transaction]))
    const lines = found.get(id) ?? []
    lines.push(
      Object.entries(rest)
        .map(
          ([key, value]) =>
            `${key}=${typeof value === "object" && !(value instanceof Uint8Array) ? JSON.stringify(value, (_, each) => text(each)) : text(value)}`
        )
        .join()
    )
    found.set(id, lines)
  }
  for (const transfer of transfers) add(mayMove && transfer.kind === "token" ? { ...transfer, position: 0 } : transfer)
  for (const { position, transaction, outpoint } of spends) {
    add({ transaction, spend: `${position} ${text(outpoint.transactionId)}:${outpoint.index}` } as never)
  }
  for (const lines of found.values()) lines.sort()
  return found
}

const plainId = (id: unknown) => String(id).replace(/^0x/, "").toLowerCase()

interface Tally {
  mutations: number
  /** Blocks with a row for something that was not understood. */
  named: number
  /** Blocks that a hash or a root has shown to be altered. */
  proved: number
  /** Transactions left out, each with its row, since their place among the others is not certain. */
  leftOut: number
  stops: number
  wrong: number
}

const mutateOnce = async (
  subject: Subject,
  plain: ReadonlyMap<string, ReadonlyArray<string>>,
  next: Mutation.Random,
  tally: Tally
) => {
  const names = Object.keys(subject.lists).filter((name) => subject.lists[name]!.length > 0)
  const name = names[Mutation.below(next, names.length)]!
  const list = [...subject.lists[name]!]
  const touched = new Set<string>()
  if (subject.mutate === undefined && next() < 0.05) {
    list.splice(0, list.length, ...Mutation.shuffled(next, list))
  } else {
    for (let left = 1 + Mutation.below(next, 2); left > 0; left--) {
      const at = Mutation.below(next, list.length)
      if (list[at] !== subject.lists[name]![at]) continue
      touched.add(plainId(subject.idOf(list[at])))
      list[at] = (subject.mutate ?? Mutation.mutate)(next, structuredClone(list[at]))
    }
  }
  tally.mutations++
  const decoded = await subject.decode({ ...subject.lists, [name]: list })
  if (Result.isFailure(decoded)) {
    if (subject.proved.test(decoded.failure)) tally.proved++
    else {
      tally.stops++
      return `stopped: ${decoded.failure}`
    }
    return undefined
  }
  const block = decoded.success
  const named = new Set((block.notUnderstood ?? []).map(({ transactionId }) => plainId(text(transactionId))))
  if (block.notUnderstood !== undefined || block.missing !== undefined) tally.named++
  const found = byTransaction(block, subject)
  for (const [id, lines] of plain) {
    if (touched.has(id)) continue
    const now = found.get(id) ?? []
    if (now.join() === lines.join()) continue
    const known = new Set(lines)
    if (subject.mayLose && named.has(id) && now.every((line) => known.has(line))) tally.leftOut++
    else {
      tally.wrong++
      return `transaction ${id} is ${JSON.stringify(now)}, not ${JSON.stringify(lines)}`
    }
  }
  for (const id of found.keys()) {
    if (!plain.has(id) && !touched.has(id) && subject.mutate === undefined && !named.has(id)) {
      tally.wrong++
      return `transaction ${id} is not of the block`
    }
  }
  return undefined
}

describe("mutations", () => {
  it.live(
    `${count} random changes of blocks stop none, and change no other transaction (seed ${seed})`,
    () =>
      Effect.promise(async () => {
        const subjects = [...(await own()), ...(await fixtures())]
        const tallies = new Map<string, Tally>()
        const faults: Array<string> = []
        const plain = await Promise.all(
          subjects.map(async (subject) => {
            const block = Result.getOrThrow(await subject.decode(subject.lists))
            assert.isUndefined(block.notUnderstood, subject.name)
            return byTransaction(block, subject)
          })
        )
        for (let i = 0; i < count && faults.length < 20; i++) {
          const at = i % subjects.length
          const subject = subjects[at]!
          const tally = tallies.get(subject.family) ?? {
            ...{ mutations: 0, named: 0, proved: 0 },
            leftOut: 0,
            stops: 0,
            wrong: 0
          }
          tallies.set(subject.family, tally)
          const fault = await mutateOnce(subject, plain[at]!, SeededRandom.make(seed + i), tally)
          if (fault !== undefined)
            faults.push(`${subject.family} ${subject.name}, mutation ${i}: ${fault.slice(0, 600)}`)
        }
        if (process.env.HEADWATER_MUTATIONS !== undefined) console.log(seed, Object.fromEntries(tallies))
        assert.deepStrictEqual(faults, [], `seed ${seed}`)
        for (const { named } of tallies.values()) assert.isAbove(named, 0)
      }),
    600_000
  )
})
