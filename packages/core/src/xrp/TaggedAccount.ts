/** One user of an account of the XRP Ledger, as bytes: the account's 20 and the tag's 4, the highest first. */

/** An account, and the tag that tells one of its users apart. */
export interface TaggedAccount {
  readonly account: Uint8Array
  /** A number of 32 bits. */
  readonly tag: number
}

const accountLength = 20
const length = accountLength + 4

export const encode = ({ account, tag }: TaggedAccount): Uint8Array => {
  const bytes = new Uint8Array(length)
  bytes.set(account)
  new DataView(bytes.buffer).setUint32(accountLength, tag)
  return bytes
}

/** Undefined where the bytes are of another length. */
export const decode = (bytes: Uint8Array): TaggedAccount | undefined => {
  if (bytes.length !== length) return undefined
  const tag = new DataView(bytes.buffer, bytes.byteOffset, length).getUint32(accountLength)
  return { account: bytes.subarray(0, accountLength), tag }
}
