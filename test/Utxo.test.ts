/** Random wallets on the two real nodes that there are: one that decodes blocks, and one that knows no verbosity. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Bcoin from "./Bcoin.ts"
import * as HdWallet from "./HdWallet.ts"
import * as Litecoind from "./Litecoind.ts"
import { orElse, scan } from "./NodeRpc.ts"
import * as RandomWallets from "./RandomWallets.ts"

const asked = process.env.HEADWATER_UTXO_BLOCKS
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

const litecoind = Effect.gen(function* () {
  // Without MWEB, under which litecoind cannot mine a block of transactions that are picked by hand.
  const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
  yield* node.mine(110)
  return {
    chain: HdWallet.chain,
    url: node.url,
    rpc: node.rpc,
    decoded: [2],
    findsCoins: true,
    fund: (address, amount) => node.rpc("sendtoaddress", address, amount),
    mine: node.mine,
    mineOnly: (hex) =>
      Effect.flatMap(node.rpc<string>("getnewaddress"), (address) => node.rpc("generateblock", address, [hex])),
    fork: Effect.fnUntraced(function* (depth, meanwhile) {
      const height = yield* node.rpc<number>("getblockcount")
      yield* node.rpc("invalidateblock", yield* node.rpc<string>("getblockhash", height - depth + 1))
      yield* meanwhile
      yield* node.mine(depth + 1)
    }),
    wallet: Effect.fnUntraced(function* (name, seed) {
      const wallet = yield* HdWallet.make(node, name, seed)
      const { addresses, extendedPublicKey, rpc } = wallet
      return {
        ...{ name, addresses, extendedPublicKey, next: () => wallet.next(0) },
        // It may have nothing left to pay with, or only coins of transactions that were replaced.
        pay: (to, amount) => orElse<string | undefined>(wallet.pay(to, amount), undefined),
        replace: (id) => orElse(Effect.as(rpc("bumpfee", id), true), false),
        sign: (raw) => Effect.map(rpc<{ readonly hex: string }>("signrawtransactionwithwallet", raw), ({ hex }) => hex),
        balance: Effect.gen(function* () {
          const { total_amount } = yield* scan<{ readonly total_amount: number }>(
            node.rpc,
            [0, 1].map((branch) => ({ desc: `wpkh(${extendedPublicKey}/${branch}/*)`, range: 299 }))
          )
          // A wallet holds back what a transaction of its own would spend, even one that can never be mined.
          const sent = yield* rpc<
            ReadonlyArray<{ readonly txid: string; readonly confirmations: number; readonly abandoned?: boolean }>
          >("listtransactions", "*", 2_000)
          for (const { abandoned, confirmations, txid } of sent) {
            if (confirmations === 0 && abandoned === false) yield* orElse(rpc("abandontransaction", txid), null)
          }
          const own = RandomWallets.satoshis(yield* wallet.balance)
          assert.strictEqual(own, RandomWallets.satoshis(total_amount), "the oracle's two sources")
          return own
        })
      }
    })
  } satisfies RandomWallets.PayingNode
})

const nodes = [
  { name: "litecoind", node: litecoind, installed: Litecoind.installed, rounds: 20 },
  { name: "bcoin", node: Bcoin.start(), installed: true, rounds: 8 }
]

for (const { installed, name, node, rounds: usual } of nodes) {
  const rounds = Number(asked ?? usual)
  describe.skipIf(!installed)(`a UTXO chain on ${name}`, () => {
    it.live(
      `agrees with the node's wallets and an oracle over ${rounds} blocks (seed ${seed})`,
      () =>
        Effect.flatMap(node, (node) => RandomWallets.agrees(node, rounds, seed)).pipe(
          Effect.provideService(References.MinimumLogLevel, "Error"),
          Effect.scoped
        ),
      // A guard against hanging: seconds for each block, on a busy machine too.
      Math.max(600_000, rounds * 10_000)
    )
  })
}
