/** The hash of a ledger's header (rippled's `calculateLedgerHash`). */
import { createHash } from "node:crypto"

export interface HeaderFields {
  readonly ledgerIndex: number
  /** Drops in existence. */
  readonly totalCoins: bigint
  readonly parentHash: Uint8Array
  readonly transactionHash: Uint8Array
  readonly accountHash: Uint8Array
  /** Seconds of the Ripple epoch. */
  readonly parentCloseTime: number
  readonly closeTime: number
  readonly closeTimeResolution: number
  readonly closeFlags: number
}

/** `LWR` and a zero. */
const prefix = 0x4c575200

/** The first half of the SHA-512 of the header. */
export const of = (fields: HeaderFields): Uint8Array => {
  const bytes = Buffer.alloc(4 + 4 + 8 + 3 * 32 + 4 + 4 + 1 + 1)
  bytes.writeUInt32BE(prefix, 0)
  bytes.writeUInt32BE(fields.ledgerIndex, 4)
  bytes.writeBigUInt64BE(fields.totalCoins, 8)
  bytes.set(fields.parentHash, 16)
  bytes.set(fields.transactionHash, 48)
  bytes.set(fields.accountHash, 80)
  bytes.writeUInt32BE(fields.parentCloseTime, 112)
  bytes.writeUInt32BE(fields.closeTime, 116)
  bytes.writeUInt8(fields.closeTimeResolution, 120)
  bytes.writeUInt8(fields.closeFlags, 121)
  return new Uint8Array(createHash("sha512").update(bytes).digest().subarray(0, 32))
}
