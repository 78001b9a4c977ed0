/**
 * Random histories of the chains that share the operations of EVM chains, with random moments of watching: what is
 * answered is what an oracle reads off the whole chain, from the block on that the answer names, or nothing is answered.
 */
import { assert } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as EvmOperations from "@headwater/http/operations/evm/EvmOperations"
import type { ChainOperations } from "@headwater/http/operations/Operations"
import * as TronOperations from "@headwater/http/operations/tron/TronOperations"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import type { PastSource, UnusedAt } from "@headwater/indexer/families/SideSources"
import type { TronConnection } from "@headwater/indexer/families/tron/TronConnection"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as AddressSync from "@headwater/indexer/sync/AddressSync"
import * as UnusedProof from "@headwater/indexer/sync/UnusedProof"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { half } from "../../../../../test/Turn.ts"
import { commit, isOf, type Kind, RandomChain, skip, understand } from "../RandomChain.ts"
import { compare } from "../RandomHistories.ts"

const extendedPublicKey =
  "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
const gapLimit = 3
/** Indices that come into use, some of them behind the first gap: each once it is within the gap of one that was used. */
const places = [0, 1, 2, 4, 5]
const walletCount = places.at(-1)! + 1 + gapLimit
const stranger = new Uint8Array(20).fill(0x77) as Address.AddressBytes
const coin = new Uint8Array(20).fill(0xc0) as Address.AddressBytes
const collectible = new Uint8Array(20).fill(0xc1) as Address.AddressBytes

const kinds: ReadonlyArray<Kind> = ["coin", "token", "internal"]

/** What the node is asked when a block comes. */
type Call = "accounts" | "tokens"

type Step =
  | { readonly do: "mine"; readonly transfers: ReadonlyArray<readonly [kind: number, side: number, amount: number]> }
  | { readonly do: "reorganise"; readonly depth: number }
  | { readonly do: "watch"; readonly which: number; readonly account?: number }
  | { readonly do: "unwatch"; readonly which: number; readonly account?: number }
  | { readonly do: "sync"; readonly which: number; readonly birth: number }
  | { readonly do: "sync wallet"; readonly birth: number }
  | { readonly do: "watch all" | "read past" | "prove" | "untrace" | "ask" | "understand" }
  | { readonly do: "garble"; readonly block: Extract<Step, { do: "mine" }>; readonly lacks: ReadonlyArray<Kind> }
  | { readonly do: "ask meanwhile"; readonly block: Extract<Step, { do: "mine" }>; readonly call: Call }
  | { readonly do: "skip"; readonly blocks: ReadonlyArray<Extract<Step, { do: "mine" }>> }

const mine = fc.record({
  do: fc.constant("mine" as const),
  transfers: fc.array(fc.tuple(fc.nat(4), fc.nat(11), fc.integer({ min: 1, max: 9 })), { maxLength: 3 })
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: mine },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("reorganise" as const), depth: fc.integer({ min: 1, max: 6 }) })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constantFrom("watch" as const, "watch" as const, "unwatch" as const) },
      ...{ which: fc.nat(walletCount - 1), account: fc.constantFrom(1, 1, 2) }
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("sync" as const), which: fc.nat(walletCount - 1), birth: fc.nat(6) })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sync wallet" as const), birth: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("read past" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("watch all" as const, "prove" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("ask" as const, "prove" as const, "ask" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("untrace" as const, "understand" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ do: fc.constant("garble" as const), block: mine },
      lacks: fc.subarray([...kinds], { minLength: 1 })
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ do: fc.constant("ask meanwhile" as const), block: mine },
      call: fc.constantFrom("accounts" as const, "tokens" as const)
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("skip" as const), blocks: fc.array(mine, { minLength: 1, maxLength: 2 }) })
  }
)

/** The chain as its node has it: every balance is what its transfers say. */
class World extends RandomChain {
  readonly wallet: ReadonlyArray<Address.AddressBytes>
  /** How many blocks back the node has the states of accounts. */
  readonly keeps: number
  /** Happens once, when the node is asked this. */
  meanwhile: { readonly call: Call; readonly happens: Effect.Effect<void> } | undefined

  constructor(chain: Chain.Chain, wallet: ReadonlyArray<Address.AddressBytes>, keeps: number) {
    super(chain)
    this.wallet = wallet
    this.keeps = keeps
  }

  /** Fails where the node has forgotten the states of a block. */
  readonly stateAt = (height: number) =>
    height >= this.fake.tip.height - this.keeps
      ? Effect.succeed(height)
      : Effect.fail(
          new NodeRejected({ node: "fake", method: "eth_getBalance", code: -32000, message: "missing trie node" })
        )

  readonly asked = (call: Call) =>
    Effect.suspend(() => {
      if (this.meanwhile?.call !== call) return Effect.void
      const { happens } = this.meanwhile
      this.meanwhile = undefined
      return happens
    })

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

  tokens(address: Uint8Array, contract: Uint8Array, upTo?: number) {
    const moved = this.transfers("token", upTo).filter(({ transfer }) => Bytes.equal(transfer.contract, contract))
    const { received, spent } = this.#sum(address, moved)
    return received - spent
  }

  /** The addresses up to the last one that no gap of unused ones parts from the first, if tokens are known from a block on. */
  reached(tokensFrom: number, upTo?: number) {
    const moved = [
      ...this.transfers("coin", upTo),
      ...this.transfers("internal", upTo),
      ...this.transfers("token", upTo).filter(({ height }) => height >= tokensFrom)
    ]
    let end = 0
    for (let index = 0; index < Math.min(end + gapLimit, this.wallet.length); index++) {
      if (moved.some(({ transfer }) => isOf(this.wallet[index]!, transfer))) end = index + 1
    }
    return this.wallet.slice(0, end)
  }

  /** A block with these transfers, to and from addresses of the wallet; nobody spends more than there is. */
  mine(planned: Extract<Step, { do: "mine" }>["transfers"]) {
    const transfers = this.add(planned.length)
    planned.forEach(([kind, side, size], transaction) => {
      const index = places[side % places.length]!
      if (index >= this.reached(0).length + gapLimit) return
      const owner = this.wallet[index]!
      const out = side > 7
      const [from, to] = out ? [owner, stranger] : [stranger, owner]
      const amount = BigInt(size)
      const { received, spent } = this.totals(owner)
      if (kind === 4) {
        if (received - spent < amount) return
        transfers.push({ kind: "coin", transaction, position: 0, from: owner, to: owner, amount })
      } else if (kind === 0 && (!out || received - spent >= amount)) {
        transfers.push({ kind: "coin", transaction, position: 0, from, to, amount })
      } else if (kind === 1 && !out) {
        transfers.push({
          ...{ kind: "internal", transaction, operation: "call_0", operationType: "call", from, to, amount }
        })
      } else if (kind === 2 || kind === 3) {
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
        Effect.forEach(heights, (height) =>
          Effect.map(this.stateAt(height), () => {
            const { nonce, received, spent } = this.totals(address, height)
            return { nonce, balance: received - spent, hasCode: false }
          })
        )
    }
  }

  get source() {
    const { source } = this.fake
    return {
      ...source,
      blockAt: (height: number) => Effect.map(source.blockAt(height), (block) => this.shown(block)),
      tokenMetadata: (contracts: ReadonlyArray<Uint8Array>) =>
        Effect.succeed(contracts.map(() => ({ name: "T", symbol: "T", decimals: 0 })))
    }
  }

  heightOf(block: Uint8Array) {
    const at = this.fake.blocks.find(({ hash }) => Bytes.equal(hash, block))
    return at === undefined
      ? Effect.fail(
          new NodeRejected({ node: "fake", method: "eth_getBalance", code: -32000, message: "unknown block" })
        )
      : Effect.succeed(at.height)
  }
}

type Addresses = ReadonlyArray<Address.AddressBytes>
type Holdings = ReadonlyArray<{ readonly contract: Uint8Array; readonly holder: Uint8Array }>

/** A node that knows the state after each block. */
const evm = (world: World): EvmConnection & { readonly unusedAt: UnusedAt } => {
  const unusedAt: UnusedAt = (addresses, { hash }) =>
    Effect.map(Effect.flatMap(world.heightOf(hash), world.stateAt), (height) =>
      addresses.map((address) => {
        const { nonce, received, spent } = world.totals(address, height)
        return nonce === 0 && received === spent
      })
    )
  return {
    ...{ family: "evm", source: world.source, sideSources: {}, unusedAt },
    // Nothing else is asked by these operations.
    evm: {
      accountsAt: (addresses: Addresses, block: Uint8Array) =>
        Effect.map(Effect.andThen(world.asked("accounts"), world.heightOf(block)), (height) =>
          addresses.map((address) => {
            const { nonce, received, spent } = world.totals(address, height)
            return { balance: received - spent, nonce }
          })
        ),
      tokenBalancesAt: (holdings: Holdings, block: Uint8Array) =>
        Effect.map(Effect.andThen(world.asked("tokens"), world.heightOf(block)), (height) =>
          holdings.map(({ contract, holder }) => world.tokens(holder, contract, height))
        )
    } as unknown as EvmConnection["evm"],
    explorer: {} as EvmConnection["explorer"],
    feeFault: () => undefined
  }
}

/** A node that knows the state after its newest block alone, and since when there is an account. */
const tron = (world: World): TronConnection & { readonly unusedAt: UnusedAt } => {
  const created = (address: Uint8Array) =>
    [...world.transfers("coin"), ...world.transfers("internal")]
      .filter(({ transfer }) => isOf(address, transfer))
      .map(({ height }) => height)
      .sort((a, b) => a - b)[0]
  const unusedAt: UnusedAt = (addresses, { hash }) =>
    Effect.map(world.heightOf(hash), (height) => addresses.map((address) => (created(address) ?? Infinity) > height))
  return {
    ...{ family: "tron", sideSources: {}, unusedAt },
    // Nothing else is asked by these operations.
    explorer: {} as TronConnection["explorer"],
    source: {
      ...world.source,
      balances: (addresses: Addresses) =>
        Effect.andThen(world.asked("accounts"), () =>
          Effect.succeed(
            addresses.map((address) => {
              const { received, spent } = world.totals(address)
              return created(address) === undefined ? undefined : received - spent
            })
          )
        ),
      tokenBalances: (holdings: Holdings) =>
        Effect.andThen(world.asked("tokens"), () =>
          Effect.succeed(holdings.map(({ contract, holder }) => world.tokens(holder, contract)))
        )
    } as unknown as TronConnection["source"]
  }
}

/** The families, and whether their nodes show the past of an address. */
const families = [
  {
    chain: Result.getOrThrow(Chain.find("ethereum", "devnet")),
    make: EvmOperations.make,
    connect: evm,
    readsPast: true
  },
  { chain: Result.getOrThrow(Chain.find("tron", "nile")), make: TronOperations.make, connect: tron, readsPast: false }
].map((family) => {
  const branch = Result.getOrThrow(
    Result.flatMap(ExtendedPublicKey.decode(family.chain, extendedPublicKey), (key) =>
      Derivation.branch(family.chain, key, { derivation: "bip32", type: "receive" })
    )
  )
  const wallet = Derivation.derive(branch, 0, walletCount).map((derived) => Result.getOrThrow(derived).bytes)
  return { ...family, wallet }
})
type Family = (typeof families)[number]

type History = readonly [
  start: number,
  early: boolean,
  record: "all" | "watched",
  steps: ReadonlyArray<Step>,
  keeps?: number | undefined
]

const paid = (kind: number): Step => ({ do: "mine", transfers: [[kind, 0, 5]] })
const gap: ReadonlyArray<Step> = [{ do: "untrace" }, paid(1), { do: "untrace" }, paid(0)]

const askMeanwhile = (kind: number, call: Call): Step => ({
  ...{ do: "ask meanwhile", call },
  block: { do: "mine", transfers: [[kind, 0, 5]] }
})

/**
 * Payments that come while a wallet is read; and an internal transaction that is not recorded, of an address of which the
 * history is known from block 0 on.
 */
const exampleHistories: Array<History> = [
  [0, true, "watched", [paid(0), paid(2), { do: "prove" }, askMeanwhile(0, "accounts"), askMeanwhile(2, "tokens")]],
  [0, true, "watched", [paid(0), ...gap, { do: "prove" }, { do: "ask" }]],
  [
    1,
    false,
    "all",
    [paid(0), ...gap, { do: "sync", which: 0, birth: 0 }, { do: "prove" }, { do: "read past" }, { do: "ask" }]
  ],
  // As many addresses as the gap has, of which each had tokens alone before the record began, and coins behind them.
  ...([true, false] as const).map(
    (isSynced): History => [
      ...([4, false, "all"] as const),
      [
        ...[0, 1, 2].map((side): Step => ({ do: "mine", transfers: [[2, side, 5]] })),
        { do: "mine", transfers: [[0, 3, 7]] },
        ...(isSynced ? [{ do: "sync wallet", birth: 0 } as const] : []),
        { do: "prove" },
        { do: "read past" },
        { do: "ask" }
      ]
    ]
  ),
  // An address with tokens alone, in a block that is skipped, beside one whose tokens of the same contract are known.
  [
    ...([0, false, "all"] as const),
    [
      { do: "mine", transfers: [[2, 1, 1]] },
      { do: "sync wallet", birth: 0 },
      { do: "skip", blocks: [{ do: "mine", transfers: [[2, 0, 1]] }] },
      { do: "ask" }
    ]
  ],
  // A collectible that leaves in a block that is skipped.
  [
    ...([0, false, "all"] as const),
    [
      { do: "sync wallet", birth: 0 },
      { do: "mine", transfers: [[3, 0, 1]] },
      { do: "skip", blocks: [{ do: "mine", transfers: [[3, 10, 1]] }] },
      { do: "ask" }
    ]
  ]
]

/** How many answers were compared, some of them by what they have, and how many were refused. */
const counts = { tokens: 0, whole: 0, assets: 0, meanwhile: 0, withTokens: 0, ofSynced: 0, internals: 0, refused: 0 }

/** The documented refusals of answers that rest on the record. */
const refusals = [
  ...["address_not_synced", "sync_address_not_active", "unimplemented"],
  ...["xpub_not_synced", "xpub_sync_in_progress"]
]
const refusalOf = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Result.getOrThrow(Exit.findError(exit))
  return (error as { readonly _tag: string })._tag
}

type Assets = Effect.Success<ReturnType<NonNullable<ChainOperations["evmAssets"]>>>

/** Where the answer is not what the chain says after a block of the wallet, whose last used address is the one before `end`. */
const differences = (world: World, answer: Assets, end: number, upTo: number) => {
  const { completeFrom = 0, ...item } = answer
  const wallet = world.wallet.slice(0, end + gapLimit)
  const { decimals } = world.fake.chain
  const sum = (of: (address: Uint8Array) => bigint) => wallet.reduce((total, address) => total + of(address), 0n)
  const found: Array<string> = []
  const compare = (what: string, told: string | undefined, is: bigint | string) => {
    if (told !== String(is)) found.push(`${what} is ${is}, told ${told}`)
  }
  const received = sum((address) => world.totals(address, upTo).received)
  const spent = sum((address) => world.totals(address, upTo).spent)
  compare("received", item.totalReceived, Amount.format(received, decimals))
  compare("spent", item.totalSpent, Amount.format(spent, decimals))
  compare("balance", item.confirmedBalance, Amount.format(received - spent, decimals))
  const hasMoved = world
    .transfers("token", upTo)
    .some(
      ({ height, transfer }) =>
        height >= completeFrom &&
        Bytes.equal(transfer.contract, coin) &&
        wallet.some((address) => isOf(address, transfer))
    )
  const balance = sum((address) => world.tokens(address, coin, upTo))
  const listed = item.fungibleTokens[0]?.amount
  if ((hasMoved && balance > 0n) || listed !== undefined) compare("token", listed, balance)
  // What came before the tokens of every address are known may be left out, and nothing is told that is not there.
  if (completeFrom === 0 || item.nonFungibleTokens.length > 0) {
    const has = wallet.some((address) => world.tokens(address, collectible, upTo) > 0n)
    compare("collectibles", String(item.nonFungibleTokens.length), String(Number(has)))
  }
  return found
}

const run = ({ chain, connect, make, readsPast, wallet }: Family, [start, early, record, steps, keeps]: History) =>
  Effect.gen(function* () {
    const world = new World(chain, wallet, keeps ?? Number.POSITIVE_INFINITY)
    const { fake } = world
    for (const step of steps.slice(0, start)) if (step.do === "mine") world.mine(step.transfers)
    const connection = connect(world)
    const nodes = yield* ConnectedNodes
    yield* nodes.connect(chain, connection)
    const store = yield* ChainStore.open(chain, { record, undoDepth: 100, gapLimit })
    const subscriptions = yield* Subscriptions
    const operations = yield* make(chain, {
      ...{ record, gapLimit, internalTransactions: true, syncBlocks: 1_000, reservationSeconds: 600 }
    })
    const { evmAssets, syncWallet, tokensTransfers } = operations
    const internalTransactions = operations.internalTransactions!
    const proof = yield* UnusedProof.make(connection.source, connection.unusedAt, store, {
      pollInterval: 1 as never
    })
    const past = yield* AddressSync.make(connection.source, world.past, store, {
      ...{ pollInterval: 1 as never, concurrency: 2 }
    })
    const readPast = readsPast ? Effect.ignore(past.step) : Effect.void
    const { transaction } = yield* Database
    const watched = new Map<string, string>()
    const synced = new Map<number, boolean>()
    const services = yield* Effect.context<Database>()
    world.begin()

    const watch = (which: number, account = 1) =>
      Effect.gen(function* () {
        if (watched.has(`${account} ${which}`)) return
        const { referenceId } = yield* subscriptions.create({
          ...{ account, chain, address: wallet[which]!, callbackUrl: "https://receiver.test/", secret: undefined },
          ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
        })
        watched.set(`${account} ${which}`, referenceId)
      })

    /** Syncs an address, or stops and begins again with that in turn. */
    const sync = (which: number, birth: number) =>
      Effect.gen(function* () {
        const key = { account: 1, chain, address: wallet[which]! }
        const before = synced.get(which)
        synced.set(which, !(before ?? false))
        const options = { birth: readsPast ? birth : undefined, callbackUrl: undefined, readsPast, mostBlocks: 1_000 }
        if (before === undefined) yield* transaction(SyncedAddresses.add(key, options))
        else yield* transaction(SyncedAddresses.setActive(key, !before, options))
      })

    let isWalletSynced = false
    const wholeWallet = { account: 1, extendedPublicKey, derivation: "bip32" } as const
    const paying = ((change: Effect.Effect<unknown>) => change) as never
    const syncAll = (birthHeight?: number) =>
      Effect.gen(function* () {
        if (isWalletSynced) return
        const birth = readsPast && birthHeight !== undefined ? { birthHeight } : {}
        yield* syncWallet!({ ...wholeWallet, ...birth, paying })
        isWalletSynced = true
      })

    const page = {
      ...{ account: 1, limit: 1_000, after: undefined },
      sortingOrder: "ASCENDING" as const,
      paying: undefined as never
    }
    const heightsOf = (items: ReadonlyArray<{ readonly minedInBlock: { readonly height: number } }>, from: number) =>
      items.map(({ minedInBlock }) => minedInBlock.height).filter((height) => height >= from)

    const askLists = Effect.gen(function* () {
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
        } else {
          counts.refused++
          assert.include(refusals, refusalOf(tokens))
        }
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
    })

    const askAssets = Effect.fnUntraced(function* (meanwhile?: World["meanwhile"]) {
      const before = fake.tip.height
      world.meanwhile = meanwhile
      const assets = yield* Effect.exit(evmAssets({ ...wholeWallet, paying: undefined as never }))
      world.meanwhile = undefined
      if (!Exit.isSuccess(assets)) {
        counts.refused++
        assert.include(refusals, refusalOf(assets))
        return
      }
      counts.assets++
      if (fake.tip.height > before) counts.meanwhile++
      // What came while it was read is in the answer, or nothing of it is.
      const moments = fake.tip.height > before ? [before, fake.tip.height] : [before]
      // Who syncs a wallet says from where on its past counts, and what came before may be known as well. No other wallet
      // ends before its last address.
      const firsts = isWalletSynced ? Array.from({ length: (assets.value.completeFrom ?? 0) + 1 }, (_, i) => i) : [0]
      const wrong = moments.flatMap((upTo) =>
        [...new Set(firsts.map((from) => world.reached(from, upTo).length))].map((end) =>
          differences(world, assets.value, end, upTo)
        )
      )
      assert.isTrue(
        wrong.some((all) => all.length === 0),
        wrong.join(" | ")
      )
      const { completeFrom = 0 } = assets.value
      if (completeFrom === 0 && assets.value.nonFungibleTokens.length > 0) counts.withTokens++
      if (isWalletSynced) counts.ofSynced++
    })

    const ask = (meanwhile?: World["meanwhile"]) => Effect.andThen(askLists, () => askAssets(meanwhile))

    if (early) for (const which of wallet.keys()) yield* watch(which)
    yield* commit(world, store)
    for (const step of steps.slice(start)) {
      if (step.do === "mine") world.mine(step.transfers)
      else if (step.do === "reorganise") {
        const depth = Math.min(step.depth, fake.tip.height - world.first)
        fake.drop(depth)
        for (let i = 0; i <= depth; i++) world.mine(i === 0 ? [[0, 1, 3]] : [])
      } else if (step.do === "watch") yield* watch(step.which, step.account)
      else if (step.do === "watch all") for (const which of wallet.keys()) yield* watch(which)
      else if (step.do === "unwatch") {
        const { account = 1, which } = step
        const referenceId = watched.get(`${account} ${which}`)
        if (referenceId !== undefined) yield* subscriptions.remove({ account, chain, referenceId })
        watched.delete(`${account} ${which}`)
      } else if (step.do === "sync") yield* sync(step.which, step.birth)
      else if (step.do === "sync wallet") yield* syncAll(step.birth)
      else if (step.do === "read past") yield* readPast
      else if (step.do === "prove") yield* Effect.ignore(proof.step)
      else if (step.do === "untrace") world.traced = !world.traced
      else if (step.do === "garble") {
        world.mine(step.block.transfers)
        world.garble(step.lacks)
      } else if (step.do === "skip") {
        for (const { transfers } of step.blocks) world.mine(transfers)
        yield* skip(world, store)
      } else if (step.do === "understand") yield* understand(world, store)
      else if (step.do === "ask meanwhile") {
        const happens = Effect.suspend(() => {
          world.mine(step.block.transfers)
          return Effect.orDie(commit(world, store))
        }).pipe(Effect.provideContext(services))
        yield* ask({ call: step.call, happens })
      } else yield* ask()
      yield* commit(world, store)
    }
    yield* Effect.ignore(proof.step)
    yield* ask()
    yield* readPast
    yield* ask()
    for (const which of wallet.keys()) if (synced.get(which) !== true) yield* sync(which, 0)
    yield* Effect.ignore(proof.step)
    yield* readPast
    yield* ask()
    yield* syncAll()
    // Each reading of the wallet may come to further addresses.
    for (let i = 0; i < 3; i++) {
      yield* Effect.ignore(proof.step)
      yield* readPast
      yield* askAssets()
    }
  }).pipe(Effect.scoped)

const histories = fc.tuple(
  fc.nat(4),
  fc.boolean(),
  fc.constantFrom("all" as const, "watched" as const),
  fc.array(step, { minLength: 12, maxLength: 40 }),
  fc.constantFrom(undefined, undefined, 3)
)

const examples = half("examples", exampleHistories, 2)
const usual = Object.keys(counts) as Array<keyof typeof counts>
for (const family of half("families", families)) {
  const compared = { counts, usual, examples, histories, run: (history: History) => run(family, history) }
  compare(`an account chain (${family.chain.family})`, import.meta.url, compared)
}
