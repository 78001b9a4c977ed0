/** Address text of the UTXO chains ⇄ locking script. */
import { bech32m } from "@scure/base"
import * as Result from "effect/Result"
import * as Base58Check from "../../address/Base58Check.ts"
import * as LockingScript from "../LockingScript.ts"
import type { UtxoAddressFormat } from "../UtxoNetwork.ts"
import * as CashAddress from "./CashAddress.ts"
import * as SegwitAddress from "./SegwitAddress.ts"

/** A version of one or two bytes and a 20-byte hash never takes more base58 characters. */
const longestBase58 = 36
/** With a 32-byte hash, which base58 has on Bitcoin Cash only. */
const longestBase58OfBitcoinCash = 51

const scriptOf = (template: LockingScript.Template): Uint8Array =>
  template.kind === "pubKeyHash"
    ? LockingScript.pubKeyHash(template.hash)
    : template.kind === "scriptHash"
      ? LockingScript.scriptHash(template.hash)
      : LockingScript.witness(template.version, template.program)

const decodeBase58 = (format: UtxoAddressFormat, text: string): Result.Result<LockingScript.Template, string> =>
  Result.flatMap(Base58Check.decode(text), (payload): Result.Result<LockingScript.Template, string> => {
    const has = (version: ReadonlyArray<number> | undefined, size = 20) =>
      version !== undefined &&
      payload.length === version.length + size &&
      version.every((byte, index) => payload[index] === byte)
    const hash = payload.subarray(-20)
    if (has(format.pubKeyHash)) return Result.succeed({ kind: "pubKeyHash", hash })
    if (has(format.scriptHash) || has(format.legacyScriptHash)) return Result.succeed({ kind: "scriptHash", hash })
    if (format.cashAddr !== undefined && has(format.scriptHash, 32)) {
      return Result.succeed({ kind: "scriptHash", hash: payload.subarray(-32) })
    }
    return Result.fail("must have a version of this network and a hash of 20 bytes")
  })

const decodeSegwit = (
  format: UtxoAddressFormat,
  hrp: string,
  text: string
): Result.Result<LockingScript.Template, string> =>
  Result.flatMap(SegwitAddress.decode(hrp, text), ({ version, program }) =>
    format.witnessWithoutAddress?.includes(version)
      ? Result.fail(`witness version ${version} has no addresses on this chain`)
      : Result.succeed<LockingScript.Template>({ kind: "witness", version, program })
  )

const decodeTex = (hrp: string, text: string): Result.Result<LockingScript.Template, string> => {
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return Result.fail("must not mix upper and lower case")
  const decoded = bech32m.decodeUnsafe(lower)
  const hash = decoded && decoded.prefix === hrp ? bech32m.fromWordsUnsafe(decoded.words) : undefined
  return hash?.length === 20
    ? Result.succeed({ kind: "pubKeyHash", hash })
    : Result.fail("must be a TEX address of 20 bytes with a correct bech32m checksum")
}

const decodeTemplate = (format: UtxoAddressFormat, text: string): Result.Result<LockingScript.Template, string> => {
  const { cashAddr, segwit, tex } = format
  const begins = (hrp: string) => text.toLowerCase().startsWith(`${hrp}1`)
  const isShort = text.length <= longestBase58 && !text.includes(":")
  const mayBeBase58 =
    isShort || (cashAddr !== undefined && text.length <= longestBase58OfBitcoinCash && !text.includes(":"))
  const base58 = mayBeBase58 ? decodeBase58(format, text) : undefined
  // First, as nodes do: base58 of Litecoin may begin with LTC1 as well.
  if (base58 !== undefined && Result.isSuccess(base58)) return base58
  if (segwit !== undefined && (!isShort || begins(segwit))) return decodeSegwit(format, segwit, text)
  if (tex !== undefined && begins(tex)) return decodeTex(tex, text)
  if (isShort && base58 !== undefined) return base58
  if (cashAddr !== undefined) return CashAddress.decode(cashAddr, text)
  return Result.fail("must be a transparent address of this chain, which has at most 36 characters")
}

/** Text in any form that the chain has → locking script; the failure is the rule that the text breaks. */
export const decode = (format: UtxoAddressFormat, text: string): Result.Result<Uint8Array, string> =>
  Result.map(decodeTemplate(format, text), scriptOf)

const base58 = (version: ReadonlyArray<number>, hash: Uint8Array): string => {
  const payload = new Uint8Array(version.length + hash.length)
  payload.set(version)
  payload.set(hash, version.length)
  return Base58Check.encode(payload)
}

const encodeBase58 = (
  format: UtxoAddressFormat,
  { hash, kind }: Exclude<LockingScript.Template, { readonly kind: "witness" }>
): string | undefined =>
  hash.length === 20 || format.cashAddr !== undefined
    ? base58(kind === "pubKeyHash" ? format.pubKeyHash : format.scriptHash, hash)
    : undefined

/** Locking script of a hash → base58 text, which Bitcoin Cash had before CashAddr; undefined for other scripts and chains. */
export const encodeLegacy = (format: UtxoAddressFormat, script: Uint8Array): string | undefined => {
  const template = LockingScript.parse(script)
  if (format.cashAddr === undefined || template === undefined || template.kind === "witness") return undefined
  return encodeBase58(format, template)
}

/** Locking script → the chain's canonical text, undefined where it has none. */
export const encode = (format: UtxoAddressFormat, script: Uint8Array): string | undefined => {
  const template = LockingScript.parse(script)
  if (template === undefined) return undefined
  if (template.kind === "witness") {
    return format.segwit === undefined || format.witnessWithoutAddress?.includes(template.version)
      ? undefined
      : SegwitAddress.encode(format.segwit, template)
  }
  if (format.cashAddr !== undefined) return CashAddress.encode(format.cashAddr, template)
  return encodeBase58(format, template)
}
