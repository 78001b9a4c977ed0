/** A transaction's bytes as text of a request. */
import * as Schema from "effect/Schema"

/** With or without `0x`. */
export const transactionHex = (maxBytes: number) =>
  Schema.String.check(
    Schema.isPattern(/^(0x)?([0-9A-Fa-f]{2})+$/, { message: "must be hexadecimal digits, two for each byte" }),
    Schema.isMaxLength(2 * maxBytes + 2, { message: `must be at most ${maxBytes} bytes` })
  )
