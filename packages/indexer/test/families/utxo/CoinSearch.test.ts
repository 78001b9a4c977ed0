/** Coins of a wallet's branches on a real litecoind: asked for by range and address by address, they are the same. */
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import type { CoinsAt } from "@headwater/core/utxo/Coin"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as CoinSearch from "@headwater/indexer/families/utxo/CoinSearch"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Litecoind from "../../../../../test/Litecoind.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
/** BIP-32's first test vector, m/0H, in the version of test networks. */
const mainnet = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const key = Result.getOrThrow(
  ExtendedPublicKey.decode(
    mainnet,
    "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
  )
)

const count = 150
const formats = ["P2PKH", "P2SH-P2WPKH", "P2WPKH", "P2TR"] as const
const branches = formats.flatMap((format) =>
  (
    [
      { derivation: "account", type: "receive" },
      { derivation: "account", type: "change" },
      { derivation: "bip32", type: "receive" }
    ] as const
  ).map((options) => Result.getOrThrow(Derivation.branch(chain, key, { ...options, format })))
)
const addressesOf = (branch: Derivation.Branch) => Derivation.derive(branch, 0, count).map(Result.getOrThrow)

const sorted = (found: CoinsAt | undefined) =>
  found!.coins
    .map(({ amount, height, outpoint, script }) =>
      [
        Buffer.from(outpoint.transactionId).toString("hex"),
        outpoint.index,
        Buffer.from(script).toString("hex"),
        amount,
        height
      ].join()
    )
    .sort()

describe.skipIf(!Litecoind.installed)("CoinSearch with litecoind", () => {
  it.live("finds by range what it finds address by address, in every format and derivation", () =>
    Effect.gen(function* () {
      const node = yield* Litecoind.start()
      yield* node.mine(110)
      const pays = branches.flatMap((branch, number) => {
        const addresses = addressesOf(branch)
        return [0, 19, number + 100, count - 1].map((index) => addresses[index]!.address)
      })
      yield* node.rpc(
        "sendmany",
        "",
        Object.fromEntries(pays.map((address, i) => [address, (0.01 + i / 1e6).toFixed(8)]))
      )
      yield* node.mine(1)
      const rpc = yield* JsonRpc.make({ urls: [node.url] })
      const asked: Array<unknown> = []
      const search = CoinSearch.make(chain, {
        ...rpc,
        call: (method, params, numbers) =>
          Effect.suspend(() => {
            if (method === "scantxoutset") asked.push(params[1])
            return rpc.call(method, params, numbers)
          })
      })
      for (const format of formats) {
        const ofFormat = branches.filter((branch) => branch.format === format)
        const addresses = ofFormat.flatMap(addressesOf).map(({ bytes }) => bytes)
        const one = yield* search(addresses)
        asked.length = 0
        const ranged = yield* search(
          addresses,
          ofFormat.map((branch) => ({ branch, count }))
        )
        assert.strictEqual(sorted(ranged).length, 4 * ofFormat.length)
        assert.deepStrictEqual(sorted(ranged), sorted(one))
        // tr() is younger than this litecoind: it is asked address by address then.
        assert.strictEqual(asked.length, format === "P2TR" ? 2 : 1)
        // The last index is in the range, and the next is not.
        const [branch] = ofFormat
        const short = yield* search([], [{ branch: branch!, count: count - 1 }])
        assert.strictEqual(short!.coins.length, format === "P2TR" ? 0 : 3)
      }
    }).pipe(Effect.scoped)
  )
})

describe("CoinSearch", () => {
  it.effect("tells a node that cannot search from one that will not now", () =>
    Effect.gen(function* () {
      const rpc = yield* JsonRpc.make({ urls: ["http://127.0.0.1:1"] })
      const ranges = [{ branch: branches[0]!, count }]
      const refusing = (code: number) =>
        CoinSearch.make(chain, {
          ...rpc,
          call: (method) =>
            method === "getblockchaininfo"
              ? Effect.succeed({ blocks: 1, bestblockhash: "00".repeat(32) })
              : Effect.fail(new NodeRejected({ node: rpc.node, method, code, message: "no" }))
        })
      assert.isUndefined(yield* refusing(-32601)([], ranges))
      assert.strictEqual((yield* Effect.flip(refusing(-8)([], ranges)))._tag, "NodeRejected")
    }).pipe(Effect.scoped)
  )
})
