/**
 * Addresses that were paid before anybody subscribed to them, on a real litecoind, which shows no prevouts: they pay out,
 * pay part with change, move coins to themselves, before and after reorganisations. Every confirmed event is what an
 * oracle reads off the node, or is in doubt.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Litecoind from "./Litecoind.ts"
import { stores } from "./Stores.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))

interface Case {
  readonly record: RecordingMode
  readonly start: "first" | "tip"
  readonly txindex: 0 | 1
  readonly store: number
}

const all: ReadonlyArray<Case> = (["watched", "all"] as const).flatMap((record) =>
  (["first", "tip"] as const).flatMap((start) =>
    ([0, 1] as const).flatMap((txindex) => stores.map((_, store) => ({ record, start, txindex, store })))
  )
)
/** Each pair of any two values is there. */
const pairs = all.filter(({ record, start, store, txindex }) => {
  const bits = [record === "all", start === "tip", txindex === 1, store === 1].map(Number)
  const ones = bits.reduce((sum, bit) => sum + bit, 0)
  return stores.length === 1 ? ones % 2 === 0 : ones === 0 || ones === 3
})
const cases = process.env.HEADWATER_OLD_COINS === undefined ? pairs : all

interface Transaction {
  readonly txid: string
  readonly vin: ReadonlyArray<{ readonly txid?: string; readonly vout: number }>
  readonly vout: ReadonlyArray<{ readonly value: number; readonly scriptPubKey: { readonly addresses?: [string] } }>
}

const satoshis = (value: number) => BigInt(Math.round(value * 1e8))

/** Every movement of addresses in the blocks above `from`, by the node's own blocks from the first one on. */
const oracle = Effect.fnUntraced(function* (
  { rpc }: Litecoind.Litecoind,
  addresses: ReadonlySet<string>,
  from: number
) {
  const outputs = new Map<string, { readonly address: string | undefined; readonly amount: bigint }>()
  const events: Array<{ readonly event: string; readonly height: number }> = []
  const tip = yield* rpc<number>("getblockcount")
  for (let height = 1; height <= tip; height++) {
    const hash = yield* rpc<string>("getblockhash", height)
    const { tx } = yield* rpc<{ readonly tx: ReadonlyArray<Transaction> }>("getblock", hash, 2)
    for (const { txid, vin, vout } of tx) {
      const sums = new Map<string, bigint>()
      const move = (address: string | undefined, amount: bigint) => {
        if (address !== undefined && addresses.has(address)) sums.set(address, (sums.get(address) ?? 0n) + amount)
      }
      vout.forEach(({ scriptPubKey, value }, i) => {
        const output = { address: scriptPubKey.addresses?.[0], amount: satoshis(value) }
        outputs.set(`${txid}:${i}`, output)
        move(output.address, output.amount)
      })
      for (const input of vin) {
        const spent = input.txid === undefined ? undefined : outputs.get(`${input.txid}:${input.vout}`)
        if (spent !== undefined) move(spent.address, -spent.amount)
      }
      if (height <= from) continue
      for (const [address, net] of sums) {
        const amount = Amount.format(net < 0n ? -net : net, chain.decimals)
        const event = `${address} ${txid} ${net > 0n ? "incoming" : "outgoing"} ${amount}`
        events.push({ event, height })
      }
    }
  }
  return events
})

/** Headwater on a store of its own, a step at a time. */
const indexer = Effect.fnUntraced(function* (url: string, { record, start }: Case) {
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
  const { query } = yield* Database
  const subscriptions = yield* Subscriptions
  return {
    follow: follow.step,
    sync: sync.step,
    scans: () => scans,
    subscribe: (text: string) =>
      subscriptions.create({
        ...{ account: 1, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", callbackUrl: "https://receiver.test/" },
        ...{ address: Result.getOrThrow(Address.decode(chain, text)), secret: undefined, confirmations: 1 },
        allowDuplicates: false
      }),
    told: Effect.map(
      query((db) => db.selectFrom("callback").select("body").where("state", "=", "due")),
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

const run = Effect.fnUntraced(function* (txindex: 0 | 1) {
  const node = yield* Litecoind.start(`-txindex=${txindex}`)
  yield* node.mine(110)
  const owner = yield* node.wallet("owner")
  const addresses = yield* Effect.forEach(["legacy", "bech32", "p2sh-segwit", "bech32", "legacy"], (type) =>
    owner<string>("getnewaddress", "", type)
  )
  const [alice, bob, carol, dave, erin] = addresses as [string, string, string, string, string]
  // Several old coins of everybody.
  for (let i = 0; i < 5; i++) {
    for (const address of addresses) yield* node.rpc("sendtoaddress", address, 1 + i / 10)
  }
  // A chain that is followed from the tip begins with the second of these blocks.
  yield* node.mine(2)
  const headwaters = yield* Effect.forEach(
    cases.filter((one) => one.txindex === txindex),
    (one) =>
      Effect.flatMap(
        Layer.build(
          Layer.mergeAll(Subscriptions.layer, ChainStatus.layer).pipe(Layer.provideMerge(stores[one.store]!.layer))
        ),
        (context) =>
          Effect.map(Effect.provideContext(indexer(node.url, one), context), (headwater) => ({
            ...headwater,
            one,
            context
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
    const unspent = yield* owner<
      ReadonlyArray<{ readonly txid: string; readonly vout: number; readonly amount: number }>
    >(...(["listunspent", 1, 9_999, [from]] as const))
    const inputs = unspent.slice(0, coins)
    assert.strictEqual(inputs.length, coins)
    const paid = Object.values(to).reduce((sum, amount) => sum + amount, 0)
    const left = inputs.reduce((sum, { amount }) => sum + amount, 0) - paid - 0.001
    const raw = yield* owner<string>("createrawtransaction", inputs, {
      ...to,
      [rest]: Number((left + (to[rest] ?? 0)).toFixed(8))
    })
    const { hex } = yield* owner<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
    return yield* node.rpc<string>("sendrawtransaction", hex)
  })
  const stranger = yield* node.rpc<string>("getnewaddress")
  const leave = (depth: number) =>
    Effect.gen(function* () {
      const height = yield* node.rpc<number>("getblockcount")
      yield* node.rpc("invalidateblock", yield* node.rpc<string>("getblockhash", height - depth + 1))
      yield* node.mine(depth + 1)
    })

  yield* each(({ follow }) => follow)
  const begin = yield* node.rpc<number>("getblockcount")
  yield* each(({ subscribe }) => Effect.forEach(addresses, subscribe))

  // Before the search: in doubt, where Headwater does not have every coin.
  yield* pay(alice, 1, { [stranger]: 0.2 }, alice)
  yield* pay(bob, 1, { [stranger]: 0.2 }, bob)
  yield* pay(carol, 1, {}, stranger)
  const deposit = yield* node.rpc<string>("sendtoaddress", erin, 0.7)
  yield* node.mine(1)
  yield* each(({ follow }) => follow)
  yield* each(
    Effect.fnUntraced(function* ({ doubts, one, told }) {
      const knows = one.record === "all" && one.start === "first"
      const inDoubt = yield* doubts
      assert.strictEqual(inDoubt.length, knows ? 0 : 3, JSON.stringify(one))
      assert.isFalse(inDoubt.some((event) => event.startsWith(erin)))
      assert.include(yield* told, `${erin} ${deposit} incoming 0.7`, "a stranger's deposit never waits")
    })
  )
  yield* each(({ sync }) => sync)

  // After it: every kind of payment, from one and from several inputs.
  const pays = Effect.gen(function* () {
    yield* pay(alice, 1, { [stranger]: 0.3 }, alice)
    yield* pay(bob, 2, { [stranger]: 0.3 }, bob)
    yield* pay(carol, 1, {}, carol)
    yield* pay(dave, 2, {}, dave)
    yield* pay(erin, 1, { [stranger]: 0.4 }, alice)
    yield* pay(carol, 2, { [dave]: 0.5 }, stranger)
    yield* node.rpc("sendtoaddress", dave, 0.25)
  })
  yield* pays
  yield* node.mine(1)
  yield* each(({ follow }) => follow)
  // They come back in other blocks.
  yield* leave(1)
  yield* each(({ follow }) => follow)
  const firstSearch = begin + 1
  /** Of the chain as it stands at the last comparison. */
  let counts = { told: 0, inDoubt: 0 }
  const exact = Effect.fnUntraced(function* (from: number) {
    counts = { told: 0, inDoubt: 0 }
    yield* each(
      Effect.fnUntraced(function* ({ doubts, one, told }) {
        const expected = yield* oracle(node, new Set(addresses), begin)
        const events = new Set(yield* told)
        const inDoubt = new Set(yield* doubts)
        const knows = one.record === "all" && one.start === "first"
        for (const { event, height } of expected) {
          if (events.delete(event)) {
            counts.told++
            continue
          }
          counts.inDoubt++
          assert.isFalse(knows, `${event} is not told by ${JSON.stringify(one)}`)
          assert.isAtMost(height, from, `${event} is not told by ${JSON.stringify(one)}`)
          assert.isTrue(inDoubt.has(event.split(" ").slice(0, 2).join(" ")), event)
        }
        assert.deepStrictEqual([...events], [], `untrue, by ${JSON.stringify(one)}`)
      })
    )
  })
  yield* exact(firstSearch)

  // Below the search: coins that were spent before the search are not known to it.
  const height = yield* node.rpc<number>("getblockcount")
  yield* leave(height - begin)
  yield* each(({ follow }) => follow)
  yield* each(({ sync }) => sync)
  const secondSearch = yield* node.rpc<number>("getblockcount")
  yield* pay(alice, 1, { [stranger]: 0.1 }, alice)
  yield* pay(dave, 2, {}, stranger)
  yield* node.mine(1)
  yield* each(({ follow }) => follow)
  yield* exact(secondSearch)
  yield* each(({ one, scans }) =>
    Effect.sync(() => assert.strictEqual(scans(), one.record === "all" && one.start === "first" ? 0 : 2))
  )
  console.log(
    `old coins, txindex=${txindex}: ${counts.told} confirmed UTXO callbacks compared with the oracle, 0 wrong; ` +
      `${counts.inDoubt} movements in doubt, 0 told`
  )
})

describe.skipIf(!Litecoind.installed)("old coins on litecoind", () => {
  for (const txindex of [0, 1] as const) {
    it.live(
      `are told as they moved, or are in doubt (txindex=${txindex}; ${cases.filter((one) => one.txindex === txindex).length} settings)`,
      () => run(txindex).pipe(Effect.provideService(References.MinimumLogLevel, "Error"), Effect.scoped),
      300_000
    )
  }
})
