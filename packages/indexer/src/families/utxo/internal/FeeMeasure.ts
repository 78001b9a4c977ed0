/** Whether a fee is beyond all measure, by what is usual at a node and by the operator's setting. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Broadcasting from "../../Broadcasting.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import * as ActionFee from "./ActionFee.ts"
import { consistent } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

/** A node without an estimate has seen few blocks, or empty ones: ten times the least that it relays is usual anywhere. */
const quietFactor = 10n
/** As of nodes that relay for 1,000: Bitcoin Core does for a tenth since 29.1, and its blocks may ask for as much as before. */
const leastRate = 10_000n

/** The rate that is usual at present, in the smallest unit for 1,000 bytes. */
const usualRate = Effect.fnUntraced(function* (chain: Chain, rpc: JsonRpc) {
  const results = yield* rpc.results(
    [
      { method: "estimatesmartfee", params: [2] },
      { method: "getmempoolinfo", params: [] },
      { method: "getnetworkinfo", params: [] },
      ...ActionFee.calls(chain)
    ],
    "decimalText"
  )
  const [estimate, mempool, network] = results.map((result) =>
    Result.isSuccess(result) && Predicate.isReadonlyObject(result.success) ? result.success : {}
  )
  // Old nodes say -1 where they have none.
  const rate = (value: unknown) =>
    value === undefined || Number(value) < 0 ? 0n : NodeJson.coins(value, chain.decimals, () => "a fee rate")
  return yield* consistent(rpc, "estimatesmartfee", () => {
    const relayed = rate(network!.relayfee)
    const conventional = ActionFee.rateOf(chain, ActionFee.of(results[3]))
    const rates = [rate(estimate!.feerate), rate(mempool!.mempoolminfee), relayed * quietFactor, conventional]
    return rates.reduce((most, each) => (each > most ? each : most), leastRate)
  })
})

/** Why a fee for so many bytes is beyond measure; undefined where it is not. */
export const make = (chain: Chain, rpc: JsonRpc, maximum: number) =>
  Effect.fn("FeeMeasure")(function* (fee: bigint, bytes: number) {
    const rate = (fee * 1_000n) / BigInt(bytes)
    const usual = yield* usualRate(chain, rpc)
    return Broadcasting.feeFault(rate, usual, maximum, "for 1,000 bytes, in the smallest unit")
  })
