/** Address text of the UTXO chains ⇄ locking script. */
import * as Result from "effect/Result"
import type { AddressFormat } from "../Chain.ts"
import * as Base58Check from "./Base58Check.ts"
import * as CashAddress from "./CashAddress.ts"
import * as Script from "./Script.ts"
import * as SegwitAddress from "./SegwitAddress.ts"

type Format = Extract<AddressFormat, { kind: "utxo" }>

/** A version of one or two bytes and a 20-byte hash never takes more base58 characters. */
const longestBase58 = 36

const scriptOf = (template: Script.Template): Uint8Array =>
  template.kind === "pubKeyHash"
    ? Script.pubKeyHash(template.hash)
    : template.kind === "scriptHash"
      ? Script.scriptHash(template.hash)
      : Script.witness(template.version, template.program)

const decodeBase58 = (format: Format, text: string): Result.Result<Script.Template, string> =>
  Result.flatMap(Base58Check.decode("bitcoin", text), (payload): Result.Result<Script.Template, string> => {
    const has = (version: ReadonlyArray<number> | undefined) =>
      version !== undefined &&
      payload.length === version.length + 20 &&
      version.every((byte, index) => payload[index] === byte)
    const hash = payload.subarray(-20)
    if (has(format.pubKeyHash)) return Result.succeed({ kind: "pubKeyHash", hash })
    if (has(format.scriptHash) || has(format.legacyScriptHash)) return Result.succeed({ kind: "scriptHash", hash })
    return Result.fail("must have a version of this network and a hash of 20 bytes")
  })

const decodeSegwit = (format: Format, hrp: string, text: string): Result.Result<Script.Template, string> =>
  Result.flatMap(SegwitAddress.decode(hrp, text), ({ version, program }) =>
    format.witnessWithoutAddress?.includes(version)
      ? Result.fail(`witness version ${version} has no addresses on this chain`)
      : Result.succeed<Script.Template>({ kind: "witness", version, program })
  )

/** Text in any form that the chain has → locking script; the failure is the rule that the text breaks. */
export const decode = (format: Format, text: string): Result.Result<Uint8Array, string> => {
  const { cashAddr, segwit } = format
  const isBase58 = text.length <= longestBase58 && !text.includes(":")
  return Result.map(
    segwit !== undefined && (!isBase58 || text.toLowerCase().startsWith(`${segwit}1`))
      ? decodeSegwit(format, segwit, text)
      : cashAddr !== undefined && !isBase58
        ? CashAddress.decode(cashAddr, text)
        : isBase58
          ? decodeBase58(format, text)
          : Result.fail("must be a base58 address: longer forms do not exist on this chain"),
    scriptOf
  )
}

const base58 = (version: ReadonlyArray<number>, hash: Uint8Array): string => {
  const payload = new Uint8Array(version.length + hash.length)
  payload.set(version)
  payload.set(hash, version.length)
  return Base58Check.encode("bitcoin", payload)
}

/** Locking script → the chain's canonical text, undefined where it has none. */
export const encode = (format: Format, script: Uint8Array): string | undefined => {
  const template = Script.parse(script)
  if (template === undefined) return undefined
  if (template.kind === "witness") {
    return format.segwit === undefined || format.witnessWithoutAddress?.includes(template.version)
      ? undefined
      : SegwitAddress.encode(format.segwit, template)
  }
  if (format.cashAddr !== undefined) return CashAddress.encode(format.cashAddr, template)
  if (template.hash.length !== 20) return undefined
  return base58(template.kind === "pubKeyHash" ? format.pubKeyHash : format.scriptHash, template.hash)
}
