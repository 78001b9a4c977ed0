/** What the preparation of a transaction asks of a UTXO chain's node: what it should pay, and whether its coins are there. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { defaultMaximumFee } from "../Broadcasting.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import * as FeeEstimates from "./internal/FeeEstimates.ts"
import * as FeeMeasure from "./internal/FeeMeasure.ts"
import { refuse } from "./internal/Malformed.ts"
import * as MinedCoins from "./internal/MinedCoins.ts"
import { consistent, isMethodMissing } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"

export type { EstimateMode, FeeRates, Priority, SmartFee } from "./internal/FeeEstimates.ts"
export type { CoinState } from "./internal/MinedCoins.ts"

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
  /** Whether a waiting transaction spends from it. */
  readonly hasChild: boolean
}

export interface UtxoPreparation extends FeeEstimates.FeeEstimates, MinedCoins.MinedCoins {
  /** Why a fee for so many bytes is beyond measure, and would not be broadcast; undefined where it is not. */
  readonly feeFault: (fee: bigint, bytes: number) => Effect.Effect<string | undefined, NodeError>
  /** `absent`: it does not wait at the node; `unsaid`: the node does not count what a transaction spends from. */
  readonly ancestorsOf: (transactionId: string) => Effect.Effect<Ancestors | "absent" | "unsaid", NodeError>
  /** The height of the next block and its consensus branch (ZIP-200), by a node of Zcash. */
  readonly nextBranch: Effect.Effect<{ readonly id: number; readonly height: number }, NodeError>
}

export const make = (chain: Chain, rpc: JsonRpc, maximumFee = defaultMaximumFee): UtxoPreparation => {
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
          },
          // The transaction itself is counted.
          hasChild: NodeJson.count(entry.descendantcount, () => "descendantcount") > 1
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
    ...FeeEstimates.make(chain, rpc),
    ...MinedCoins.make(chain, rpc),
    feeFault: FeeMeasure.make(chain, rpc, maximumFee),
    ancestorsOf,
    nextBranch
  }
}
