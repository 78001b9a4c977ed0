/**
 * A transaction as a UTXO node's JSON shows it (`getblock` 2 and 3, `getrawtransaction` 1): what moves in plain sight.
 *
 * Read by hand, not by Schema: a mainnet block has 15,000 of these objects.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import { type Unlocking, witnessItems } from "@headwater/core/utxo/Unlocking"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as DecodedTransaction from "../../DecodedTransaction.ts"
import * as BlockBody from "./BlockBody.ts"
import { reading, refuse } from "./Malformed.ts"
import * as NodeJson from "./NodeJson.ts"

/** A locking script is the canonical address on a UTXO chain. */
const scriptOf = (output: NodeJson.Json, field: NodeJson.Field): AddressBytes => {
  const script = NodeJson.record(output.scriptPubKey, () => `${field()}.scriptPubKey`)
  return NodeJson.bytes(script.hex, () => `${field()}.scriptPubKey.hex`) as AddressBytes
}

/** Zcash nodes say the integer too, and Zebra's `value` comes from a float. */
const amountOf = (output: NodeJson.Json, chain: Chain, field: NodeJson.Field): bigint =>
  typeof output.valueZat === "number"
    ? BigInt(NodeJson.count(output.valueZat, () => `${field()}.valueZat`))
    : NodeJson.coins(output.value, chain.decimals, () => `${field()}.value`)

/** What an output locks, and with which script. Throws `Malformed`. */
export const readOutput = (
  chain: Chain,
  value: unknown,
  field: NodeJson.Field
): { readonly script: AddressBytes; readonly amount: bigint } => {
  const output = NodeJson.record(value, field)
  return { script: scriptOf(output, field), amount: amountOf(output, chain, field) }
}

/** Reads what an input shows when that is asked for; of the node's object no more is kept. */
const unlockingOf = ({ scriptSig, txinwitness = [] }: NodeJson.Json): (() => Unlocking | undefined) => {
  const hex = Predicate.isReadonlyObject(scriptSig) ? scriptSig.hex : undefined
  return () =>
    Result.getOrUndefined(
      reading(() => ({
        scriptSig: NodeJson.bytes(hex, () => "scriptSig.hex"),
        witness: NodeJson.list(txinwitness, () => "txinwitness")
          .slice(-witnessItems)
          .map((item) => NodeJson.bytes(item, () => "txinwitness"))
      }))
    )
}

/** An input as far as the node shows it. Throws `Malformed` where the input does not name what it spends. */
const readInput = (
  chain: Chain,
  item: unknown,
  place: { readonly transaction: number; readonly position: number },
  at: NodeJson.Field,
  own: BlockBody.BlockBody,
  { read }: DecodedTransaction.Parts
): void => {
  const input = NodeJson.record(item, at)
  if (input.coinbase !== undefined || input.ismweb === true) return
  const outpoint = {
    transactionId: NodeJson.hash(input.txid, () => `${at()}.txid`),
    index: NodeJson.count(input.vout, () => `${at()}.vout`)
  }
  const { prevout } = input
  const spent = () => `${at()}.prevout`
  const shown = Predicate.isReadonlyObject(prevout)
    ? // The outpoint says which coin is spent.
      read(() => ({ from: scriptOf(prevout, spent), amount: amountOf(prevout, chain, spent) }), [])
    : undefined
  if (shown === undefined) {
    own.spends.push({ ...place, outpoint, unlocking: unlockingOf(input) })
    return
  }
  own.spends.push({ ...place, outpoint })
  own.transfers.push({ kind: "coin", ...place, from: shown.from, to: undefined, amount: shown.amount })
}

/** An output. Throws `Malformed` where the output is not at `position`. */
const readOutputAt = (
  chain: Chain,
  item: unknown,
  place: { readonly transaction: number; readonly position: number },
  at: NodeJson.Field,
  own: BlockBody.BlockBody
): void => {
  const output = NodeJson.record(item, at)
  if (output.ismweb === true) return
  if (output.n !== place.position) refuse(`${at()}.n`, "must be the position of the output")
  const to = scriptOf(output, at)
  if (!BlockBody.isSpendable(to)) return
  own.transfers.push({ kind: "coin", ...place, from: undefined, to, amount: amountOf(output, chain, at) })
}

/** Inputs or outputs that are read in one step: a transaction may have tens of thousands. */
const partsOfStep = 32

function* readOwn(
  chain: Chain,
  value: unknown,
  index: number,
  own: BlockBody.BlockBody,
  parts: DecodedTransaction.Parts
): Generator<void, void> {
  const field = () => `tx[${index}]`
  const transaction = NodeJson.record(value, field)
  own.transactions.push(NodeJson.hash(transaction.txid, () => `${field()}.txid`))
  const inputs = parts.read(() => NodeJson.list(transaction.vin, () => `${field()}.vin`)) ?? []
  for (const [position, item] of inputs.entries()) {
    const place = { transaction: index, position }
    parts.read(() => readInput(chain, item, place, () => `${field()}.vin[${position}]`, own, parts))
    if (position % partsOfStep === partsOfStep - 1) yield
  }
  const outputs = parts.read(() => NodeJson.list(transaction.vout, () => `${field()}.vout`)) ?? []
  for (const [position, item] of outputs.entries()) {
    const place = { transaction: index, position }
    parts.read(() => readOutputAt(chain, item, place, () => `${field()}.vout[${position}]`, own))
    if (position % partsOfStep === partsOfStep - 1) yield
  }
}

/**
 * Adds the transaction at `index` of a block to `body`, as far as it can be read. Inputs and outputs inside the MWEB
 * (`ismweb`) and the shielded parts of a Zcash transaction hide their value and are passed over.
 */
export const read = (chain: Chain, value: unknown, index: number, body: BlockBody.BlockBody): Generator<void, void> =>
  BlockBody.addInSlices(body, value, (own, parts) => readOwn(chain, value, index, own, parts))
