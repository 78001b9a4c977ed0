/**
 * Transactions of Dash that take coins out of the pool of its Platform (DIP-27). Since version 2, which came with Core 24, the
 * id is the hash with zeros in place of what the Platform writes anew when it signs a withdrawal again: height, quorum and
 * signature.
 */
import { sha256d } from "./DoubleSha256.ts"
import { refuse } from "./Malformed.ts"

/** The type, in the upper half of a transaction's version (DIP-2). */
export const type = 9
/** The payload: its version, an index and the fee; then what is signed anew, which ends the transaction. */
const signed = 4 + 32 + 96
const payloadSize = 1 + 8 + 4 + signed

const zeros = new Uint8Array(signed)

/** What such a transaction leaves for the miner, by its payload: nothing of it is an input. Throws `Malformed`. */
export const feeOf = (payload: Uint8Array): bigint =>
  payload.length >= 1 + 8 + 4 ? BigInt(Buffer.from(payload).readUInt32LE(1 + 8)) : refuse("the payload", "ends early")

/** Whether the id of a special transaction is the hash with zeros, by its version and what stands behind everything else. */
export const isZeroed = (version: number, payload: Uint8Array): boolean =>
  version >>> 16 === type && payload.length === payloadSize && payload[0]! >= 2

/** What the id of such a transaction is, as it is computed. */
export const hash = (bytes: Uint8Array): Buffer => sha256d(Buffer.concat([bytes.subarray(0, -signed), zeros]))
