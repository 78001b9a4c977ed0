/** Unsigned EVM transactions as people write them in JSON, field by field. The failure is `field: rule`. */
import { hexToBytes } from "@noble/hashes/utils.js"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as EvmAddress from "../EvmAddress.ts"
import type { AccessListEntry, UnsignedTransaction } from "../UnsignedTransaction.ts"

type Json = Readonly<Record<string, unknown>>
type Parsed<A> = Result.Result<A, string>

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const limits = {
  nonce: { limit: 2n ** 64n - 1n, text: "2^64 - 1" },
  word: { limit: 2n ** 64n, text: "2^64" },
  big: { limit: 2n ** 256n, text: "2^256" }
} as const

const number = /^(?:\d{1,100}|0x[0-9a-fA-F]{1,100})$/

/** Decimal or 0x text, or a JSON number that a float holds exactly. */
const quantity = (json: Json, field: string, { limit, text }: (typeof limits)[keyof typeof limits]): Parsed<bigint> => {
  const value = json[field] ?? 0
  const isExact = typeof value === "number" && Number.isSafeInteger(value) && value >= 0
  if (!isExact && !(typeof value === "string" && number.test(value))) {
    return Result.fail(`${field}: must be a whole number as decimal or 0x text, or a JSON number up to 2^53 - 1`)
  }
  const found = BigInt(value)
  return found < limit ? Result.succeed(found) : Result.fail(`${field}: must be below ${text}`)
}

const hex = /^0x(?:[0-9a-fA-F]{2})*$/

const bytes = (value: unknown, field: string, length?: number): Parsed<Uint8Array> =>
  typeof value === "string" && hex.test(value) && (length === undefined || value.length === 2 + length * 2)
    ? Result.succeed(hexToBytes(value.slice(2)))
    : Result.fail(
        `${field}: must be 0x and ${length === undefined ? "an even number of" : length * 2} hexadecimal digits`
      )

const address = (value: unknown, field: string): Parsed<Uint8Array> =>
  Result.mapError(
    typeof value === "string" ? EvmAddress.decode(value) : Result.fail("must be an address as text"),
    (rule) => `${field}: ${rule}`
  )

const list = (value: unknown, field: string): Parsed<ReadonlyArray<unknown>> =>
  Array.isArray(value) ? Result.succeed(value) : Result.fail(`${field}: must be a list`)

const accessList = (json: Json): Parsed<ReadonlyArray<AccessListEntry>> =>
  Result.gen(function* () {
    const entries: Array<AccessListEntry> = []
    for (const [index, entry] of (yield* list(json.accessList ?? [], "accessList")).entries()) {
      const field = `accessList[${index}]`
      if (!Predicate.isReadonlyObject(entry)) return yield* Result.fail(`${field}: must have address and storageKeys`)
      const keys = yield* list(entry.storageKeys ?? [], `${field}.storageKeys`)
      const storageKeys: Array<Uint8Array> = []
      for (const [at, key] of keys.entries()) storageKeys.push(yield* bytes(key, `${field}.storageKeys[${at}]`, 32))
      entries.push({ address: yield* address(entry.address, `${field}.address`), storageKeys })
    }
    return entries
  })

const laterFields = ["maxFeePerGas", "maxPriorityFeePerGas", "accessList"]

/** One JSON text → transaction. Absent and null fields are zero or empty; those that its type lacks are ignored. */
export const parse = (text: string): Parsed<UnsignedTransaction> =>
  Result.gen(function* () {
    const json = yield* Result.try({ try: (): unknown => JSON.parse(text), catch: () => "line: must be JSON" })
    if (!Predicate.isReadonlyObject(json)) return yield* Result.fail("line: must be a JSON object")
    const type = yield* quantity(json, "type", limits.big)
    // A fee market transaction that lost its type would be signed at a gas price of zero.
    const later = isAbsent(json.type) && laterFields.find((field) => !isAbsent(json[field]))
    if (later) return yield* Result.fail(`type: must be given beside ${later}`)
    const common = {
      nonce: yield* quantity(json, "nonce", limits.nonce),
      gasLimit: yield* quantity(json, "gasLimit", limits.word),
      to: (json.to ?? "") === "" ? undefined : yield* address(json.to, "to"),
      value: yield* quantity(json, "value", limits.big),
      data: (json.data ?? "") === "" ? new Uint8Array() : yield* bytes(json.data, "data")
    }
    const chainId = yield* quantity(json, "chainId", limits.big)
    switch (type) {
      case 0n: {
        const gasPrice = yield* quantity(json, "gasPrice", limits.big)
        return { type: 0, ...common, chainId: chainId === 0n ? undefined : chainId, gasPrice } as const
      }
      case 1n: {
        const gasPrice = yield* quantity(json, "gasPrice", limits.big)
        return { type: 1, ...common, chainId, gasPrice, accessList: yield* accessList(json) } as const
      }
      case 2n: {
        const maxFeePerGas = yield* quantity(json, "maxFeePerGas", limits.big)
        const maxPriorityFeePerGas = yield* quantity(json, "maxPriorityFeePerGas", limits.big)
        if (maxPriorityFeePerGas > maxFeePerGas) {
          return yield* Result.fail("maxPriorityFeePerGas: must not be above maxFeePerGas")
        }
        const listed = yield* accessList(json)
        return { type: 2, ...common, chainId, maxFeePerGas, maxPriorityFeePerGas, accessList: listed } as const
      }
      default:
        return yield* Result.fail("type: must be 0, 1 or 2")
    }
  })
