/**
 * Random wallets paying each other on a real node: blocks, reorganisations, replaced and evicted transactions. What
 * Headwater tells and counts is what an oracle reads off the node, and what the node says of the wallets.
 */
import { assert } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as MempoolWatch from "@headwater/indexer/sync/MempoolWatch"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { Rpc } from "./NodeRpc.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { stores } from "./Stores.ts"

/** A wallet that pays, of a key that Headwater is told. */
export interface PayingWallet {
  readonly name: string
  readonly extendedPublicKey: string
  /** Receiving and change addresses by index, as its node derives them. */
  readonly addresses: readonly [ReadonlyArray<string>, ReadonlyArray<string>]
  /** The next unused receiving address. */
  readonly next: () => string
  /** The id of a payment that now waits; undefined where it has nothing left to pay with. */
  readonly pay: (to: string, amount: number) => Effect.Effect<string | undefined>
  /** Whether a waiting payment was replaced by one that pays a higher fee. */
  readonly replace: (id: string) => Effect.Effect<boolean>
  /** Signs a raw transaction that spends its coins. */
  readonly sign: (raw: string) => Effect.Effect<string>
  /** What it has, mined, by its node's word, in satoshis. Called when nothing of it waits. */
  readonly balance: Effect.Effect<bigint>
}

/** A node with money of its own. */
export interface PayingNode {
  readonly chain: Chain
  readonly url: string
  readonly rpc: Rpc
  /** What makes `getblock` show decoded transactions. */
  readonly decoded: ReadonlyArray<number | boolean>
  /** Whether it can tell which coins a wallet has already: where not, a wallet is whole only if synced before block 0. */
  readonly findsCoins: boolean
  /** Makes a wallet; `seed` is any number. */
  readonly wallet: (name: string, seed: number) => Effect.Effect<PayingWallet>
  readonly fund: (address: string, amount: number) => Effect.Effect<unknown>
  readonly mine: (blocks: number) => Effect.Effect<unknown>
  /** Mines a block of this transaction only. */
  readonly mineOnly: (hex: string) => Effect.Effect<unknown>
  /** Leaves its newest blocks for a chain that is one longer; what they held may wait again `meanwhile`. */
  readonly fork: (depth: number, meanwhile: Effect.Effect<void>) => Effect.Effect<unknown>
}

interface Transaction {
  readonly txid: string
  readonly vin: ReadonlyArray<{ readonly txid?: string; readonly vout: number }>
  readonly vout: ReadonlyArray<{
    readonly value: number
    readonly scriptPubKey: { readonly addresses?: ReadonlyArray<string> }
  }>
}

const alone: InTransaction<never, never> = (change) => change

export const satoshis = (value: number) => BigInt(Math.round(value * 1e8))
const coins = (amount: bigint) => Amount.format(amount, 8)

/** What a transaction moves for some addresses, read with calls that Headwater does not use for it. */
const movements = (node: PayingNode, concerns: ReadonlySet<string>) => {
  const cache = new Map<string, Transaction>()
  const get = Effect.fnUntraced(function* (id: string) {
    const known = cache.get(id) ?? (yield* node.rpc<Transaction>("getrawtransaction", id, true))
    cache.set(id, known)
    return known
  })
  return Effect.fnUntraced(function* (transaction: Transaction) {
    cache.set(transaction.txid, transaction)
    const sums = new Map<string, bigint>()
    const add = ({ scriptPubKey, value }: Transaction["vout"][number], sign: bigint) => {
      const address = scriptPubKey.addresses?.[0]
      if (address === undefined || !concerns.has(address)) return
      sums.set(address, (sums.get(address) ?? 0n) + sign * satoshis(value))
    }
    for (const { txid, vout } of transaction.vin) {
      if (txid !== undefined) add((yield* get(txid)).vout[vout]!, -1n)
    }
    for (const output of transaction.vout) add(output, 1n)
    return [...sums].map(
      ([address, sum]) =>
        `${address} ${transaction.txid} ${sum > 0n ? "incoming" : "outgoing"} ${coins(sum < 0n ? -sum : sum)}`
    )
  })
}

/** Headwater on one store, a step at a time. */
const indexer = Effect.fnUntraced(function* ({ chain, url }: PayingNode, record: RecordingMode) {
  const rpc = yield* JsonRpc.make({ urls: [url] })
  const source = yield* UtxoSource.make(chain, rpc)
  const store = yield* ChainStore.open(chain, { record, undoDepth: 100 })
  const options = { pollInterval: Duration.millis(10), gapLimit: 20 }
  const follow = yield* Follow.make(source, store, { ...options, start: 0, concurrency: 4, undoDepth: 100 })
  const mempool = yield* MempoolWatch.make(chain, source.mempool, options)
  const sync = yield* CoinSync.make(source, source.search, store, { ...options, lookAhead: 100 })
  const database = yield* Database
  const subscriptions = yield* Subscriptions
  const wallets = yield* Wallets
  const walletOf = (account: number, { extendedPublicKey }: PayingWallet) =>
    Result.getOrThrow(keyOf(account, chain, extendedPublicKey, "account"))
  return {
    follow: follow.step,
    mempool: mempool.step,
    sync: sync.step,
    synced: (account: number, wallet: PayingWallet) =>
      wallets.deriveAndSync(walletOf(account, wallet), options.gapLimit, alone),
    balance: (account: number, wallet: PayingWallet) =>
      Effect.map(wallets.get(walletOf(account, wallet)), (found) => found!.balance),
    record,
    subscribe: (address: AddressBytes, event: Parameters<typeof subscriptions.create>[0]["event"]) =>
      subscriptions.create({
        ...{ account: 1, chain, event, address, callbackUrl: "https://receiver.test/" },
        ...{ secret: undefined, confirmations: 1, allowDuplicates: false }
      }),
    /** What each event name was told, as {@link movements} writes it; of mined ones what stands. */
    told: (event: string) =>
      Effect.map(
        database.query((db) =>
          db.selectFrom("callback").select(["body", "state"]).where("event", "=", event).orderBy("id")
        ),
        (rows) =>
          rows.map(({ body, state }) => {
            assert.strictEqual(state, "due")
            const { address, amount, direction, transactionId } = JSON.parse(body).data.item
            return `${address} ${transactionId} ${direction} ${amount}`
          })
      )
  }
})

/** Lets three wallets of the node pay each other for as many rounds, and checks what Headwater makes of it. */
export const agrees = Effect.fnUntraced(function* (node: PayingNode, rounds: number, seed: number) {
  const random = SeededRandom.integers(seed)
  const alice = yield* node.wallet("alice", seed % 1_000_000)
  const bob = yield* node.wallet("bob", (seed % 1_000_000) + 1)
  const carol = yield* node.wallet("carol", (seed % 1_000_000) + 2)
  const hd = [alice, bob, carol]
  const headwaters = yield* Effect.forEach(stores, (store, i) =>
    Effect.flatMap(
      Layer.build(
        Layer.mergeAll(Subscriptions.layer, Wallets.layer, ChainStatus.layer).pipe(Layer.provideMerge(store.layer))
      ),
      (context) => Effect.provideContext(indexer(node, i === 0 ? "watched" : "all"), context)
    )
  )
  const each = (run: (headwater: (typeof headwaters)[number]) => Effect.Effect<unknown, unknown>) =>
    Effect.forEach(headwaters, (headwater) => Effect.orDie(run(headwater)), { discard: true })

  const whole: Array<readonly [account: number, wallet: PayingWallet]> = []
  const enter = Effect.fnUntraced(function* (account: number, wallet: PayingWallet) {
    yield* each(({ synced }) => synced(account, wallet))
    whole.push([account, wallet])
  })
  // The same wallet of somebody else is one, too.
  const first = [1, alice] as const
  const second = [1, bob] as const
  const third = [2, alice] as const
  const last = [1, carol] as const
  // Nobody had coins before the chain's first block.
  if (!node.findsCoins) for (const [account, wallet] of [first, second, third, last]) yield* enter(account, wallet)
  yield* each(({ follow }) => follow)
  if (node.findsCoins) yield* enter(...first)
  const begin = yield* node.rpc<number>("getblockcount")

  // Addresses that will be used often, and change.
  const watched = hd.flatMap(({ addresses: [receive, change] }) => [...receive.slice(0, 12), ...change.slice(0, 12)])
  const concerns = new Set(watched)
  for (const text of watched) {
    const address = Result.getOrThrow(Address.decode(node.chain, text))
    yield* each(({ subscribe }) => subscribe(address, "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"))
    yield* each(({ subscribe }) => subscribe(address, "ADDRESS_COINS_TRANSACTION_CONFIRMED"))
  }
  // Only now: where a node shows no prevouts, a coin from before its subscription is not known when it is spent.
  for (const wallet of hd) {
    for (let i = 0; i < 5; i++) yield* node.fund(wallet.next(), 2)
  }
  yield* node.mine(1)
  const moved = movements(node, concerns)

  const unconfirmed = new Set<string>()
  let seen = new Set<string>()
  /** All look at the mempool at the same moment: what comes and goes between two looks nobody sees. */
  const look = Effect.gen(function* () {
    const ids = yield* node.rpc<ReadonlyArray<string>>("getrawmempool")
    for (const id of ids) {
      if (seen.has(id)) continue
      for (const event of yield* moved(yield* node.rpc<Transaction>("getrawtransaction", id, true))) {
        unconfirmed.add(event)
      }
    }
    seen = new Set(ids)
    yield* each(({ mempool }) => mempool)
  })

  const counts = { balances: 0, payments: 0, replaced: 0, evicted: 0, forks: [] as Array<number> }
  const pay = Effect.gen(function* () {
    const from = hd[random(3)]!
    const to = hd[random(3)]!
    // Old addresses are used again, too.
    const address = random(3) === 0 ? to.addresses[0][random(12)]! : to.next()
    const id = yield* from.pay(address, (1_000 + random(20_000_000)) / 1e8)
    if (id !== undefined) counts.payments++
    return id === undefined ? undefined : { from, id }
  })
  /** Mines what spends the same coin as a waiting transaction, which thereby leaves the mempool. */
  const evict = Effect.fnUntraced(function* ({ from, id }: { from: PayingWallet; id: string }) {
    const { vin } = yield* node.rpc<Transaction>("getrawtransaction", id, true)
    const [input] = vin
    const parent = yield* node.rpc<Transaction & { readonly confirmations?: number }>(
      ...(["getrawtransaction", input!.txid, true] as const)
    )
    if ((parent.confirmations ?? 0) < 1) return
    const value = parent.vout[input!.vout]!.value - 0.001
    if (value <= 0) return
    const raw = yield* node.rpc<string>("createrawtransaction", [{ txid: input!.txid, vout: input!.vout }], {
      [hd[random(3)]!.next()]: Number(value.toFixed(8))
    })
    yield* node.mineOnly(yield* from.sign(raw))
    const left = yield* node.rpc<ReadonlyArray<string>>("getrawmempool")
    assert.notInclude(left, id)
    counts.evicted++
  })

  const check = Effect.fnUntraced(function* (account: number, wallet: PayingWallet) {
    const own = yield* wallet.balance
    yield* each((headwater) =>
      Effect.map(headwater.balance(account, wallet), (balance) => {
        if (balance !== undefined) counts.balances++
        // Nobody can say what an address had before the gap came near it.
        else assert.isTrue(!node.findsCoins && headwater.record === "watched", `${wallet.name} has no balance`)
        assert.strictEqual(balance ?? own, own, wallet.name)
      })
    )
  })

  for (let round = 1; round <= rounds; round++) {
    for (let i = random(3); i > 0; i--) {
      const sent = yield* pay
      if (random(3) === 0) yield* look
      if (sent === undefined) continue
      const fate = random(12)
      if (fate === 0) counts.replaced += (yield* sent.from.replace(sent.id)) ? 1 : 0
      else if (fate === 1) yield* evict(sent)
    }
    yield* look
    yield* node.mine(1)
    const depth = round % 97 === 0 ? 20 : round % 23 === 0 ? 6 : round % 11 === 0 ? 1 : 0
    if (depth > 0) {
      yield* each(({ follow }) => follow)
      yield* node.fork(depth, look)
      counts.forks.push(depth)
    }
    if (random(3) > 0) yield* each(({ follow }) => follow)
    if (random(4) === 0) yield* each(({ follow, sync }) => Effect.andThen(follow, sync))
    if (round === Math.floor(rounds / 3) && node.findsCoins) {
      yield* each(({ follow }) => follow)
      yield* enter(...second)
      yield* enter(...third)
    }
    if (round % 50 === 0) {
      yield* node.mine(1)
      yield* each(({ follow, sync }) => Effect.andThen(follow, sync))
      for (const [account, wallet] of whole) yield* check(account, wallet)
    }
  }
  yield* look
  // What the node has put back into its mempool after a fork and nobody has mined since.
  yield* node.mine(2)
  assert.deepStrictEqual(yield* node.rpc("getrawmempool"), [])
  yield* each(({ follow, sync }) => Effect.andThen(follow, sync))
  if (node.findsCoins) yield* enter(...last)
  yield* each(({ sync }) => sync)
  for (const [account, wallet] of whole) yield* check(account, wallet)

  const confirmed: Array<string> = []
  const tip = yield* node.rpc<number>("getblockcount")
  for (let height = begin + 1; height <= tip; height++) {
    const block = yield* node.rpc<{ readonly tx: ReadonlyArray<Transaction> }>(
      ...(["getblock", yield* node.rpc<string>("getblockhash", height), ...node.decoded] as const)
    )
    for (const transaction of block.tx) confirmed.push(...(yield* moved(transaction)))
  }
  yield* each(
    Effect.fnUntraced(function* ({ told }) {
      const mined = yield* told("ADDRESS_COINS_TRANSACTION_CONFIRMED")
      assert.deepStrictEqual([...mined].sort(), [...confirmed].sort())
      const waiting = yield* told("ADDRESS_COINS_TRANSACTION_UNCONFIRMED")
      assert.deepStrictEqual([...waiting].sort(), [...unconfirmed].sort())
    })
  )
  assert.isAbove(counts.balances, 0)
  assert.isAbove(confirmed.length, rounds / 2)
  assert.isAbove(unconfirmed.size, rounds / 2)
  if (rounds >= 300) {
    assert.isAbove(counts.replaced, 0)
    assert.isAbove(counts.evicted, 0)
    assert.includeMembers(counts.forks, [1, 6, 20])
  }
  console.log(
    `${counts.payments} payments, ${counts.replaced} replaced, ${counts.evicted} evicted, ${counts.forks.length} forks; compared on ${headwaters.length} stores: ` +
      `${confirmed.length * headwaters.length} confirmed UTXO callbacks, 0 wrong; ` +
      `${unconfirmed.size * headwaters.length} unconfirmed, 0 wrong; ${counts.balances} balances, 0 wrong`
  )
})
