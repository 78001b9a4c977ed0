/** XRP address text ⇄ 20-byte account id: classic addresses, and X-addresses (XLS-5) with their destination tag. */
import * as Result from "effect/Result"
import * as Base58Check from "../../address/Base58Check.ts"
import type { TaggedAccount } from "../TaggedAccount.ts"

export interface Account {
  readonly account: Uint8Array
  /** Destination tag that an X-address carries. */
  readonly tag: number | undefined
}

/** Prefix bytes of X-addresses by their first letter: X on the live network, T on the others. */
const prefixes = { X: [0x05, 0x44], T: [0x04, 0x93] } as const
type Letter = keyof typeof prefixes

const decodeClassic = (payload: Uint8Array): Result.Result<Account, string> =>
  payload.length === 21 && payload[0] === 0
    ? Result.succeed({ account: payload.subarray(1), tag: undefined })
    : Result.fail("must be an account address: r… or an X-address")

/** Prefix 2, account 20, flag 1, tag 4 little-endian, 4 reserved zeros. */
const decodeX = (letter: Letter, payload: Uint8Array): Result.Result<Account, string> => {
  const is = (prefix: readonly [number, number]) => payload[0] === prefix[0] && payload[1] === prefix[1]
  if (payload.length !== 31 || !(is(prefixes.X) || is(prefixes.T))) {
    return Result.fail("must be an account address: r… or an X-address")
  }
  if (!is(prefixes[letter])) {
    return Result.fail(`must be an X-address of this network, which begins with ${letter}`)
  }
  const flag = payload[22]
  const tag = new DataView(payload.buffer, payload.byteOffset, payload.length).getUint32(23, true)
  if (flag! > 1 || payload.subarray(27).some((byte) => byte !== 0) || (flag === 0 && tag !== 0)) {
    return Result.fail("must be an X-address with a tag of 32 bits or none")
  }
  return Result.succeed({ account: payload.subarray(2, 22), tag: flag === 1 ? tag : undefined })
}

/** Classic text, or an X-address that begins with `letter` → account and tag; the failure is the rule that the text breaks. */
export const decode = (letter: Letter, text: string): Result.Result<Account, string> =>
  text.length > 60
    ? Result.fail("must be an account address: r… or an X-address")
    : Result.flatMap(Base58Check.decode("xrp", text), (payload) =>
        payload.length > 21 ? decodeX(letter, payload) : decodeClassic(payload)
      )

/** Account id and tag → X-address that begins with `letter`. */
export const encodeX = (letter: Letter, { account, tag }: TaggedAccount): string => {
  const payload = new Uint8Array(31)
  payload.set(prefixes[letter])
  payload.set(account, 2)
  payload[22] = 1
  new DataView(payload.buffer).setUint32(23, tag, true)
  return Base58Check.encode("xrp", payload)
}

/** Account id → classic text. */
export const encode = (account: Uint8Array): string => {
  const payload = new Uint8Array(21)
  payload.set(account, 1)
  return Base58Check.encode("xrp", payload)
}
