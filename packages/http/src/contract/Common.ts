/** What the endpoints of several groups have in common: parameters, bodies, and their values. */
import * as Schema from "effect/Schema"
import { maxContextLength } from "../Envelope.ts"
import { Failures } from "../Errors.ts"

const Context = Schema.String.check(
  Schema.isMaxLength(maxContextLength, { message: `must be at most ${maxContextLength} characters` })
).annotate({ description: "Any text of the caller's, echoed in the answer", examples: ["invoice-4711"] })

/** The query parameter that every operation takes. */
export const context = { context: Schema.optionalKey(Context) }

const Name = Schema.String.check(Schema.isMaxLength(64, { message: "must be at most 64 characters" }))

export const networkParam = {
  network: Name.annotate({ description: "Network of the blockchain", examples: ["mainnet"] })
}

/** Path parameters that name a chain. */
export const chainParams = {
  blockchain: Name.annotate({ description: "Name of the blockchain", examples: ["ethereum"] }),
  ...networkParam
}

/** What every operation on a chain can answer. */
export const chainErrors = [Failures.invalidBlockchain, Failures.invalidNetwork, Failures.invalidData] as const

/** What every operation on an account can answer. */
export const offsetErrors = [Failures.invalidPagination, Failures.limitGreaterThanAllowed] as const

/** Body of a request that gives one item. */
export const body = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct({ ...context, data: Schema.Struct({ item: Schema.Struct(fields) }) })

/** Payload of a request whose item has nothing in it: item, data or the whole body may be absent. */
export const emptyBody = [
  Schema.Struct({
    ...context,
    data: Schema.optionalKey(Schema.Struct({ item: Schema.optionalKey(Schema.Struct({})) }))
  }),
  Schema.Null
] as const

/** An amount in whole units and what it is counted in. */
export const Amount = Schema.Struct({
  amount: Schema.String.annotate({ description: "Decimal text, never with an exponent", examples: ["0.015"] }),
  unit: Schema.String.annotate({ examples: ["BTC"] })
}).annotate({ identifier: "Amount" })

export const MinedInBlock = Schema.Struct({
  hash: Schema.String,
  height: Schema.Int
}).annotate({ identifier: "MinedInBlock" })

/** Seconds since the Unix epoch. */
export const Timestamp = Schema.Int.annotate({
  description: "Seconds since the Unix epoch",
  examples: [1_764_158_400]
})
