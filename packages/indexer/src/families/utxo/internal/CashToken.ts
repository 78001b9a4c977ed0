/** CashTokens in the wire format of Bitcoin Cash: a token stands in front of the locking script (CHIP-2022-02, CHIP-2024-12). */

const prefix = 0xef
const categorySize = 32
/** Since May 2026; 40 before. */
const maxCommitment = 128
const maxCapability = 2

const hasReserved = 0x80
const hasCommitment = 0x40
const hasNft = 0x20
const hasAmount = 0x10

/** Bytes of the CompactSize at `at`. */
const compactSize = (script: Uint8Array, at: number): number => {
  const first = script[at] ?? 0
  return first < 0xfd ? 1 : first === 0xfd ? 3 : first === 0xfe ? 5 : 9
}

/** The locking script alone. Bytes that only look like a token are a part of the script, as they are to the nodes. */
export const withoutToken = (script: Uint8Array): Uint8Array => {
  if (script[0] !== prefix) return script
  const bits = script[1 + categorySize] ?? hasReserved
  const capability = bits & 0x0f
  const nft = (bits & hasNft) !== 0
  if ((bits & hasReserved) !== 0 || (bits & (hasNft | hasAmount)) === 0) return script
  if (nft ? capability > maxCapability : capability !== 0 || (bits & hasCommitment) !== 0) return script
  let end = 1 + categorySize + 1
  if ((bits & hasCommitment) !== 0) {
    const length = script[end] ?? 0
    if (length === 0 || length > maxCommitment) return script
    end += 1 + length
  }
  if ((bits & hasAmount) !== 0) end += compactSize(script, end)
  return end > script.length ? script : script.subarray(end)
}
