/** The events of a block that consumers are told, and the form in which the store keeps them. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import type { BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import { eventKinds } from "@headwater/core/events/EventKinds"
import type { EventType } from "@headwater/core/events/EventType"
import type { CoinItem, ContractEventItem, InternalItem, TokenItem } from "@headwater/core/events/CallbackItem"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Payers from "@headwater/core/events/Payers"
import * as Hash from "@headwater/core/Hash"
import * as Inputs from "@headwater/core/utxo/Inputs"
import * as UtxoKernel from "@headwater/core/utxo/UtxoKernel"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../TimeSlice.ts"
import * as KnownCoins from "../chain/KnownCoins.ts"
import type { Entering, OpenChain, ResolvedBlock } from "../chain/Projection.ts"
import type { Row } from "../database/Tables.ts"
import type { ConsumedAddresses } from "./ConsumedAddresses.ts"

interface EventItems {
  readonly coin: CoinItem
  readonly token: TokenItem
  readonly internal: InternalItem
  readonly log: ContractEventItem
}

/** Something that a block has of an address: `item` is that of a callback for such an event. */
export type Event = {
  readonly [Kind in keyof EventItems]: {
    /** Tells the event apart from every other one of its chain, in whatever block: equal where the event is told again. */
    readonly id: string
    readonly kind: Kind
    readonly item: EventItems[Kind]
  }
}[keyof EventItems]

/** A movement of an address that is in doubt: its amount would be a guess, and so there is no event of it. */
export interface Unresolved {
  readonly address: string
  readonly transactionId: string
}

/** A block as consumers see it. */
export interface ConsumedBlock {
  readonly height: number
  readonly hash: string
  readonly parent: string
  /** Seconds since the Unix epoch. */
  readonly time: number
  readonly events: ReadonlyArray<Event>
  /** Of UTXO chains alone. */
  readonly unresolved: ReadonlyArray<Unresolved>
  /** Whether its nodes did not give the block's internal transactions, or a transaction of it was not understood. */
  readonly incomplete: boolean
}

type Kind = keyof EventItems

/** What is kept of a block; `lacks` has the kinds of events that may lack. */
export interface Content extends Pick<ConsumedBlock, "events" | "unresolved"> {
  readonly lacks: ReadonlyArray<Kind>
}

/** The event type of each kind that stands for the kind: the one whose callbacks come at the first confirmation. */
const confirmed = {
  coin: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
  token: "ADDRESS_TOKENS_TRANSACTION_CONFIRMED",
  internal: "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED",
  log: "CONTRACT_EVENT"
} as const satisfies Record<keyof EventItems, EventType>

/** The kinds of events that a block may have beyond those that its node gave, or that were understood. */
const lacksOf = ({ evm }: Chain, { missing = [], notUnderstood = [] }: ResolvedBlock): ReadonlyArray<Kind> => [
  ...new Set<Kind>([
    // Where tickets pay out, coins are seen in traces as well.
    ...missing.flatMap(({ part }) => (evm?.retryables === true ? [part, "coin" as const] : [part])),
    ...notUnderstood.flatMap(({ lacks }) => lacks)
  ])
]

/** The events of the blocks of an open chain. */
export const make = ({ chain, id, tokens }: Pick<OpenChain, "chain" | "id" | "tokens">, of: ConsumedAddresses) => {
  const events = Object.values(confirmed).filter((event) => chain.events.has(event))

  return Effect.fnUntraced(function* (block: ResolvedBlock, { learned }: Pick<Entering, "learned">) {
    const payers = Inputs.someUnshown(block)
      ? yield* TimeSlice.runInTransaction(() => Payers.shownInSteps(block, of, UtxoKernel.hashesOf))
      : []
    const seen = yield* TimeSlice.runInTransaction(() => Matcher.addressesSeenInSteps(block, of, payers))
    // Where every address is meant, an output may be of none: two of such would have the same id.
    const own = [...seen].filter(([, address]) => Address.encode(chain, address) !== undefined)
    const byAddress = new Map(own.map(([hex, address]) => [hex, events.map((event) => ({ event, address }))] as const))
    const { check, metadata } = tokens.of(block, learned)
    const match = (more: { readonly hasCoins?: (address: AddressBytes) => boolean }) =>
      TimeSlice.runInTransaction(() =>
        Matcher.matchInSteps(chain, block, { byAddress, blockMined: [], payers, metadata, ...more })
      )
    const first = yield* match({})
    yield* check
    const addresses = first.unresolved.map(({ address }) => address)
    const known = addresses.length === 0 ? new Set<string>() : yield* KnownCoins.known(id, addresses, block.height)
    const found = known.size === 0 ? first : yield* match({ hasCoins: (address) => known.has(Bytes.key(address)) })
    const content: Content = {
      events: found.occurrences.map(
        ({ item, occurrence, subscription }) =>
          ({
            id: `${Hash.encode(chain, block.hash)}:${item.address}:${occurrence}`,
            kind: eventKinds[subscription.event].class,
            item
          }) as Event
      ),
      unresolved: found.unresolved.map(({ address, transactionId }) => ({
        address: Address.encode(chain, address)!,
        transactionId: Hash.encode(chain, transactionId)
      })),
      lacks: lacksOf(chain, block)
    }
    return content
  })
}

/** Most blocks have nothing: they take no room. */
const empty = ""

/** The content of a block as the store keeps it. */
export const encode = ({ events, lacks, unresolved }: Content): Pick<Row<"consumed_block">, "content" | "lacks"> => ({
  content:
    events.length + unresolved.length + lacks.length === 0
      ? empty
      : JSON.stringify({ events, unresolved, incomplete: lacks.length > 0 }),
  lacks: [...(unresolved.length === 0 ? [] : [inDoubt]), ...lacks].join()
})

/** What a block lacks of which a movement is in doubt; stands before all else that it lacks. */
export const inDoubt = "unresolved"

/** What the content of a row says. */
export type Kept = Pick<ConsumedBlock, "events" | "unresolved" | "incomplete">

export const keptOf = (content: string): Kept =>
  content === empty ? { events: [], unresolved: [], incomplete: false } : (JSON.parse(content) as Kept)

const keyOf = ({ address, transactionId }: Unresolved) => `${address} ${transactionId}`

/**
 * What has become known of a block, by its rows and by its content as of now: events of kinds that lacked and of movements
 * that were in doubt, and what lacks still. Undefined where that is nothing new.
 */
export const completionOf = (
  rows: ReadonlyArray<Pick<Row<"consumed_block">, "content" | "lacks">>,
  now: Content
): Content | undefined => {
  const lacked = new Set(rows.flatMap(({ lacks }) => lacks.split(",")))
  const kept = rows.map(({ content }) => keptOf(content))
  const known = new Set(kept.flatMap(({ events }) => events.map(({ id }) => id)))
  const before = kept.at(-1)
  const doubted = new Set(before?.unresolved.map(keyOf))
  const events = now.events.filter(
    ({ id, item, kind }) => !known.has(id) && (lacked.has(kind) || (kind === "coin" && doubted.has(keyOf(item))))
  )
  const isSame =
    events.length === 0 &&
    before?.unresolved.length === now.unresolved.length &&
    before.incomplete === now.lacks.length > 0
  return isSame ? undefined : { ...now, events }
}

/** A block from its row. */
export const decode = (
  chain: Chain,
  row: Pick<Row<"consumed_block">, "content" | "height" | "hash" | "parent" | "time">
): ConsumedBlock => {
  const { hash, height, parent, time }: BlockHeader = row
  return {
    ...{ height, hash: Hash.encode(chain, hash), parent: Hash.encode(chain, parent), time },
    ...keptOf(row.content)
  }
}

/** A block, then the parts of it that became known later. */
export const join = (parts: ReadonlyArray<ConsumedBlock>): ConsumedBlock => ({
  ...parts.at(-1)!,
  events: parts.flatMap(({ events }) => events)
})
