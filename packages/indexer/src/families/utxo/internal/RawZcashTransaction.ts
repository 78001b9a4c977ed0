/**
 * A Zcash transaction in its wire format, versions 1 to 6: the transparent part; of the shielded parts, what the id is made of.
 *
 * Source: Zcash protocol specification §7.1 (encodings), ZIP-202, ZIP-225, ZIP-229, ZIP-244.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as ZcashTransactionId from "@headwater/core/utxo/ZcashTransactionId"
import type { BlockBody } from "./BlockBody.ts"
import { Malformed } from "./Malformed.ts"
import type { RawBytes } from "./RawBytes.ts"
import { idOf, type Place, readInputs, readOutputs, wholePlace } from "./RawTransaction.ts"
import * as ShieldedParts from "./ShieldedParts.ts"

const overwintered = 0x80000000

/** The groups of versions since Overwinter: ZIP-202, ZIP-243, ZIP-225, ZIP-229. Drafts gave their numbers to other formats. */
const groups: Readonly<Record<number, number>> = {
  3: 0x03c4_8270,
  4: 0x892f_2085,
  5: 0x26a7_270a,
  6: 0xd884_b698
}

/** What a transaction begins with. */
interface Beginning {
  readonly overwintered: boolean
  readonly version: number
  readonly versionGroupId: number
  /** The version whose form the transaction has: before Overwinter, every version above 1 has that of 2, as zcashd reads them. */
  readonly form: 1 | 2 | 3 | 4 | 5 | 6
}

/** Throws `Malformed` where the form is not known here. */
export const readBeginning = (raw: RawBytes): Beginning => {
  const header = raw.uint32()
  const version = (header & ~overwintered) >>> 0
  if ((header & overwintered) === 0) {
    return { overwintered: false, version, versionGroupId: 0, form: version >= 2 ? 2 : 1 }
  }
  const versionGroupId = raw.uint32()
  if (groups[version] !== versionGroupId) throw new Malformed(`is of version ${version}, which is not decoded here`)
  return { overwintered: true, version, versionGroupId, form: version as Beginning["form"] }
}

const many = <A>(raw: RawBytes, read: () => A): Array<A> => Array.from({ length: raw.size() }, read)

/** What the id of a transaction since version 5 is made of, which is no hash of its bytes (ZIP-244). */
export type New = ZcashTransactionId.Transaction

export const isNew = (place: Place | New): place is New => "branchId" in place

/** Of a transaction whose inputs and all that follows stand next. */
const readNew = (
  raw: RawBytes,
  header: Pick<New, "version" | "versionGroupId" | "branchId" | "locktime" | "expiryHeight">
): New => {
  const inputs = many(raw, () => {
    const outpoint = { transactionId: raw.hash(), index: raw.uint32() }
    raw.skip(raw.size())
    return { ...outpoint, sequence: raw.uint32() }
  })
  const outputs = many(raw, () => ({ amount: raw.uint64(), script: raw.take(raw.size()) }))
  const { ironwood, orchard, sapling } = ShieldedParts.readNew(raw, header.version, header.locktime)
  return { ...header, inputs, outputs, sapling, orchard, ironwood }
}

/** Adds what the next transaction moves to `body`, but not its id: what that is made of is returned. Throws `Malformed`. */
export const readMoves = (raw: RawBytes, chain: Chain, transaction: number, body: BlockBody): Place | New => {
  const start = raw.at
  const { form: version, versionGroupId } = readBeginning(raw)
  const isLater = version === 5 || version === 6
  const [branchId, locktime, expiryHeight] = isLater ? [raw.uint32(), raw.uint32(), raw.uint32()] : [0, 0, 0]
  const inputsAt = raw.at
  readInputs(raw, transaction, body)
  readOutputs(raw, chain, transaction, body)
  if (isLater) {
    raw.at = inputsAt
    return readNew(raw, { version, versionGroupId, branchId, locktime, expiryHeight })
  }
  ShieldedParts.readOld(raw, version)
  return wholePlace(start, raw.at)
}

/** Adds the next transaction to `body`, with its id. Throws `Malformed`. */
export const read = (raw: RawBytes, chain: Chain, transaction: number, body: BlockBody): void => {
  const place = readMoves(raw, chain, transaction, body)
  body.transactions.push(isNew(place) ? ZcashTransactionId.of(place) : idOf(raw.bytes, place))
}
