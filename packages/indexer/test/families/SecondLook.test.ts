import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Families from "@headwater/indexer/families/families"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as SecondLook from "@headwater/indexer/families/SecondLook"
import type { Source } from "@headwater/indexer/families/Source"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as FakeNode from "../FakeNode.ts"
import * as EvmBlocks from "./evm/EvmBlocks.ts"
import * as EvmNode from "./evm/EvmNode.ts"

const hash = (byte: number) => new Uint8Array(32).fill(byte)

const block = (height: number, lacking: number, of = height): Block => ({
  ...{ height, hash: hash(of), parent: hash(of - 1), time: height, transactions: [], transfers: [], spends: [] },
  ...(lacking === 0
    ? {}
    : {
        notUnderstood: Array.from({ length: lacking }, () => ({
          ...{ transactionId: undefined, reason: "type 0x5 is not known", transfers: 0, raw: "" },
          lacks: ["coin" as const]
        }))
      })
})

const unreachable = new NodeUnreachable({ node: "fake", method: "getblock", message: "reset" })

/** A source that gives these, one a look, and how often it was looked at. */
const looks = (all: ReadonlyArray<Block | NodeUnreachable>) => {
  let at = 0
  const inner: Source = {
    ...({} as Source),
    blockAt: () =>
      Effect.suspend(() => {
        const look = all[Math.min(at++, all.length - 1)]!
        return look instanceof NodeUnreachable ? Effect.fail(look) : Effect.succeed(look)
      })
  }
  const source = SecondLook.of(inner)
  return { blockAt: EvmBlocks.withoutWaiting(source.blockAt(5)), count: () => at }
}

describe("SecondLook", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Block | NodeUnreachable>, Block, number]> = [
    ["a block that is understood is read once", [block(5, 0)], block(5, 0), 1],
    ["an answer that was broken on its way", [block(5, 1), block(5, 0)], block(5, 0), 2],
    ["the look that has understood more, the first", [block(5, 1), block(5, 2)], block(5, 1), 2],
    ["the look that has understood more, the second", [block(5, 2), block(5, 1)], block(5, 1), 2],
    ["another block, after a reorganisation, which the next step sees", [block(5, 1), block(5, 0, 9)], block(5, 1), 2],
    ["a node that is gone", [block(5, 1), unreachable], block(5, 1), 2]
  ]
  for (const [name, all, expected, count] of cases) {
    it.live(name, () =>
      Effect.gen(function* () {
        const source = looks(all)
        assert.deepStrictEqual(yield* source.blockAt, expected)
        assert.strictEqual(source.count(), count)
      })
    )
  }

  it.live("each node is asked in turn, until one gives that very block and all of it is understood", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const looks: ReadonlyArray<Block | NodeUnreachable> = [
        ...[block(5, 3), unreachable, block(5, 0, 9), block(5, 1), block(5, 0), block(5, 0)]
      ]
      const inner: Source = {
        ...({} as Source),
        blockAt: () => Effect.succeed(block(5, 2)),
        byEach: () =>
          looks.map((look, node) =>
            Effect.suspend(() => {
              asked.push(node)
              return look instanceof NodeUnreachable ? Effect.fail(look) : Effect.succeed(look)
            })
          )
      }
      assert.strictEqual(yield* EvmBlocks.withoutWaiting(SecondLook.of(inner).blockAt(5)), looks[4])
      assert.deepStrictEqual(asked, [0, 1, 2, 3, 4])
    })
  )

  it.live("that the first look does not suffice is said once, and again after it has sufficed", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const poor = [block(5, 1), block(5, 0)]
      const source = looks([...poor, ...poor, block(5, 0), ...poor])
      const said = Effect.provide(source.blockAt, Logger.layer([logger]))
      for (const count of [1, 1, 1, 2]) {
        yield* said
        assert.lengthOf(lines, count)
      }
      assert.match(lines[0]!, /^Block 5 is taken from a second look, .*: type 0x5 is not known\. If that goes on/)
    })
  )

  it.live("a kind that is in every block costs one look, until a block is understood again", () =>
    Effect.gen(function* () {
      const source = looks([...Array<Block>(26).fill(block(5, 1)), block(5, 0), block(5, 1)])
      for (let i = 0; i < 8; i++) yield* source.blockAt
      assert.strictEqual(source.count(), 16)
      for (let i = 0; i < 10; i++) yield* source.blockAt
      assert.strictEqual(source.count(), 26)
      yield* source.blockAt
      assert.strictEqual(source.count(), 27)
      yield* source.blockAt
      assert.strictEqual(source.count(), 29)
    })
  )

  it.live("a node that breaks one receipt hides no transfer that the next node shows", () =>
    Effect.gen(function* () {
      const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))
      const recorded = EvmBlocks.recorded([{ tx: { value: "0x1" } }, { tx: { value: "0x2" } }])
      const good = EvmNode.answers([recorded], { chainId: "0x7a69" })
      const broken: FakeNode.Answer = (method, params) =>
        method === "eth_getBlockReceipts"
          ? recorded.receipts!.map((receipt, index) => (index === 1 ? { ...receipt, status: "0x7" } : receipt))
          : good(method, params)
      const nodes = [yield* FakeNode.make(broken), yield* FakeNode.make(good)]
      const [first, ...others] = nodes.map(({ url }) => Redacted.make(url))
      const { source } = yield* Families.connect(ethereum, {
        ...{ nodes: [first!, ...others], start: 0, timeoutMillis: 5_000, parallel: 2, verify: "links" },
        internalTransactions: false
      })
      const read = yield* source.blockAt(100)
      assert.isUndefined(read.notUnderstood)
      assert.deepStrictEqual(
        read.transfers.map(({ amount }) => amount),
        [1n, 2n]
      )
    }).pipe(Effect.scoped)
  )
})
