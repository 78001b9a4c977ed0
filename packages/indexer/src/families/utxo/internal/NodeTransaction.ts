/**
 * A transaction as a UTXO node's JSON shows it (`getblock` 2 and 3, `getrawtransaction` 1): what moves in plain sight.
 *
 * Read by hand, not by Schema: a mainnet block has 15,000 of these objects.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import { type Unlocking, witnessItems } from "@headwater/core/utxo/Unlocking"
import * as Result from "effect/Result"
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
  const hex = NodeJson.isRecord(scriptSig) ? scriptSig.hex : undefined
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

/**
 * Adds the transaction at `index` of a block to `body`. Inputs and outputs inside the MWEB (`ismweb`) and the shielded
 * parts of a Zcash transaction hide their value and are passed over. Throws `Malformed`.
 */
export const read = (chain: Chain, value: unknown, index: number, body: BlockBody.BlockBody): void => {
  const field = () => `tx[${index}]`
  const transaction = NodeJson.record(value, field)
  body.transactions.push(NodeJson.hash(transaction.txid, () => `${field()}.txid`))

  for (const [position, item] of NodeJson.list(transaction.vin, () => `${field()}.vin`).entries()) {
    const at = () => `${field()}.vin[${position}]`
    const input = NodeJson.record(item, at)
    if (input.coinbase !== undefined || input.ismweb === true) continue
    const outpoint = {
      transactionId: NodeJson.hash(input.txid, () => `${at()}.txid`),
      index: NodeJson.count(input.vout, () => `${at()}.vout`)
    }
    if (!NodeJson.isRecord(input.prevout)) {
      body.spends.push({ transaction: index, position, outpoint, unlocking: unlockingOf(input) })
      continue
    }
    body.spends.push({ transaction: index, position, outpoint })
    const spent = () => `${at()}.prevout`
    body.transfers.push({
      kind: "coin",
      transaction: index,
      position,
      from: scriptOf(input.prevout, spent),
      to: undefined,
      amount: amountOf(input.prevout, chain, spent)
    })
  }

  for (const [position, item] of NodeJson.list(transaction.vout, () => `${field()}.vout`).entries()) {
    const at = () => `${field()}.vout[${position}]`
    const output = NodeJson.record(item, at)
    if (output.ismweb === true) continue
    if (output.n !== position) refuse(`${at()}.n`, "must be the position of the output")
    const to = scriptOf(output, at)
    if (!BlockBody.isSpendable(to)) continue
    const amount = amountOf(output, chain, at)
    body.transfers.push({ kind: "coin", transaction: index, position, from: undefined, to, amount })
  }
}
