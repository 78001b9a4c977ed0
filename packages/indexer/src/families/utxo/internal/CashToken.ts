/**
 * CashTokens in the wire format of Bitcoin Cash: a token stands in front of the locking script (CHIP-2022-02). A token is
 * what nodes read as one: limits of its commitment are theirs to enforce, and have changed (CHIP-2024-12).
 */

const prefix = 0xef
const categorySize = 32
const maxCapability = 2

const hasReserved = 0x80
const hasCommitment = 0x40
const hasNft = 0x20
const hasAmount = 0x10

const maxAmount = 2n ** 63n - 1n

/** A number of the form that Bitcoin has for lengths (CompactSize), and where the number ends. */
interface Sized {
  readonly value: bigint
  readonly end: number
}

/** The smallest number that takes two, four or eight bytes behind the first. */
const smallest: Readonly<Record<number, bigint>> = { 2: 0xfdn, 4: 0x1_0000n, 8: 0x1_0000_0000n }

/** The number at `at`; undefined where the bytes end early, or are more than the number takes. */
const compactSize = (script: Uint8Array, at: number): Sized | undefined => {
  const first = script[at]
  if (first === undefined) return undefined
  if (first < 0xfd) return { value: BigInt(first), end: at + 1 }
  const size = 1 << (first - 0xfd + 1)
  const end = at + 1 + size
  if (end > script.length) return undefined
  let value = 0n
  for (let index = end - 1; index > at; index--) value = (value << 8n) | BigInt(script[index]!)
  return value < smallest[size]! ? undefined : { value, end }
}

/** Where a commitment ends that begins at `at`; undefined where there is none, or the bytes end early. */
const commitmentEnd = (script: Uint8Array, at: number): number | undefined => {
  const length = compactSize(script, at)
  if (length === undefined || length.value === 0n || length.value > BigInt(script.length)) return undefined
  const end = length.end + Number(length.value)
  return end > script.length ? undefined : end
}

/** Where an amount ends that begins at `at`; undefined where the bytes are no amount of tokens. */
const amountEnd = (script: Uint8Array, at: number): number | undefined => {
  const amount = compactSize(script, at)
  return amount === undefined || amount.value === 0n || amount.value > maxAmount ? undefined : amount.end
}

/** The locking script alone. Bytes that only look like a token are a part of the script, as they are to the nodes. */
export const withoutToken = (script: Uint8Array): Uint8Array => {
  if (script[0] !== prefix) return script
  const bits = script[1 + categorySize] ?? hasReserved
  const capability = bits & 0x0f
  const nft = (bits & hasNft) !== 0
  if ((bits & hasReserved) !== 0 || (bits & (hasNft | hasAmount)) === 0) return script
  if (nft ? capability > maxCapability : capability !== 0 || (bits & hasCommitment) !== 0) return script
  let end: number | undefined = 1 + categorySize + 1
  if ((bits & hasCommitment) !== 0) end = commitmentEnd(script, end)
  if (end !== undefined && (bits & hasAmount) !== 0) end = amountEnd(script, end)
  return end === undefined ? script : script.subarray(end)
}
