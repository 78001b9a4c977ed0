/**
 * Random histories of an account chain with random moments of watching: what is answered is what an oracle reads off
 * the whole chain, from the block on that the answer names, or nothing is answered.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as EvmOperations from "@headwater/http/operations/evm/EvmOperations"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import type { PastSource } from "@headwater/indexer/families/SideSources"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as AddressSync from "@headwater/indexer/sync/AddressSync"
import * as UnusedProof from "@headwater/indexer/sync/UnusedProof"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { stores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../../../indexer/test/sync/FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const extendedPublicKey =
  "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
const branch = Result.getOrThrow(
  Result.flatMap(ExtendedPublicKey.decode(chain, extendedPublicKey), (key) =>
    Derivation.branch(chain, key, { derivation: "bip32", type: "receive" })
  )
)
const gapLimit = 3
/** The wallet's first addresses, of which the last ones are never used. */
const wallet = Derivation.derive(branch, 0, 3 + gapLimit).map((derived) => Result.getOrThrow(derived).bytes)
const used = wallet.slice(0, 3)
const stranger = new Uint8Array(20).fill(0x77) as Address.AddressBytes
const coin = new Uint8Array(20).fill(0xc0) as Address.AddressBytes
const collectible = new Uint8Array(20).fill(0xc1) as Address.AddressBytes

type Step =
  | { readonly do: "mine"; readonly transfers: ReadonlyArray<readonly [kind: number, side: number, amount: number]> }
  | { readonly do: "reorganise"; readonly depth: number }
  | { readonly do: "watch"; readonly which: number }
  | { readonly do: "unwatch"; readonly which: number }
  | { readonly do: "sync"; readonly which: number; readonly birth: number }
  | { readonly do: "watch all" | "read past" | "prove" | "untrace" | "ask" }

const mine = fc.record({
  do: fc.constant("mine" as const),
  transfers: fc.array(fc.tuple(fc.nat(3), fc.nat(7), fc.integer({ min: 1, max: 9 })), { maxLength: 3 })
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: mine },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("reorganise" as const), depth: fc.integer({ min: 1, max: 4 }) })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("watch" as const), which: fc.nat(wallet.length - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unwatch" as const), which: fc.nat(wallet.length - 1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("sync" as const), which: fc.nat(wallet.length - 1), birth: fc.nat(6) })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("read past" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("watch all" as const, "prove" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("ask" as const, "prove" as const, "ask" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("untrace" as const) }) }
)

const isOf = (address: Uint8Array, { from, to }: Transfer) =>
  (from !== undefined && Bytes.equal(from, address)) || (to !== undefined && Bytes.equal(to, address))

/** The chain as its node has it: every balance is what its transfers say. */
class World {
  readonly fake = new FakeChain(chain)
  readonly now = Math.floor(Date.now() / 1000) - 10_000

  constructor() {
    this.fake.blocks = [{ ...this.fake.tip, time: this.now }]
  }

  transfers<K extends Transfer["kind"]>(kind: K, upTo = this.fake.tip.height) {
    return this.fake.blocks
      .slice(0, upTo + 1)
      .flatMap(({ height, transfers }) =>
        transfers
          .filter((transfer): transfer is Extract<Transfer, { kind: K }> => transfer.kind === kind)
          .map((transfer) => ({ height, transfer }))
      )
  }

  #sum(address: Uint8Array, found: ReadonlyArray<{ readonly transfer: Transfer }>) {
    let [received, spent, sent] = [0n, 0n, 0]
    for (const { transfer } of found) {
      if (transfer.to !== undefined && Bytes.equal(transfer.to, address)) received += transfer.amount
      if (transfer.from !== undefined && Bytes.equal(transfer.from, address)) {
        spent += transfer.amount
        sent++
      }
    }
    return { received, spent, sent }
  }

  totals(address: Uint8Array, upTo?: number) {
    const coins = this.#sum(address, this.transfers("coin", upTo))
    const internals = this.#sum(address, this.transfers("internal", upTo))
    return { received: coins.received + internals.received, spent: coins.spent + internals.spent, nonce: coins.sent }
  }

  tokens(address: Uint8Array, contract: Uint8Array) {
    const moved = this.transfers("token").filter(({ transfer }) => Bytes.equal(transfer.contract, contract))
    const { received, spent } = this.#sum(address, moved)
    return received - spent
  }

  /** A block with these transfers, to and from addresses of the wallet; nobody spends more than there is. */
  mine(planned: Extract<Step, { do: "mine" }>["transfers"]) {
    const made = this.fake.mine([])
    this.fake.blocks.pop()
    const transfers: Array<Transfer> = []
    const block: Block = {
      ...made,
      time: this.now + made.height,
      transactions: planned.map((_, i) => Uint8Array.from([...made.hash.slice(0, 31), i])),
      transfers
    }
    this.fake.blocks.push(block)
    planned.forEach(([kind, side, size], transaction) => {
      const owner = used[side % used.length]!
      const out = side > 4
      const [from, to] = out ? [owner, stranger] : [stranger, owner]
      const amount = BigInt(size)
      const { received, spent } = this.totals(owner)
      if (kind === 0 && (!out || received - spent >= amount)) {
        transfers.push({ kind: "coin", transaction, position: 0, from, to, amount })
      } else if (kind === 1 && !out) {
        transfers.push({
          ...{ kind: "internal", transaction, operation: "call_0", operationType: "call", from, to, amount }
        })
      } else if (kind >= 2) {
        const contract = kind === 2 ? coin : collectible
        if (out && this.tokens(owner, contract) < amount) return
        transfers.push({
          ...{ kind: "token", transaction, position: transaction, batchIndex: 0, contract, from, to, amount },
          ...(kind === 2 ? { token: "fungible", tokenId: undefined } : { token: "multi", tokenId: 5n })
        })
      }
    })
  }

  /** What a node shows of past blocks; logs of a few of them at a time. */
  get past(): PastSource {
    return {
      tokenBlocks: (addresses, from, to) =>
        to - from >= 5
          ? Effect.fail(new NodeRejected({ node: "fake", method: "eth_getLogs", code: -32005, message: "too many" }))
          : Effect.succeed({
              hash: this.fake.blocks[to]!.hash,
              heights: [
                ...new Set(
                  this.transfers("token")
                    .filter(({ height }) => height >= from && height <= to)
                    .filter(({ transfer }) => addresses.some((address) => isOf(address, transfer)))
                    .map(({ height }) => height)
                )
              ]
            }),
      accountsAt: (address, heights) =>
        Effect.succeed(
          heights.map((height) => {
            const { nonce, received, spent } = this.totals(address, height)
            return { nonce, balance: received - spent, hasCode: false }
          })
        )
    }
  }

  get connection(): EvmConnection {
    const { source } = this.fake
    const known = (block: Uint8Array) => {
      const at = this.fake.blocks.find(({ hash }) => Bytes.equal(hash, block))
      return at === undefined
        ? Effect.fail(
            new NodeRejected({ node: "fake", method: "eth_getBalance", code: -32000, message: "unknown block" })
          )
        : Effect.succeed(at.height)
    }
    return {
      family: "evm",
      source: {
        ...source,
        tokenMetadata: (contracts) => Effect.succeed(contracts.map(() => ({ name: "T", symbol: "T", decimals: 0 })))
      },
      sideSources: {},
      // Nothing else is asked by these operations.
      evm: {
        accountsAt: (addresses: ReadonlyArray<Address.AddressBytes>, block: Uint8Array) =>
          Effect.map(known(block), (height) =>
            addresses.map((address) => {
              const { nonce, received, spent } = this.totals(address, height)
              return { balance: received - spent, nonce }
            })
          ),
        tokenBalancesAt: (
          holdings: ReadonlyArray<{ readonly contract: Uint8Array; readonly holder: Uint8Array }>,
          block: Uint8Array
        ) => Effect.map(known(block), () => holdings.map(({ contract, holder }) => this.tokens(holder, contract))),
        unusedAt: (addresses: ReadonlyArray<Address.AddressBytes>, { hash }: { readonly hash: Uint8Array }) =>
          Effect.map(known(hash), (height) =>
            addresses.map((address) => {
              const { nonce, received, spent } = this.totals(address, height)
              return nonce === 0 && received === spent
            })
          )
      } as unknown as EvmConnection["evm"]
    }
  }
}

type History = readonly [start: number, early: boolean, record: "all" | "watched", steps: ReadonlyArray<Step>]

const paid = (kind: number): Step => ({ do: "mine", transfers: [[kind, 0, 5]] })
const gap: ReadonlyArray<Step> = [{ do: "untrace" }, paid(1), { do: "untrace" }, paid(0)]

/** An internal transaction that is not recorded, of an address of which the history is known from block 0 on. */
const examples: Array<History> = [
  [0, true, "watched", [paid(0), ...gap, { do: "prove" }, { do: "ask" }]],
  [
    1,
    false,
    "all",
    [paid(0), ...gap, { do: "sync", which: 0, birth: 0 }, { do: "prove" }, { do: "read past" }, { do: "ask" }]
  ]
]

/** How many answers were given, and how many were refused. */
const counts = { tokens: 0, whole: 0, assets: 0, withTokens: 0, internals: 0, refused: 0 }

const run = (...[start, early, record, steps]: History) =>
  Effect.gen(function* () {
    const world = new World()
    const { fake } = world
    for (const step of steps.slice(0, start)) if (step.do === "mine") world.mine(step.transfers)
    const { connection } = world
    const nodes = yield* ConnectedNodes
    yield* nodes.connect(chain, connection)
    const store = yield* ChainStore.open(chain, { record, undoDepth: 100, gapLimit })
    const subscriptions = yield* Subscriptions
    const operations = yield* EvmOperations.make(chain, {
      ...{ record, gapLimit, internalTransactions: true, syncBlocks: 1_000 }
    })
    const { evmAssets, tokensTransfers } = operations
    const internalTransactions = operations.internalTransactions!
    const proof = yield* UnusedProof.make(connection.source, connection.evm.unusedAt, store, {
      pollInterval: 1 as never
    })
    const reading = yield* AddressSync.make(connection.source, world.past, store, {
      ...{ pollInterval: 1 as never, concurrency: 2 }
    })
    const { transaction } = yield* Database
    const watched = new Map<number, string>()
    const synced = new Map<number, boolean>()
    const first = fake.tip.height
    let traced = true

    const commit = Effect.gen(function* () {
      let at = yield* store.cursor
      while (
        at !== undefined &&
        (fake.blocks[at.height] === undefined || !Bytes.equal(fake.blocks[at.height]!.hash, at.hash!))
      ) {
        const stored: Uint8Array | undefined = yield* store.hashAt(at.height - 1)
        if (at.height <= first || stored === undefined) return false
        at = { height: at.height - 1, hash: stored }
      }
      const cursor = yield* store.cursor
      if (at !== undefined && cursor!.height > at.height) yield* store.undo(at.height)
      const next = fake.blocks
        .slice(at === undefined ? first : at.height + 1)
        .map(
          (block): Block =>
            traced
              ? block
              : { ...block, transfers: block.transfers.filter(({ kind }) => kind !== "internal"), untraced: true }
        )
      if (next.length > 0) yield* store.commit(next)
      return true
    })

    const watch = (which: number) =>
      Effect.gen(function* () {
        if (watched.has(which)) return
        const { referenceId } = yield* subscriptions.create({
          ...{ account: 1, chain, address: wallet[which]!, callbackUrl: "https://receiver.test/", secret: undefined },
          ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
        })
        watched.set(which, referenceId)
      })

    /** Syncs an address, or stops and begins again with that in turn. */
    const sync = (which: number, birth: number) =>
      Effect.gen(function* () {
        const key = { account: 1, chain, address: wallet[which]! }
        const before = synced.get(which)
        synced.set(which, !(before ?? false))
        const options = { birth, callbackUrl: undefined, readsPast: true, mostBlocks: 1_000 }
        if (before === undefined) yield* transaction(SyncedAddresses.add(key, options))
        else yield* transaction(SyncedAddresses.setActive(key, !before, options))
      })

    const page = {
      ...{ account: 1, limit: 1_000, after: undefined },
      sortingOrder: "ASCENDING" as const,
      paying: undefined as never
    }
    const heightsOf = (items: ReadonlyArray<{ readonly minedInBlock: { readonly height: number } }>, from: number) =>
      items.map(({ minedInBlock }) => minedInBlock.height).filter((height) => height >= from)

    const ask = Effect.gen(function* () {
      for (const address of wallet) {
        const text = Address.encode(chain, address)!
        const tokens = yield* Effect.exit(tokensTransfers({ ...page, address: text }))
        if (Exit.isSuccess(tokens)) {
          const { completeFrom = 0, items } = tokens.value
          const expected = world.transfers("token").filter(({ transfer }) => isOf(address, transfer))
          assert.deepStrictEqual(
            heightsOf(items, completeFrom),
            expected.map(({ height }) => height).filter((height) => height >= completeFrom)
          )
          counts.tokens++
          if (completeFrom === 0 && items.length > 0) counts.whole++
        } else counts.refused++
        const internals = yield* Effect.exit(internalTransactions({ ...page, address: text }))
        assert.isTrue(Exit.isSuccess(internals))
        if (Exit.isSuccess(internals)) {
          const { completeFrom = 0, items } = internals.value
          const expected = world.transfers("internal").filter(({ transfer }) => isOf(address, transfer))
          assert.deepStrictEqual(
            heightsOf(items, completeFrom),
            expected.map(({ height }) => height).filter((height) => height >= completeFrom)
          )
          if (items.length > 0) counts.internals++
        }
      }
      const assets = yield* Effect.exit(
        evmAssets({ account: 1, paying: undefined as never, extendedPublicKey, derivation: "bip32" })
      )
      if (!Exit.isSuccess(assets)) {
        counts.refused++
        return
      }
      counts.assets++
      const { completeFrom = 0, ...item } = assets.value
      const sum = (of: (address: Uint8Array) => bigint) => wallet.reduce((total, address) => total + of(address), 0n)
      const ether = (text: string) => BigInt(Math.round(Number(text) * 1e18))
      assert.strictEqual(
        ether(item.totalReceived),
        sum((address) => world.totals(address).received)
      )
      assert.strictEqual(
        ether(item.totalSpent),
        sum((address) => world.totals(address).spent)
      )
      const moved = (contract: Uint8Array) =>
        world
          .transfers("token")
          .some(
            ({ height, transfer }) =>
              height >= completeFrom &&
              Bytes.equal(transfer.contract, contract) &&
              wallet.some((address) => isOf(address, transfer))
          )
      const balance = sum((address) => world.tokens(address, coin))
      const listed = item.fungibleTokens[0]?.amount
      if (moved(coin) && balance > 0n) assert.strictEqual(listed, String(balance))
      else if (listed !== undefined) assert.strictEqual(listed, String(balance))
      if (completeFrom === 0 && wallet.some((address) => world.tokens(address, collectible) > 0n)) {
        assert.strictEqual(item.nonFungibleTokens.length, 1)
        counts.withTokens++
      }
    })

    if (early) for (const which of wallet.keys()) yield* watch(which)
    yield* commit
    for (const step of steps.slice(start)) {
      if (step.do === "mine") world.mine(step.transfers)
      else if (step.do === "reorganise") {
        const depth = Math.min(step.depth, fake.tip.height - first)
        fake.drop(depth)
        for (let i = 0; i <= depth; i++) world.mine(i === 0 ? [[0, 1, 3]] : [])
      } else if (step.do === "watch") yield* watch(step.which)
      else if (step.do === "watch all") for (const which of wallet.keys()) yield* watch(which)
      else if (step.do === "unwatch") {
        const referenceId = watched.get(step.which)
        if (referenceId !== undefined) yield* subscriptions.remove({ account: 1, chain, referenceId })
        watched.delete(step.which)
      } else if (step.do === "sync") yield* sync(step.which, step.birth)
      else if (step.do === "read past") yield* Effect.ignore(reading.step)
      else if (step.do === "prove") yield* Effect.ignore(proof.step)
      else if (step.do === "untrace") traced = !traced
      else yield* ask
      yield* commit
    }
    yield* Effect.ignore(proof.step)
    yield* ask
    yield* Effect.ignore(reading.step)
    yield* ask
    for (const which of wallet.keys()) if (synced.get(which) !== true) yield* sync(which, 0)
    yield* Effect.ignore(proof.step)
    yield* Effect.ignore(reading.step)
    yield* ask
  }).pipe(Effect.scoped)

/** HEADWATER_PROPERTY_RUNS makes it longer. */
const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 10)

for (const store of stores) {
  describe(`Answers of an account chain on ${store.name}`, () => {
    it.live(
      "differ in nothing from the whole chain, or are refused",
      () =>
        Effect.gen(function* () {
          for (const key of Object.keys(counts) as Array<keyof typeof counts>) counts[key] = 0
          const layer = Subscriptions.layer.pipe(
            Layer.provideMerge(store.layer),
            Layer.provideMerge(Layer.mergeAll(ConnectedNodes.layer, ChainStatus.layer))
          )
          const histories = fc.asyncProperty(
            fc.nat(4),
            fc.boolean(),
            fc.constantFrom("all" as const, "watched" as const),
            fc.array(step, { minLength: 12, maxLength: 40 }),
            (...history) => Effect.runPromise(run(...history).pipe(Effect.provide(layer)))
          )
          yield* Effect.promise(() =>
            fc.assert(histories, { numRuns: store.name === "sqlite" ? runs : Math.ceil(runs / 2), examples })
          )
          // A property that nothing is answered would hold as well. A few histories need not have every answer.
          const all = Object.entries(counts)
          if (runs >= 30) for (const [answer, count] of all) assert.isAbove(count, 0, answer)
          else assert.isTrue(all.some(([, count]) => count > 0))
        }),
      300_000
    )
  })
}
