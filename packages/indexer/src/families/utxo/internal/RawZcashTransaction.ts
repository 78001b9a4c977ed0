/**
 * A Zcash transaction in its wire format, versions 1 to 6: the transparent part; the shielded parts are passed over.
 *
 * Source: Zcash protocol specification §7.1 (encodings), ZIP-202, ZIP-225, ZIP-229.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import type { BlockBody } from "./BlockBody.ts"
import { Malformed } from "./Malformed.ts"
import type { RawBytes } from "./RawBytes.ts"
import { idOf, type Place, readInputs, readOutputs, wholePlace } from "./RawTransaction.ts"

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

/** Bytes of a JoinSplit with a BCTV14 proof (versions 2 and 3) and with a Groth16 proof (version 4). */
const joinSplitSize = (version: number): number => (version >= 4 ? 1698 : 1802)

const skipJoinSplits = (raw: RawBytes, version: number): void => {
  if (raw.skipMany(joinSplitSize(version)) > 0) raw.skip(32 + 64)
}

const skipSaplingOfVersion4 = (raw: RawBytes): number => {
  raw.skip(8)
  return raw.skipMany(384) + raw.skipMany(948)
}

/** Of version 5 and of later ones. */
const skipSaplingOfVersion5 = (raw: RawBytes): void => {
  const spends = raw.skipMany(96)
  const outputs = raw.skipMany(756)
  if (spends + outputs > 0) raw.skip(8)
  if (spends > 0) raw.skip(32)
  raw.skip(spends * (192 + 64) + outputs * 192)
  if (spends + outputs > 0) raw.skip(64)
}

/** The actions of Orchard, or of Ironwood. */
const skipActions = (raw: RawBytes): void => {
  const actions = raw.skipMany(820)
  if (actions === 0) return
  raw.skip(1 + 8 + 32)
  raw.skip(raw.size())
  raw.skip(actions * 64 + 64)
}

/**
 * Adds what the next transaction moves to `body`, but not its id. Undefined since version 5, whose id is no hash of these
 * bytes (ZIP-244). Throws `Malformed`.
 */
export const readMoves = (raw: RawBytes, chain: Chain, transaction: number, body: BlockBody): Place | undefined => {
  const start = raw.at
  const { form: version } = readBeginning(raw)
  if (version >= 5) raw.skip(4 + 4 + 4)
  readInputs(raw, transaction, body)
  readOutputs(raw, chain, transaction, body)
  if (version >= 5) {
    skipSaplingOfVersion5(raw)
    skipActions(raw)
    if (version === 6) skipActions(raw)
    return undefined
  }
  raw.skip(version >= 3 ? 4 + 4 : 4)
  const sapling = version === 4 ? skipSaplingOfVersion4(raw) : 0
  if (version >= 2) skipJoinSplits(raw, version)
  if (sapling > 0) raw.skip(64)
  return wholePlace(start, raw.at)
}

/**
 * Adds the next transaction to `body`, with its id: where that is no hash of these bytes, `listed`, the id that the node
 * gives to this transaction, is taken. Says which. Throws `Malformed`.
 */
export const read = (
  raw: RawBytes,
  chain: Chain,
  transaction: number,
  listed: Uint8Array,
  body: BlockBody
): "computed" | "listed" => {
  const place = readMoves(raw, chain, transaction, body)
  body.transactions.push(place === undefined ? listed : idOf(raw.bytes, place))
  return place === undefined ? "listed" : "computed"
}
