/** Unsigned EVM transactions as people write them in JSON, field by field. The failure is `field: rule`. */
import { hexToBytes } from "@noble/hashes/utils.js"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { equal } from "../../Bytes.ts"
import { suggest } from "../../Suggestion.ts"
import * as EvmAddress from "../EvmAddress.ts"
import type { AccessListEntry, UnsignedTransaction } from "../UnsignedTransaction.ts"
import * as TransactionRules from "./TransactionRules.ts"
import * as UnambiguousJson from "./UnambiguousJson.ts"

type Json = Readonly<Record<string, unknown>>
type Parsed<A> = Result.Result<A, string>

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const number = /^(?:\d{1,100}|0x[0-9a-fA-F]{1,100})$/

/** Decimal or 0x text, a JSON number that a float holds exactly, or a bigint. */
const whole = (value: unknown, field: string): Parsed<bigint> => {
  const isWhole =
    (typeof value === "bigint" && value >= 0n) ||
    (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) ||
    (typeof value === "string" && number.test(value))
  return isWhole ? Result.succeed(BigInt(value)) : Result.fail(`${field}: ${UnambiguousJson.wholeRule}`)
}

/** Absent and null are zero. */
const quantity = (json: Json, field: string): Parsed<bigint> => whole(json[field] ?? 0, field)

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

/** Other names of fields, as people and programs write them. */
const otherNames: Readonly<Record<string, string>> = {
  recipient: "to",
  destination: "to",
  receiver: "to",
  toaddress: "to",
  amount: "value",
  calldata: "data",
  payload: "data"
}

/** Fields that only a signed or mined transaction has. */
const later: ReadonlySet<string> = new Set([
  ...["r", "s", "v", "yParity", "signature", "hash"],
  ...["blockHash", "blockNumber", "blockTimestamp", "transactionIndex"]
])

/** A name in an error: a name may be of any length, and have line breaks. */
const shown = (name: string): string =>
  fields.includes(name) ? name : JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)

/** Refuses a field that is none of `known`: what is not understood would not be signed, though somebody wrote it. */
const onlyFields = (json: Json, known: ReadonlyArray<string>, within: string): Parsed<void> => {
  const name = Object.keys(json).find((field) => !known.includes(field))
  if (name === undefined) return Result.void
  const refused = `${within}${shown(name)}: is no field of an unsigned transaction`
  if (later.has(name)) return Result.fail(`${refused}, but of a signed one`)
  const other = Object.hasOwn(otherNames, name.toLowerCase()) ? otherNames[name.toLowerCase()]! : ""
  const meant = known.includes(other) ? other : suggest(name.slice(0, 40), known)
  return Result.fail(meant === undefined ? refused : `${refused}; did you mean "${meant}"?`)
}

const accessList = (json: Json): Parsed<ReadonlyArray<AccessListEntry>> =>
  Result.gen(function* () {
    const entries: Array<AccessListEntry> = []
    for (const [index, entry] of (yield* list(json.accessList ?? [], "accessList")).entries()) {
      const field = `accessList[${index}]`
      if (!Predicate.isReadonlyObject(entry)) return yield* Result.fail(`${field}: must have address and storageKeys`)
      yield* onlyFields(entry, ["address", "storageKeys"], `${field}.`)
      const keys = yield* list(entry.storageKeys ?? [], `${field}.storageKeys`)
      const storageKeys: Array<Uint8Array> = []
      for (const [at, key] of keys.entries()) storageKeys.push(yield* bytes(key, `${field}.storageKeys[${at}]`, 32))
      entries.push({ address: yield* address(entry.address, `${field}.address`), storageKeys })
    }
    return entries
  })

/** Fields that stand in a transaction of a type above 0 only. */
const typedFields = ["maxFeePerGas", "maxPriorityFeePerGas", "accessList", "maxFeePerBlobGas", "blobVersionedHashes"]
const fields = [
  ...["type", "chainId", "from", "nonce", "gasPrice", "gasLimit", "gas", "to", "value", "data", "input"],
  ...typedFields
]

const gasLimit = (json: Json): Parsed<bigint> =>
  Result.gen(function* () {
    const given = ["gasLimit", "gas"].filter((field) => !isAbsent(json[field]))
    const [limit, same = limit] = yield* Result.all(given.map((field) => whole(json[field], field)))
    if (limit === undefined) return yield* Result.fail("gasLimit: must be given (JSON-RPC calls it gas)")
    return limit === same ? limit : yield* Result.fail("gas: must be the same as gasLimit, or be left out")
  })

const data = (json: Json): Parsed<Uint8Array> =>
  Result.gen(function* () {
    const given = ["data", "input"].filter((field) => (json[field] ?? "") !== "")
    const [content, same = content] = yield* Result.all(given.map((field) => bytes(json[field], field)))
    if (content === undefined || same === undefined) return new Uint8Array()
    return equal(content, same) ? content : yield* Result.fail("input: must be the same as data, or be left out")
  })

const recipient = ({ to }: Json): Parsed<Uint8Array | null> => {
  if (to === null) return Result.succeed(null)
  return to === undefined || to === ""
    ? Result.fail("to: must be given: an address, or null for the creation of a contract")
    : address(to, "to")
}

/**
 * One JSON text → transaction. Unknown fields are refused, known fields that its type lacks ignored. `gasLimit` and
 * `to` must be there, other absent and null fields are zero or empty.
 */
export const parse = (text: string): Parsed<UnsignedTransaction> =>
  Result.flatMap(UnambiguousJson.parse(text, shown), read)

/** {@link parse} of what the text says. */
export const read = (given: unknown): Parsed<UnsignedTransaction> =>
  Result.flatMap(transactionOf(given), (transaction) =>
    Result.map(TransactionRules.check(transaction), () => transaction)
  )

const transactionOf = (given: unknown): Parsed<UnsignedTransaction> =>
  Result.gen(function* () {
    if (!Predicate.isReadonlyObject(given)) return yield* Result.fail("line: must be a JSON object")
    // Inherited properties are no fields, and are not looked through for fields that are not understood.
    const json: Json = { ...given }
    yield* onlyFields(json, fields, "")
    const type = yield* quantity(json, "type")
    // A fee market transaction that lost its type would be signed at a gas price of zero.
    const typed = isAbsent(json.type) && typedFields.find((field) => !isAbsent(json[field]))
    if (typed) return yield* Result.fail(`type: must be given beside ${typed}`)
    // The sender is no part of the signed bytes.
    if (!isAbsent(json.from)) yield* address(json.from, "from")
    const common = {
      nonce: yield* quantity(json, "nonce"),
      gasLimit: yield* gasLimit(json),
      to: yield* recipient(json),
      value: yield* quantity(json, "value"),
      data: yield* data(json)
    }
    const chainId = yield* quantity(json, "chainId")
    switch (type) {
      case 0n: {
        const gasPrice = yield* quantity(json, "gasPrice")
        return { type: 0, ...common, chainId: chainId === 0n ? undefined : chainId, gasPrice } as const
      }
      case 1n: {
        const gasPrice = yield* quantity(json, "gasPrice")
        return { type: 1, ...common, chainId, gasPrice, accessList: yield* accessList(json) } as const
      }
      case 2n: {
        const maxFeePerGas = yield* quantity(json, "maxFeePerGas")
        const maxPriorityFeePerGas = yield* quantity(json, "maxPriorityFeePerGas")
        const listed = yield* accessList(json)
        return { type: 2, ...common, chainId, maxFeePerGas, maxPriorityFeePerGas, accessList: listed } as const
      }
      default:
        return yield* Result.fail("type: must be 0, 1 or 2")
    }
  })
