/**
 * Addresses that were paid before anybody subscribed to them, on a real node that shows no prevouts: they pay out, pay
 * part with change, move coins to themselves, before and after reorganisations. Every confirmed event is what an oracle
 * reads off the node, or is in doubt; an unconfirmed one of the same transaction says the same.
 */
import { assert } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import * as Hash from "@headwater/core/Hash"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as MinedOutputs from "@headwater/indexer/families/utxo/MinedOutputs"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as EventResolution from "@headwater/indexer/sync/EventResolution"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as MempoolWatch from "@headwater/indexer/sync/MempoolWatch"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { type PayingNode, satoshis } from "./RandomWallets.ts"
import { stores } from "./Stores.ts"

/** A mined output that nothing spends, its amount in coins. */
export interface Unspent {
  readonly txid: string
  readonly vout: number
  readonly amount: number
}

/** A node that shows no prevouts, with money of its own, and five addresses that it signs for. */
export interface Node extends Pick<PayingNode, "chain" | "url" | "rpc" | "decoded" | "findsCoins" | "mine"> {
  readonly addresses: readonly [string, string, string, string, string]
  /** An address that nobody watches. */
  readonly stranger: string
  /** The id of a payment from a stranger's coins. */
  readonly fund: (address: string, amount: number) => Effect.Effect<string>
  /** What an address may spend. */
  readonly unspent: (address: string) => Effect.Effect<ReadonlyArray<Unspent>>
  /** Signs a raw transaction and sends it. */
  readonly send: (raw: string) => Effect.Effect<unknown>
  /** Leaves the newest blocks for a longer chain, which has their transactions in other blocks. */
  readonly leave: (depth: number) => Effect.Effect<unknown>
}

export interface Setting {
  readonly record: RecordingMode
  readonly start: "first" | "tip"
  readonly txindex: 0 | 1
  readonly store: number
}

export const all: ReadonlyArray<Setting> = (["watched", "all"] as const).flatMap((record) =>
  (["first", "tip"] as const).flatMap((start) =>
    ([0, 1] as const).flatMap((txindex) => stores.map((_, store) => ({ record, start, txindex, store })))
  )
)

interface Transaction {
  readonly txid: string
  readonly vin: ReadonlyArray<{ readonly txid?: string; readonly vout: number }>
  readonly vout: ReadonlyArray<{ readonly value: number; readonly scriptPubKey: { readonly addresses?: [string] } }>
}

/** A movement of an address, as Headwater would tell it. */
interface Movement {
  readonly event: string
  readonly height: number
  /** Whether it spends a coin that the address had before it was watched. */
  readonly ofOldCoins: boolean
}

/** Reads every movement of addresses in the blocks above `from`, by the node's own blocks from the first one on. */
const oracleOf = ({ chain, decoded, rpc }: Node, concerns: ReadonlyArray<string>) => {
  const addresses = new Set(concerns)
  const blocks = new Map<string, ReadonlyArray<Transaction>>()
  const blockAt = Effect.fnUntraced(function* (height: number) {
    const hash = yield* rpc<string>("getblockhash", height)
    const known = blocks.get(hash)
    if (known !== undefined) return known
    const { tx } = yield* rpc<{ readonly tx: ReadonlyArray<Transaction> }>(...(["getblock", hash, ...decoded] as const))
    blocks.set(hash, tx)
    return tx
  })
  return Effect.fnUntraced(function* (from: number) {
    const outputs = new Map<
      string,
      { readonly address: string | undefined; readonly amount: bigint; readonly height: number }
    >()
    const events: Array<Movement> = []
    const tip = yield* rpc<number>("getblockcount")
    for (let height = 1; height <= tip; height++) {
      const tx = yield* blockAt(height)
      for (const { txid, vin, vout } of tx) {
        const sums = new Map<string, bigint>()
        const ofOldCoins = new Set<string>()
        const move = (address: string | undefined, amount: bigint) => {
          if (address !== undefined && addresses.has(address)) sums.set(address, (sums.get(address) ?? 0n) + amount)
        }
        vout.forEach(({ scriptPubKey, value }, i) => {
          const output = { address: scriptPubKey.addresses?.[0], amount: satoshis(value), height }
          outputs.set(`${txid}:${i}`, output)
          move(output.address, output.amount)
        })
        for (const input of vin) {
          assert.notProperty(input, "prevout", "the node shows what inputs spend: this test is for nodes that do not")
          const spent = input.txid === undefined ? undefined : outputs.get(`${input.txid}:${input.vout}`)
          if (spent === undefined) continue
          move(spent.address, -spent.amount)
          if (spent.address !== undefined && spent.height <= from) ofOldCoins.add(spent.address)
        }
        if (height <= from) continue
        for (const [address, net] of sums) {
          const amount = Amount.format(net < 0n ? -net : net, chain.decimals)
          const event = `${address} ${txid} ${net > 0n ? "incoming" : "outgoing"} ${amount}`
          events.push({ event, height, ofOldCoins: ofOldCoins.has(address) })
        }
      }
    }
    return events
  })
}

type Event = "ADDRESS_COINS_TRANSACTION_CONFIRMED" | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"

/** Headwater on a store of its own, a step at a time. */
const indexer = Effect.fnUntraced(function* ({ chain, url }: Node, { record, start }: Setting) {
  const rpc = yield* JsonRpc.make({ urls: [url] })
  let scans = 0
  const counted: JsonRpc.Nodes = {
    ...rpc,
    call: (method, params, numbers) => {
      if (method === "scantxoutset" && params[0] === "start") scans++
      return rpc.call(method, params, numbers)
    }
  }
  const source = yield* UtxoSource.make(chain, counted)
  const store = yield* ChainStore.open(chain, { record, undoDepth: 100 })
  const options = { pollInterval: Duration.millis(10), gapLimit: 20 }
  const from = start === "first" ? 0 : "latest"
  const follow = yield* Follow.make(source, store, { ...options, start: from, concurrency: 4, undoDepth: 100 })
  const sync = yield* CoinSync.make(source, source.search, store, options)
  const mempool = yield* MempoolWatch.make(chain, source.mempool, options)
  const resolution = yield* EventResolution.make(source, MinedOutputs.make(chain, [counted]), store, options)
  const { query, transaction } = yield* Database
  const subscriptions = yield* Subscriptions
  return {
    follow: follow.step,
    sync: sync.step,
    scans: () => scans,
    look: mempool.step,
    resolve: resolution.step,
    /** To some by a subscription on each, to the others by one on a list of them. */
    subscribe: Effect.fnUntraced(function* (all: ReadonlyArray<string>, event: Event) {
      const addresses = all.map((text) => Result.getOrThrow(Address.decode(chain, text)))
      const wanted = {
        ...{ account: 1, chain, event, callbackUrl: "https://receiver.test/", secret: undefined, confirmations: 1 },
        allowDuplicates: false
      }
      for (const address of addresses.slice(0, 2)) yield* subscriptions.create({ ...wanted, address })
      const { referenceId } = yield* subscriptions.createList({ ...wanted, address: undefined })
      const key = { account: 1, chain, referenceId }
      yield* transaction(AddressLists.add(key, addresses.slice(2), () => Effect.void))
    }),
    told: (event: Event) =>
      Effect.map(
        query((db) => db.selectFrom("callback").select("body").where("state", "=", "due").where("event", "=", event)),
        (rows) =>
          rows.map(({ body }) => {
            const { address, amount, direction, transactionId } = JSON.parse(body).data.item
            return `${address} ${transactionId} ${direction} ${amount}`
          })
      ),
    doubts: Effect.map(UnresolvedEvents.list(chain, 1_000), (events) =>
      events.map(
        ({ address, transactionId }) => `${Address.encode(chain, address)} ${Hash.encode(chain, transactionId)}`
      )
    )
  }
})

/** Lets the addresses pay, and checks what Headwater makes of it in each setting, all of which are of the node's index. */
export const agrees = Effect.fnUntraced(function* (name: string, node: Node, settings: ReadonlyArray<Setting>) {
  const { addresses, stranger } = node
  const [alice, bob, carol, dave, erin] = addresses
  const oracle = oracleOf(node, addresses)
  // Several old coins of everybody.
  for (let i = 0; i < 5; i++) {
    for (const address of addresses) yield* node.fund(address, 1 + i / 10)
    yield* node.mine(1)
  }
  // A chain that is followed from the tip begins with this block.
  yield* node.mine(1)
  const headwaters = yield* Effect.forEach(settings, (one) =>
    Effect.flatMap(
      Layer.build(
        Layer.mergeAll(Subscriptions.layer, ChainStatus.layer).pipe(Layer.provideMerge(stores[one.store]!.layer))
      ),
      (context) =>
        Effect.map(Effect.provideContext(indexer(node, one), context), (headwater) => ({
          ...{ ...headwater, one, context },
          /** Whether our own map has every coin. */
          knows: one.record === "all" && one.start === "first"
        }))
    )
  )
  const each = <E>(act: (headwater: (typeof headwaters)[number]) => Effect.Effect<unknown, E, Database>) =>
    Effect.forEach(headwaters, (headwater) => Effect.orDie(Effect.provideContext(act(headwater), headwater.context)), {
      discard: true
    })

  /** Pays from as many coins of an address, change of a fee's size apart going where it is said. */
  const pay = Effect.fnUntraced(function* (
    from: string,
    coins: number,
    to: Readonly<Record<string, number>>,
    rest: string
  ) {
    const inputs = (yield* node.unspent(from)).slice(0, coins)
    assert.strictEqual(inputs.length, coins)
    const paid = Object.values(to).reduce((sum, amount) => sum + amount, 0)
    const left = inputs.reduce((sum, { amount }) => sum + amount, 0) - paid - 0.001
    const outputs = { ...to, [rest]: Number((left + (to[rest] ?? 0)).toFixed(8)) }
    const spent = inputs.map(({ txid, vout }) => ({ txid, vout }))
    yield* node.send(yield* node.rpc<string>("createrawtransaction", spent, outputs))
  })
  /** All see what waits, and then the block that it is in. */
  const mined = Effect.gen(function* () {
    yield* each(({ look }) => look)
    yield* node.mine(1)
    yield* each(({ follow }) => follow)
  })

  yield* each(({ follow }) => follow)
  const begin = yield* node.rpc<number>("getblockcount")
  yield* each(({ subscribe }) => subscribe(addresses, "ADDRESS_COINS_TRANSACTION_CONFIRMED"))
  yield* each(({ subscribe }) => subscribe(addresses, "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"))
  const movedAway = Effect.map(oracle(begin), (movements) => movements.map(({ event }) => event).sort())
  const leave = Effect.fnUntraced(function* (depth: number) {
    const before = yield* movedAway
    yield* node.leave(depth)
    assert.deepStrictEqual(yield* movedAway, before, "the transactions have come back")
    yield* each(({ follow }) => follow)
  })

  // Before the search: in doubt, where Headwater does not have every coin.
  yield* pay(alice, 1, { [stranger]: 0.2 }, alice)
  yield* pay(bob, 1, { [stranger]: 0.2 }, bob)
  yield* pay(carol, 1, {}, stranger)
  const deposit = yield* node.fund(erin, 0.7)
  yield* mined
  yield* each(
    Effect.fnUntraced(function* ({ doubts, knows, one, told }) {
      const inDoubt = yield* doubts
      assert.strictEqual(inDoubt.length, knows ? 0 : 3, JSON.stringify(one))
      assert.isFalse(inDoubt.some((event) => event.startsWith(erin)))
      const confirmed = yield* told("ADDRESS_COINS_TRANSACTION_CONFIRMED")
      assert.include(confirmed, `${erin} ${deposit} incoming 0.7`, "a stranger's deposit never waits")
    })
  )
  yield* each(({ sync }) => sync)

  // After it: every kind of payment, from one and from several inputs.
  yield* pay(alice, 1, { [stranger]: 0.3 }, alice)
  yield* pay(bob, 2, { [stranger]: 0.3 }, bob)
  yield* pay(carol, 1, {}, carol)
  yield* pay(dave, 2, {}, dave)
  yield* pay(erin, 1, { [stranger]: 0.4 }, alice)
  yield* pay(carol, 2, { [dave]: 0.5 }, stranger)
  yield* node.fund(dave, 0.25)
  yield* mined
  yield* leave(1)

  /** Compares the chain as it stands; up to the block of the `search` old coins may be in doubt where it finds them. */
  const exact = Effect.fnUntraced(function* (search: number) {
    const counts = { told: 0, inDoubt: 0, unconfirmed: 0 }
    const expected = yield* oracle(begin)
    yield* each(
      Effect.fnUntraced(function* ({ doubts, knows, one, told }) {
        const events = new Set(yield* told("ADDRESS_COINS_TRANSACTION_CONFIRMED"))
        const inDoubt = new Set(yield* doubts)
        for (const { event, height, ofOldCoins } of expected) {
          if (events.delete(event)) {
            counts.told++
            continue
          }
          counts.inDoubt++
          const isAllowed = ofOldCoins && !knows && (height <= search || !node.findsCoins)
          assert.isTrue(isAllowed, `${event} is not told by ${JSON.stringify(one)}`)
          assert.isTrue(inDoubt.delete(event.split(" ").slice(0, 2).join(" ")), event)
        }
        assert.deepStrictEqual([...events], [], `untrue, by ${JSON.stringify(one)}`)
        assert.deepStrictEqual([...inDoubt], [], `in doubt and told, by ${JSON.stringify(one)}`)
        const unconfirmed = yield* told("ADDRESS_COINS_TRANSACTION_UNCONFIRMED")
        const all = expected.map(({ event }) => event).sort()
        assert.deepStrictEqual([...unconfirmed].sort(), all, `unconfirmed, by ${JSON.stringify(one)}`)
        counts.unconfirmed += unconfirmed.length
      })
    )
    return counts
  })
  yield* exact(begin + 1)

  // Below the search: coins that were spent before the search are not known to it.
  const height = yield* node.rpc<number>("getblockcount")
  yield* leave(height - begin)
  yield* each(({ sync }) => sync)
  const search = yield* node.rpc<number>("getblockcount")
  yield* pay(alice, 1, { [stranger]: 0.1 }, alice)
  yield* pay(dave, 2, {}, stranger)
  yield* mined
  const { inDoubt, told, unconfirmed } = yield* exact(search)
  yield* each(({ knows, scans }) => Effect.sync(() => assert.strictEqual(scans(), knows || !node.findsCoins ? 0 : 2)))

  // What is in doubt an index of transactions decides, and nothing else; again, where it comes back in other blocks.
  const { txindex } = settings[0]!
  yield* each(({ resolve }) => resolve)
  const decided = inDoubt - (yield* exact(search)).inDoubt
  assert.strictEqual(decided, txindex === 1 ? inDoubt : 0)
  yield* leave(2)
  yield* each(({ resolve, sync }) => Effect.andThen(sync, resolve))
  const { inDoubt: left } = yield* exact(yield* node.rpc<number>("getblockcount"))
  if (txindex === 1) assert.strictEqual(left, 0)
  else assert.isAtLeast(left, inDoubt)
  console.log(
    `old coins on ${name}, txindex=${txindex}, ${settings.length} settings: ${told} confirmed UTXO callbacks compared ` +
      `with the oracle, 0 wrong; ${unconfirmed} unconfirmed, 0 wrong; ${inDoubt} movements in doubt, 0 told; ` +
      `${decided} of them decided by the index, 0 wrong`
  )
})
