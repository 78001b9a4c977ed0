/** The part of an address's events that a subscription is for. */
import * as Schema from "effect/Schema"
import type { Chain } from "../chains/Chain.ts"
import * as EventAbi from "../evm/EventAbi.ts"
import type { Item } from "./Callback.ts"
import { type ContractEventItem, Direction } from "./CallbackItem.ts"

/** Digits of the largest EVM amount, and as many behind the point. */
const digits = 78

const minimumAmount = Schema.String.check(
  Schema.isPattern(new RegExp(`^\\d{1,${digits}}(\\.\\d{1,${digits}})?$`), {
    message: `must be a decimal number without sign and exponent, of at most ${digits} digits before and after the point`
  })
).annotate({
  description: "The least amount, in the unit of the callback's `amount`: whole coins or whole tokens",
  examples: ["0.5"]
})

const ofCoins = {
  direction: Schema.optionalKey(
    Direction.annotate({ description: "Only what the address gets, or only what it pays" })
  ),
  minimumAmount: Schema.optionalKey(minimumAmount)
}

const ofTokens = {
  ...ofCoins,
  contractAddress: Schema.optionalKey(
    Schema.String.annotate({
      description: "Address of the one token contract that is meant",
      examples: ["0xdAC17F958D2ee523a2206206994597C13D831ec7"]
    })
  )
}

/** Refuses what is not among the fields: a part that was overlooked would let more pass than was meant. */
const only = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const names = Object.keys(fields)
  const other = Schema.String.check(Schema.isPattern(new RegExp(`^(?!(?:${names.join("|")})$)`)))
  const none = Schema.Never.annotate({ message: `is no part of this filter, which has ${names.join(", ")}` })
  const struct = Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(other, none)])
  return struct as unknown as Schema.Struct<Fields>
}

const ofFilter = "Only what fits every part of the filter is told; everything if not given"

/** Of coins and of internal transactions. */
export const CoinFilter = only(ofCoins).annotate({ identifier: "CoinFilter", description: ofFilter })

export const TokenFilter = only(ofTokens).annotate({ identifier: "TokenFilter", description: ofFilter })

const topic = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{64}$/, { message: "must be 0x and 64 hexadecimal digits" })
)
/** Topics that one place may have. */
const maxTopics = 50
const ofLogs = {
  abi: Schema.optionalKey(
    Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.Json)]).annotate({
      description:
        "The one event that is meant, as Solidity declares it or as its object in the contract's ABI: callbacks have the " +
        "arguments decoded",
      examples: ["event Transfer(address indexed from, address indexed to, uint256 value)"]
    })
  ),
  topics: Schema.optionalKey(
    Schema.Array(Schema.NullOr(Schema.Union([topic, Schema.Array(topic).check(Schema.isBetweenLength(1, maxTopics))])))
      .check(Schema.isMaxLength(4, { message: "must be at most 4" }))
      .annotate({
        description:
          "As `eth_getLogs` has them: at each place a topic, several of which one has to be there, or null for any",
        examples: [["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"]]
      })
  )
}

export const ContractEventFilter = only(ofLogs).annotate({ identifier: "ContractEventFilter", description: ofFilter })

/** A filter of any event. */
export const Filter = Schema.Struct({ ...ofTokens, ...ofLogs }).annotate({
  identifier: "Filter",
  examples: [{ direction: "incoming", minimumAmount: "0.5" }]
})

/**
 * A part that is not given lets everything pass. The contract is in the form in which callbacks write addresses, the ABI as
 * `EventAbi.parse` writes it.
 */
export type Filter = typeof Filter.Type

/** Compares decimal texts without sign and exponent, of any length. */
const isAtLeast = (amount: string, least: string): boolean => {
  const [[whole = "", fraction = ""], [leastWhole = "", leastFraction = ""]] = [amount.split("."), least.split(".")]
  const [size, after] = [Math.max(whole.length, leastWhole.length), Math.max(fraction.length, leastFraction.length)]
  const digits = (whole: string, fraction: string) => whole.padStart(size, "0") + fraction.padEnd(after, "0")
  return digits(whole, fraction) >= digits(leastWhole, leastFraction)
}

const isThere = (wanted: ReadonlyArray<string | ReadonlyArray<string> | null>, topics: ReadonlyArray<string>) =>
  wanted.length <= topics.length &&
  wanted.every((each, place) => each === null || [each].flat().some((one) => one.toLowerCase() === topics[place]))

const isOf = (abi: NonNullable<Filter["abi"]>, { topics }: ContractEventItem) => {
  const topic = EventAbi.topicOf(String(abi))
  return topic !== undefined && topic === topics[0]
}

const passesLog = ({ abi, topics = [] }: Filter, item: ContractEventItem): boolean =>
  (abi === undefined || isOf(abi, item)) && isThere(topics, item.topics)

/**
 * Whether a subscription with this filter is told of an item: where every part of the filter is met. An amount that is the
 * least one passes. Blocks have nothing that a filter asks for, and pass.
 *
 * @example
 * ```ts
 * import * as Filter from "@headwater/core/events/Filter"
 *
 * const item = {
 *   ...{ blockchain: "bitcoin", network: "mainnet", address: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq" },
 *   transactionId: "4e3f0c5c4a4e8f6a9c8fd2d4a1d7cbbf0e27a1c0c0f8de0b3bd1b06b2b1a5c11",
 *   ...{ amount: "0.5", unit: "BTC", direction: "incoming", firstSeenInMempoolTimestamp: 1700000000 }
 * } as const
 * Filter.passes({ direction: "incoming", minimumAmount: "0.50" }, item) // => true
 * Filter.passes({ minimumAmount: "0.50000001" }, item) // => false
 * ```
 */
export const passes = (filter: Filter | undefined, item: Item): boolean => {
  if (filter === undefined) return true
  if ("topics" in item) return passesLog(filter, item)
  if (!("direction" in item)) return true
  if (filter.direction !== undefined && item.direction !== filter.direction) return false
  if (
    filter.contractAddress !== undefined &&
    !("token" in item && item.token.contractAddress === filter.contractAddress)
  )
    return false
  if (filter.minimumAmount === undefined) return true
  return isAtLeast("token" in item ? item.token.amount : item.amount, filter.minimumAmount)
}

/** An item that passes, as the subscription is told of it: a contract's event decoded, where its ABI is given and fits. */
export const decoded = <I extends Item>(chain: Chain, filter: Filter | undefined, item: I): I => {
  if (filter?.abi === undefined || !("topics" in item) || item.data === undefined) return item
  const decoded = EventAbi.decode(chain, String(filter.abi), { topics: item.topics, data: item.data })
  return decoded === undefined ? item : { ...item, decoded }
}

/** The item as a subscription with this filter is told of it; undefined where it does not pass. */
export const told = <I extends Item>(chain: Chain, filter: Filter | undefined, item: I): I | undefined =>
  passes(filter, item) ? decoded(chain, filter, item) : undefined
