/**
 * Random blocks with random moments of watching, by two accounts that have the same wallet: no address is given out that the
 * chain shows as used since the block that the answer names, a balance is that of every coin of the wallet, and a list of
 * transactions has every one since the block that the answer names; or nothing is answered.
 */
import { assert } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { keyOf as keyOfCoin } from "@headwater/core/utxo/Coin"
import * as UtxoOperations from "@headwater/http/operations/utxo/UtxoOperations"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import type { Mined } from "@headwater/indexer/families/utxo/TransactionExplorer"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { UtxoSource } from "@headwater/indexer/families/utxo/UtxoSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { type Payment, searching, UtxoChain } from "../../../../indexer/test/families/utxo/UtxoChain.ts"
import { compare } from "../RandomHistories.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const extendedPublicKey = ExtendedPublicKey.encode(
  chain,
  Result.getOrThrow(
    ExtendedPublicKey.decode(
      bitcoin,
      "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
    )
  )
)
const key = Result.getOrThrow(keyOf(1, chain, extendedPublicKey, "account"))
const gapLimit = 3
/** Addresses that an account is given at a time. */
const batch = 100
/** Blocks that the record may be behind. */
const lag = 2
const branches = WalletBranches.of(chain, { ...key, public_key: key.publicKey }).map((branch) =>
  WalletBranches.derive(branch, 0, 4 * batch).map(({ bytes }) => bytes)
)
const owned = new Set(branches.flat().map(Bytes.key))
/** Addresses that come into use: the first ones, and those at the ends of batches. */
const places = [0, 1, 2, 3, 5, 50, 98, 99, 100, 101, 103, 150, 199, 200, 202, 250]
const stranger = Address.fromBytes(Uint8Array.of(0x51))

/** A payment to an address, from a stranger or with a coin of the wallet, which may also go to a stranger. */
type Planned = readonly [branch: number, place: number, coin: number, goesOut: boolean]
type Mine = { readonly do: "mine"; readonly payments: ReadonlyArray<Planned> }
type Step =
  | Mine
  | { readonly do: "reorganise"; readonly depth: number; readonly block: Mine }
  | { readonly do: "fall behind"; readonly blocks: ReadonlyArray<Mine> }
  | { readonly do: "search"; readonly meanwhile: ReadonlyArray<Mine> }
  | { readonly do: "subscribe"; readonly branch: number; readonly place: number }
  | { readonly do: "derive" | "balance" | "list"; readonly account: number }
  | { readonly do: "garble" }

const branchNumber = fc.constantFrom(0, 0, 1)
const place = fc.nat(places.length - 1)
const account = fc.constantFrom(1, 1, 2)
const mine = fc.record({
  do: fc.constant("mine" as const),
  payments: fc.array(fc.tuple(branchNumber, place, fc.nat(20), fc.boolean()), { maxLength: 4 })
})
const mines = (maxLength: number) => fc.array(mine, { maxLength })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: mine },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("derive" as const, "balance" as const, "list" as const), account })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("search" as const), meanwhile: mines(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fall behind" as const), blocks: mines(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("garble" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("subscribe" as const), branch: branchNumber, place }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("reorganise" as const), depth: fc.integer({ min: 1, max: 4 }), block: mine })
  }
)

/** The chain as its node has it. */
class World extends UtxoChain {
  /** The addresses of each branch that were given out. */
  given = 0

  /** The heights at which an address was paid, or one of its coins was spent. */
  uses(address: Uint8Array, upTo: number) {
    const own = new Set<string>()
    return this.blocks.slice(0, upTo + 1).flatMap(({ height, spends, transactions, transfers }) => {
      const isSpent = spends.some(({ outpoint }) => own.has(keyOfCoin(outpoint)))
      const paid = transfers.filter(({ to }) => to !== undefined && Bytes.equal(to, address))
      for (const transfer of paid) {
        if (transfer.kind !== "coin") continue
        own.add(keyOfCoin({ transactionId: transactions[transfer.transaction]!, index: transfer.position }))
      }
      return isSpent || paid.length > 0 ? [height] : []
    })
  }

  /** The transactions of some blocks that name an address of the wallet. */
  moved(from: number, to: number) {
    const outputs = new Map<string, AddressBytes>()
    return this.blocks.flatMap(({ height, spends, transactions, transfers }) => {
      const found = new Set<string>()
      const note = (transaction: number, address: AddressBytes | undefined) => {
        if (address === undefined || !owned.has(Bytes.key(address)) || height < from || height > to) return
        found.add(Buffer.from(transactions[transaction]!).toString("hex"))
      }
      for (const transfer of transfers) {
        if (transfer.kind !== "coin" || transfer.to === undefined) continue
        outputs.set(
          keyOfCoin({ transactionId: transactions[transfer.transaction]!, index: transfer.position }),
          transfer.to
        )
        note(transfer.transaction, transfer.to)
      }
      for (const { outpoint, transaction } of spends) note(transaction, outputs.get(keyOfCoin(outpoint)))
      return [...found]
    })
  }

  get own() {
    return this.coins.filter(({ script }) => owned.has(Bytes.key(script)))
  }

  /** The addresses that the wallet's owner may use: those that were given out, and a gap behind a used one. */
  #end(branch: number) {
    let end = Math.max(this.given, gapLimit)
    for (const place of places) {
      if (place < end && this.uses(branches[branch]![place]!, this.tip.height).length > 0) {
        end = Math.max(end, place + 1 + gapLimit)
      }
    }
    return end
  }

  plan(planned: Mine["payments"]) {
    const coins = [...this.own]
    const payments = planned.flatMap(([branch, place, coin, goesOut]): ReadonlyArray<Payment> => {
      const index = places[place]!
      if (index >= this.#end(branch)) return []
      const [spent] = coins.splice(coin, 1)
      const amount = spent?.amount ?? BigInt(10 + place)
      const to = spent !== undefined && goesOut ? stranger : branches[branch]![index]!
      return [{ spends: spent === undefined ? [] : [spent.outpoint], pays: [{ to, amount }] }]
    })
    return this.mine(payments)
  }
}

type History = readonly [
  start: number,
  record: "all" | "watched",
  findsCoins: boolean,
  before: ReadonlyArray<Mine>,
  steps: ReadonlyArray<Step>
]

const counts = { derived: 0, behindUsed: 0, balances: 0, listed: 0, refused: 0 }
const refusals = ["xpub_sync_in_progress", "xpub_not_synced", "node_unavailable"]

const run = ([start, record, findsCoins, before, steps]: History) =>
  Effect.gen(function* () {
    const world = new World(chain)
    for (const { payments } of before) world.plan(payments)
    const begun = Math.min(start, world.tip.height)
    let interrupt: Effect.Effect<void> = Effect.void
    const search = searching((addresses) =>
      Effect.suspend(() => {
        if (!findsCoins) return Effect.undefined
        const found = world.search(addresses)
        return Effect.as(interrupt, found)
      })
    )
    // Nothing else is asked.
    const source = { ...world.source, search } as unknown as UtxoSource
    let asked: ReadonlyArray<Mined> = []
    const mined = (of: ReadonlyArray<Mined>) =>
      Effect.sync(() => {
        asked = of
        return []
      })
    const connection: UtxoConnection = { family: "utxo", source, sideSources: {}, transactions: { mined } } as never
    yield* (yield* ConnectedNodes).connect(chain, connection)
    const store = yield* ChainStore.open(chain, { record, undoDepth: 100, gapLimit })
    const subscriptions = yield* Subscriptions
    const { utxoAssets, utxoDerive, utxoWalletTransactions } = yield* UtxoOperations.make(chain, {
      record,
      gapLimit,
      reservationSeconds: 600
    })
    const options = { pollInterval: Duration.millis(1), concurrency: 2, undoDepth: 100 }
    // Its own status: a record that was at the head a moment ago may be seconds behind, and none of these has been.
    const follow = yield* Follow.make(source, store, { ...options, start: begun }).pipe(
      Effect.provide(Layer.fresh(ChainStatus.layer))
    )
    const coins = yield* CoinSync.make(source, search, store, { pollInterval: Duration.millis(1), gapLimit })
    const services = yield* Effect.context<never>()
    const paying = ((change: Effect.Effect<unknown>) => change) as never
    const requestOf = (account: number) => ({ account, extendedPublicKey, paying })

    const refused = (exit: Exit.Exit<unknown, unknown>) => {
      counts.refused++
      const error = Result.getOrThrow(Exit.findError(exit)) as { readonly _tag: string }
      assert.include(refusals, error._tag)
    }

    const derive = Effect.fnUntraced(function* (account: number) {
      const answer = yield* Effect.exit(utxoDerive(requestOf(account)))
      if (!Exit.isSuccess(answer)) return refused(answer)
      const { completeFrom = 0, items } = answer.value
      const first = items[0]!.index
      // What came last is not recorded yet.
      const { height } = world.tip
      const upTo = (yield* store.cursor)!.height === height ? height : height - lag
      const used = items.filter(({ index }) =>
        world.uses(branches[0]![index]!, upTo).some((height) => height >= completeFrom)
      )
      assert.deepStrictEqual(used, [], `used since block ${completeFrom}`)
      world.given = Math.max(world.given, first + batch)
      counts.derived++
      if (first > 0) counts.behindUsed++
    })

    const balance = Effect.fnUntraced(function* (account: number) {
      const answer = yield* Effect.exit(utxoAssets(requestOf(account)))
      if (!Exit.isSuccess(answer)) return refused(answer)
      const total = world.own.reduce((sum, { amount }) => sum + amount, 0n)
      assert.strictEqual(answer.value.confirmedBalance.amount, Amount.format(total, chain.decimals))
      counts.balances++
    })

    const list = Effect.fnUntraced(function* (account: number) {
      const answer = yield* Effect.exit(utxoWalletTransactions({ ...requestOf(account), limit: 1_000, offset: 0 }))
      if (!Exit.isSuccess(answer)) return refused(answer)
      const { completeFrom = 0, total } = answer.value
      assert.lengthOf(asked, total)
      const told = asked.filter(({ block }) => block.height >= completeFrom).map(({ id }) => id)
      const { height } = world.tip
      const upTo = (yield* store.cursor)!.height === height ? height : height - lag
      assert.includeMembers(told, world.moved(completeFrom, upTo), `since block ${completeFrom}`)
      counts.listed++
    })

    for (const step of steps) {
      if (step.do === "mine") world.plan(step.payments)
      else if (step.do === "reorganise") {
        const depth = Math.min(step.depth, world.tip.height - begun)
        world.drop(depth)
        for (let i = 0; i <= depth; i++) world.plan(i === 0 ? step.block.payments : [])
      } else if (step.do === "fall behind") {
        for (const { payments } of step.blocks) world.plan(payments)
        yield* derive(1)
      } else if (step.do === "search") {
        interrupt = Effect.suspend(() => {
          interrupt = Effect.void
          for (const { payments } of step.meanwhile) world.plan(payments)
          return Effect.orDie(follow.step)
        }).pipe(Effect.provideContext(services))
        yield* coins.step
        interrupt = Effect.void
      } else if (step.do === "subscribe") {
        const address = branches[step.branch]![places[step.place]!]!
        yield* subscriptions.create({
          ...{ account: 1, chain, address, callbackUrl: "https://receiver.test/", secret: undefined },
          ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
        })
      } else if (step.do === "garble") world.garble()
      else if (step.do === "derive") yield* derive(step.account)
      else if (step.do === "list") yield* list(step.account)
      else yield* balance(step.account)
      yield* follow.step
    }
    for (let i = 0; i < 3; i++) {
      for (const account of [1, 2]) {
        yield* derive(account)
        yield* balance(account)
        yield* list(account)
      }
      yield* coins.step
    }
  }).pipe(Effect.scoped)

const paid = (place: number): Mine => ({ do: "mine", payments: [[0, place, 99, false]] })
const nothing: Mine = { do: "mine", payments: [] }
const spent: Mine = { do: "mine", payments: [[0, 0, 0, true]] }
const ask = (what: "derive" | "balance" | "list", account: number): Step => ({ do: what, account })

const examples: Array<History> = [
  // The first addresses, where blocks are yet to be recorded that used them and left no coin there.
  [0, "watched", true, [], [paid(0), { do: "fall behind", blocks: [paid(1), spent, spent, paid(2), spent] }]],
  // An address that was used and emptied while the other account alone watched it.
  [0, "watched", true, [], [ask("derive", 1), { do: "search", meanwhile: [] }, paid(0), spent, ask("derive", 2)]],
  // One whose coin was spent between the first call and the search of coins.
  [
    ...([3, "watched", true, [paid(0), nothing, nothing, nothing]] as const),
    [ask("balance", 1), ask("derive", 1), spent, { do: "search", meanwhile: [] }, ask("derive", 1)]
  ],
  // One that nobody watched.
  [0, "all", true, [], [paid(0), spent, ask("derive", 1), ask("list", 1)]]
]

const histories = fc.tuple(
  fc.constantFrom(0, 0, 3),
  fc.constantFrom("all" as const, "watched" as const),
  fc.constantFrom(true, true, true, false),
  mines(4),
  fc.array(step, { minLength: 12, maxLength: 40 })
)

compare("a UTXO chain", import.meta.url, { counts, usual: ["derived"], examples, histories, run })
