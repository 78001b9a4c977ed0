/** Made-up UTXO blocks for tests, as JSON and raw, with true ids, Merkle roots and hashes. */
import { createHash } from "node:crypto"
import { type ChainPart, type NodeBlock, type NodeTransaction, number } from "./UtxoNode.ts"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest()
const idOf = (bytes: Uint8Array) => sha256(sha256(bytes)).reverse().toString("hex")
const reversed = (id: string) => Buffer.from(id, "hex").reverse().toString("hex")

const uint = (value: number | bigint, bytes: number) => {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64LE(BigInt(value))
  return buffer.subarray(0, bytes).toString("hex")
}
export const compactSize = (value: number) =>
  value < 0xfd ? uint(value, 1) : value <= 0xffff ? `fd${uint(value, 2)}` : `fe${uint(value, 4)}`
export const withSize = (hex: string) => compactSize(hex.length / 2) + hex

export interface Input {
  readonly txid: string
  readonly vout: number
  /** Shown by nodes with verbosity 3. */
  readonly prevout?: Output
}
export interface Output {
  /** As the node writes it. */
  readonly value: string | number
  /** In the smallest unit, for the raw form. */
  readonly amount: bigint
  readonly script: string
}

/** An output of `value` coins, which must have all 8 digits behind the point. */
export const paid = (value: string, script: string): Output => ({
  value: number(value),
  amount: BigInt(value.replace(".", "")),
  script
})

export const p2pkh = (byte: number) => `76a914${byte.toString(16).padStart(2, "0").repeat(20)}88ac`

const scriptPubKey = (script: string) => ({ asm: "", hex: script, type: "nonstandard" })

/** A transaction without inputs is a coinbase. */
export const transaction = (
  inputs: ReadonlyArray<Input>,
  outputs: ReadonlyArray<Output>,
  lockTime = 0
): NodeTransaction => {
  const coinbase = inputs.length === 0
  const ins = coinbase
    ? `${"00".repeat(32)}ffffffff${withSize("51ff")}ffffffff`
    : inputs.map(({ txid, vout }) => `${reversed(txid)}${uint(vout, 4)}00fdffffff`).join("")
  const outs = outputs.map(({ amount, script }) => uint(amount, 8) + withSize(script)).join("")
  const hex = `01000000${compactSize(inputs.length || 1)}${ins}${compactSize(outputs.length)}${outs}${uint(lockTime, 4)}`
  return {
    txid: idOf(Buffer.from(hex, "hex")),
    version: 1,
    hex,
    vin: coinbase
      ? [{ coinbase: "51ff", sequence: 4294967295 }]
      : inputs.map(({ txid, vout, prevout }) => ({
          txid,
          vout,
          scriptSig: { asm: "", hex: "" },
          sequence: 4294967293,
          ...(prevout && { prevout: { value: prevout.value, scriptPubKey: scriptPubKey(prevout.script) } })
        })),
    vout: outputs.map(({ value, script }, n) => ({ value, n, scriptPubKey: scriptPubKey(script) }))
  }
}

export const merkleRootOf = (ids: ReadonlyArray<string>): string => {
  const level = ids.map((id) => Buffer.from(id, "hex").reverse())
  if (level.length === 1) return ids[0]!
  const above = level
    .filter((_, index) => index % 2 === 0)
    .map((left, index) => idOf(Buffer.concat([left, level[index * 2 + 1] ?? left])))
  return merkleRootOf(above)
}

const headerOf = (version: number, previous: string, merkleRoot: string, time: number, bits: string) =>
  uint(BigInt.asUintN(32, BigInt(version)), 4) +
  reversed(previous) +
  reversed(merkleRoot) +
  uint(time, 4) +
  uint(Number.parseInt(bits, 16), 4) +
  uint(0, 4)

/** The block, and its raw form. */
export const block = (
  height: number,
  previous: string,
  transactions: ReadonlyArray<NodeTransaction>
): { readonly json: NodeBlock; readonly raw: string } => {
  const merkleroot = merkleRootOf(transactions.map(({ txid }) => txid))
  const time = 1700000000 + height
  const header = headerOf(0x20000000, previous, merkleroot, time, "207fffff")
  const raw = header + compactSize(transactions.length) + transactions.map(({ hex }) => hex).join("")
  return {
    raw,
    json: {
      hash: idOf(Buffer.from(header, "hex")),
      confirmations: 1,
      height,
      version: 0x20000000,
      versionHex: "20000000",
      merkleroot,
      tx: transactions,
      time,
      mediantime: time,
      nonce: 0,
      bits: "207fffff",
      difficulty: 4.656542373906925e-10,
      chainwork: "00".repeat(31) + (height * 2).toString(16).padStart(2, "0"),
      nTx: transactions.length,
      previousblockhash: previous,
      size: raw.length / 2,
      strippedsize: raw.length / 2,
      weight: raw.length * 2
    }
  }
}

const received = paid("50.00000000", p2pkh(1))

/** The transactions of {@link tip}: a coinbase, and two payments, of which the later one is spent by the earlier one. */
export const coinbase = transaction([], [received, paid("0.00000000", "6a0568656c6c6f")])
export const first = transaction(
  [{ txid: "ab".repeat(32), vout: 7, prevout: received }],
  [paid("49.99990000", p2pkh(2))]
)
export const second = transaction(
  [{ txid: first.txid, vout: 0, prevout: paid("49.99990000", p2pkh(2)) }],
  [paid("20.00000000", p2pkh(3)), paid("29.99980000", p2pkh(2))]
)

/** Two blocks, 99 and 100. Order as on Bitcoin Cash: a transaction may spend one that is listed behind it. */
export const parent = block(99, "00".repeat(32), [transaction([], [paid("50.00000000", p2pkh(9))])])
export const tip = block(100, parent.json.hash, [coinbase, second, first])
export const part: ChainPart = {
  blocks: [parent.json, tip.json],
  raw: { [parent.json.hash]: parent.raw, [tip.json.hash]: tip.raw }
}
