/** Old coins on the two real nodes that there are: one that finds coins, and one that only an index of transactions helps. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as Bcoin from "./Bcoin.ts"
import * as HdWallet from "./HdWallet.ts"
import * as Litecoind from "./Litecoind.ts"
import * as OldCoins from "./OldCoins.ts"
import { stores } from "./Stores.ts"
import { half } from "./Turn.ts"

const types = ["legacy", "bech32", "p2sh-segwit", "bech32", "legacy"]
type Addresses = OldCoins.Node["addresses"]

const litecoind = Effect.fnUntraced(function* (txindex: 0 | 1) {
  const node = yield* Litecoind.start(`-txindex=${txindex}`)
  const owner = yield* node.wallet("owner")
  // All that the stranger pays with is mature at every fork, or a fork would take payments away for good.
  yield* node.mine(10)
  yield* node.mine(110, yield* owner<string>("getnewaddress"))
  return {
    chain: HdWallet.chain,
    ...{ url: node.url, rpc: node.rpc, mine: node.mine, decoded: [2], findsCoins: true },
    addresses: (yield* Effect.forEach(types, (type) =>
      owner<string>("getnewaddress", "", type)
    )) as unknown as Addresses,
    stranger: yield* node.rpc<string>("getnewaddress"),
    // `sendtoaddress` locks a payment until the newest block, so that a fork below takes it away.
    fund: Effect.fnUntraced(function* (address, amount) {
      const raw = yield* node.rpc<string>("createrawtransaction", [], { [address]: amount })
      const funded = yield* node.rpc<{ readonly hex: string }>("fundrawtransaction", raw)
      const { hex } = yield* node.rpc<{ readonly hex: string }>("signrawtransactionwithwallet", funded.hex)
      return yield* node.rpc<string>("sendrawtransaction", hex)
    }),
    unspent: (address) => owner<ReadonlyArray<OldCoins.Unspent>>("listunspent", 1, 9_999, [address]),
    send: Effect.fnUntraced(function* (raw) {
      const { hex } = yield* owner<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
      yield* node.rpc("sendrawtransaction", hex)
    }),
    leave: Effect.fnUntraced(function* (depth) {
      const height = yield* node.rpc<number>("getblockcount")
      yield* node.rpc("invalidateblock", yield* node.rpc<string>("getblockhash", height - depth + 1))
      yield* node.mine(depth + 1)
    })
  } satisfies OldCoins.Node
})

const bcoin = Effect.fnUntraced(function* (txindex: 0 | 1) {
  const node = yield* Bcoin.start(1, `-txindex=${txindex}`)
  const stranger = (yield* node.wallet("stranger", 0)).next()
  const fund = Effect.fnUntraced(function* (address: string, amount: number) {
    const id = yield* node.fund(address, amount)
    return typeof id === "string" ? id : yield* Effect.die("the stranger has nothing left to pay with")
  })
  return {
    ...{ ...node, stranger, fund },
    addresses: (yield* Effect.forEach(types, (type, i) =>
      node.rpc<string>("headwateraddress", Buffer.alloc(32, i + 1).toString("hex"), type)
    )) as unknown as Addresses,
    unspent: Effect.fnUntraced(function* (address) {
      const coins = yield* node.rpc<ReadonlyArray<Bcoin.Coin>>("headwaterspendable", [address])
      return coins
        .filter(({ height }) => height >= 0)
        .map(({ hash, index, value }) => ({ txid: hash, vout: index, amount: value / 1e8 }))
    }),
    send: Effect.fnUntraced(function* (raw) {
      yield* node.rpc("headwatersend", yield* node.rpc<string>("headwatersign", raw))
    }),
    leave: Effect.fnUntraced(function* (depth) {
      // Into an empty mempool bcoin puts nothing back, and stumbles over what it puts back into another.
      const left = yield* node.rpc<ReadonlyArray<string>>("headwatertransactions", depth)
      yield* node.fork(depth, Effect.void)
      for (const hex of left) yield* node.rpc("headwatersend", hex)
      yield* node.mine(1)
    })
  } satisfies OldCoins.Node
})

/** Each pair of any two values is there. */
const pairs = OldCoins.all.filter(({ record, start, store, txindex }) => {
  const bits = [record === "all", start === "tip", txindex === 1, store === 1].map(Number)
  const ones = bits.reduce((sum, bit) => sum + bit, 0)
  return stores.length === 1 ? ones % 2 === 0 : ones === 0 || ones === 3
})

interface Story {
  readonly name: string
  readonly start: (txindex: 0 | 1) => Effect.Effect<OldCoins.Node, never, Scope.Scope>
  readonly installed: boolean
  /** What `npm test` takes. */
  readonly sample: ReadonlyArray<OldCoins.Setting>
}

const stories: ReadonlyArray<Story> = [
  { name: "litecoind", start: litecoind, installed: Litecoind.installed, sample: pairs },
  {
    ...{ name: "bcoin", start: bcoin, installed: true },
    sample: OldCoins.all.filter(
      ({ record, start, store, txindex }) =>
        txindex === 1 &&
        (record === "all" ? start === "first" && store === stores.length - 1 : start === "tip" && store === 0)
    )
  }
]

const takesAll = process.env.HEADWATER_OLD_COINS !== undefined

/** A node that can show any transaction by its id, and one that cannot. */
const tests = stories
  .flatMap((story) => ([0, 1] as const).map((txindex) => ({ ...story, txindex })))
  .map(({ sample, ...story }) => ({
    ...story,
    settings: (takesAll ? OldCoins.all : sample).filter(({ txindex }) => txindex === story.txindex)
  }))
  .filter(({ settings }) => settings.length > 0)

for (const { installed, name, settings, start, txindex } of takesAll ? tests : half("nodes with old coins", tests)) {
  describe.skipIf(!installed)(`old coins on ${name}`, () => {
    it.live(
      `are told as they moved, or are in doubt (txindex=${txindex}; ${settings.length} settings)`,
      () =>
        Effect.flatMap(start(txindex), (node) => OldCoins.agrees(name, node, settings)).pipe(
          Effect.provideService(References.MinimumLogLevel, "Error"),
          Effect.scoped
        ),
      300_000
    )
  })
}
