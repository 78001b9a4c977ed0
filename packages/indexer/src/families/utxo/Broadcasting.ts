/**
 * Signed transactions of UTXO chains: decoded and checked, given to the nodes, and looked for there. Nothing here needs an
 * index of transactions.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Broadcasting from "../Broadcasting.ts"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import type { NodeRejected } from "../node/NodeError.ts"
import type { Parameters } from "./internal/Capabilities.ts"
import * as FeeMeasure from "./internal/FeeMeasure.ts"
import { reading } from "./internal/Malformed.ts"
import { consistent } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"
import * as SignedTransaction from "./internal/SignedTransaction.ts"
import * as Standing from "./internal/Standing.ts"
import * as UnspentOutputs from "./internal/UnspentOutputs.ts"

export interface Options {
  readonly maximumFee: number
  /** The second argument of `getrawtransaction` that the chain's node takes. */
  readonly verbose: Parameters
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Of a transaction without inputs in plain sight, or with a coinbase's. */
const noInputs = Broadcasting.invalid("must have inputs, none of which makes new coins")

/** Nodes relay no more virtual bytes that wait for one another (`-limitancestorsize`). */
const mostBefore = 101_000

/** Refusals that say that the transaction is there, the last two in the words of Zebra: -27 where a block has it. */
const isKnown =
  /already in (?:block ?chain|utxo set|mempool)|already-in-mempool|already-known|txn-already|already exists in mempool|committed to the best chain/i
const alreadyInChain = -27
/** -22 not decoded, -25 inputs, -26 rules of the mempool. */
const refusals: ReadonlySet<number> = new Set([-22, -25, -26])

const answerTo = ({ code, message }: NodeRejected): Broadcasting.Answer => {
  if (code === alreadyInChain || isKnown.test(message)) return { state: "taken" }
  const isRefusal = refusals.has(code) || /bad-txns|mandatory|insufficient|dust|fee/i.test(message)
  return { state: isRefusal ? "refused" : "unanswered", message }
}

const give = (raw: Uint8Array) => (node: JsonRpc) =>
  node.call("sendrawtransaction", [hex(raw)]).pipe(
    Effect.as<Broadcasting.Answer>({ state: "taken" }),
    Effect.catchTag("NodeRejected", (error) => Effect.succeed(answerTo(error)))
  )

const isScriptFault = /script-verify-flag|bad-txns-(?!inputs)|tx-size|scriptsig|scriptpubkey|dust|^version$|^coinbase$/i

export const make = (chain: Chain, rpc: Nodes, { maximumFee, verbose }: Options): Broadcasting.Broadcasting => {
  const feeFault = FeeMeasure.make(chain, rpc, maximumFee)
  const decode = (raw: Uint8Array) => SignedTransaction.decode(chain, rpc, raw)
  const { locatedAt, standingAt } = Standing.make(verbose)

  /** The value of all inputs, and the transactions among their makers that wait; undefined where the node cannot say. */
  const inputsOf = Effect.fnUntraced(function* ({ body }: SignedTransaction.SignedTransaction) {
    const outpoints = body.spends.map(({ outpoint }) => outpoint)
    const seen = yield* UnspentOutputs.find(rpc, outpoints, true)
    if (seen === undefined) return undefined
    // What a waiting transaction spends, this one may replace.
    const inBlocks = seen.includes(undefined) ? yield* UnspentOutputs.find(rpc, outpoints, false) : []
    const inMempool = UnspentOutputs.waiting(rpc, verbose)
    let sum = 0n
    const waiting = new Set<string>()
    for (const [i, outpoint] of outpoints.entries()) {
      const output: NodeJson.Json | undefined = seen[i] ?? inBlocks?.[i] ?? (yield* inMempool(outpoint))
      if (output === undefined) {
        return yield* Broadcasting.contradicted(
          `the input ${i}, ${UnspentOutputs.textOf(outpoint)}, must be an unspent output: the node has none`
        )
      }
      sum += yield* consistent(
        rpc,
        "gettxout",
        () => NodeTransaction.readOutput(chain, output, () => "the output").amount
      )
      if (output.confirmations === 0) waiting.add(hex(outpoint.transactionId))
    }
    return { sum, waiting }
  })

  /** Virtual bytes that wait for a block before a transaction, and that its fee may be for (child pays for parent). */
  const sizeBefore = Effect.fnUntraced(function* (waiting: ReadonlySet<string>) {
    const entries = yield* rpc.results(
      [...waiting].map((id) => ({ method: "getmempoolentry", params: [id] })),
      "decimalText"
    )
    const sizes = entries.map((entry) => {
      if (Result.isFailure(entry) || !Predicate.isReadonlyObject(entry.success)) return 0
      const { ancestorsize, size, vsize } = entry.success
      return Result.getOrElse(
        reading(() => NodeJson.count(ancestorsize ?? vsize ?? size, () => "ancestorsize")),
        () => 0
      )
    })
    return Math.min(
      mostBefore,
      sizes.reduce((sum, size) => sum + size, 0)
    )
  })

  /** What the node's mempool would say, where it can be asked beforehand. */
  const checkMempool = Effect.fnUntraced(function* (raw: Uint8Array) {
    const answer = yield* Effect.result(rpc.call("testmempoolaccept", [[hex(raw)]]))
    if (Result.isFailure(answer)) {
      if (answer.failure._tag !== "NodeRejected") return yield* answer.failure
      return
    }
    const [first] = Array.isArray(answer.success) ? (answer.success as ReadonlyArray<unknown>) : []
    if (!Predicate.isReadonlyObject(first) || first.allowed !== false) return
    const reason = String(first["reject-reason"] ?? "no reason given").slice(0, 200)
    if (isKnown.test(reason)) return
    return yield* isScriptFault.test(reason)
      ? Broadcasting.invalid(`must be valid, its signatures too; the node says: ${reason}`)
      : Broadcasting.contradicted(`the node would refuse it: ${reason}`)
  })

  return {
    idOf: Effect.fn("UtxoBroadcasting.idOf")(function* (raw) {
      const { body, id, isTransparent } = yield* decode(raw)
      if (isTransparent && body.spends.length === 0) return yield* noInputs
      return id
    }),
    check: Effect.fn("UtxoBroadcasting.check")(function* (raw) {
      const decoded = yield* decode(raw)
      const inputs = yield* inputsOf(decoded)
      const { paid, revealed } = decoded
      if (inputs !== undefined && revealed !== undefined) {
        const fee = inputs.sum - paid + revealed
        if (fee < 0n) return yield* Broadcasting.invalid("its outputs must be at most its inputs")
        // By bytes, since nodes count less for those of a witness: that never refuses what they would take.
        const ofItself = yield* feeFault(fee, raw.length)
        const isForOthers = ofItself !== undefined && inputs.waiting.size > 0
        const fault = isForOthers ? yield* feeFault(fee, raw.length + (yield* sizeBefore(inputs.waiting))) : ofItself
        if (fault !== undefined) return yield* Broadcasting.invalid(fault)
      }
      yield* checkMempool(raw)
    }),
    send: Effect.fn("UtxoBroadcasting.send")((raw) => Broadcasting.toEvery(rpc.each, give(raw))),
    standing: Effect.fn("UtxoBroadcasting.standing")(function* (raw, since) {
      const decoded = yield* Effect.catchTag(decode(raw), "BroadcastRefused", Effect.die)
      return yield* Broadcasting.ofEvery(rpc.each, standingAt(decoded, since))
    }),
    find: Effect.fn("UtxoBroadcasting.find")((id, upTo) => Broadcasting.ofAny(rpc.each, locatedAt(id, upTo)))
  }
}
