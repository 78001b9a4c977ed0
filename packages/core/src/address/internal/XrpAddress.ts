/** XRP address text ⇄ 20-byte account id: classic addresses, and X-addresses (XLS-5) with their destination tag. */
import * as Result from "effect/Result"
import * as Base58Check from "../Base58Check.ts"

export interface Account {
  readonly account: Uint8Array
  /** Destination tag that an X-address carries. */
  readonly tag: number | undefined
}

const prefixes = { main: [0x05, 0x44], test: [0x04, 0x93] } as const

const decodeClassic = (payload: Uint8Array): Result.Result<Account, string> =>
  payload.length === 21 && payload[0] === 0
    ? Result.succeed({ account: payload.subarray(1), tag: undefined })
    : Result.fail("must be an account address: r… or an X-address")

/** Prefix 2, account 20, flag 1, tag 4 little-endian, 4 reserved zeros. */
const decodeX = (isTest: boolean, payload: Uint8Array): Result.Result<Account, string> => {
  const is = (prefix: readonly [number, number]) => payload[0] === prefix[0] && payload[1] === prefix[1]
  if (payload.length !== 31 || !(is(prefixes.main) || is(prefixes.test))) {
    return Result.fail("must be an account address: r… or an X-address")
  }
  if (!is(isTest ? prefixes.test : prefixes.main)) {
    return Result.fail(`must be an X-address of this network, which begins with ${isTest ? "T" : "X"}`)
  }
  const flag = payload[22]
  const tag = new DataView(payload.buffer, payload.byteOffset, payload.length).getUint32(23, true)
  if (flag! > 1 || payload.subarray(27).some((byte) => byte !== 0) || (flag === 0 && tag !== 0)) {
    return Result.fail("must be an X-address with a tag of 32 bits or none")
  }
  return Result.succeed({ account: payload.subarray(2, 22), tag: flag === 1 ? tag : undefined })
}

/** Classic or X-address text of the test or live network → account and tag; the failure is the rule that it breaks. */
export const decode = (isTest: boolean, text: string): Result.Result<Account, string> =>
  text.length > 60
    ? Result.fail("must be an account address: r… or an X-address")
    : Result.flatMap(Base58Check.decode("xrp", text), (payload) =>
        payload.length > 21 ? decodeX(isTest, payload) : decodeClassic(payload)
      )

/** Account id → classic text. */
export const encode = (account: Uint8Array): string => {
  const payload = new Uint8Array(21)
  payload.set(account, 1)
  return Base58Check.encode("xrp", payload)
}
