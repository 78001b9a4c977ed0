import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import type { Coin } from "@headwater/core/utxo/Coin"
import { BlockMissing } from "@headwater/indexer/families/node/NodeError"
import type { Source } from "@headwater/indexer/families/Source"
import * as AccountExport from "@headwater/indexer/store/accounts/AccountExport"
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as CoinEntry from "@headwater/indexer/store/chain/CoinEntry"
import * as FoundCoins from "@headwater/indexer/store/chain/FoundCoins"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import * as ExtendedKeys from "@headwater/indexer/store/subscriptions/ExtendedKeys"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import * as Gaps from "@headwater/indexer/store/subscriptions/internal/Gaps"
import * as KeyWindows from "@headwater/indexer/store/subscriptions/internal/KeyWindows"
import * as ListActivation from "@headwater/indexer/store/subscriptions/ListActivation"
import * as PastPayments from "@headwater/indexer/store/subscriptions/PastPayments"
import * as Removal from "@headwater/indexer/store/subscriptions/Removal"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as TokenNames from "@headwater/indexer/sync/TokenNames"
import * as PastPaymentSync from "@headwater/indexer/sync/PastPaymentSync"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { quarter } from "../../../../../test/Turn.ts"
import * as Plans from "../Plans.ts"
import * as Seed from "../Seed.ts"

const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))

let nonce = 0
const hash = () => {
  const made = new Uint8Array(32)
  new DataView(made.buffer).setUint32(0, ++nonce)
  return made
}

/** A key of nobody's: far below that of BIP-32's test vector 1, by a random path. */
const newKey = (chain: Chain.Chain) => {
  let key = Result.getOrThrow(
    ExtendedPublicKey.decode(
      Seed.chain,
      "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
    )
  )
  for (const step of crypto.getRandomValues(new Uint8Array(24))) {
    const { node } = Result.getOrThrow(Derivation.branch(Seed.chain, key, { type: types[step % 2]! }))
    key = { node, format: undefined }
  }
  return ExtendedPublicKey.encode(chain, key)
}

const propertyRuns = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 2)

/** Indices that are paid. */
const indices = 48

const types = ["receive", "change"] as const

const addressesOf = (chain: Chain.Chain, publicKey: string) => {
  const key = Result.getOrThrow(ExtendedPublicKey.decode(chain, publicKey))
  return types.map((type) =>
    Derivation.derive(Result.getOrThrow(Derivation.branch(chain, key, { type })), 0, indices).map((one) =>
      Result.getOrThrow(one)
    )
  )
}

/** Something that a block has for an address of a key. */
interface Payment {
  readonly key: number
  readonly branch: number
  readonly index: number
  readonly kind: "coin" | "internal"
  readonly side: "from" | "to"
}

type Transaction = ReadonlyArray<Payment>

type Action =
  | { readonly kind: "mine"; readonly transactions: ReadonlyArray<Transaction> }
  | {
      readonly kind: "sweep"
      readonly key: number
      readonly branch: number
      readonly to: number
      readonly apart: boolean
    }
  | { readonly kind: "reorganise"; readonly depth: number; readonly transactions: ReadonlyArray<Transaction> }
  | {
      readonly kind: "rewind"
      readonly depth: number
      /** What comes in the place of the rewound blocks; undefined where they come again. */
      readonly transactions: ReadonlyArray<Transaction> | undefined
    }
  | { readonly kind: "deactivate" | "activate"; readonly subscription: number }
  | { readonly kind: "return" | "look" | "step" | "start again" }

const payment: fc.Arbitrary<Payment> = fc.record({
  key: fc.nat(1),
  branch: fc.nat(1),
  // Near the beginning more often.
  index: fc.oneof({ weight: 2, arbitrary: fc.nat(8) }, fc.nat(indices - 1)),
  kind: fc.constantFrom("coin", "coin", "internal"),
  side: fc.constantFrom("to", "to", "from")
})
const transactions = fc.array(fc.array(payment, { minLength: 1, maxLength: 4 }), { maxLength: 3 })

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("mine" as const), transactions }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ kind: fc.constant("sweep" as const), key: fc.nat(1), branch: fc.nat(1), to: fc.nat(indices - 1) },
      apart: fc.boolean()
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("reorganise" as const), depth: fc.nat(5), transactions })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ kind: fc.constant("rewind" as const), depth: fc.nat(5) },
      transactions: fc.option(transactions, { nil: undefined })
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("deactivate" as const, "activate" as const), subscription: fc.nat(3) })
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom("return" as const, "look", "look", "step", "start again") })
  }
)

const nobody = new Uint8Array(20).fill(0xaa) as AddressBytes

const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED"

interface Wanted {
  readonly account: 0 | 1
  readonly key: number
  readonly window: number
  readonly confirmations?: number
  readonly event?: Subscription["event"]
  readonly furthestUsedIndex?: number
}

/** Several on one key, with windows and events of their own. */
const wantedOf: ReadonlyArray<Wanted> = [
  { account: 0, key: 0, window: 3 },
  { account: 1, key: 0, window: 7, confirmations: 2, furthestUsedIndex: 4 },
  { account: 1, key: 1, window: 1 },
  { account: 0, key: 1, window: 4, event: "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED" }
]

const subscribe = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  account: number,
  publicKey: string,
  { confirmations = 1, event: wantedEvent = event, furthestUsedIndex, window }: Omit<Wanted, "account" | "key">
) {
  const { createKey } = yield* Subscriptions
  return yield* createKey(
    {
      ...{ account, chain, event: wantedEvent, confirmations, secret: undefined, address: undefined },
      ...{ callbackUrl: "https://example.com/", allowDuplicates: true }
    },
    {
      ...{ publicKey, derivation: "account", format: chain.ledger === "outputs" ? "P2WPKH" : "STANDARD", window },
      branches: types.map((type) => ({ type, furthestUsedIndex }))
    }
  )
})

const bounds = { branch: 4, commit: 6, windows: 2 }
const fanOutBounds = { commit: 3, address: 2, undo: 2, step: 5, turn: 2 }

/** What the runs have come across. */
const seen = { cut: 0, missed: 0, past: 0, returned: 0 }

/** The furthest index that payments use, of a branch whose windows move by them. */
const closure = (used: number, window: number, paid: ReadonlySet<number>) => {
  let end = used
  for (let isMore = true; isMore; ) {
    const next = Math.max(end, ...[...paid].filter((index) => index < end + window).map((index) => index + 1))
    isMore = next > end
    end = next
  }
  return end
}

/** What a block has for an address, as it is told. */
interface Movement extends Omit<Payment, "side"> {
  readonly transaction: string
  readonly direction: "incoming" | "outgoing"
  /** Whether the block by itself shows that the address is used. */
  readonly isUse: boolean
}

interface Mined {
  readonly block: Block
  readonly movements: ReadonlyArray<Movement>
}

type Addresses = ReadonlyArray<ReturnType<typeof addressesOf>>

const next = (last: Block | undefined, count: number) => ({
  height: last === undefined ? 0 : last.height + 1,
  ...{ hash: hash(), parent: last?.hash ?? hash(), time: (last?.height ?? -1) + 1 },
  transactions: Array.from({ length: count }, hash)
})

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** A block of a chain of accounts. */
const blockOfAccounts = (addresses: Addresses, last: Block | undefined, all: ReadonlyArray<Transaction>): Mined => {
  const header = next(last, all.length)
  const payments = all.flatMap((own, number) => own.map((one, position) => ({ ...one, position, number })))
  const transfers = payments.map(({ branch, index, key, kind, number: transaction, position, side }): Transfer => {
    const { bytes } = addresses[key]![branch]![index]!
    const given = side === "to" ? { to: bytes } : { from: bytes }
    return kind === "coin"
      ? { kind, transaction, position, from: undefined, to: undefined, ...given, amount: 1n }
      : {
          ...{ kind, transaction, operation: `call_${position}`, operationType: "call" },
          ...{ from: nobody, to: nobody, ...given, amount: 1n }
        }
  })
  const movements = payments.map(({ number, side, ...one }): Movement => {
    const direction = side === "to" ? "incoming" : "outgoing"
    return { ...one, direction, transaction: hex(header.transactions[number]!), isUse: true }
  })
  return { block: { ...header, transfers, spends: [] }, movements }
}

interface Output extends Pick<Payment, "branch" | "index" | "key"> {
  readonly outpoint: { readonly transactionId: Uint8Array; readonly index: number }
  readonly amount: bigint
}

/** What the blocks of a chain of outputs have left unspent. */
const unspentOf = (addresses: Addresses, mined: ReadonlyArray<Mined>) => {
  const places = new Map(
    addresses.flatMap((branches, key) =>
      branches.flatMap((all, branch) => all.map(({ bytes, index }) => [hex(bytes), { key, branch, index }] as const))
    )
  )
  const outputs = new Map<string, Output>()
  for (const { block } of mined) {
    for (const { outpoint } of block.spends) outputs.delete(`${hex(outpoint.transactionId)} ${outpoint.index}`)
    for (const transfer of block.transfers) {
      if (transfer.kind !== "coin" || transfer.to === undefined) continue
      const outpoint = { transactionId: block.transactions[transfer.transaction]!, index: transfer.position }
      const place = places.get(hex(transfer.to))!
      outputs.set(`${hex(outpoint.transactionId)} ${outpoint.index}`, { ...place, outpoint, amount: transfer.amount })
    }
  }
  return [...outputs.values()]
}

let amounts = 0n

/**
 * A block of a chain of outputs, in which what would be paid from an address spends some output of these keys; `isShown`:
 * whether the block shows what it spends.
 */
const blockOfOutputs =
  (isShown: boolean) =>
  (
    addresses: Addresses,
    last: Block | undefined,
    all: ReadonlyArray<Transaction>,
    mined: ReadonlyArray<Mined>
  ): Mined => {
    const header = next(last, all.length)
    const unspent = unspentOf(addresses, mined)
    const transfers: Array<Transfer> = []
    const spends: Array<Block["spends"][number]> = []
    const nets = new Map<string, Omit<Movement, "direction" | "isUse"> & { sum: bigint; isUse: boolean }>()
    const net = (place: Pick<Payment, "branch" | "index" | "key">, number: number, amount: bigint, isUse: boolean) => {
      const { branch, index, key } = place
      const name = `${number} ${key} ${branch} ${index}`
      const transaction = hex(header.transactions[number]!)
      const before = nets.get(name) ?? { key, branch, index, kind: "coin", transaction, sum: 0n, isUse: false }
      nets.set(name, { ...before, sum: before.sum + amount, isUse: before.isUse || isUse })
    }
    for (const [transaction, own] of all.entries()) {
      for (const [position, payment] of own.entries()) {
        if (payment.side === "to") {
          const amount = ++amounts
          const to = addresses[payment.key]![payment.branch]![payment.index]!.bytes
          transfers.push({ kind: "coin", transaction, position, from: undefined, to, amount })
          net(payment, transaction, amount, true)
        } else if (unspent.length > 0) {
          const [spent] = unspent.splice(payment.index % unspent.length, 1)
          const { amount, branch, index, key, outpoint } = spent!
          spends.push({ transaction, position, outpoint })
          const from = addresses[key]![branch]![index]!.bytes
          if (isShown) transfers.push({ kind: "coin", transaction, position, from, to: undefined, amount })
          net(spent!, transaction, -amount, isShown)
        }
      }
    }
    const movements = [...nets.values()].map(({ sum, ...one }): Movement => {
      return { ...one, direction: sum > 0n ? "incoming" : "outgoing" }
    })
    return { block: { ...header, transfers, spends }, movements }
  }

const run = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  record: "all" | "watched",
  actions: ReadonlyArray<Action>
) {
  const wanted = chain.ledger === "outputs" ? wantedOf.filter(({ event: of = event }) => of === event) : wantedOf
  const makeBlock = chain.ledger === "outputs" ? blockOfOutputs(record === "watched") : blockOfAccounts
  const { query } = yield* Database
  const accounts = [yield* Seed.account, yield* Seed.account]
  const publicKeys = [newKey(chain), newKey(chain)]
  const addresses = publicKeys.map((key) => addressesOf(chain, key))
  const open = ChainStore.open(chain, { record, undoDepth: 100 }).pipe(
    Effect.provideService(FanOut.Bounds, fanOutBounds),
    Effect.provideService(KeyWindows.Bounds, bounds)
  )
  let opened = yield* open
  let mined: ReadonlyArray<Mined> = []
  let left: ReadonlyArray<Mined> = []
  /** Of every block that there ever was. */
  const ever: Array<Mined> = []
  /** Where the store records watched addresses alone: what each subscription is to be told, and how far it is used. */
  const told = new Map<string, ReadonlyArray<ReadonlyArray<Movement>>>()
  const used = wanted.map(({ furthestUsedIndex = -1 }) => types.map(() => furthestUsedIndex + 1))
  let subscriptions: ReadonlyArray<Subscription> = []
  const inactive = new Set<number>()
  /** By subscription: the heights whose block came when the subscription was matched against none. */
  const missed = wanted.map(() => new Set<number>())
  /** Those of which the same block had come before, by a rewind: what it told then, and had a number, stays. */
  const kept = wanted.map(() => new Set<number>())

  const source = () =>
    ({
      chain,
      blockAt: (height: number) =>
        Effect.sync(() => {
          seen.past++
          return mined.find(({ block }) => block.height === height)!.block
        })
    }) as unknown as Source

  const steps = Effect.gen(function* () {
    for (let i = 0; (yield* opened.fanOut).more; i++) assert.isBelow(i, 10_000)
  })
  const drain = Effect.gen(function* () {
    // What undone blocks told is taken back first.
    yield* steps
    yield* PastPaymentSync.make(source(), opened, { pollInterval: 1 as never }).step
    yield* steps
  })

  const commit = Effect.fnUntraced(function* (one: Mined, isRewound = false) {
    yield* opened.commit([one.block])
    for (const i of wanted.keys()) {
      kept[i]!.delete(one.block.height)
      missed[i]!.delete(one.block.height)
      if (!inactive.has(i)) continue
      missed[i]!.add(one.block.height)
      if (isRewound) kept[i]!.add(one.block.height)
    }
    mined = [...mined, one]
    ever.push(one)
    seen.cut += (yield* query((db) =>
      db.selectFrom("extended_key_branch").select("branch").where("behind_from", "is not", null)
    )).length
    if (record === "all" || subscriptions.length === 0) return
    told.set(
      hex(one.block.hash),
      wanted.map(({ key, window }, i) => {
        // A rewind takes nothing back: what was told of the block before stays.
        if (inactive.has(i)) return (isRewound && told.get(hex(one.block.hash))?.[i]) || []
        for (const branch of [0, 1]) {
          const paid = one.movements.filter((one) => one.isUse && one.key === key && one.branch === branch)
          used[i]![branch] = closure(used[i]![branch]!, window, new Set(paid.map(({ index }) => index)))
        }
        return one.movements.filter(({ branch, index, key: of }) => of === key && index < used[i]![branch]! + window)
      })
    )
    yield* drain
  })

  const mine = (all: ReadonlyArray<Transaction>) =>
    Effect.suspend(() => commit(makeBlock(addresses, mined.at(-1)?.block, all, mined)))

  const undo = Effect.fnUntraced(function* (fork: number) {
    const leaving = mined.filter(({ block }) => block.height > fork)
    mined = mined.filter(({ block }) => block.height <= fork)
    yield* opened.undo(fork)
    return leaving
  })

  const { activate: activateOne } = yield* Subscriptions
  const activate = Effect.fnUntraced(function* (i: number) {
    if (!inactive.delete(i)) return
    const { referenceId } = subscriptions[i]!
    yield* activateOne({ account: accounts[wanted[i]!.account]!, chain, referenceId })
    yield* ListActivation.rest
    seen.missed += missed[i]!.size
  })

  /** Blocks from before the subscriptions stay. */
  let floor = 0

  const act = Effect.fnUntraced(function* (action: Action) {
    switch (action.kind) {
      case "mine":
        return yield* mine(action.transactions)
      case "sweep": {
        const all = Array.from({ length: action.to + 1 }, (_, index): Payment => {
          return { key: action.key, branch: action.branch, index, kind: "coin", side: "to" }
        })
        // Out of order.
        all.reverse()
        return yield* mine(action.apart ? all.map((one) => [one]) : [all])
      }
      case "reorganise": {
        const tip = mined.at(-1)!.block.height
        const fork = Math.max(floor, tip - action.depth)
        if (fork === tip) return
        left = yield* undo(fork)
        for (let height = fork; height <= tip; height++) yield* mine(height === fork ? action.transactions : [])
        return
      }
      case "rewind": {
        const tip = mined.at(-1)!.block.height
        const fork = Math.max(floor, tip - action.depth)
        const again = mined.filter(({ block }) => block.height > fork)
        mined = mined.filter(({ block }) => block.height <= fork)
        yield* opened.rewind(fork)
        if (action.transactions === undefined) {
          for (const one of again) yield* commit(one, true)
        } else for (let height = fork; height <= tip; height++) yield* mine(height === fork ? action.transactions : [])
        return
      }
      case "deactivate": {
        const { id } = subscriptions[action.subscription % wanted.length]!
        const off = { active: 0, parking: 1, inactive_since: 1 }
        if (inactive.has(action.subscription % wanted.length)) return
        inactive.add(action.subscription % wanted.length)
        yield* query((db) => db.updateTable("subscription").set(off).where("id", "=", id))
        yield* Gaps.begin({ parkedCount: 0, parkedMillis: 0 })
        return
      }
      case "activate":
        return yield* activate(action.subscription % wanted.length)
      case "return": {
        const [first] = left
        if (first === undefined || !mined.some(({ block }) => block.hash === first.block.parent)) return
        const again = left
        left = yield* undo(first.block.height - 1)
        for (const one of again) yield* commit(one)
        seen.returned++
        return
      }
      case "look": {
        const { height } = (yield* opened.pastPayments()).next ?? {}
        if (height === undefined) return
        seen.past++
        const { block } = mined.find((one) => one.block.height === height)!
        yield* opened.reprocess(block, { callbacks: "past", internalFrom: undefined })
        return
      }
      case "step":
        yield* opened.fanOut
        return
      case "start again":
        opened = yield* open
    }
  })

  // What was paid before counts for the window where it is recorded, and is not told.
  yield* mine([[{ key: 0, branch: 0, index: 2, kind: "coin", side: "to" }]])
  yield* mine([])
  floor = mined.at(-1)!.block.height
  subscriptions = yield* Effect.forEach(wanted, ({ account, key, ...rest }) =>
    subscribe(chain, accounts[account]!, publicKeys[key]!, rest)
  )
  for (const one of actions) yield* act(one)
  for (const i of [...inactive]) yield* activate(i)
  // What wants a second confirmation gets it.
  yield* mine([])
  yield* drain

  const callbacks = yield* query((db) =>
    db.selectFrom("callback").select(["subscription", "height", "body"]).where("state", "in", ["due", "held"])
  )
  for (const [i, { key, window, event: wantedEvent = event, furthestUsedIndex = -1 }] of wanted.entries()) {
    const { id, referenceId } = subscriptions[i]!
    const state = yield* ExtendedKeys.get({ account: accounts[wanted[i]!.account]!, chain, referenceId })
    assert.isFalse(state.isLookingBack)
    const ends = state.branches.map(({ furthestUsedIndex = -1 }) => furthestUsedIndex + 1)
    assert.deepStrictEqual(
      state.branches.map(({ addresses }) => addresses),
      ends.map((end) => end + window)
    )
    assert.strictEqual(state.total, ends[0]! + ends[1]! + 2 * window)
    const paidIn = (blocks: ReadonlyArray<Mined>, branch: number) =>
      new Set(
        blocks.flatMap(({ movements }) =>
          movements.filter((one) => one.isUse && one.key === key && one.branch === branch).map(({ index }) => index)
        )
      )
    for (const branch of [0, 1]) {
      if (record === "watched") assert.strictEqual(ends[branch], used[i]![branch])
      else {
        // The window ends where nothing uses it further, and has moved by nothing but what there was.
        assert.strictEqual(ends[branch], closure(ends[branch]!, window, paidIn(mined, branch)))
        assert.isAtLeast(ends[branch]!, closure(furthestUsedIndex + 1, window, paidIn(mined, branch)))
        assert.isAtMost(ends[branch]!, closure(furthestUsedIndex + 1, window, paidIn(ever, branch)))
      }
    }
    const kind = wantedEvent === event ? "coin" : "internal"
    const expected = mined
      .filter(({ block: { height } }) => height > floor && (!missed[i]!.has(height) || kept[i]!.has(height)))
      .flatMap(({ block, movements }) => {
        const own = movements.filter((one) => one.key === key && one.index < ends[one.branch]! + window)
        const all = record === "all" ? own : told.get(hex(block.hash))![i]!
        return all
          .filter((one) => one.kind === kind)
          .map(({ branch, direction, index, transaction }) => {
            const { address } = addresses[key]![branch]![index]!
            return `${block.height} ${transaction} ${address} ${direction} ${["receiving", "change"][branch]} ${index}`
          })
      })
    const found = callbacks
      .filter(({ subscription }) => subscription === id)
      .map(({ body, height }) => {
        const { address, derivation, direction, parentTransactionId, transactionId } = JSON.parse(body).data.item
        const transaction = (transactionId ?? parentTransactionId).replace(/^0x/, "")
        return `${height} ${transaction} ${address} ${direction} ${derivation.type} ${derivation.index}`
      })
    const isKept = (one: string) => kept[i]!.has(Number(one.split(" ")[0]))
    const certain = (all: ReadonlyArray<string>) => all.filter((one) => !isKept(one)).sort()
    assert.deepStrictEqual(certain(found), certain(expected))
    const countIn = (all: ReadonlyArray<string>, one: string) => all.filter((other) => other === one).length
    for (const one of found.filter(isKept)) assert.isAtMost(countIn(found, one), countIn(expected, one))
  }
}, Effect.scoped)

/** What is recorded of which chain. */
const recordings = [
  [Seed.chain, "all"],
  [Seed.chain, "watched"],
  [litecoin, "watched"],
  [litecoin, "all"]
] as const

for (const store of takenStores(import.meta.url)) {
  const services = Subscriptions.layer.pipe(
    Layer.provide(Layer.succeed(HostPermission, () => Effect.succeed(true))),
    Layer.provideMerge(store.layer)
  )
  describe(`ExtendedKeys on ${store.name}`, () => {
    for (const [chain, record] of quarter("recordings", recordings)) {
      it(`are told of every address up to the window, in and out of order, through reorganisations, steps and restarts, where ${record} is recorded of ${chain.blockchain}`, {
        timeout: 600_000
      }, async () => {
        Object.assign(seen, { cut: 0, missed: 0, past: 0, returned: 0 })
        const first: ReadonlyArray<Action> = [
          { kind: "mine", transactions: [[{ key: 1, branch: 0, index: 9, kind: "coin", side: "to" }]] },
          { kind: "sweep", key: 1, branch: 0, to: 12, apart: false },
          { kind: "look" },
          { kind: "look" },
          { kind: "reorganise", depth: 1, transactions: [] },
          { kind: "return" },
          { kind: "deactivate", subscription: 0 },
          { kind: "mine", transactions: [[{ key: 0, branch: 0, index: 4, kind: "coin", side: "to" }]] },
          { kind: "activate", subscription: 0 },
          { kind: "rewind", depth: 2, transactions: undefined }
        ]
        await fc.assert(
          fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40 }), (actions) =>
            Effect.runPromise(Effect.provide(run(chain, record, [...first, ...actions]), services))
          ),
          {
            // An address that nobody had in one block, and that the next one brings into a window which it pays.
            examples: [
              [
                [
                  { kind: "deactivate", subscription: 1 },
                  { kind: "return" },
                  { kind: "reorganise", depth: 0, transactions: [] },
                  { kind: "return" },
                  {
                    kind: "rewind",
                    depth: 0,
                    transactions: [[{ key: 0, branch: 1, index: 3, kind: "coin", side: "to" }]]
                  },
                  { kind: "sweep", key: 0, branch: 1, to: 3, apart: false },
                  { kind: "mine", transactions: [] },
                  { kind: "step" },
                  { kind: "look" },
                  { kind: "sweep", key: 0, branch: 0, to: 0, apart: false }
                ]
              ]
            ],
            numRuns: propertyRuns,
            // Ends with the story that it has shrunk so far, not with the time of the test.
            interruptAfterTimeLimit: 540_000,
            markInterruptAsFailure: true
          }
        )
        assert.isAbove(seen.cut, 0)
        assert.isAbove(seen.missed, 0)
        assert.isAbove(seen.returned, 0)
        // Two runs may pay nothing beyond a window that is reached later: tests of their own do.
        if (propertyRuns >= 10) assert.isAbove(seen.past, 0)
      })
    }

    it.live(
      "are told of coins that a search of the node finds at what a window has come to reach, and move by them",
      () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          const account = yield* Seed.account
          const publicKey = newKey(litecoin)
          const [own] = addressesOf(litecoin, publicKey)
          const opened = yield* ChainStore.open(litecoin, { record: "watched", undoDepth: 100 })
          const blocks: Array<Block> = []
          const mine = Effect.fnUntraced(function* (...to: ReadonlyArray<number>) {
            const header = next(blocks.at(-1), 1)
            const transfers = to.map((index, position): Transfer => {
              const { bytes } = own![index]!
              return { kind: "coin", transaction: 0, position, from: undefined, to: bytes, amount: 1n }
            })
            // Not the beginning of the chain: what came before is unknown.
            const block = { ...header, height: header.height + (blocks.length === 0 ? 100 : 0), transfers, spends: [] }
            blocks.push(block)
            yield* opened.commit([block])
            return block
          })
          const coin = ({ height, transactions }: Block, index: number, position: number): Coin => ({
            ...{ outpoint: { transactionId: transactions[0]!, index: position }, script: own![index]!.bytes },
            ...{ amount: 1n, height }
          })
          const first = yield* mine(4)
          const { referenceId } = yield* subscribe(litecoin, account, publicKey, { window: 2 })
          const key = { account, chain: litecoin, referenceId }
          const second = yield* mine(0, 3)
          const third = yield* mine(1)
          const furthest = Effect.map(ExtendedKeys.get(key), ({ branches }) => branches[0]!.furthestUsedIndex)
          assert.strictEqual(yield* furthest, 1)
          const enter = (index: number, ...coins: ReadonlyArray<Coin>) =>
            CoinEntry.enter(
              litecoin,
              { addresses: [own![index]!.bytes], wallets: [] },
              FoundCoins.at({ height: third.height, hash: third.hash, coins }),
              20
            )
          assert.isTrue(yield* enter(3, coin(second, 3, 1)))
          assert.strictEqual(yield* furthest, 3)
          assert.isTrue(yield* enter(4, coin(first, 4, 0)))
          assert.strictEqual(yield* furthest, 4)
          const source = { chain: litecoin, blockAt: (height: number) => Effect.succeed(blocks[height - 100]!) }
          yield* PastPaymentSync.make(source as unknown as Source, opened, { pollInterval: 1 as never }).step
          const told = yield* query((db) => db.selectFrom("callback").select(["height", "body"]))
          // What came before the subscription is not told.
          assert.sameMembers(
            told.map(({ body, height }) => `${height} ${JSON.parse(body).data.item.derivation.index}`),
            ["101 0", "101 3", "102 1"]
          )
        }).pipe(Effect.scoped, Effect.provide(services))
    )

    /** A subscription with a window of three on a chain that has a block, and what its callbacks say. */
    const setting = Effect.fnUntraced(function* (
      commit = 500,
      { record = "all", window = 3 }: { readonly record?: "all" | "watched"; readonly window?: number } = {}
    ) {
      const { query } = yield* Database
      const { chain } = Seed
      const account = yield* Seed.account
      const opened = yield* ChainStore.open(chain, { record, undoDepth: 100 }).pipe(
        Effect.provideService(FanOut.Bounds, { ...fanOutBounds, commit }),
        Effect.provideService(KeyWindows.Bounds, bounds)
      )
      const blocks: Array<Block> = []
      const publicKey = newKey(chain)
      const [own] = addressesOf(chain, publicKey)
      /** With payments to addresses of the key, by their indices. */
      const mine = Effect.fnUntraced(function* (...to: ReadonlyArray<number>) {
        const transfers = to.map((index, transaction): Transfer => {
          const sides = { from: nobody, to: own![index]!.bytes }
          return { kind: "coin", transaction, position: 0, ...sides, amount: 1n }
        })
        const block = { ...next(blocks.at(-1), to.length), transfers, spends: [] }
        blocks.push(block)
        yield* opened.commit([block])
      })
      /** So many blocks without a payment, a hundred in a commit. */
      const pass = Effect.fnUntraced(function* (count: number) {
        for (let left = count; left > 0; left -= 100) {
          const empty = Array.from({ length: Math.min(left, 100) }, () => {
            const block = { ...next(blocks.at(-1), 0), transfers: [], spends: [] }
            blocks.push(block)
            return block
          })
          yield* opened.commit(empty)
        }
      })
      yield* mine()
      const { id, referenceId } = yield* subscribe(chain, account, publicKey, { window })
      const source = { chain, blockAt: (height: number) => Effect.succeed(blocks[height]!) } as unknown as Source
      const key = { account, chain, referenceId }
      const { activate } = yield* Subscriptions
      return {
        ...{ account, chain, id, key, blocks, mine, pass, opened, publicKey },
        tellPast: PastPaymentSync.make(source, opened, { pollInterval: 1 as never }).step,
        deactivate: query((db) =>
          db.updateTable("subscription").set({ active: 0, parking: 1, inactive_since: 1 })
        ).pipe(Effect.andThen(Gaps.begin({ parkedCount: 0, parkedMillis: 0 }))),
        activate: Effect.andThen(activate(key), ListActivation.rest),
        told: Effect.map(
          query((db) =>
            db.selectFrom("callback").select(["height", "body"]).where("subscription", "=", id).orderBy("id")
          ),
          (all) =>
            all.map(({ body, height }) => `${height} ${JSON.parse(body).data.item.derivation?.index ?? "missed"}`)
        )
      }
    })

    it.live("are read by what is asked of them, however many addresses they have", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const { id } = yield* setting()
        const addressOf = (i: number) => {
          const address = Buffer.alloc(20)
          address.writeUInt32BE(i)
          return address
        }
        const row = { subscription: id, chain: 1, revision: 1, from_height: 0, branch: 0 }
        const places = Array.from({ length: 3_000 }, (_, i) => ({ address: addressOf(i), address_index: 100 + i }))
        yield* insertMany(
          "listed_address",
          places.map((place) => ({ ...row, ...place }))
        )
        yield* query(rows(sql`analyze`))
        const list = (yield* Plans.of(store.name, ExtendedKeys.listOf(id))).join()
        assert.match(list, /listed_address_complete/)
        assert.match(list, /listed_address_unread/)
        assert.match((yield* Plans.of(store.name, PastPayments.unreadOf(id))).join(), /listed_address_unread/)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("are told after an activation what waited while they were matched against nothing", () =>
      Effect.gen(function* () {
        const { activate, deactivate, mine, opened, tellPast, told } = yield* setting()
        yield* mine(4)
        yield* mine(2)
        while ((yield* opened.pastPayments()).more);
        yield* deactivate
        assert.deepStrictEqual(yield* opened.pastPayments(), { more: false, next: undefined })
        yield* tellPast
        yield* mine()
        yield* activate
        yield* tellPast
        assert.deepStrictEqual(yield* told, ["2 2", "null missed", "1 4"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("have windows that move by what came in a gap, which is not told", () =>
      Effect.gen(function* () {
        const { activate, deactivate, key, mine, tellPast, told } = yield* setting()
        yield* mine(5)
        yield* deactivate
        yield* mine(2)
        yield* mine(4)
        yield* activate
        yield* tellPast
        const { branches, completeFrom, isLookingBack } = yield* ExtendedKeys.get(key)
        assert.deepStrictEqual(branches[0], { type: "receive", furthestUsedIndex: 5, addresses: 9 })
        assert.deepStrictEqual({ completeFrom, isLookingBack }, { completeFrom: 4, isLookingBack: false })
        yield* mine(7)
        assert.deepStrictEqual(yield* told, ["null missed", "1 5", "4 7"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live.each([
      { commit: 3, counts: [3, 3, 0] },
      { commit: 0, counts: [1, 1, 1, 1, 1, 1, 0] }
    ])("are told of a past block some at a time, $commit by a commit", ({ commit, counts }) =>
      Effect.gen(function* () {
        const { account, blocks, chain, mine, opened, publicKey } = yield* setting(commit)
        for (let i = 0; i < 2; i++) yield* subscribe(chain, account, publicKey, { window: 3 })
        yield* mine(3, 4)
        yield* mine(2)
        while ((yield* opened.pastPayments()).more);
        const told = yield* Effect.forEach(counts, () =>
          opened.reprocess(blocks[1]!, { callbacks: "past", internalFrom: undefined })
        )
        assert.deepStrictEqual(told, counts)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("have turns by account, and are told before all that is to be looked for was looked for", () =>
      Effect.gen(function* () {
        const { chain, mine, opened, tellPast } = yield* setting()
        yield* tellPast
        yield* subscribe(chain, yield* Seed.account, newKey(chain), { window: 40 })
        yield* mine(4)
        yield* mine(2)
        const steps = [yield* opened.pastPayments(), yield* opened.pastPayments()]
        assert.isTrue(steps.some(({ more, next }) => more && next?.height === 1))
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    for (const isMissed of [false, true]) {
      it.live(
        `read again the blocks while a window was behind, some at a time${isMissed ? ", but missed ones" : ""}`,
        () =>
          Effect.gen(function* () {
            const { query } = yield* Database
            const { activate, deactivate, mine, opened, pass, tellPast, told } = yield* setting(500, {
              ...{ record: "watched", window: 10 }
            })
            yield* mine(9)
            if (isMissed) yield* deactivate
            yield* pass(300)
            yield* mine(18)
            if (isMissed) yield* activate
            let most = 0
            while ((yield* opened.pastPayments()).more) {
              const waiting = yield* query((db) => db.selectFrom("past_payment").select("height"))
              if (most === 0) most = waiting.length
            }
            assert.strictEqual(most, isMissed ? 1 : 256)
            yield* tellPast
            assert.deepStrictEqual(yield* told, isMissed ? ["1 9", "null missed"] : ["1 9", "302 18"])
          }).pipe(Effect.scoped, Effect.provide(services))
      )
    }

    it.live("hold up no other block by one that the node does not show, which is asked for again after a while", () =>
      Effect.gen(function* () {
        const { blocks, chain, key, mine, opened, tellPast, told } = yield* setting()
        yield* mine(4)
        yield* mine(5)
        yield* mine(2)
        let asked = 0
        const blockAt = (height: number) => {
          if (height !== 1) return Effect.succeed(blocks[height]!)
          asked++
          return Effect.fail(new BlockMissing({ node: "node", block: "1" }))
        }
        const source = { chain, blockAt } as unknown as Source
        const { step } = PastPaymentSync.make(source, opened, { pollInterval: 1 as never })
        yield* step
        yield* step
        assert.strictEqual(asked, 1)
        assert.deepStrictEqual(yield* told, ["3 2", "2 5"])
        assert.isTrue((yield* ExtendedKeys.get(key)).isLookingBack)
        yield* tellPast
        assert.deepStrictEqual(yield* told, ["3 2", "2 5", "1 4"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("have the names of tokens that come to addresses which the same block brings into a window", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const { chain } = Seed
        const account = yield* Seed.account
        const publicKey = newKey(chain)
        const [own] = addressesOf(chain, publicKey)
        const opened = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
        const tokens = "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        yield* subscribe(chain, account, publicKey, { window: 1, event: tokens })
        const header = next(undefined, 1)
        const transfers = [2, 1, 0].map((index): Transfer => {
          const contract = new Uint8Array(20).fill(index + 1) as AddressBytes
          const sides = { from: nobody, to: own![index]!.bytes }
          return {
            ...{ kind: "token", token: "fungible", transaction: 0, position: index, batchIndex: 0, contract, ...sides },
            ...{ amount: 1n, tokenId: undefined }
          }
        })
        const block = { ...header, transfers, spends: [] }
        const source = {
          chain,
          tokenMetadata: (contracts: ReadonlyArray<AddressBytes>) =>
            Effect.succeed(contracts.map((contract) => ({ name: `${contract[0]}`, symbol: "T", decimals: 0 })))
        } as unknown as Source
        yield* TokenNames.withTokens(source, opened, [block], (learned) => opened.commit([block], learned))
        const told = yield* query((db) => db.selectFrom("callback").select("body"))
        assert.sameMembers(
          told.map(({ body }) => {
            const { derivation, token } = JSON.parse(body).data.item
            return `${derivation.index} ${token.name}`
          }),
          ["0 1", "1 2", "2 3"]
        )
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.effect(
      "leave nothing remembered of a commit that fails: who comes with the revision it had counted up to is told",
      () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          const { chain } = Seed
          const account = yield* Seed.account
          const publicKey = newKey(chain)
          const [own] = addressesOf(chain, publicKey)
          const opened = yield* ChainStore.open(chain, { record: "all", undoDepth: 100 })
          const first: Block = { ...next(undefined, 0), transfers: [], spends: [] }
          yield* opened.commit([first])
          yield* subscribe(chain, account, publicKey, { window: 3 })
          const to = own![1]!.bytes
          const second: Block = {
            ...next(first, 1),
            transfers: [{ kind: "coin", transaction: 0, position: 0, from: nobody, to, amount: 1n }],
            spends: []
          }
          // Something else is in the place of the block's row, which comes behind everything else.
          yield* query((db) =>
            db
              .insertInto("block")
              .columns(["chain", "height", "hash", "parent", "time"])
              .expression((from) =>
                from
                  .selectFrom("block")
                  .select(["chain", sql<number>`height + 1`.as("height"), "hash", "parent", "time"])
              )
          )
          assert.isTrue(Exit.isFailure(yield* Effect.exit(opened.commit([second]))))
          yield* query((db) => db.deleteFrom("block").where("height", "=", second.height))
          const mined = yield* Seed.subscription(account, "https://example.com/")
          // One that moves no window.
          yield* opened.commit([{ ...next(first, 0), transfers: [], spends: [] }])
          const told = yield* query((db) =>
            db.selectFrom("callback").select("height").where("subscription", "=", mined.id)
          )
          assert.deepStrictEqual(
            told.map(({ height }) => height),
            [second.height]
          )
        }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("are moved few at a time by a payment to a key that many are on, and the others by steps behind it", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const { chain } = Seed
        const account = yield* Seed.account
        const publicKey = newKey(chain)
        const [own] = addressesOf(chain, publicKey)
        const opened = yield* Effect.provideService(
          ChainStore.open(chain, { record: "all", undoDepth: 100 }),
          KeyWindows.Bounds,
          bounds
        )
        const first: Block = { ...next(undefined, 0), transfers: [], spends: [] }
        yield* opened.commit([first])
        for (let i = 0; i < 5; i++) yield* subscribe(chain, account, publicKey, { window: 3 })
        const transfers = [0, 1].map((index, position): Transfer => {
          return { kind: "coin", transaction: 0, position, from: nobody, to: own![index]!.bytes, amount: 1n }
        })
        yield* opened.commit([{ ...next(first, 1), transfers, spends: [] }])
        const receiving = Effect.map(
          query((db) =>
            db.selectFrom("extended_key_branch").selectAll().where("branch", "=", 0).orderBy("subscription")
          ),
          (all) => all.map(({ behind_from, derived, used }) => ({ used, derived, isBehind: behind_from !== null }))
        )
        const moved = { used: 2, derived: 5, isBehind: false }
        const left = { used: 2, derived: 3, isBehind: true }
        assert.deepStrictEqual(yield* receiving, [moved, moved, left, left, left])
        while ((yield* opened.pastPayments()).more);
        assert.deepStrictEqual(yield* receiving, Array(5).fill(moved))
        const totals = yield* query((db) => db.selectFrom("address_list").select("total"))
        assert.deepStrictEqual(
          totals.map(({ total }) => total),
          Array(5).fill(8)
        )
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live(
      "of which much is used begin with some addresses, get the others in steps, and count with all of them",
      () =>
        Effect.gen(function* () {
          const { chain } = Seed
          const account = yield* Seed.account
          const openedWith = ChainStore.open(chain, { record: "all", undoDepth: 100 })
          const opened = yield* Effect.provideService(openedWith, KeyWindows.Bounds, bounds)
          yield* opened.commit([{ ...next(undefined, 0), transfers: [], spends: [] }])
          const create = (furthestUsedIndex: number) =>
            Effect.provideService(
              subscribe(chain, account, newKey(chain), { window: 3, furthestUsedIndex }),
              KeyWindows.Bounds,
              bounds
            )
          const { referenceId } = yield* create(9)
          const total = Effect.map(ExtendedKeys.get({ account, chain, referenceId }), ({ isLookingBack, total }) => ({
            ...{ isLookingBack, total }
          }))
          assert.deepStrictEqual(yield* total, { isLookingBack: true, total: 8 })
          // 26 are wanted, of 40.
          const refused = yield* Effect.result(create(5))
          assert.strictEqual(Result.isFailure(refused) && refused.failure._tag, "LimitReached")
          while ((yield* opened.pastPayments()).more);
          assert.deepStrictEqual(yield* total, { isLookingBack: false, total: 26 })
          yield* create(3)
        }).pipe(
          Effect.scoped,
          Effect.provide(
            services.pipe(
              Layer.provideMerge(Layer.succeed(Limits.Limits, { ...Limits.defaultMaxima, listedAddresses: 40 }))
            )
          )
        )
    )

    it.effect("cannot be edited as lists are, are exported, and leave nothing when they are removed", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const account = yield* Seed.account
        const { chain } = Seed
        const publicKey = newKey(chain)
        const { referenceId } = yield* subscribe(chain, account, publicKey, { window: 20 })
        const key = { account, chain, referenceId }
        const { addresses, total } = yield* AddressLists.list(key, { after: 0, limit: 100 })
        assert.strictEqual(total, 40)
        assert.deepStrictEqual(
          [addresses[0]!.derivation, addresses[39]!.derivation],
          [
            { type: "receiving", index: 0 },
            { type: "change", index: 19 }
          ]
        )
        const bytes = [addresses[0]!.address]
        for (const edit of [AddressLists.add(key, bytes, () => Effect.void), AddressLists.remove(key, bytes)]) {
          const refused = yield* Effect.result(transaction(edit))
          assert.strictEqual(Result.isFailure(refused) && refused.failure._tag, "DerivedList")
        }
        const lines: Array<AccountExport.Line> = []
        yield* AccountExport.run(account, (line) => Effect.sync(() => lines.push(line)))
        assert.deepStrictEqual(
          lines.filter(({ kind }) => kind === "extended key"),
          [
            {
              ...{ kind: "extended key", reference_id: referenceId, chain: "ethereum/devnet", public_key: publicKey },
              ...{ derivation: "account", format: "STANDARD", window_size: 20 }
            }
          ]
        )
        const { remove } = yield* Subscriptions
        yield* remove(key)
        yield* Removal.rest
        for (const table of [
          "address_list",
          "extended_key",
          "extended_key_branch",
          "listed_address",
          "past_payment"
        ] as const) {
          assert.deepStrictEqual(yield* query((db) => db.selectFrom(table).selectAll()), [], table)
        }
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  })
}
