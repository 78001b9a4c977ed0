/** Hashes of blocks and transactions as people write them. */

/** The 32 bytes of a hash in the form of any family; undefined where the text is none. */
export const decode = (text: string): Uint8Array | undefined =>
  /^(?:0x)?[0-9a-f]{64}$/i.test(text) ? new Uint8Array(Buffer.from(text.slice(-64), "hex")) : undefined
