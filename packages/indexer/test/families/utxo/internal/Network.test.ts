import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Network from "@headwater/indexer/families/utxo/internal/Network"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../../FakeNode.ts"

const bitcoin = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
const testnet4 = "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043"
const litecoinTest = "4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0"
const firstOfCash = "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec"
const bitcoins = "00000000000000000019f112ec0a9982926f1258cdcc558dd7c3b7e5dc7fa148"

/** What is found where the node has these blocks and calls its network so. */
const found = (
  name: `${string}/${string}`,
  blocks: Readonly<Record<number, string>>,
  called: unknown = "main"
): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    const [blockchain, network] = name.split("/") as [string, string]
    const node = yield* FakeNode.make((method, params) => {
      const hash = method === "getblockhash" ? blocks[params[0] as number] : undefined
      if (hash === undefined) throw new FakeNode.RpcError(-8, "Block height out of range")
      return hash
    })
    const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
    const chain = Result.getOrThrow(Chain.find(blockchain, network))
    const { available, detail, unsure } = yield* Network.capability(chain, rpc, called)
    return available && unsure !== true ? undefined : detail
  }).pipe(Effect.scoped, Effect.orDie)

describe("the network of a UTXO node", () => {
  it.effect("is told by its first block", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* found("bitcoin/mainnet", { 0: bitcoin, 478559: bitcoins }))
      assert.isUndefined(yield* found("bitcoin/testnet", { 0: testnet4 }, "testnet4"))
      assert.isUndefined(yield* found("litecoin/testnet", { 0: litecoinTest }, "test"))
      assert.match(
        (yield* found("litecoin/mainnet", { 0: litecoinTest })) ?? "",
        /^the node is on litecoin\/testnet, not on litecoin\/mainnet: .*correct the node's URL$/
      )
      assert.match(
        (yield* found("dogecoin/mainnet", { 0: bitcoin })) ?? "",
        /bitcoin\/mainnet or bitcoin-cash\/mainnet/
      )
      assert.match((yield* found("dash/mainnet", { 0: "ab".repeat(32) })) ?? "", /whose first block is abab/)
    })
  )

  it.effect("is told by the block in which Bitcoin Cash parted from Bitcoin, once the node has it", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* found("bitcoin-cash/mainnet", { 0: bitcoin }),
        "not proved: bitcoin/mainnet and bitcoin-cash/mainnet have the same block 0, and the node does not show block 478559"
      )
      assert.isUndefined(yield* found("bitcoin-cash/mainnet", { 0: bitcoin, 478559: firstOfCash }))
      assert.isUndefined(yield* found("bitcoin/mainnet", { 0: bitcoin, 478559: bitcoins }))
      assert.match(
        (yield* found("bitcoin-cash/mainnet", { 0: bitcoin, 478559: bitcoins })) ?? "",
        /is on bitcoin\/mainnet, not on bitcoin-cash\/mainnet/
      )
      assert.match(
        (yield* found("bitcoin/mainnet", { 0: bitcoin, 478559: firstOfCash })) ?? "",
        /is on bitcoin-cash\/mainnet, not on bitcoin\/mainnet/
      )
    })
  )

  it.effect("is told by its name where the node shows no first block, and a private one is not refused", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* found("zcash/mainnet", {}, "main"), "not proved: the node does not show block 0")
      assert.match((yield* found("zcash/mainnet", {}, "test")) ?? "", /on the network "test"/)
      assert.match((yield* found("zcash/testnet", {}, "main")) ?? "", /on the network "main"/)
      assert.match((yield* found("zcash/mainnet", {}, undefined)) ?? "", /^not proved/)
      assert.match(
        (yield* found("bitcoin/regtest", { 0: "cd".repeat(32) }, "regtest")) ?? "",
        /^not proved: .* whose first block is (cd){32}, which is no public network's$/
      )
    })
  )
})
