/**
 * What stands behind the outputs of a Zcash transaction: how many shielded parts it has, and of version 5 what its id is made
 * of. Source: Zcash protocol specification §7.1, ZIP-225.
 */
import type * as ZcashTransactionId from "@headwater/core/utxo/ZcashTransactionId"
import type { RawBytes } from "./RawBytes.ts"

/** Numbers of what hides amounts and addresses. */
export interface Shielded {
  /** Of Sprout. */
  readonly joinSplits: number
  /** Of Sapling. */
  readonly spends: number
  readonly outputs: number
  /** Of Orchard. */
  readonly actions: number
}

export interface End extends Pick<ZcashTransactionId.Transaction, "sapling" | "orchard"> {
  readonly lockTime: number
  readonly shielded: Shielded
}

/** Bytes of a JoinSplit with a BCTV14 proof (versions 2 and 3) and with a Groth16 proof (version 4). */
const joinSplitSize = (version: number): number => (version >= 4 ? 1698 : 1802)

/** Of versions 1 to 4. */
export const readOld = (raw: RawBytes, version: number): End => {
  const lockTime = raw.uint32()
  if (version >= 3) raw.skip(4)
  if (version === 4) raw.skip(8)
  const spends = version === 4 ? raw.skipMany(384) : 0
  const outputs = version === 4 ? raw.skipMany(948) : 0
  const joinSplits = version >= 2 ? raw.skipMany(joinSplitSize(version)) : 0
  if (joinSplits > 0) raw.skip(32 + 64)
  if (spends + outputs > 0) raw.skip(64)
  return { lockTime, shielded: { joinSplits, spends, outputs, actions: 0 }, sapling: undefined, orchard: undefined }
}

const many = (raw: RawBytes, length: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: raw.size() }, () => raw.take(length))

const readSapling = (raw: RawBytes): ZcashTransactionId.Sapling | undefined => {
  const spends = many(raw, 96)
  const outputs = many(raw, 756)
  if (spends.length + outputs.length === 0) return undefined
  const balance = raw.take(8)
  const anchor = raw.take(spends.length > 0 ? 32 : 0)
  raw.skip(spends.length * (192 + 64) + outputs.length * 192 + 64)
  return { spends, outputs, balance, anchor }
}

const readOrchard = (raw: RawBytes): ZcashTransactionId.Orchard | undefined => {
  const actions = many(raw, 820)
  if (actions.length === 0) return undefined
  const rest = raw.take(1 + 8 + 32)
  raw.skip(raw.size())
  raw.skip(actions.length * 64 + 64)
  return { actions, rest }
}

/** Of version 5, whose lock time stands in front. */
export const readNew = (raw: RawBytes, lockTime: number): End => {
  const sapling = readSapling(raw)
  const orchard = readOrchard(raw)
  const shielded = {
    ...{ joinSplits: 0, spends: sapling?.spends.length ?? 0 },
    ...{ outputs: sapling?.outputs.length ?? 0, actions: orchard?.actions.length ?? 0 }
  }
  return { lockTime, shielded, sapling, orchard }
}
