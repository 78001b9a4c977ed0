/** A transaction's bytes as text of a request. */
import * as Schema from "effect/Schema"

/** Nodes of UTXO chains pass on 100,000 virtual bytes, which are up to four times as many bytes. */
const maxBytes = 400_000

/** Of a request that has at most so many bytes, as hexadecimal digits, beside little else. */
export const hexBodyBytes = (bytes: number) => 2 * bytes + 10_000

/** Of a request with a transaction. */
export const transactionBodyBytes = hexBodyBytes(maxBytes)

/** With or without `0x`. */
export const transactionHex = Schema.String.check(
  Schema.isPattern(/^(0x)?([0-9A-Fa-f]{2})+$/, { message: "must be hexadecimal digits, two for each byte" }),
  Schema.isMaxLength(2 * maxBytes + 2, { message: `must be at most ${maxBytes} bytes` })
)
