/**
 * What stands behind the outputs of a Zcash transaction: how many shielded parts it has, and since version 5 what its id is
 * made of. Source: Zcash protocol specification §7.1, ZIP-225, ZIP-229.
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
  /** Of Orchard and Ironwood. */
  readonly actions: number
}

/** What a transaction moves from shielded pools to what everybody sees, less what goes the other way, in the smallest unit. */
export interface Revealed {
  /** Of Sapling, as nodes name it. */
  readonly valueBalance: bigint
  /** Of all pools. */
  readonly all: bigint
}

export interface End extends Pick<ZcashTransactionId.Transaction, "sapling" | "orchard" | "ironwood"> {
  readonly lockTime: number
  readonly shielded: Shielded
  readonly revealed: Revealed
  /** Of versions 3 and 4; that of later ones stands in front. */
  readonly expiryHeight: number
}

/** Bytes of a JoinSplit with a BCTV14 proof (versions 2 and 3) and with a Groth16 proof (version 4). */
const joinSplitSize = (version: number): number => (version >= 4 ? 1698 : 1802)

/** How many JoinSplits there are, and what they reveal: each begins with what goes into its pool and what comes out. */
const readJoinSplits = (raw: RawBytes, version: number) => {
  const count = raw.size()
  let revealed = 0n
  for (let index = 0; index < count; index++) {
    revealed -= raw.uint64()
    revealed += raw.uint64()
    raw.skip(joinSplitSize(version) - 16)
  }
  return { count, revealed }
}

/** Of versions 1 to 4. */
export const readOld = (raw: RawBytes, version: number): End => {
  const lockTime = raw.uint32()
  const expiryHeight = version >= 3 ? raw.uint32() : 0
  const valueBalance = version === 4 ? BigInt.asIntN(64, raw.uint64()) : 0n
  const spends = version === 4 ? raw.skipMany(384) : 0
  const outputs = version === 4 ? raw.skipMany(948) : 0
  const { count: joinSplits, revealed } = version >= 2 ? readJoinSplits(raw, version) : { count: 0, revealed: 0n }
  if (joinSplits > 0) raw.skip(32 + 64)
  if (spends + outputs > 0) raw.skip(64)
  return {
    ...{ lockTime, expiryHeight, sapling: undefined, orchard: undefined, ironwood: undefined },
    shielded: { joinSplits, spends, outputs, actions: 0 },
    revealed: { valueBalance, all: valueBalance + revealed }
  }
}

const many = (raw: RawBytes, length: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: raw.size() }, () => raw.take(length))

const signed = (bytes: Uint8Array, at: number): bigint =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readBigInt64LE(at)

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

/** The balance stands behind a byte of flags. */
const balanceOf = (actions: ZcashTransactionId.Orchard | undefined) =>
  actions === undefined ? 0n : signed(actions.rest, 1)

/** Of versions 5 and 6, whose lock time stands in front. */
export const readNew = (raw: RawBytes, version: 5 | 6, lockTime: number): End => {
  const sapling = readSapling(raw)
  const orchard = readOrchard(raw)
  const ironwood = version === 6 ? readOrchard(raw) : undefined
  const shielded = {
    ...{ joinSplits: 0, spends: sapling?.spends.length ?? 0 },
    outputs: sapling?.outputs.length ?? 0,
    actions: (orchard?.actions.length ?? 0) + (ironwood?.actions.length ?? 0)
  }
  const valueBalance = sapling === undefined ? 0n : signed(sapling.balance, 0)
  const revealed = { valueBalance, all: valueBalance + balanceOf(orchard) + balanceOf(ironwood) }
  return { lockTime, shielded, sapling, orchard, ironwood, revealed, expiryHeight: 0 }
}
