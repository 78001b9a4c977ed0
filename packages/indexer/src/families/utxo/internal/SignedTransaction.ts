/** A signed transaction of a UTXO chain by its own bytes, or where these are not read here, as a node decodes it. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Broadcasting from "../../Broadcasting.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import * as WholeTransaction from "../WholeTransaction.ts"
import * as BlockBody from "./BlockBody.ts"
import { reading } from "./Malformed.ts"
import { consistent, isMethodMissing } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"
import * as NodeTransaction from "./NodeTransaction.ts"
import { RawBytes } from "./RawBytes.ts"
import * as RawTransaction from "./RawTransaction.ts"
import * as RawZcashTransaction from "./RawZcashTransaction.ts"

export interface SignedTransaction {
  readonly id: Uint8Array
  readonly body: BlockBody.BlockBody
  /** The sum of all outputs, also of those that nobody can spend: on Dash such a one has what goes to the Platform (DIP-27). */
  readonly paid: bigint
  /** Whether all that it moves is in its inputs and outputs. */
  readonly isTransparent: boolean
  /**
   * What parts that hide coins leave for the miner, or move into plain sight: with what the inputs are more than the outputs, the
   * fee. Undefined where there are such parts that are not read here.
   */
  readonly revealed: bigint | undefined
  /** Of a transaction that is in Litecoin's MWEB alone: the excess of its first kernel. */
  readonly kernel?: Uint8Array
}

type Whole = Result.Result<WholeTransaction.WholeTransaction, string>

const sumOf = (outputs: ReadonlyArray<{ readonly amount: bigint }>) =>
  outputs.reduce((sum, { amount }) => sum + amount, 0n)

/** The transaction by its own bytes; Zebra decodes none that is not in a block or in its mempool. */
const ownZcashDecoding = (chain: Chain, raw: Uint8Array, whole: Whole): Result.Result<SignedTransaction, string> =>
  Result.map(whole, ({ id, outputs, shielded, zcash }) => {
    const body = BlockBody.empty()
    RawZcashTransaction.read(new RawBytes(raw), chain, 0, body)
    const isTransparent = Object.values(shielded ?? {}).every((parts) => parts === 0)
    return { id, body, paid: sumOf(outputs), isTransparent, revealed: zcash?.revealed.all }
  })

/** The transaction by its own bytes; what is partly in MWEB is not read here. */
const ownDecoding = (chain: Chain, raw: Uint8Array, whole: Whole): Result.Result<SignedTransaction, string> =>
  Result.flatMap(whole, ({ id, kernel, mwebFee = 0n, outputs }) =>
    reading(() => {
      const body = BlockBody.empty()
      if (kernel !== undefined) return { id, body, paid: 0n, isTransparent: false, revealed: mwebFee, kernel }
      RawTransaction.read(new RawBytes(raw), chain, 0, body)
      return { id: body.transactions[0]!, body, paid: sumOf(outputs), isTransparent: true, revealed: 0n }
    })
  )

/** Parts of a decoded transaction that move coins unseen: shielded ones, and those of MWEB. */
const isTransparent = (json: NodeJson.Json): boolean => {
  const isEmpty = (part: unknown) => part === undefined || (Array.isArray(part) && part.length === 0)
  const { ironwood, orchard, vin, vjoinsplit, vShieldedOutput, vShieldedSpend } = json
  const actions = [ironwood, orchard].map((pool) => (Predicate.isReadonlyObject(pool) ? pool.actions : undefined))
  const isPlain =
    !Array.isArray(vin) || vin.every((input) => Predicate.isReadonlyObject(input) && input.ismweb !== true)
  return isPlain && [...actions, vjoinsplit, vShieldedOutput, vShieldedSpend].every(isEmpty)
}

/** The transaction as a node decodes it. */
const nodeDecoding = Effect.fnUntraced(function* (chain: Chain, rpc: JsonRpc, raw: Uint8Array) {
  const answer = yield* Effect.catchTag(
    rpc.call("decoderawtransaction", [Buffer.from(raw).toString("hex")], "decimalText"),
    "NodeRejected",
    (error) =>
      Effect.fail(
        isMethodMissing(error)
          ? error
          : Broadcasting.invalid(`must be a transaction of ${chain.blockchain}: ${error.message}`)
      )
  )
  return yield* consistent(rpc, "decoderawtransaction", (): SignedTransaction => {
    const json = NodeJson.record(answer, () => "the answer")
    const body = BlockBody.empty()
    // It has no part that takes long: the steps are gone through at once.
    Array.from(NodeTransaction.read(chain, json, 0, body))
    const id = NodeJson.hash(json.txid, () => "txid")
    const outputs = NodeJson.list(json.vout, () => "vout").flatMap((output) =>
      Predicate.isReadonlyObject(output) && output.ismweb === true
        ? []
        : NodeTransaction.readOutput(chain, output, () => "vout")
    )
    const whole = body.notUnderstood === undefined && isTransparent(json)
    return { id, body, paid: sumOf(outputs), isTransparent: whole, revealed: whole ? 0n : undefined }
  })
})

/** Fails where nobody can read the transaction. */
export const decode = Effect.fnUntraced(function* (chain: Chain, rpc: JsonRpc, raw: Uint8Array) {
  const whole = WholeTransaction.decode(chain, raw)
  const own = (chain.utxo!.wireFormat === "zcash" ? ownZcashDecoding : ownDecoding)(chain, raw, whole)
  if (Result.isSuccess(own)) return own.success
  const decoded = yield* nodeDecoding(chain, rpc, raw)
  const mwebFee = Result.isSuccess(whole) ? whole.success.mwebFee : undefined
  return mwebFee === undefined ? decoded : { ...decoded, revealed: mwebFee }
})
