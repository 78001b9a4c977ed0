/**
 * Random wallets paying each other on a real node: blocks, reorganisations, replaced and evicted transactions. What
 * Headwater tells and counts is what an oracle reads off the node, and what the node's own wallets say.
 */
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/Address"
import * as Address from "@headwater/core/Address"
import * as Amount from "@headwater/core/Amount"
import * as JsonRpc from "@headwater/indexer/sources/JsonRpc"
import * as UtxoSource from "@headwater/indexer/sources/UtxoSource"
import * as ChainStore from "@headwater/indexer/store/ChainStore"
import { Database } from "@headwater/indexer/store/Database"
import { Subscriptions } from "@headwater/indexer/store/Subscriptions"
import { keyOf, Wallets, type Within } from "@headwater/indexer/store/Wallets"
import { ChainStatus } from "@headwater/indexer/sync/ChainStatus"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as MempoolWatch from "@headwater/indexer/sync/MempoolWatch"
import * as WalletSync from "@headwater/indexer/sync/WalletSync"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as HdWallet from "./HdWallet.ts"
import * as Litecoind from "./Litecoind.ts"
import { stores } from "./Stores.ts"

const rounds = Number(process.env.HEADWATER_UTXO_BLOCKS ?? 300)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))
const { chain } = HdWallet

/** Mulberry32: small, seeded, good enough to pick. */
const random = (() => {
  let state = seed
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
})()

interface Transaction {
  readonly txid: string
  readonly vin: ReadonlyArray<{ readonly txid?: string; readonly vout: number }>
  readonly vout: ReadonlyArray<{ readonly value: number; readonly scriptPubKey: { readonly addresses?: [string] } }>
}

const alone: Within<never, never> = (change) => change

const satoshis = (value: number) => BigInt(Math.round(value * 1e8))
const coins = (amount: bigint) => Amount.format(amount, 8)

/** What a transaction moves for some addresses, read with calls that Headwater does not use for it. */
const movements = (node: Litecoind.Litecoind, concerns: ReadonlySet<string>) => {
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
const indexer = Effect.fnUntraced(function* (url: string, record: ChainStore.Record) {
  const rpc = yield* JsonRpc.make({ urls: [url] })
  const source = yield* UtxoSource.make(chain, rpc)
  const store = yield* ChainStore.open(chain, { record, undoDepth: 100 })
  const options = { pollInterval: Duration.millis(10), gapLimit: 20 }
  const follow = yield* Follow.make(source, store, { ...options, start: 0, concurrency: 4, undoDepth: 100 })
  const mempool = yield* MempoolWatch.make(chain, source.mempool, options)
  const sync = yield* WalletSync.make(source, source.search, store, { ...options, lookAhead: 100 })
  const database = yield* Database
  const subscriptions = yield* Subscriptions
  const wallets = yield* Wallets
  const walletOf = (account: number, { extendedPublicKey }: HdWallet.HdWallet) =>
    Result.getOrThrow(keyOf(account, chain, extendedPublicKey, "account"))
  return {
    follow: follow.step,
    mempool: mempool.step,
    sync: sync.step,
    synced: (account: number, wallet: HdWallet.HdWallet) =>
      wallets.deriveAndSync(walletOf(account, wallet), options.gapLimit, alone),
    balance: (account: number, wallet: HdWallet.HdWallet) =>
      Effect.map(wallets.get(walletOf(account, wallet)), (found) => {
        assert.strictEqual(found?.state, "synced")
        return found!.balance
      }),
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

describe.skipIf(!Litecoind.installed)("a UTXO chain on litecoind", () => {
  it.live(
    `agrees with the node's wallets and an oracle over ${rounds} blocks (seed ${seed})`,
    () =>
      Effect.gen(function* () {
        // Without MWEB, under which litecoind cannot mine a block of transactions that are picked by hand.
        const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
        yield* node.mine(110)
        const hd = yield* Effect.forEach([0, 1, 2], (i) => HdWallet.make(node, `hd${i}`, (seed % 1_000_000) + i))
        const [alice, bob, carol] = hd as [HdWallet.HdWallet, HdWallet.HdWallet, HdWallet.HdWallet]
        const headwaters = yield* Effect.forEach(stores, (store, i) =>
          Effect.flatMap(
            Layer.build(
              Layer.mergeAll(Subscriptions.layer, Wallets.layer, ChainStatus.layer).pipe(
                Layer.provideMerge(store.layer)
              )
            ),
            (context) => Effect.provideContext(indexer(node.url, i === 0 ? "watched" : "all"), context)
          )
        )
        const each = (run: (headwater: (typeof headwaters)[number]) => Effect.Effect<unknown, unknown>) =>
          Effect.forEach(headwaters, (headwater) => Effect.orDie(run(headwater)), { discard: true })

        yield* each(({ follow }) => follow)
        const begin = yield* node.rpc<number>("getblockcount")

        // Addresses that will be used often, and change.
        const watched = hd.flatMap(({ addresses: [receive, change] }) => [
          ...receive.slice(0, 12),
          ...change.slice(0, 12)
        ])
        const concerns = new Set(watched)
        for (const text of watched) {
          const address = Result.getOrThrow(Address.decode(chain, text))
          yield* each(({ subscribe }) => subscribe(address, "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"))
          yield* each(({ subscribe }) => subscribe(address, "ADDRESS_COINS_TRANSACTION_CONFIRMED"))
        }
        yield* each(({ synced }) => synced(1, alice))
        // Only now: where a node shows no prevouts, a coin from before its subscription is not known when it is spent.
        for (const wallet of hd) {
          for (let i = 0; i < 5; i++) yield* node.rpc("sendtoaddress", wallet.next(0), 2)
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

        /** A litecoind wallet may have nothing left to pay with, or only coins of transactions that were replaced. */
        const orElse = <A>(self: Effect.Effect<A>, otherwise: A) =>
          Effect.catchDefect(self, (defect) =>
            defect instanceof Litecoind.LitecoindError ? Effect.succeed(otherwise) : Effect.die(defect)
          )
        const counts = { payments: 0, replaced: 0, evicted: 0, forks: [] as Array<number> }
        const pay = Effect.gen(function* () {
          const from = hd[random(3)]!
          const to = hd[random(3)]!
          // Old addresses are used again, too.
          const address = random(3) === 0 ? to.addresses[0][random(12)]! : to.next(0)
          const id = yield* orElse(from.pay(address, (1 + random(20_000_000)) / 1e8), undefined)
          if (id !== undefined) counts.payments++
          return id === undefined ? undefined : { from, id }
        })
        /** Mines what spends the same coin as a waiting transaction, which thereby leaves the mempool. */
        const evict = Effect.fnUntraced(function* ({ from, id }: { from: HdWallet.HdWallet; id: string }) {
          const { vin } = yield* node.rpc<Transaction>("getrawtransaction", id, true)
          const [input] = vin
          const parent = yield* node.rpc<Transaction & { readonly confirmations?: number }>(
            ...(["getrawtransaction", input!.txid, true] as const)
          )
          if ((parent.confirmations ?? 0) < 1) return
          const value = parent.vout[input!.vout]!.value - 0.001
          if (value <= 0) return
          const raw = yield* node.rpc<string>(
            "createrawtransaction",
            [{ txid: input!.txid, vout: input!.vout }],
            [{ [hd[random(3)]!.next(0)]: value.toFixed(8) }]
          )
          const { hex } = yield* from.rpc<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
          yield* node.rpc("generateblock", yield* node.rpc<string>("getnewaddress"), [hex])
          const left = yield* node.rpc<ReadonlyArray<string>>("getrawmempool")
          assert.notInclude(left, id)
          counts.evicted++
        })

        const check = Effect.fnUntraced(function* (account: number, wallet: HdWallet.HdWallet) {
          const { total_amount } = yield* node.rpc<{ readonly total_amount: number }>("scantxoutset", "start", [
            ...[0, 1].map((branch) => ({ desc: `wpkh(${wallet.extendedPublicKey}/${branch}/*)`, range: 299 }))
          ])
          // A wallet holds back what a transaction of its own would spend, even one that can never be mined.
          const sent = yield* wallet.rpc<
            ReadonlyArray<{ readonly txid: string; readonly confirmations: number; readonly abandoned?: boolean }>
          >("listtransactions", "*", 2_000)
          for (const { abandoned, confirmations, txid } of sent) {
            if (confirmations === 0 && abandoned === false) yield* orElse(wallet.rpc("abandontransaction", txid), null)
          }
          const own = satoshis(yield* wallet.balance)
          assert.strictEqual(own, satoshis(total_amount), "the oracle's two sources")
          yield* each((headwater) =>
            Effect.map(headwater.balance(account, wallet), (balance) => assert.strictEqual(balance, own, wallet.name))
          )
        })

        for (let round = 1; round <= rounds; round++) {
          for (let i = random(3); i > 0; i--) {
            const sent = yield* pay
            if (random(3) === 0) yield* look
            if (sent === undefined) continue
            const fate = random(12)
            if (fate === 0 && (yield* orElse(sent.from.rpc("bumpfee", sent.id), undefined)) !== undefined) {
              counts.replaced++
            } else if (fate === 1) yield* evict(sent)
          }
          yield* look
          yield* node.mine(1)
          const depth = round % 97 === 0 ? 20 : round % 23 === 0 ? 6 : round % 11 === 0 ? 1 : 0
          if (depth > 0) {
            yield* each(({ follow }) => follow)
            const height = yield* node.rpc<number>("getblockcount")
            yield* node.rpc("invalidateblock", yield* node.rpc<string>("getblockhash", height - depth + 1))
            yield* look
            yield* node.mine(depth + 1)
            counts.forks.push(depth)
          }
          if (random(3) > 0) yield* each(({ follow }) => follow)
          if (random(4) === 0) yield* each(({ follow, sync }) => Effect.andThen(follow, sync))
          if (round === Math.floor(rounds / 3)) {
            yield* each(({ follow }) => follow)
            yield* each(({ synced }) => synced(1, bob))
            // The same wallet of somebody else.
            yield* each(({ synced }) => synced(2, alice))
          }
          if (round % 50 === 0) {
            yield* node.mine(1)
            yield* each(({ follow, sync }) => Effect.andThen(follow, sync))
            yield* check(1, alice)
            if (round > rounds / 3) {
              yield* check(1, bob)
              yield* check(2, alice)
            }
          }
        }
        yield* look
        // What litecoind has put back into its mempool after a fork and nobody has mined since.
        yield* node.mine(2)
        assert.deepStrictEqual(yield* node.rpc("getrawmempool"), [])
        yield* each(({ follow, sync }) => Effect.andThen(follow, sync))
        yield* each(({ synced }) => synced(1, carol))
        yield* each(({ sync }) => sync)
        for (const [account, wallet] of [
          [1, alice],
          [1, bob],
          [1, carol],
          [2, alice]
        ] as const) {
          yield* check(account, wallet)
        }

        const confirmed: Array<string> = []
        const tip = yield* node.rpc<number>("getblockcount")
        for (let height = begin + 1; height <= tip; height++) {
          const block = yield* node.rpc<{ readonly tx: ReadonlyArray<Transaction> }>(
            ...(["getblock", yield* node.rpc<string>("getblockhash", height), 2] as const)
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
        assert.isAbove(confirmed.length, rounds / 2)
        assert.isAbove(unconfirmed.size, rounds / 2)
        if (rounds >= 300) {
          assert.isAbove(counts.replaced, 0)
          assert.isAbove(counts.evicted, 0)
          assert.includeMembers(counts.forks, [1, 6, 20])
        }
        console.log(
          `${counts.payments} payments, ${counts.replaced} replaced, ${counts.evicted} evicted, ${counts.forks.length} forks; ${confirmed.length} confirmed and ${unconfirmed.size} unconfirmed events`
        )
      }).pipe(Effect.provideService(References.MinimumLogLevel, "Error"), Effect.scoped),
    600_000
  )
})
