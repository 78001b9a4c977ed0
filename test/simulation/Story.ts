/**
 * A story: what happens to the system from outside, in order, each thing after a pause. It is made of the seed alone, so
 * that a thing can be left out without changing the others; what it speaks of it names by a place in a list, of which
 * the stage takes the remainder.
 */
import type { Chance } from "./Chance.ts"
import * as ChangedSettings from "./ChangedSettings.ts"
import * as Nodes from "./Nodes.ts"
import * as Receivers from "./Receivers.ts"
import * as Wallets from "./Wallets.ts"

export interface Payment {
  readonly kind: "coin" | "token" | "internal"
  readonly from: number
  readonly to: number
  readonly amount: number
}

export const events = [
  "ADDRESS_COINS_TRANSACTION_CONFIRMED",
  "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION",
  "ADDRESS_TOKENS_TRANSACTION_CONFIRMED",
  "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED",
  "TRANSACTION_MINED",
  "BLOCK_MINED"
] as const
/** On chains where transactions wait, the place of internal ones is that of unconfirmed ones. */
export type EventName = (typeof events)[number] | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"

/** What a tenant may do with a subscription beside what has an action of its own. */
const cares = ["rotate", "test", "recover", "copy"] as const

export interface Subscription {
  readonly event: EventName
  readonly address: number
  readonly receiver: number
  readonly confirmations: number
}

export type Action =
  | {
      readonly kind: "mine"
      readonly chain: number
      readonly payments: ReadonlyArray<Payment>
      readonly failed: boolean
    }
  | {
      readonly kind: "fork"
      readonly chain: number
      readonly depth: number
      readonly longer: number
      readonly kept: number
    }
  | { readonly kind: "goBack"; readonly chain: number }
  | { readonly kind: "node"; readonly node: number; readonly mood: Nodes.Mood }
  | { readonly kind: "receiver"; readonly receiver: number; readonly mood: Receivers.Mood }
  | { readonly kind: "disk"; readonly fullness: number; readonly millis: number }
  | { readonly kind: "kill"; readonly how: "killed" | "power" }
  | { readonly kind: "restart" }
  | ({ readonly kind: "subscribe"; readonly chain: number; readonly account: number } & Subscription)
  | {
      readonly kind: "subscribeToMany"
      readonly chain: number
      readonly account: number
      readonly event: EventName
      /** What is added to its list at once; undefined for the addresses of the wallet, with a window of so many. */
      readonly addresses: ReadonlyArray<number> | undefined
      readonly window: number
      readonly receiver: number
      readonly confirmations: number
    }
  | {
      readonly kind: "subscribeInBulk"
      readonly chain: number
      readonly account: number
      readonly items: ReadonlyArray<Subscription>
    }
  | {
      readonly kind: "editList"
      readonly subscription: number
      readonly edit: "add" | "remove"
      readonly addresses: ReadonlyArray<number>
    }
  | {
      readonly kind: "tend"
      readonly subscription: number
      readonly what: (typeof cares)[number]
      readonly after: number
      readonly receiver: number
    }
  | {
      readonly kind: "settings"
      readonly chain: number
      readonly change: ChangedSettings.Change
    }
  | { readonly kind: "unsubscribe"; readonly subscription: number }
  | { readonly kind: "activate"; readonly subscription: number }
  | { readonly kind: "verify"; readonly account: number; readonly receiver: number; readonly published: boolean }
  | { readonly kind: "redeliver"; readonly subscription: number; readonly callback: number }
  | { readonly kind: "readFeed"; readonly subscription: number }
  | {
      readonly kind: "read"
      readonly chain: number
      readonly account: number
      readonly address: number
      readonly what: "token" | "internal"
    }
  | { readonly kind: "rewind"; readonly chain: number; readonly blocks: number }
  | { readonly kind: "replay"; readonly chain: number; readonly blocks: number }

export interface Step {
  /** Milliseconds after the step before has begun; it may last longer. */
  readonly pause: number
  readonly action: Action
}

export type Story = ReadonlyArray<Step>

/** Addresses of each chain that are of no wallet, of which tenants watch the first ones. */
const addresses = Wallets.firstPlace
const watched = 5

const kinds: ReadonlyArray<readonly [number, Payment["kind"]]> = [
  [5, "coin"],
  [3, "token"],
  [2, "internal"]
]

const payment = (chance: Chance): Payment => {
  const from = chance.between(0, addresses - 1)
  const to = chance.happens(0.2)
    ? addresses + chance.between(0, Wallets.places - 1)
    : (from + chance.between(1, addresses - 1)) % addresses
  return { kind: chance.weighted(kinds), from, to, amount: chance.between(1, 1_000) }
}

const many = <A>(count: number, make: () => A) => Array.from({ length: count }, make)

const confirmations = (chance: Chance) =>
  chance.weighted([
    [4, 1],
    [3, 2],
    [2, 3],
    [1, 5]
  ])

const subscription = (chance: Chance): Subscription => ({
  event: chance.oneOf(events),
  address: chance.between(0, watched - 1),
  receiver: chance.between(0, 99),
  confirmations: confirmations(chance)
})

const subscribe = (chance: Chance): Action => ({
  kind: "subscribe",
  chain: chance.between(0, 99),
  account: chance.between(0, 99),
  ...subscription(chance)
})

const someAddresses = (chance: Chance) => many(chance.between(1, 3), () => chance.between(0, watched - 1))

const subscribeToMany = (chance: Chance): Action => ({
  kind: "subscribeToMany",
  chain: chance.between(0, 99),
  account: chance.between(0, 99),
  event: chance.oneOf(events.filter((event) => event !== "BLOCK_MINED" && event !== "TRANSACTION_MINED")),
  addresses: chance.happens(0.5) ? someAddresses(chance) : undefined,
  window: chance.between(1, 4),
  receiver: chance.between(0, 99),
  confirmations: confirmations(chance)
})

const makers: ReadonlyArray<readonly [weight: number, make: (chance: Chance) => Action]> = [
  [
    34,
    (chance) => ({
      kind: "mine",
      chain: chance.between(0, 99),
      payments: many(chance.happens(0.03) ? 40 : chance.between(0, 4), () => payment(chance)),
      failed: chance.happens(0.1)
    })
  ],
  [
    6,
    (chance) => ({
      kind: "fork",
      chain: chance.between(0, 99),
      depth: chance.between(1, 4),
      longer: chance.between(1, 2),
      kept: chance.next()
    })
  ],
  [3, (chance) => ({ kind: "goBack", chain: chance.between(0, 99) })],
  [
    9,
    (chance) => ({
      kind: "node",
      node: chance.between(0, 99),
      mood: chance.happens(0.35) ? "well" : chance.oneOf(Nodes.oftenest)
    })
  ],
  [
    9,
    (chance) => ({
      kind: "receiver",
      receiver: chance.between(0, 99),
      mood: chance.happens(0.35) ? "well" : chance.oneOf(Receivers.oftenest)
    })
  ],
  [2, (chance) => ({ kind: "disk", fullness: chance.oneOf([0.05, 0.3, 1]), millis: chance.between(100, 3_000) })],
  [5, (chance) => ({ kind: "kill", how: chance.oneOf(["killed", "power"]) })],
  [2, () => ({ kind: "restart" })],
  [8, subscribe],
  [
    2,
    (chance) => ({
      kind: "subscribeInBulk",
      chain: chance.between(0, 99),
      account: chance.between(0, 99),
      items: many(chance.between(2, 3), () => subscription(chance))
    })
  ],
  [6, subscribeToMany],
  [
    7,
    (chance) => ({
      kind: "editList",
      subscription: chance.between(0, 99),
      edit: chance.oneOf(["add", "remove"]),
      addresses: someAddresses(chance)
    })
  ],
  [
    5,
    (chance) => ({
      kind: "tend",
      subscription: chance.between(0, 99),
      what: chance.oneOf(cares),
      after: chance.between(0, 3),
      receiver: chance.between(0, 99)
    })
  ],
  [3, (chance) => ({ kind: "settings", chain: chance.between(0, 99), change: chance.oneOf(ChangedSettings.changes) })],
  [3, (chance) => ({ kind: "unsubscribe", subscription: chance.between(0, 99) })],
  [4, (chance) => ({ kind: "activate", subscription: chance.between(0, 99) })],
  [
    3,
    (chance) => ({
      kind: "verify",
      account: chance.between(0, 99),
      receiver: chance.between(0, 99),
      published: chance.happens(0.7)
    })
  ],
  [2, (chance) => ({ kind: "redeliver", subscription: chance.between(0, 99), callback: chance.between(0, 99) })],
  [3, (chance) => ({ kind: "readFeed", subscription: chance.between(0, 99) })],
  [
    4,
    (chance) => ({
      kind: "read",
      chain: chance.between(0, 99),
      account: chance.between(0, 99),
      address: chance.between(0, watched - 1),
      what: chance.oneOf(["token", "internal"])
    })
  ],
  [2, (chance) => ({ kind: "rewind", chain: chance.between(0, 99), blocks: chance.between(1, 4) })],
  [2, (chance) => ({ kind: "replay", chain: chance.between(0, 99), blocks: chance.between(1, 6) })]
]

export const make = (chance: Chance): Story => [
  // A story in which nobody has asked for anything is soon told, and one without retractions that arrive tells little.
  ...[subscribe, subscribeToMany].map(
    (make): Step => ({ pause: 50, action: { ...make(chance), account: 0, receiver: 0 } as Action })
  ),
  ...[subscribe, subscribeToMany].map((make): Step => ({ pause: 50, action: make(chance) })),
  ...many(
    chance.between(12, 36),
    (): Step => ({
      pause: chance.weighted([
        [10, chance.between(0, 40)],
        [8, chance.between(40, 400)],
        [4, chance.between(400, 1_500)],
        [1, chance.between(1_500, 9_000)]
      ]),
      action: chance.weighted(makers)(chance)
    })
  )
]
