/**
 * A transaction and its metadata in the binary form that a ledger commits to, from the JSON that a server shows.
 *
 * Source: xrpl.org, "Serialization Format"; rippled's `STObject`, `STAmount`, `STPathSet`, `STIssue`.
 *
 * What the tables of `BinaryFields.ts` or the forms here do not know has no binary form here: an amendment has brought
 * it. Names that begin with a small letter are the server's own additions, and no part of the ledger.
 */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as BinaryFields from "./BinaryFields.ts"

export type Json = Readonly<Record<string, unknown>>

/** Thrown by the writer, and a value at the edge: the field whose form is not known. */
class NotKnown extends Error {
  override readonly name = "NotKnown"
}

const notKnown = (what: string): never => {
  throw new NotKnown(what)
}

const objectEnd = 0xe1
const arrayEnd = 0xf1
const pathEnd = 0xff
const pathsEnd = 0x00

/** Fields of 64 bits that are written in decimal digits, the others in hexadecimal ones (`sMD_BaseTen`). */
const decimalFields: ReadonlySet<string> = new Set([
  "MaximumAmount",
  "OutstandingAmount",
  "MPTAmount",
  "LockedAmount",
  "ConfidentialOutstandingAmount"
])

const namesOf: Readonly<Record<string, ReadonlyMap<string, number>>> = {
  TransactionType: BinaryFields.transactionTypes,
  LedgerEntryType: BinaryFields.ledgerEntryTypes,
  TransactionResult: BinaryFields.transactionResults,
  PermissionValue: BinaryFields.permissions
}

/** Significant digits, and the least and greatest exponent, of an amount of tokens. */
const digits = 16
const leastExponent = -96
const greatestExponent = 80

const decimal = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/

/** The 64 bits of an amount of tokens: not XRP, sign, exponent of 8 bits, mantissa of 54. */
const tokenBits = (text: unknown): bigint => {
  const match = typeof text === "string" && text.length <= 128 ? decimal.exec(text) : null
  if (match === null) return notKnown("an amount")
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = match
  const significant = (whole + fraction).replace(/^0+/, "")
  const trimmed = significant.replace(/0+$/, "")
  if (trimmed === "") return significant === "" && whole + fraction === "" ? notKnown("an amount") : 1n << 63n
  if (trimmed.length > digits) return notKnown("an amount of more than 16 digits")
  const exponent = Number(exponentText) - fraction.length + (significant.length - digits)
  if (exponent < leastExponent || exponent > greatestExponent) return notKnown("an amount")
  const mantissa = BigInt(trimmed.padEnd(digits, "0"))
  return (1n << 63n) | (sign === "" ? 1n << 62n : 0n) | (BigInt(exponent + 97) << 54n) | mantissa
}

const integer = /^-?\d{1,19}$/
const hexText = /^(?:[0-9a-f]{2})*$/i
const currencyCode = /^[0-9A-Za-z?!@#$%^&*<>(){}[\]|]{3}$/

/** Bytes of the one entry of an account list whose length is zero, as pseudo-transactions of the validators have it. */
const noAccount = Buffer.alloc(0)

class Writer {
  #bytes = Buffer.allocUnsafe(4096)
  #at = 0
  readonly #chain: Chain
  readonly #accounts: Map<string, Uint8Array>

  constructor(chain: Chain, accounts: Map<string, Uint8Array>) {
    this.#chain = chain
    this.#accounts = accounts
  }

  written(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at))
  }

  /** Where so many bytes may be written. The buffer may be another one afterwards: no write names it before. */
  #room(length: number): number {
    const from = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at))
      this.#bytes.copy(larger, 0, 0, from)
      this.#bytes = larger
    }
    return from
  }

  #byte(value: number) {
    const from = this.#room(1)
    this.#bytes[from] = value
  }

  #put(bytes: Uint8Array) {
    const from = this.#room(bytes.length)
    this.#bytes.set(bytes, from)
  }

  #bits64(value: bigint) {
    const from = this.#room(8)
    this.#bytes.writeBigUInt64BE(value, from)
  }

  /** The length in front of bytes of any length. */
  #length(length: number) {
    if (length <= 192) this.#byte(length)
    else if (length <= 12_480) this.#put(Uint8Array.of(193 + ((length - 193) >> 8), (length - 193) & 0xff))
    else if (length <= 918_744) {
      const rest = length - 12_481
      this.#put(Uint8Array.of(241 + (rest >> 16), (rest >> 8) & 0xff, rest & 0xff))
    } else notKnown("a value of more than 918,744 bytes")
  }

  #unsigned(value: unknown, bytes: 1 | 2 | 4, name: string) {
    const number = typeof value === "string" ? namesOf[name]?.get(value) : value
    if (typeof number !== "number" || !Number.isInteger(number) || number < 0 || number >= 2 ** (8 * bytes)) {
      return notKnown(typeof value === "string" ? `${name} ${value.slice(0, 64)}` : name)
    }
    const from = this.#room(bytes)
    this.#bytes.writeUIntBE(number, from, bytes)
  }

  #hex(value: unknown, length: number, name: string) {
    if (typeof value !== "string" || value.length !== 2 * length || !hexText.test(value)) return notKnown(name)
    const from = this.#room(length)
    this.#bytes.write(value, from, "hex")
  }

  #account(value: unknown, name: string) {
    const known = this.#accountBytes(value, name)
    this.#length(known.length)
    this.#put(known)
  }

  #accountBytes(value: unknown, name: string): Uint8Array {
    if (typeof value !== "string") return notKnown(name)
    if (value === "") return noAccount
    const known = this.#accounts.get(value)
    if (known !== undefined) return known
    const read = value.startsWith("r") ? Address.decode(this.#chain, value) : undefined
    if (read === undefined || Result.isFailure(read)) return notKnown(name)
    this.#accounts.set(value, read.success)
    return read.success
  }

  #currency(value: unknown, name: string) {
    if (value === "XRP") return this.#put(new Uint8Array(20))
    if (typeof value === "string" && currencyCode.test(value)) {
      const from = this.#room(20)
      this.#bytes.fill(0, from, from + 20)
      this.#bytes.write(value, from + 12, "latin1")
      return
    }
    this.#hex(value, 20, name)
  }

  #amount(value: unknown, name: string) {
    if (typeof value === "string") {
      if (!integer.test(value)) return notKnown(name)
      const drops = BigInt(value)
      return this.#bits64(drops < 0n ? -drops : drops | (1n << 62n))
    }
    if (!Predicate.isReadonlyObject(value)) return notKnown(name)
    const keys = Object.keys(value)
    if (keys.length === 3 && value.issuer !== undefined) {
      this.#bits64(tokenBits(value.value))
      this.#currency(value.currency, name)
      return this.#put(this.#accountBytes(value.issuer, name))
    }
    if (keys.length !== 2 || typeof value.value !== "string" || !integer.test(value.value)) return notKnown(name)
    const amount = BigInt(value.value)
    this.#byte(amount < 0n ? 0x20 : 0x60)
    this.#bits64(amount < 0n ? -amount : amount)
    this.#hex(value.mpt_issuance_id, 24, name)
  }

  #issue(value: unknown, name: string) {
    if (!Predicate.isReadonlyObject(value)) return notKnown(name)
    if (typeof value.mpt_issuance_id === "string") {
      const id = Buffer.from(value.mpt_issuance_id, "hex")
      if (id.length !== 24) return notKnown(name)
      this.#put(id.subarray(4))
      this.#put(Uint8Array.from({ length: 20 }, (_, index) => (index === 19 ? 1 : 0)))
      return this.#put(id.subarray(0, 4).reverse())
    }
    this.#currency(value.currency, name)
    if (value.issuer !== undefined) this.#put(this.#accountBytes(value.issuer, name))
  }

  #bridge(value: unknown, name: string) {
    if (!Predicate.isReadonlyObject(value)) return notKnown(name)
    this.#account(value.LockingChainDoor, name)
    this.#issue(value.LockingChainIssue, name)
    this.#account(value.IssuingChainDoor, name)
    this.#issue(value.IssuingChainIssue, name)
  }

  #paths(value: unknown, name: string) {
    if (!Array.isArray(value) || value.length === 0) return notKnown(name)
    for (const [index, path] of value.entries()) {
      if (index > 0) this.#byte(pathEnd)
      if (!Array.isArray(path)) return notKnown(name)
      for (const step of path) {
        if (!Predicate.isReadonlyObject(step) || step.mpt_issuance_id !== undefined) return notKnown(name)
        const { account, currency, issuer } = step
        this.#byte(
          (account === undefined ? 0 : 0x01) | (currency === undefined ? 0 : 0x10) | (issuer === undefined ? 0 : 0x20)
        )
        if (account !== undefined) this.#put(this.#accountBytes(account, name))
        if (currency !== undefined) this.#currency(currency, name)
        if (issuer !== undefined) this.#put(this.#accountBytes(issuer, name))
      }
    }
    this.#byte(pathsEnd)
  }

  #uint64(value: unknown, name: string) {
    const text = typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value.toString() : value
    const base = typeof value === "number" || decimalFields.has(name) ? "" : "0x"
    const pattern = base === "" ? /^\d{1,20}$/ : /^[0-9a-f]{1,16}$/i
    if (typeof text !== "string" || !pattern.test(text)) return notKnown(name)
    this.#bits64(BigInt.asUintN(64, BigInt(base + text)))
  }

  #value(value: unknown, { name, type }: BinaryFields.Field) {
    switch (type) {
      case "UInt8":
        return this.#unsigned(value, 1, name)
      case "UInt16":
        return this.#unsigned(value, 2, name)
      case "UInt32":
        return this.#unsigned(value, 4, name)
      case "UInt64":
        return this.#uint64(value, name)
      case "Int32":
        if (typeof value !== "number" || (value | 0) !== value) return notKnown(name)
        return this.#put(Uint8Array.of(value >> 24, value >> 16, value >> 8, value))
      case "Hash128":
        return this.#hex(value, 16, name)
      case "Hash160":
        return this.#hex(value, 20, name)
      case "Hash192":
        return this.#hex(value, 24, name)
      case "Hash256":
        return this.#hex(value, 32, name)
      case "Amount":
        return this.#amount(value, name)
      case "Blob": {
        if (typeof value !== "string") return notKnown(name)
        this.#length(value.length >> 1)
        return this.#hex(value, value.length >> 1, name)
      }
      case "AccountID":
        return this.#account(value, name)
      case "Vector256":
        if (!Array.isArray(value)) return notKnown(name)
        this.#length(32 * value.length)
        for (const hash of value) this.#hex(hash, 32, name)
        return
      case "PathSet":
        return this.#paths(value, name)
      case "Issue":
        return this.#issue(value, name)
      case "Currency":
        return this.#currency(value, name)
      case "XChainBridge":
        return this.#bridge(value, name)
      case "STObject":
        this.object(value, name)
        return this.#byte(objectEnd)
      case "STArray":
        if (!Array.isArray(value)) return notKnown(name)
        for (const entry of value) this.object(entry, name)
        return this.#byte(arrayEnd)
    }
  }

  /** The fields of an object, in their order. */
  object(value: unknown, name: string) {
    if (!Predicate.isReadonlyObject(value)) return notKnown(name)
    const fields: Array<BinaryFields.Field> = []
    for (const key of Object.keys(value)) {
      const first = key.charCodeAt(0)
      if (first >= 0x61 && first <= 0x7a) continue
      fields.push(BinaryFields.fields.get(key) ?? notKnown(`field ${key.slice(0, 64)}`))
    }
    fields.sort((a, b) => a.order - b.order)
    for (const field of fields) {
      this.#put(field.header)
      this.#value(value[field.name], field)
    }
  }
}

/** Writes objects of one ledger, whose accounts return often. */
export interface LedgerWriter {
  /** The object's bytes; the failure names what has no binary form here. */
  readonly bytesOf: (object: Json) => Result.Result<Buffer, string>
}

export const make = (chain: Chain): LedgerWriter => {
  const accounts = new Map<string, Uint8Array>()
  return {
    bytesOf: (object) =>
      Result.try({
        try: () => {
          const writer = new Writer(chain, accounts)
          writer.object(object, "the object")
          return writer.written()
        },
        catch: (error) => {
          if (error instanceof NotKnown) return error.message
          throw error
        }
      })
  }
}
