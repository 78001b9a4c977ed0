/** The rules that every unsigned EVM transaction keeps before a digest of it is made. The failure is `field: rule`. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { UnsignedTransaction } from "../UnsignedTransaction.ts"

type Checked = Result.Result<void, string>
type Fields = Readonly<Record<string, unknown>>

const word = { limit: 2n ** 64n, text: "2^64" }
const big = { limit: 2n ** 256n, text: "2^256" }

/** Numbers of a transaction, and what each is below. */
const limits: Readonly<Record<string, { readonly limit: bigint; readonly text: string }>> = {
  ...{ chainId: big, nonce: { limit: 2n ** 64n - 1n, text: "2^64 - 1" }, gasLimit: word, value: big },
  ...{ gasPrice: big, maxFeePerGas: big, maxPriorityFeePerGas: big }
}

/** The fields of each type, beside `type`. */
const common = ["chainId", "nonce", "gasLimit", "to", "value", "data"]
const fieldsOf: Readonly<Record<number, ReadonlyArray<string>>> = {
  0: [...common, "gasPrice"],
  1: [...common, "gasPrice", "accessList"],
  2: [...common, "maxFeePerGas", "maxPriorityFeePerGas", "accessList"]
}

const number = (field: string, value: unknown): Checked => {
  const { limit, text } = limits[field]!
  if (typeof value !== "bigint" || value < 0n) return Result.fail(`${field}: must be a bigint from 0 up`)
  return value < limit ? Result.void : Result.fail(`${field}: must be below ${text}`)
}

const bytes = (field: string, value: unknown, length: number): Checked =>
  value instanceof Uint8Array && value.length === length
    ? Result.void
    : Result.fail(`${field}: must be ${length} bytes`)

const accessList = (value: unknown): Checked =>
  Result.gen(function* () {
    if (!Array.isArray(value)) return yield* Result.fail("accessList: must be a list")
    for (const [index, entry] of value.entries()) {
      const field = `accessList[${index}]`
      if (!Predicate.isReadonlyObject(entry)) return yield* Result.fail(`${field}: must have address and storageKeys`)
      yield* bytes(`${field}.address`, entry.address, 20)
      if (!Array.isArray(entry.storageKeys)) return yield* Result.fail(`${field}.storageKeys: must be a list`)
      for (const [at, key] of entry.storageKeys.entries()) yield* bytes(`${field}.storageKeys[${at}]`, key, 32)
    }
  })

/**
 * Whether a digest of the transaction may be made: types are no proof where a program has none, and a number that is no
 * bigint, or an address of 19 bytes, would be the digest of something else.
 */
export const check = (transaction: UnsignedTransaction): Checked =>
  Result.gen(function* () {
    const of: unknown = transaction
    if (!Predicate.isReadonlyObject(of)) return yield* Result.fail("transaction: must be an object")
    const { type: given, ...fields }: Fields = of
    const type = typeof given === "number" ? given : Number.NaN
    const known = fieldsOf[type]
    if (known === undefined) return yield* Result.fail("type: must be 0, 1 or 2")
    const other = Object.keys(fields).find((field) => !known.includes(field))
    if (other !== undefined) return yield* Result.fail(`${other.slice(0, 40)}: is no field of type ${type}`)
    for (const field of known.filter((field) => field in limits)) {
      if (field !== "chainId" || type !== 0) yield* number(field, fields[field])
      else if (fields.chainId !== undefined) yield* number(field, fields.chainId)
    }
    // No chain has the id 0: a signature for it would be taken by no chain, or by all.
    if (type === 0 && fields.chainId === 0n) {
      return yield* Result.fail("chainId: must be left out, or above 0, in type 0")
    }
    if (fields.to !== null) yield* bytes("to", fields.to, 20)
    if (!(fields.data instanceof Uint8Array)) return yield* Result.fail("data: must be bytes")
    if (type > 0) yield* accessList(fields.accessList)
    if (transaction.type === 2 && transaction.maxPriorityFeePerGas > transaction.maxFeePerGas) {
      return yield* Result.fail("maxPriorityFeePerGas: must not be above maxFeePerGas")
    }
  })
