/**
 * XRP address text ⇄ 20-byte account id by ripple-address-codec: classic addresses, and X-addresses (XLS-5) with their
 * destination tag.
 */
import * as Result from "effect/Result"
import { decodeAccountID, decodeXAddress, encodeAccountID, encodeXAddress } from "ripple-address-codec"
import type { TaggedAccount } from "../TaggedAccount.ts"

export interface Account {
  readonly account: Uint8Array
  /** Destination tag that an X-address carries. */
  readonly tag: number | undefined
}

/** The first letter of X-addresses: X on the live network, T on the others. */
type Letter = "X" | "T"

const longest = 60
const classicRule = "must be an account address (r… or an X-address) with a correct base58check checksum"
const xRule = "must be an X-address with a correct base58check checksum, and with a tag of 32 bits or none"

const attempt = <A>(read: () => A, rule: string): Result.Result<A, string> =>
  Result.try({ try: read, catch: () => rule })

/** The codec takes X-addresses also with bytes to spare, and with reserved ones that are not zero: the text of none. */
const decodeX = (letter: Letter, text: string): Result.Result<Account, string> =>
  Result.gen(function* () {
    const { accountId, tag, test } = yield* attempt(() => decodeXAddress(text), xRule)
    const written = yield* attempt(() => encodeXAddress(accountId, tag, test), xRule)
    if (written !== text) return yield* Result.fail(xRule)
    return test === (letter === "T")
      ? { account: accountId, tag: tag === false ? undefined : tag }
      : yield* Result.fail(`must be an X-address of this network, which begins with ${letter}`)
  })

/** Classic text, or an X-address that begins with `letter` → account and tag; the failure is the rule that the text breaks. */
export const decode = (letter: Letter, text: string): Result.Result<Account, string> => {
  if (text.length > longest) return Result.fail(classicRule)
  return text.startsWith("X") || text.startsWith("T")
    ? decodeX(letter, text)
    : Result.map(
        attempt(() => decodeAccountID(text), classicRule),
        (account) => ({ account, tag: undefined })
      )
}

/** Account id and tag → X-address that begins with `letter`. */
export const encodeX = (letter: Letter, { account, tag }: TaggedAccount): string =>
  encodeXAddress(account, tag, letter === "T")

/** Account id → classic text. */
export const encode = (account: Uint8Array): string => encodeAccountID(account)
