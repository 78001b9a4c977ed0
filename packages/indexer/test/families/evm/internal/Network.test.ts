import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as Network from "@headwater/indexer/families/evm/internal/Network"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../../FakeNode.ts"

const genesisOf = (name: string) => Chain.ofName(name)!.evm!.genesis!
const ownOf = (name: string) => Chain.ofName(name)!.evm!.ownBlock!.hash
const dao = 1_920_000

/** What is said of a node that has these blocks and this chain id. */
const found = (name: string, chainId: number | undefined, blocks: Readonly<Record<number, string>>) =>
  Effect.gen(function* () {
    const node = yield* FakeNode.make((_, [tag]) => {
      const hash = blocks[Number(tag)]
      return hash === undefined ? null : { number: tag, hash, transactions: [] }
    })
    const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
    const answer = chainId === undefined ? {} : `0x${chainId.toString(16)}`
    const { available, detail, unsure } = yield* Network.capability(
      Chain.ofName(name)!,
      rpc,
      Result.succeed<unknown>(answer)
    )
    return `${available ? (unsure === true ? "unproven" : "proven") : "wrong"}: ${detail}`
  }).pipe(Effect.scoped, Effect.orDie)

describe("the network of an EVM node", () => {
  it.live("is asked anew of a node that may have changed", () =>
    Effect.gen(function* () {
      let genesis = genesisOf("base/mainnet")
      // A chain of one block: a node without a newest one tells nothing yet.
      const node = yield* FakeNode.make((method, [tag]) =>
        method === "eth_chainId"
          ? "0x2105"
          : tag === "0x0" || tag === "latest"
            ? { number: "0x0", hash: genesis, transactions: [] }
            : null
      )
      const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
      const { network } = yield* EvmSource.make(Chain.ofName("base/mainnet")!, rpc, { internal: false })
      assert.isTrue((yield* network!).available)
      genesis = genesisOf("base/sepolia")
      const { available, detail } = yield* network!
      assert.isFalse(available)
      assert.match(detail, /^the node is on base\/sepolia, not on base\/mainnet/)
    }).pipe(Effect.scoped)
  )

  it.effect("is proved by its first block, for every public network that shares it with none", () =>
    Effect.gen(function* () {
      const known = Chain.all.filter(({ evm }) => evm?.genesis !== undefined)
      for (const { evm, ...chain } of known) {
        if (known.filter((other) => other.evm!.genesis === evm!.genesis).length > 1) continue
        const name = Chain.nameOf(chain as Chain.Chain)
        assert.strictEqual(
          yield* found(name, evm!.chainId, { 0: evm!.genesis! }),
          `proven: ${name}, by its known blocks`
        )
      }
    })
  )

  it.effect("is not the node's word: a chain of one's own with a public chain id is another network", () =>
    Effect.gen(function* () {
      assert.match(
        yield* found("polygon/mainnet", 137, { 0: `0x${"ab".repeat(32)}` }),
        /^wrong: the node is on a network whose block 0 is 0xabab.*, not on polygon\/mainnet: .*correct the node's URL$/
      )
      assert.match(
        yield* found("base/mainnet", undefined, { 0: genesisOf("base/sepolia") }),
        /^wrong: the node is on base\/sepolia, not on base\/mainnet/
      )
      assert.match(yield* found("base/mainnet", 84532, {}), /^wrong: the node is on chain id 84532, not 8453/)
      assert.strictEqual(
        yield* found("base/mainnet", 8453, {}),
        "unproven: not proved: the node does not show block 0; chain id 8453 is the node's word alone"
      )
      assert.strictEqual(
        yield* found("ethereum/devnet", 31337, { 0: `0x${"ab".repeat(32)}` }),
        "proven: chain id 31337 of a development network"
      )
    })
  )

  it.effect("is proved by a block of its own where networks share their first block", () =>
    Effect.gen(function* () {
      const first = genesisOf("ethereum/mainnet")
      const [eth, etc] = [ownOf("ethereum/mainnet"), ownOf("ethereum-classic/mainnet")]
      assert.match(yield* found("ethereum/mainnet", 1, { 0: first, [dao]: eth }), /^proven/)
      assert.match(yield* found("ethereum-classic/mainnet", 61, { 0: first, [dao]: etc }), /^proven/)
      assert.match(
        yield* found("ethereum/mainnet", 1, { 0: first, [dao]: etc }),
        /^wrong: the node is on ethereum-classic\/mainnet, not on ethereum\/mainnet/
      )
      assert.match(
        yield* found("ethereum/mainnet", 1, { 0: first, [dao]: `0x${"00".repeat(32)}` }),
        /^wrong: the node is on a network whose block 1920000 is 0x00/
      )
      assert.strictEqual(
        yield* found("ethereum/mainnet", 1, { 0: first }),
        "unproven: not proved: ethereum-classic/mainnet has the same block 0, and the node does not show block 1920000; " +
          "chain id 1 is the node's word alone"
      )
      const avalanche = genesisOf("avalanche/mainnet")
      const fuji = ownOf("avalanche/fuji")
      assert.match(yield* found("avalanche/fuji", 43113, { 0: avalanche, 1: fuji }), /^proven/)
      assert.match(yield* found("avalanche/mainnet", 43114, { 0: avalanche, 1: `0x${"77".repeat(32)}` }), /^proven/)
      assert.match(yield* found("avalanche/mainnet", 43114, { 0: avalanche, 1: fuji }), /^wrong: .* on avalanche\/fuji/)
      assert.match(yield* found("avalanche/mainnet", 43114, { 0: avalanche }), /^unproven: .*does not show block 1;/)
    })
  )
})
