/**
 * Random ledgers with random moments of watching: no address is given out that the ledgers show as used since the block that
 * the answer names, and a balance is that of every address of the wallet; or nothing is answered.
 */
import { assert } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as XrpOperations from "@headwater/http/operations/xrp/XrpOperations"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as WalletBalance from "@headwater/indexer/families/xrp/internal/WalletBalance"
import type { XrpConnection } from "@headwater/indexer/families/xrp/XrpConnection"
import type { XrpNode } from "@headwater/indexer/families/xrp/XrpNode"
import type { XrpSource } from "@headwater/indexer/families/xrp/XrpSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import * as AccountSync from "@headwater/indexer/sync/AccountSync"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { half } from "../../../../../test/Turn.ts"
import { commit, isOf, RandomChain, skip, understand } from "../RandomChain.ts"
import { compare } from "../RandomHistories.ts"

const chain = Result.getOrThrow(Chain.find("xrp", "testnet"))
const extendedPublicKey =
  "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
const key = Result.getOrThrow(keyOf(1, chain, extendedPublicKey, "account"))
const gapLimit = 3
/** Addresses that an account is given at a time. */
const batch = 100
/** Ledgers that the record may be behind. */
const lag = 3
/** What the server adds to its first ledger, if that is not the first one of all: early ones are no accounts' last. */
const far = 1_000
const branches = WalletBranches.of(chain, { ...key, public_key: key.publicKey }).map((branch) =>
  WalletBranches.derive(branch, 0, 4 * batch - 1).map(({ bytes }) => bytes)
)
/** Addresses that come into use: the first ones, and those at the ends of batches. */
const places = [0, 1, 2, 3, 5, 50, 98, 99, 100, 101, 103, 150, 199, 200, 202, 250]
const stranger = new Uint8Array(20).fill(0x77) as Address.AddressBytes

/** What happens to an account: it is paid, it pays, or it changes by what is no payment; it pays all, and is deleted. */
const happenings = ["paid", "pays", "gains", "loses", "deleted"] as const
type Happening = readonly [branch: number, place: number, happening: (typeof happenings)[number], size: number]
type Mine = { readonly do: "mine"; readonly happenings: ReadonlyArray<Happening> }
type Step =
  | Mine
  | { readonly do: "garble"; readonly block: Mine }
  | { readonly do: "skip"; readonly blocks: ReadonlyArray<Mine> }
  | { readonly do: "fall behind"; readonly blocks: ReadonlyArray<Mine> }
  | { readonly do: "subscribe" | "unsubscribe"; readonly branch: number; readonly place: number }
  | { readonly do: "derive" | "search" | "balance" | "understand" }

const branchNumber = fc.nat(1)
const place = fc.nat(places.length - 1)
const mine = fc.record({
  do: fc.constant("mine" as const),
  happenings: fc.array(
    fc.tuple(
      fc.constantFrom(0, 0, 1),
      place,
      fc.constantFrom("paid" as const, ...happenings),
      fc.integer({ min: 1, max: 9 })
    ),
    { maxLength: 4 }
  )
})
const mines = (maxLength: number) => fc.array(mine, { minLength: 1, maxLength })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: mine },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom("derive" as const, "search" as const, "balance" as const) })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("garble" as const), block: mine }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("understand" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("skip" as const), blocks: mines(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fall behind" as const), blocks: mines(6) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("subscribe" as const, "unsubscribe" as const),
      branch: branchNumber,
      place
    })
  }
)

/** The ledgers as the server has them: an account is there from its first drops on until it is deleted. */
class World extends RandomChain {
  /** The addresses that the wallet's owner may use, by branch: those that were given out, and a gap behind a used one. */
  readonly ends = [gapLimit, gapLimit]

  /** The first ledger that the server has. */
  readonly serverFirst: number

  constructor(serverFirst: number) {
    super(chain)
    this.serverFirst = serverFirst
  }

  readonly #balances = new Map<string, bigint>()

  balance(address: Uint8Array) {
    return this.#balances.get(Bytes.key(address)) ?? 0n
  }

  /** The heights at which an address was paid. */
  uses(address: Uint8Array, upTo?: number) {
    return this.transfers("coin", upTo).flatMap(({ height, transfer }) =>
      transfer.to !== undefined && Bytes.equal(transfer.to, address) ? [height] : []
    )
  }

  /** Whether a ledger from this one on names an address. */
  wasUsed(address: Uint8Array, from: number) {
    return this.transfers("coin").some(({ height, transfer }) => height >= from && isOf(address, transfer))
  }

  mine(planned: Mine["happenings"]) {
    const transfers = this.add(planned.length)
    planned.forEach(([branch, place, happening, size], transaction) => {
      const index = places[place]!
      if (index >= this.ends[branch]!) return
      const owner = branches[branch]![index]!
      const balance = this.balance(owner)
      const goesIn = happening === "paid" || happening === "gains"
      const amount = happening === "deleted" ? balance : BigInt(size)
      // An account cannot be emptied but by its deletion.
      if (
        goesIn
          ? happening === "gains" && balance === 0n
          : amount === 0n || (happening !== "deleted" && balance <= amount)
      )
        return
      const isPayment = happening !== "gains" && happening !== "loses"
      const other = isPayment ? stranger : undefined
      const [from, to] = goesIn ? [other, owner] : [owner, other]
      transfers.push({ kind: "coin", transaction, position: 0, from, to, amount })
      this.#balances.set(Bytes.key(owner), goesIn ? balance + amount : balance - amount)
      if (goesIn) this.ends[branch] = Math.max(this.ends[branch]!, index + 1 + gapLimit)
    })
  }

  get connection(): XrpConnection {
    const { fake } = this
    // Nothing else is asked.
    const node = {
      name: "fake",
      requestLedger: (method: string, { account }: { readonly account: string }) =>
        Effect.suspend((): Effect.Effect<unknown, NodeRejected> => {
          const address = Result.getOrThrow(Address.decode(chain, account))
          if (method === "account_tx") {
            const transactions = this.wasUsed(address, this.serverFirst) ? [{}] : []
            return Effect.succeed({
              account,
              transactions,
              ledger_index_min: this.serverFirst && far + this.serverFirst
            })
          }
          const balance = this.balance(address)
          return balance === 0n
            ? Effect.fail(new NodeRejected({ node: "fake", method, code: 19, message: "actNotFound" }))
            : Effect.succeed({ account_data: { Account: account, Balance: String(balance) } })
        })
    } as unknown as XrpNode
    const source = {
      ...fake.source,
      wereUsed: (addresses: ReadonlyArray<Address.AddressBytes>) =>
        WalletBalance.wereUsed(chain, node, fake.tip.height, addresses),
      walletBalance: (all: ReadonlyArray<WalletBalance.Branch>, gap = 20, least?: ReadonlyArray<number>) =>
        WalletBalance.fetch(chain, node, fake.tip.height, all, gap, least)
    } as unknown as XrpSource
    return { family: "xrp", source, sideSources: { accounts: source } }
  }
}

type History = readonly [start: number, serverFirst: number, record: "all" | "watched", steps: ReadonlyArray<Step>]

const counts = { derived: 0, behindUsed: 0, balances: 0, behindDeleted: 0, refused: 0 }
const refusals = ["xpub_sync_in_progress", "node_unavailable"]

const run = ([start, serverFirst, record, steps]: History) =>
  Effect.gen(function* () {
    const world = new World(serverFirst)
    const { fake } = world
    for (const step of steps.slice(0, start)) if (step.do === "mine") world.mine(step.happenings)
    const nodes = yield* ConnectedNodes
    const { connection } = world
    yield* nodes.connect(chain, connection)
    const store = yield* ChainStore.open(chain, { record, undoDepth: 100, gapLimit })
    const subscriptions = yield* Subscriptions
    const { xrpAssets, xrpDerive } = yield* XrpOperations.make(chain, { gapLimit, reservationSeconds: 600 })
    const search = yield* AccountSync.make(connection.source, { pollInterval: 1 as never, gapLimit })
    const subscribed = new Map<string, string>()
    const paying = ((change: Effect.Effect<unknown>) => change) as never

    const refused = (exit: Exit.Exit<unknown, unknown>) => {
      counts.refused++
      const error = Result.getOrThrow(Exit.findError(exit)) as { readonly _tag: string }
      assert.include(refusals, error._tag)
    }

    /** The addresses of a branch that a gap of unused ones does not end, by what is known from a ledger on. */
    const reached = (branch: ReadonlyArray<Address.AddressBytes>, from: number) => {
      const used = branch.flatMap((address, index) =>
        world.balance(address) > 0n || world.wasUsed(address, from) ? [index] : []
      )
      return branch.slice(
        0,
        used.reduce((end, index) => (index < end + gapLimit ? index + 1 : end), 0)
      )
    }
    let isSynced = false

    const derive = Effect.gen(function* () {
      const answer = yield* Effect.exit(xrpDerive({ account: 1, paying, extendedPublicKey }))
      if (!Exit.isSuccess(answer)) return refused(answer)
      const { completeFrom = 0, items } = answer.value
      const first = items[0]!.index
      assert.deepStrictEqual(
        items.map(({ address, index }) => [address, index]),
        branches[0]!.slice(first, first + batch).map((address, i) => [Address.encode(chain, address)!, first + i])
      )
      // What came last is not recorded yet.
      const upTo = (yield* store.cursor)!.height === fake.tip.height ? fake.tip.height : fake.tip.height - lag
      const used = items.filter(({ index }) =>
        world.uses(branches[0]![index]!, upTo).some((height) => height >= completeFrom)
      )
      assert.deepStrictEqual(used, [], `used since block ${completeFrom}`)
      isSynced = true
      if (first > 0) assert.isNotEmpty(world.uses(branches[0]![first - 1]!), `${first} follows none that was used`)
      world.ends[0] = Math.max(world.ends[0]!, first + batch)
      world.ends[1] = Math.max(world.ends[1]!, batch)
      counts.derived++
      if (first > 0) counts.behindUsed++
    })

    const balance = Effect.gen(function* () {
      const answer = yield* Effect.exit(xrpAssets({ account: 1, paying, extendedPublicKey }))
      if (!Exit.isSuccess(answer)) return refused(answer)
      const { completeFrom = 0 } = answer.value
      const from = completeFrom === 0 ? 0 : completeFrom - far
      const total = (isSynced ? branches : branches.map((branch) => reached(branch, from)))
        .flat()
        .reduce((sum, address) => sum + world.balance(address), 0n)
      assert.strictEqual(answer.value.confirmedBalance.amount, Amount.format(total, chain.decimals))
      counts.balances++
      if (!isSynced && total > 0n && branches.every((branch) => world.balance(branch[0]!) === 0n))
        counts.behindDeleted++
    })

    world.begin()
    for (const step of steps.slice(start)) {
      if (step.do === "mine") world.mine(step.happenings)
      else if (step.do === "garble") {
        world.mine(step.block.happenings)
        world.garble(["coin"])
      } else if (step.do === "skip") {
        if ((yield* store.cursor) === undefined) continue
        for (const { happenings } of step.blocks) world.mine(happenings)
        yield* skip(world, store)
      } else if (step.do === "fall behind") {
        for (const { happenings } of step.blocks) world.mine(happenings)
        yield* derive
      } else if (step.do === "subscribe" || step.do === "unsubscribe") {
        const name = `${step.branch} ${step.place}`
        const referenceId = subscribed.get(name)
        if (step.do === "unsubscribe" && referenceId !== undefined) {
          yield* subscriptions.remove({ account: 1, chain, referenceId })
          subscribed.delete(name)
        } else if (step.do === "subscribe" && referenceId === undefined) {
          const address = branches[step.branch]![places[step.place]!]!
          const made = yield* subscriptions.create({
            ...{ account: 1, chain, address, callbackUrl: "https://receiver.test/", secret: undefined },
            ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
          })
          subscribed.set(name, made.referenceId)
        }
      } else if (step.do === "understand") yield* understand(world, store)
      else if (step.do === "derive") yield* derive
      else if (step.do === "search") yield* search.step
      else yield* balance
      yield* commit(world, store)
    }
    for (let i = 0; i < 2; i++) {
      yield* derive
      yield* balance
      yield* search.step
    }
    yield* derive
    yield* balance
  }).pipe(Effect.scoped)

const mined = (place: number, happening: Happening[2] = "paid"): Mine => ({
  do: "mine",
  happenings: [[0, place, happening, 5]]
})
const synced: ReadonlyArray<Step> = [{ do: "mine", happenings: [] }, { do: "derive" }, { do: "search" }]

const exampleHistories: Array<History> = [
  // A payment that is understood later than its ledger was committed.
  [0, 0, "watched", [...synced, { do: "garble", block: mined(4) }, { do: "understand" }, { do: "derive" }]],
  // A payment in a ledger that is yet to be recorded, far behind the server.
  [0, 0, "all", [...synced, { do: "fall behind", blocks: [mined(4), mined(0), mined(0), mined(0), mined(0)] }]],
  // Hundreds of addresses behind the last account that was not deleted.
  [0, 0, "watched", [...synced, mined(7), mined(7, "deleted"), { do: "derive" }, mined(12), { do: "balance" }]],
  // As many deleted accounts in a row as the gap of a wallet that was never synced.
  ...[0, 5].map((serverFirst): History => {
    const deleted = [0, 1, 2].flatMap((place) => [mined(place), mined(place, "deleted")])
    return [0, serverFirst, "watched", [...deleted, mined(3), { do: "balance" }]]
  })
]

const histories = fc.tuple(
  fc.nat(4),
  fc.constantFrom(0, 0, 3, 12),
  fc.constantFrom("all" as const, "watched" as const),
  fc.array(step, { minLength: 12, maxLength: 40 })
)

const examples = half("examples", exampleHistories)
compare("an XRP chain", import.meta.url, { counts, usual: ["derived"], examples, histories, run })
