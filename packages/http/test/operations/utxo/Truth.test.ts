/**
 * Random blocks with random moments of watching: no address is given out that the chain shows as used since the block that
 * the answer names, and a balance is that of every coin of the wallet; or nothing is answered.
 */
import { assert } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as UtxoOperations from "@headwater/http/operations/utxo/UtxoOperations"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
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
  | { readonly do: "derive" | "balance" | "garble" }

const branchNumber = fc.constantFrom(0, 0, 1)
const place = fc.nat(places.length - 1)
const mine = fc.record({
  do: fc.constant("mine" as const),
  payments: fc.array(fc.tuple(branchNumber, place, fc.nat(20), fc.boolean()), { maxLength: 4 })
})
const mines = (maxLength: number) => fc.array(mine, { maxLength })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: mine },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("derive" as const, "balance" as const) }) },
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

  /** The heights at which an address was paid. */
  uses(address: Uint8Array, upTo: number) {
    return this.blocks
      .slice(0, upTo + 1)
      .flatMap(({ height, transfers }) =>
        transfers.some(({ to }) => to !== undefined && Bytes.equal(to, address)) ? [height] : []
      )
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

const counts = { derived: 0, behindUsed: 0, balances: 0, refused: 0 }
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
    const connection: UtxoConnection = { family: "utxo", source, sideSources: {} } as never
    yield* (yield* ConnectedNodes).connect(chain, connection)
    const store = yield* ChainStore.open(chain, { record, undoDepth: 100, gapLimit })
    const subscriptions = yield* Subscriptions
    const { utxoAssets, utxoDerive } = yield* UtxoOperations.make(chain, { record, gapLimit, reservationSeconds: 600 })
    const options = { pollInterval: Duration.millis(1), concurrency: 2, undoDepth: 100 }
    // Its own status: a record that was at the head a moment ago may be seconds behind, and none of these has been.
    const follow = yield* Follow.make(source, store, { ...options, start: begun }).pipe(
      Effect.provide(Layer.fresh(ChainStatus.layer))
    )
    const coins = yield* CoinSync.make(source, search, store, { pollInterval: Duration.millis(1), gapLimit })
    const services = yield* Effect.context<never>()
    const request = { account: 1, extendedPublicKey, paying: ((change: Effect.Effect<unknown>) => change) as never }

    const refused = (exit: Exit.Exit<unknown, unknown>) => {
      counts.refused++
      const error = Result.getOrThrow(Exit.findError(exit)) as { readonly _tag: string }
      assert.include(refusals, error._tag)
    }

    const derive = Effect.gen(function* () {
      const answer = yield* Effect.exit(utxoDerive(request))
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

    const balance = Effect.gen(function* () {
      const answer = yield* Effect.exit(utxoAssets(request))
      if (!Exit.isSuccess(answer)) return refused(answer)
      const total = world.own.reduce((sum, { amount }) => sum + amount, 0n)
      assert.strictEqual(answer.value.confirmedBalance.amount, Amount.format(total, chain.decimals))
      counts.balances++
    })

    for (const step of steps) {
      if (step.do === "mine") world.plan(step.payments)
      else if (step.do === "reorganise") {
        const depth = Math.min(step.depth, world.tip.height - begun)
        world.drop(depth)
        for (let i = 0; i <= depth; i++) world.plan(i === 0 ? step.block.payments : [])
      } else if (step.do === "fall behind") {
        for (const { payments } of step.blocks) world.plan(payments)
        yield* derive
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
      else if (step.do === "derive") yield* derive
      else yield* balance
      yield* follow.step
    }
    for (let i = 0; i < 2; i++) {
      yield* derive
      yield* balance
      yield* coins.step
    }
    yield* derive
    yield* balance
  }).pipe(Effect.scoped)

const paid = (place: number): Mine => ({ do: "mine", payments: [[0, place, 99, false]] })
const spent: Mine = { do: "mine", payments: [[0, 0, 0, true]] }

const examples: Array<History> = [
  // The first addresses, where blocks are yet to be recorded that used them and left no coin there.
  [0, "watched", true, [], [paid(0), { do: "fall behind", blocks: [paid(1), spent, spent, paid(2), spent] }]]
]

const histories = fc.tuple(
  fc.constantFrom(0, 0, 3),
  fc.constantFrom("all" as const, "watched" as const),
  fc.constantFrom(true, true, true, false),
  mines(4),
  fc.array(step, { minLength: 12, maxLength: 40 })
)

compare("a UTXO chain", import.meta.url, { counts, usual: ["derived"], examples, histories, run })
