/** Tron address text ⇄ 20 bytes: the account of an EVM address behind the byte 0x41, in base58check. */
import { hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Base58Check from "../address/Base58Check.ts"
import * as EvmAddress from "../evm/EvmAddress.ts"

const version = 0x41
const prefixedHex = /^(?:0x)?41[0-9a-fA-F]{40}$/

/**
 * Base58 (`T…`), the hexadecimal form of Tron's own node API (`41…`) or of its JSON-RPC (`0x…`) → 20 bytes; the failure
 * is the rule that the text breaks.
 */
export const decode = (text: string): Result.Result<Uint8Array, string> => {
  if (prefixedHex.test(text)) return Result.succeed(hexToBytes(text.slice(-40)))
  if (text.startsWith("0x")) return EvmAddress.decode(text)
  if (text.length > 36) return Result.fail("must be a base58 address, 41 and 40 hexadecimal digits, or 0x and 40")
  return Result.flatMap(Base58Check.decode(text), (payload) =>
    payload.length === 21 && payload[0] === version
      ? Result.succeed(payload.subarray(1))
      : Result.fail("must have the version 0x41 and 20 bytes")
  )
}

/** 20 bytes → base58 text. */
export const encode = (account: Uint8Array): string => {
  const payload = new Uint8Array(21)
  payload[0] = version
  payload.set(account, 1)
  return Base58Check.encode(payload)
}
