/** What transactions paid for gas in recent blocks (`eth_feeHistory`), and the node's own suggestions. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import * as Hex from "./internal/Hex.ts"
import { read } from "./internal/NodeAnswer.ts"

/** What transactions paid for gas in recent blocks, in Wei. */
export interface GasPrices {
  /** Of the newest block. */
  readonly height: number
  /** Base fee of the next block; undefined where the chain has none (EIP-1559). */
  readonly baseFee: bigint | undefined
  /** Beyond the base fee at each percentile asked for; 0 where recent blocks do not say. */
  readonly tips: ReadonlyArray<bigint>
  /** The node's own suggestions: a whole price, and a tip. */
  readonly suggestedPrice: bigint
  readonly suggestedTip: bigint | undefined
  /** Of the chain: see `EvmNetwork`. */
  readonly leastTip?: bigint | undefined
}

/** Blocks that fees are looked up in. */
const feeBlocks = 20

const median = (values: ReadonlyArray<bigint>): bigint =>
  [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))[values.length >> 1] ?? 0n

/** Base fee of the block after the history; undefined where the newest block has none. */
const nextBaseFee = (newest: Hex.Json, history: Hex.Json): bigint | undefined => {
  if (newest.baseFeePerGas == null) return undefined
  const fees = Hex.array(history.baseFeePerGas ?? [], "baseFeePerGas")
  return Hex.quantity(fees.length > 0 ? fees.at(-1) : newest.baseFeePerGas, "baseFeePerGas")
}

/** The median over the blocks of what was paid at each percentile. */
const mediansOf = (history: Hex.Json, percentiles: ReadonlyArray<number>): ReadonlyArray<bigint> => {
  const ratios = Hex.array(history.gasUsedRatio ?? [], "gasUsedRatio")
  const rewards = Hex.array(history.reward ?? [], "reward")
    // A block without transactions says nothing of what transactions pay.
    .filter((_, i) => Number(ratios[i] ?? 0) > 0)
    .map((row) => Hex.array(row, "reward").map((reward) => Hex.quantity(reward, "reward")))
  return percentiles.map((_, i) => median(rewards.map((row) => row[i] ?? 0n)))
}

export const fetch = Effect.fn("EvmNode.gasPrices")(function* (
  rpc: JsonRpc,
  percentiles: ReadonlyArray<number>,
  leastTip?: bigint
): Effect.fn.Return<GasPrices, NodeError> {
  const [latest, price, fees, tip] = yield* rpc.results([
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_gasPrice", params: [] },
    { method: "eth_feeHistory", params: [Hex.encodeQuantity(feeBlocks), "latest", percentiles] },
    { method: "eth_maxPriorityFeePerGas", params: [] }
  ])
  const block = yield* Effect.fromResult(latest!)
  const suggested = yield* Effect.fromResult(price!)
  return yield* read(rpc, "eth_feeHistory", () => {
    const newest = Hex.object(block, "block")
    const history = Result.isSuccess(fees!) ? Hex.object(fees.success, "fee history") : {}
    return {
      height: Hex.integer(newest.number, "number"),
      baseFee: nextBaseFee(newest, history),
      tips: mediansOf(history, percentiles),
      suggestedPrice: Hex.quantity(suggested, "gas price"),
      suggestedTip: Result.isSuccess(tip!) ? Hex.quantity(tip.success, "priority fee") : undefined,
      leastTip
    }
  })
})
