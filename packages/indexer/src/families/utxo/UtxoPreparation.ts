/** What the preparation of a transaction asks of a UTXO chain's node: what it should pay, and whether its coins are there. */
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { defaultMaximumFee } from "../Broadcasting.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent, type NodeRejected } from "../node/NodeError.ts"
import * as ActionFee from "./internal/ActionFee.ts"
import * as FeeMeasure from "./internal/FeeMeasure.ts"
import { refuse } from "./internal/Malformed.ts"
import * as MempoolRates from "./internal/MempoolRates.ts"
import * as MwebParts from "./internal/MwebParts.ts"
import { consistent, isMethodMissing } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"

export type Priority = "slow" | "standard" | "fast"

/** In the smallest unit for 1,000 virtual bytes. */
export interface FeeRates {
  /**
   * For a priority: by the node's estimate, else by what waits at it; no less than is mined, on Zcash by ZIP-317, more where the node is
   * full.
   */
  readonly rate: bigint
  /** What a transaction is expected to pay in the long term. */
  readonly longTermRate: bigint
  /** Below this the node takes no transaction, or miners leave it out. */
  readonly least: bigint
  /** On Zcash, what an action costs (ZIP-317), where the node says that. */
  readonly action?: bigint
}

/**
 * Whether a mined coin can be spent in the next block: a transaction that waits may spend it, a miner's reward or what came
 * out of Litecoin's MWEB may be too young, and a coin of Bitcoin Cash may carry a token, which would be lost.
 */
export type CoinState = "spendable" | "spent" | "immature" | "peggedOut" | "token"

/** The node's own estimate of what a transaction pays to be mined within so many blocks. */
export interface SmartFee {
  /** In the smallest unit for 1,000 virtual bytes. */
  readonly rate: bigint
  /** Blocks that the estimate is for, which may be more than were asked for. */
  readonly blocks: number
}

export type EstimateMode = "ECONOMICAL" | "CONSERVATIVE"

/** What some waiting transactions pay. */
export interface Paid {
  /** Virtual bytes. */
  readonly size: number
  /** In the smallest unit. */
  readonly fee: bigint
}

/** A waiting transaction and all waiting ones that it spends from, directly or not. */
export interface Ancestors extends Paid {
  readonly count: number
  /** The transaction alone. */
  readonly own: Paid
}

export interface UtxoPreparation {
  /** Undefined where the node has none: too young, or without `estimatesmartfee`. */
  readonly smartFee: (blocks: number, mode: EstimateMode) => Effect.Effect<SmartFee | undefined, NodeError>
  readonly feeRates: (priority: Priority) => Effect.Effect<FeeRates, NodeError>
  /** Why a fee for so many bytes is beyond measure, and would not be broadcast; undefined where it is not. */
  readonly feeFault: (fee: bigint, bytes: number) => Effect.Effect<string | undefined, NodeError>
  /** In the order of the coins. */
  readonly statesOf: (coins: ReadonlyArray<Coin>) => Effect.Effect<ReadonlyArray<CoinState>, NodeError>
  /** The transactions that made the coins, as signers read them; undefined where the node does not show one. */
  readonly makersOf: (coins: ReadonlyArray<Coin>) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, NodeError>
  /** `absent`: it does not wait at the node; `unsaid`: the node does not count what a transaction spends from. */
  readonly ancestorsOf: (transactionId: string) => Effect.Effect<Ancestors | "absent" | "unsaid", NodeError>
  /** The height of the next block and its consensus branch (ZIP-200), by a node of Zcash. */
  readonly nextBranch: Effect.Effect<{ readonly id: number; readonly height: number }, NodeError>
}

/** Blocks until which a transaction is to be mined, and how careful the estimate is. */
const targets: Record<Priority, readonly [blocks: number, mode: EstimateMode]> = {
  slow: [24, "ECONOMICAL"],
  standard: [6, "ECONOMICAL"],
  fast: [2, "CONSERVATIVE"]
}

/**
 * Virtual bytes that may be mined before a transaction, where its rate is by those that wait: of a block of 1,000,000, which
 * are the smallest of these chains. Fewer than the blocks until the target hold, for what comes meanwhile and pays more.
 */
const ahead: Record<Priority, number> = { slow: 3_000_000, standard: 1_000_000, fast: 500_000 }

/** A week of Bitcoin's blocks, the longest that its nodes estimate. */
const longTerm = 1_008

/** As the waste metric of Bitcoin Core, which takes 10 sat for a byte where 1 is the least. */
const longTermFactor = 10n

/** No block was ever so full: 10,000 times the least is the rate at which Bitcoin Core refuses to send, and more is nonsense. */
const nonsenseFactor = 100_000n

const usualMaturity = 100

/** Nodes differ in what they estimate by, and in what they take. */
const estimates = (blocks: number, mode: string) => [
  { method: "estimatesmartfee", params: [blocks, mode] },
  { method: "estimatesmartfee", params: [blocks] },
  { method: "estimatefee", params: [blocks] },
  { method: "estimatefee", params: [] }
]

type Answer = Result.Result<unknown, NodeRejected>

/** A rate as a node says it; undefined where it says none, which nodes write as -1 or as nothing. */
const rateOf = (chain: Chain, answer: Answer): bigint | undefined => {
  const value = Result.getOrUndefined(answer)
  const rate = Predicate.isReadonlyObject(value) ? (value.feerate ?? value.fee) : value
  const read = Result.try(() => NodeJson.coins(rate, chain.decimals, () => "rate"))
  return Result.isSuccess(read) && read.success > 0n ? read.success : undefined
}

const fieldOf = (chain: Chain, answer: Answer, name: string): bigint | undefined => {
  const value = Result.getOrUndefined(answer)
  return Predicate.isReadonlyObject(value) ? rateOf(chain, Result.succeed(value[name])) : undefined
}

const greatest = (rates: ReadonlyArray<bigint | undefined>): bigint =>
  rates.reduce<bigint>((most, rate) => (rate !== undefined && rate > most ? rate : most), 0n)

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** Behind the version: no inputs, and the flag of MWEB, which of mined transactions a HogEx alone has (LIP-2). */
const isHogEx = (raw: Uint8Array | undefined): raw is Uint8Array => raw?.[4] === 0 && (raw[5]! & MwebParts.flag) !== 0

/** As signers read transactions: a HogEx without its marks, the flag and the empty part in front of the locktime. */
const readable = (raw: Uint8Array | undefined) =>
  isHogEx(raw) ? Buffer.concat([raw.subarray(0, 4), raw.subarray(6, -5), raw.subarray(-4)]) : raw

export const make = (chain: Chain, rpc: JsonRpc, maximumFee = defaultMaximumFee): UtxoPreparation => {
  const network = chain.utxo!
  const mempoolRate = MempoolRates.make(chain, rpc)

  const feeRates: UtxoPreparation["feeRates"] = Effect.fn("UtxoPreparation.feeRates")(function* (priority) {
    const wanted = estimates(...targets[priority])
    const lasting = estimates(longTerm, "ECONOMICAL")
    const answers = yield* rpc.results(
      [
        { method: "getnetworkinfo", params: [] },
        { method: "getmempoolinfo", params: [] },
        ...wanted,
        ...lasting,
        ...(network.wireFormat === "zcash" ? [ActionFee.call] : [])
      ],
      "decimalText"
    )
    const [info, mempool, ...rest] = answers
    const relay = fieldOf(chain, info!, "relayfee")
    const entry = fieldOf(chain, mempool!, "mempoolminfee")
    const least = greatest([relay, entry, 1n])
    // Of a full mempool those that pay just the least are the next to be thrown out.
    const isFull = relay !== undefined && entry !== undefined && entry > relay
    const floor = greatest([isFull ? entry + relay : least, network.minedRate])
    const first = (from: ReadonlyArray<Answer>) =>
      from.map((answer) => rateOf(chain, answer)).find((rate) => rate !== undefined)
    const estimated =
      first(rest.slice(0, wanted.length)) ?? (yield* mempoolRate(ahead[priority], Result.getOrUndefined(mempool!)))
    const later = first(rest.slice(wanted.length, wanted.length + lasting.length)) ?? longTermFactor * least
    if (greatest([estimated, later]) > nonsenseFactor * least) {
      const message = "the estimated rate is far above every one that blocks ever asked for"
      return yield* new NodeInconsistent({ node: rpc.node, method: "estimatesmartfee", message })
    }
    const action = ActionFee.of(rest[wanted.length + lasting.length])
    const conventional = network.wireFormat === "zcash" ? TransactionCosts.conventionalRate(action) : undefined
    const rate = greatest([estimated, floor, conventional])
    // Change that costs more than that to spend some day goes to the fee: nobody's coins shall go there by one estimate alone.
    const most = greatest([rate, longTermFactor * least])
    const longTermRate = later < most ? greatest([later, least]) : most
    const mined = greatest([least, network.minedRate])
    return { rate, longTermRate, least: mined, ...(action === undefined ? {} : { action }) }
  })

  const smartFee: UtxoPreparation["smartFee"] = Effect.fn("UtxoPreparation.smartFee")(function* (blocks, mode) {
    // Nodes of before 0.17 know no mode.
    const answers = yield* rpc.results(estimates(blocks, mode).slice(0, 2), "decimalText")
    const found = answers.find((answer) => rateOf(chain, answer) !== undefined)
    if (found === undefined) return undefined
    const value = Result.getOrUndefined(found)
    const said = Predicate.isReadonlyObject(value) ? Number(value.blocks) : blocks
    return { rate: rateOf(chain, found)!, blocks: Number.isSafeInteger(said) && said > 0 ? said : blocks }
  })

  const stateOf = (coin: Coin, answer: unknown): CoinState => {
    if (answer === null) return "spent"
    const output = NodeJson.record(answer, () => "the output")
    if (output.tokenData !== undefined) return "token"
    const { amount, script } = NodeTransaction.readOutput(chain, output, () => "the output")
    if (amount !== coin.amount || !Bytes.equal(script, coin.script)) {
      return refuse("the output", "must be what the blocks have shown")
    }
    if (output.coinbase !== true) return "spendable"
    // What miners of Zcash get has to be shielded first.
    if (network.wireFormat === "zcash") return "immature"
    const confirmations = NodeJson.count(output.confirmations, () => "confirmations")
    return confirmations >= (network.coinbaseMaturity ?? usualMaturity) ? "spendable" : "immature"
  }

  /** Results that are hex text. */
  const bytesOf = (answer: Answer): Uint8Array | undefined =>
    Result.getOrUndefined(Result.try(() => NodeJson.bytes(Result.getOrThrow(answer), () => "the answer")))

  const rawMakersOf: UtxoPreparation["makersOf"] = Effect.fn("UtxoPreparation.makersOf")(function* (coins) {
    const ids = [...new Set(coins.map(({ outpoint }) => hex(outpoint.transactionId)))]
    const heights = new Map(coins.map(({ height, outpoint }) => [hex(outpoint.transactionId), height]))
    const indexed = yield* rpc.results(ids.map((id) => ({ method: "getrawtransaction", params: [id] })))
    const found = new Map(ids.flatMap((id, i) => [[id, bytesOf(indexed[i]!)] as const]))
    // Without an index of transactions a node finds one in a block that is named.
    const missing = ids.filter((id) => found.get(id) === undefined)
    const hashes = yield* rpc.results(missing.map((id) => ({ method: "getblockhash", params: [heights.get(id)] })))
    const inBlocks = yield* rpc.results(
      missing.map((id, i) => ({
        method: "getrawtransaction",
        params: [id, false, Result.getOrElse(hashes[i]!, () => "")]
      }))
    )
    for (const [i, id] of missing.entries()) found.set(id, bytesOf(inBlocks[i]!))
    return coins.map(({ outpoint }) => found.get(hex(outpoint.transactionId)))
  })

  const isYoungerThanPegOut = (answer: unknown): boolean => {
    if (network.pegOutMaturity === undefined) return false
    const { confirmations } = NodeJson.record(answer, () => "the output")
    const mined = NodeJson.count(confirmations, () => "confirmations")
    return mined > 0 && mined < network.pegOutMaturity
  }

  const statesOf: UtxoPreparation["statesOf"] = Effect.fn("UtxoPreparation.statesOf")(function* (coins) {
    const answers = yield* rpc.batch(
      coins.map(({ outpoint: { index, transactionId } }) => ({
        method: "gettxout",
        params: [hex(transactionId), index, true]
      })),
      "decimalText"
    )
    const states = yield* consistent(rpc, "gettxout", () => coins.map((coin, i) => stateOf(coin, answers[i] ?? null)))
    const young = yield* consistent(rpc, "gettxout", () =>
      coins.filter((_, i) => states[i] === "spendable" && isYoungerThanPegOut(answers[i]))
    )
    if (young.length === 0) return states
    // No answer about an output says that a HogEx made it.
    const makers = yield* rawMakersOf(young)
    const peggedOut = new Set(young.filter((_, i) => isHogEx(makers[i])))
    return states.map((state, i) => (peggedOut.has(coins[i]!) ? "peggedOut" : state))
  })

  const ancestorsOf: UtxoPreparation["ancestorsOf"] = Effect.fn("UtxoPreparation.ancestorsOf")(
    function* (transactionId) {
      const answer = yield* rpc.call("getmempoolentry", [transactionId], "decimalText")
      return yield* consistent(rpc, "getmempoolentry", (): Ancestors | "unsaid" => {
        const entry = NodeJson.record(answer, () => "the entry")
        const fees = Predicate.isReadonlyObject(entry.fees) ? entry.fees : {}
        // Old nodes have it in the smallest unit alone.
        const fee =
          fees.ancestor === undefined
            ? entry.ancestorfees === undefined
              ? undefined
              : BigInt(NodeJson.count(entry.ancestorfees, () => "ancestorfees"))
            : NodeJson.coins(fees.ancestor, chain.decimals, () => "fees.ancestor")
        if (fee === undefined || entry.ancestorsize === undefined) return "unsaid"
        return {
          fee,
          count: NodeJson.count(entry.ancestorcount, () => "ancestorcount"),
          size: NodeJson.count(entry.ancestorsize, () => "ancestorsize"),
          own: {
            fee: NodeJson.coins(fees.base ?? entry.fee, chain.decimals, () => "the fee"),
            size: NodeJson.count(entry.vsize ?? entry.size, () => "vsize")
          }
        }
      })
    },
    Effect.catchTag("NodeRejected", (error) =>
      Effect.succeed(isMethodMissing(error) ? ("unsaid" as const) : ("absent" as const))
    )
  )

  const nextBranch = Effect.flatMap(rpc.call("getblockchaininfo", []), (answer) =>
    consistent(rpc, "getblockchaininfo", () => {
      const info = NodeJson.record(answer, () => "the answer")
      const consensus = NodeJson.record(info.consensus, () => "consensus")
      const branch = NodeJson.bytes(consensus.nextblock, () => "consensus.nextblock")
      if (branch.length !== 4) refuse("consensus.nextblock", "must be 4 bytes")
      return {
        id: Buffer.from(branch).readUInt32BE(0),
        height: NodeJson.count(info.blocks, () => "blocks") + 1
      }
    })
  )

  return {
    smartFee,
    feeRates,
    feeFault: FeeMeasure.make(chain, rpc, maximumFee),
    statesOf,
    makersOf: (coins) => Effect.map(rawMakersOf(coins), (makers) => makers.map(readable)),
    ancestorsOf,
    nextBranch
  }
}
