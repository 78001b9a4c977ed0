/** What a node of a UTXO chain says that transactions should pay. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent, type NodeRejected } from "../../node/NodeError.ts"
import * as ActionFee from "./ActionFee.ts"
import * as MempoolRates from "./MempoolRates.ts"
import * as NodeJson from "./NodeJson.ts"

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

/** The node's own estimate of what a transaction pays to be mined within so many blocks. */
export interface SmartFee {
  /** In the smallest unit for 1,000 virtual bytes. */
  readonly rate: bigint
  /** Blocks that the estimate is for, which may be more than were asked for. */
  readonly blocks: number
}

export type EstimateMode = "ECONOMICAL" | "CONSERVATIVE"

export interface FeeEstimates {
  /** Undefined where the node has none: too young, or without `estimatesmartfee`. */
  readonly smartFee: (blocks: number, mode: EstimateMode) => Effect.Effect<SmartFee | undefined, NodeError>
  readonly feeRates: (priority: Priority) => Effect.Effect<FeeRates, NodeError>
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

export const make = (chain: Chain, rpc: JsonRpc): FeeEstimates => {
  const { minedRate } = chain.utxo!
  const mempoolRate = MempoolRates.make(chain, rpc)

  const feeRates: FeeEstimates["feeRates"] = Effect.fn("FeeEstimates.feeRates")(function* (priority) {
    const wanted = estimates(...targets[priority])
    const lasting = estimates(longTerm, "ECONOMICAL")
    const answers = yield* rpc.results(
      [
        { method: "getnetworkinfo", params: [] },
        { method: "getmempoolinfo", params: [] },
        ...wanted,
        ...lasting,
        ...ActionFee.calls(chain)
      ],
      "decimalText"
    )
    const [info, mempool, ...rest] = answers
    const relay = fieldOf(chain, info!, "relayfee")
    const entry = fieldOf(chain, mempool!, "mempoolminfee")
    const least = greatest([relay, entry, 1n])
    // Of a full mempool those that pay just the least are the next to be thrown out.
    const isFull = relay !== undefined && entry !== undefined && entry > relay
    const floor = greatest([isFull ? entry + relay : least, minedRate])
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
    const rate = greatest([estimated, floor, ActionFee.rateOf(chain, action)])
    // Change that costs more than that to spend some day goes to the fee: nobody's coins shall go there by one estimate alone.
    const most = greatest([rate, longTermFactor * least])
    const longTermRate = later < most ? greatest([later, least]) : most
    const mined = greatest([least, minedRate])
    return { rate, longTermRate, least: mined, ...(action === undefined ? {} : { action }) }
  })

  const smartFee: FeeEstimates["smartFee"] = Effect.fn("FeeEstimates.smartFee")(function* (blocks, mode) {
    // Nodes of before 0.17 know no mode.
    const answers = yield* rpc.results(estimates(blocks, mode).slice(0, 2), "decimalText")
    const found = answers.find((answer) => rateOf(chain, answer) !== undefined)
    if (found === undefined) return undefined
    const value = Result.getOrUndefined(found)
    const said = Predicate.isReadonlyObject(value) ? Number(value.blocks) : blocks
    return { rate: rateOf(chain, found)!, blocks: Number.isSafeInteger(said) && said > 0 ? said : blocks }
  })

  return { feeRates, smartFee }
}
