/** A transaction's bytes as text of a request. */
import * as Schema from "effect/Schema"

/** Nodes of UTXO chains pass on 100,000 virtual bytes, which are up to four times as many bytes. */
const maxBytes = 400_000

/** Of a request that has at most so many bytes, as hexadecimal digits, beside little else. */
export const hexBodyBytes = (bytes: number) => 2 * bytes + 10_000

/** Of a request with a transaction. */
export const transactionBodyBytes = hexBodyBytes(maxBytes)

/** A signed transaction of Ethereum's main network in examples. */
export const signedExample =
  "0x02f8730107843b9aca00850737be76008252089452908400098527886e0f7030069857d2e4169ee78803782dace9d9000080c080a01848058a9760" +
  "ed57a536e7083a4b34c32a9073043b90fce77417ffee81c0b1bea06a8f8957221496c422ce4b0f11bc7061fed44fea100ae9ebd37cd672760f4e3a"

/** With or without `0x`. */
export const transactionHex = Schema.String.check(
  Schema.isPattern(/^(0x)?([0-9A-Fa-f]{2})+$/, { message: "must be hexadecimal digits, two for each byte" }),
  Schema.isMaxLength(2 * maxBytes + 2, { message: `must be at most ${maxBytes} bytes` })
)
