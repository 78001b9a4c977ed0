/** Bytes as requests and answers have them: two hexadecimal digits each. */

export const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** As texts of EVM chains: with 0x in front. */
export const prefixed = (bytes: Uint8Array): string => `0x${encode(bytes)}`

/** With 0x in front, or without. */
export const decode = (text: string): Uint8Array => Buffer.from(text.replace(/^0x/, ""), "hex")
