/** Parameters, bodies and values that the endpoints of several groups have in common. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { maxContextLength } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { addressExample, hashExample } from "./internal/FamilyExample.ts"

const Context = Schema.String.check(
  Schema.isMaxLength(maxContextLength, { message: `must be at most ${maxContextLength} characters` })
).annotate({ description: "Any text of the caller's, echoed in the answer", examples: ["invoice-4711"] })

/** The query parameter that every operation takes. */
export const context = { context: Schema.optionalKey(Context) }

/** A query parameter that is true or false, in any letter case, or 1 or 0, as PHP writes them. */
export const flag = (description: string) =>
  Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^(true|false|1|0)$/i, { message: "must be true or false" }))
      .annotate({ description })
      .pipe(
        Schema.decodeTo(
          Schema.Boolean,
          SchemaTransformation.transform({ decode: (text) => /^[t1]/i.test(text), encode: (flag) => String(flag) })
        )
      )
  )

/** Reference id of a subscription. */
export const referenceIdParam = {
  referenceId: Schema.String.annotate({
    description: "Reference id of the subscription",
    examples: ["7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1"]
  })
}

/** A filter, as no pattern says this to every client: some engines know no surrogates, others see those of every emoji. */
const isWellFormed = Schema.makeFilter((text: string) => text.isWellFormed() || "must have no lone surrogates")

/** Text that a transaction carries: a lone surrogate has no bytes in UTF-8, and those of another character would be signed. */
export const CarriedText = Schema.String.check(isWellFormed)

/** No control characters and lone surrogates: PostgreSQL cannot store some, and no header or signature should hold any. */
export const printable = [
  isWellFormed,
  // Escapes that every engine knows, as clients run what the document has.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
  Schema.isPattern(/^[^\x00-\x1f\x7f]*$/u, { message: "must have no control characters" })
] as const

const Name = Schema.String.check(Schema.isMaxLength(64, { message: "must be at most 64 characters" }))

export const networkParam = {
  network: Name.annotate({ description: "Network of the blockchain", examples: ["mainnet"] })
}

/** Path parameters that name a chain. */
export const chainParams = {
  blockchain: Name.annotate({ description: "Name of the blockchain", examples: ["ethereum"] }),
  ...networkParam
}

/** Errors of every operation on a chain. */
export const chainErrors = [Failures.invalidBlockchain, Failures.invalidNetwork, Failures.invalidData] as const

/** Errors of every operation that a chain's node answers. */
export const nodeErrors = [Failures.unimplemented, Failures.nodeUnavailable] as const

/** Errors of every operation with a body. */
export const bodyErrors = [
  Failures.payloadTooLarge,
  Failures.unsupportedMediaType,
  Failures.invalidRequestBodyStructure
] as const

const hash = (form: RegExp) =>
  Schema.String.check(Schema.isPattern(form, { message: "must be 64 hexadecimal characters" }))

/** A path parameter that names a block or a transaction, as nodes of UTXO chains and of the XRP Ledger write hashes. */
export const HashParam = hash(/^[0-9A-Fa-f]{64}$/)

/** The same on chains that write hashes with or without 0x. */
export const PrefixedHashParam = hash(/^(0x)?[0-9A-Fa-f]{64}$/)

/** Errors of every operation with pages. */
export const pageErrors = [Failures.invalidPagination, Failures.limitGreaterThanAllowed] as const

/** Body of a request that gives one item. */
export const body = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct({ ...context, data: Schema.Struct({ item: Schema.Struct(fields) }) })

/** Payload of a request whose item needs no field: item, data or the whole body may be absent. */
export const optionalBody = <F extends Schema.Struct.Fields>(fields: F) =>
  [
    Schema.Struct({
      ...context,
      data: Schema.optionalKey(Schema.Struct({ item: Schema.optionalKey(Schema.Struct(fields)) }))
    }),
    Schema.Null
  ] as const

export const emptyBody = optionalBody({})

const text = (example: string) => Schema.String.annotate({ examples: [example] })

/** Texts of answers, by their meaning, each with an example; of addresses and hashes the family's stands in its place. */
export const AddressText = text(addressExample)
export const HashText = text(hashExample)
export const DecimalText = text("1.5")
export const UnitText = text("ETH")
export const NameText = text("Example Token")
export const SymbolText = text("EXT")
export const StandardText = text("ERC-20")
export const NumberText = text("4711")

/** An amount in whole units, and the unit. */
export const Amount = Schema.Struct({
  amount: Schema.String.annotate({ description: "Decimal text, never with an exponent", examples: ["0.015"] }),
  unit: Schema.String.annotate({ examples: ["BTC"] })
}).annotate({ identifier: "Amount" })

export const MinedInBlock = Schema.Struct({
  hash: HashText,
  height: Schema.Int.annotate({ examples: [21_000_000] })
}).annotate({ identifier: "MinedInBlock" })

/** A time that is told more exactly than to the second. */
export const Millis = Schema.Int.annotate({
  description: "Milliseconds since the Unix epoch",
  examples: [1_764_158_400_000]
})

/** Seconds since the Unix epoch. */
export const Timestamp = Schema.Int.annotate({
  description: "Seconds since the Unix epoch",
  examples: [1_764_158_400]
})

/** Of the past that is being read; absent once that is done. */
export const BlocksLeft = Schema.optionalKey(
  Schema.Int.annotate({
    description: "While `syncing`: blocks whose logs are yet to be read, 0 while coins are looked for",
    examples: [120_000]
  })
)

/** The field of a request to sync that says where the past begins. */
export const BirthHeight = Schema.optionalKey(
  Schema.Int.check(
    Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, { message: "must be a block height" })
  ).annotate({
    description:
      "The block from which on token transfers are read; by default the first one that this server has " +
      "recorded. Not on chains where what there is already is found without it: those of coins, and the XRP Ledger",
    examples: [20_000_000]
  })
)
