/** Coins of a wallet's branches on a real litecoind: asked for by range and address by address, they are the same. */
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import type { CoinsAt } from "@headwater/core/utxo/Coin"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected, NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
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
            if (method === "scantxoutset" && params[0] === "start") asked.push(params[1])
            return rpc.call(method, params, numbers)
          })
      })
      for (const format of formats) {
        const ofFormat = branches.filter((branch) => branch.format.name === format)
        const addresses = ofFormat.flatMap(addressesOf).map(({ bytes }) => bytes)
        const one = yield* search.find(addresses)
        asked.length = 0
        const ranges = ofFormat.map((branch) => ({
          ...{ branch, count },
          addresses: addressesOf(branch).map(({ bytes }) => bytes)
        }))
        const ranged = yield* search.find([], ranges)
        assert.strictEqual(sorted(ranged).length, 4 * ofFormat.length)
        assert.deepStrictEqual(sorted(ranged), sorted(one))
        // tr() is younger than this litecoind: it is asked address by address then.
        assert.strictEqual(asked.length, format === "P2TR" ? 2 : 1)
        // The last index is in the range, and the next is not.
        const [branch] = ofFormat
        const short = yield* search.find([], [{ branch: branch!, count: count - 1, addresses: [] }])
        assert.strictEqual(short!.coins.length, format === "P2TR" ? 0 : 3)
      }
    }).pipe(Effect.scoped)
  )
})

describe("CoinSearch", () => {
  const branch = branches[0]!
  const ranges = [{ branch, count, addresses: addressesOf(branch).map(({ bytes }) => bytes) }]
  const tip = { blocks: 1, bestblockhash: "00".repeat(32) }

  /** A node that answers these methods, and others as it refuses the ones that it lacks. */
  const node = (
    answers: Readonly<Record<string, (params: ReadonlyArray<unknown>) => unknown>>,
    otherwise: "rejects" | "forbids" = "rejects"
  ) =>
    Effect.map(JsonRpc.make({ urls: ["http://127.0.0.1:1"] }), (rpc) =>
      CoinSearch.make(chain, {
        ...rpc,
        call: (method, params) => {
          if (method === "getblockchaininfo") return Effect.succeed(tip)
          const answer = answers[method]?.(params)
          if (answer !== undefined) return answer instanceof NodeRejected ? Effect.fail(answer) : Effect.succeed(answer)
          const about = { node: rpc.node, method }
          return Effect.fail(
            otherwise === "rejects"
              ? new NodeRejected({ ...about, code: -32601, message: "Method not found" })
              : new NodeUnreachable({ ...about, message: "HTTP 403" })
          )
        }
      })
    )

  it.effect("tells a node that cannot search from one that will not now", () =>
    Effect.gen(function* () {
      for (const otherwise of ["rejects", "forbids"] as const) {
        const without = yield* node({}, otherwise)
        assert.isFalse(yield* without.isAvailable)
        assert.isUndefined(yield* without.find([], ranges))
      }
      const busy = new NodeRejected({ node: "", method: "scantxoutset", code: -8, message: "Scan already in progress" })
      const scanning = yield* node({ scantxoutset: ([action]) => (action === "status" ? { progress: 42 } : busy) })
      assert.isTrue(yield* scanning.isAvailable)
      assert.strictEqual((yield* Effect.flip(scanning.find([], ranges)))._tag, "NodeRejected")
      assert.strictEqual(yield* scanning.progress, 42)
    }).pipe(Effect.scoped)
  )

  it.effect("does not take what a search has found that somebody ended for everything that there is", () =>
    Effect.gen(function* () {
      // As Bitcoin Core answers after "scantxoutset abort", and where it cannot read a coin.
      const ended = yield* node({
        scantxoutset: ([action]) =>
          action === "status"
            ? { progress: 42 }
            : { success: false, txouts: 8192, height: 1, bestblock: "00".repeat(32), unspents: [], total_amount: "0" }
      })
      const error = yield* Effect.flip(ended.find([], ranges))
      assert.strictEqual(error._tag, "NodeInconsistent")
      assert.include(error.message, "ended before it had read all coins")
    }).pipe(Effect.scoped)
  )

  it.effect("asks an index of addresses for those of branches too", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const indexed = yield* node({
        getaddressutxos: ([request]) => {
          asked.push((request as { readonly addresses: ReadonlyArray<string> }).addresses.length)
          return []
        }
      })
      const [address] = ranges[0]!.addresses
      assert.deepStrictEqual(yield* indexed.find([address!], ranges), {
        height: 1,
        hash: new Uint8Array(32),
        coins: []
      })
      assert.deepStrictEqual(asked, [1, count + 1])
      // An index that is not kept is none.
      const refusing = new NodeRejected({ node: "", method: "getaddressutxos", code: -1, message: "not enabled" })
      assert.isFalse(yield* (yield* node({ getaddressutxos: () => refusing })).isAvailable)
    }).pipe(Effect.scoped)
  )
})
