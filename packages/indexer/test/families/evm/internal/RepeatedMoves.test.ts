import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { InternalTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type { BlockAnswer } from "@headwater/indexer/families/evm/internal/BlockAnswer"
import * as RepeatedMoves from "@headwater/indexer/families/evm/internal/RepeatedMoves"
import type { Trace } from "@headwater/indexer/families/evm/internal/Trace"
import type { TracingNode } from "@headwater/indexer/families/evm/internal/TracingNode"
import { type NodeError, NodeRejected, NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const textOf = (byte: string) => `0x${byte.repeat(20)}`
const of = (byte: string): Address.AddressBytes =>
  Result.getOrThrow(Address.decode(Chain.ofName("ethereum/mainnet")!, textOf(byte)))

/** Addresses by the byte that they repeat. */
type Told = readonly [type: string, from: string, to: string, amount: bigint]

const transferOf = ([operationType, from, to, amount]: Told): InternalTransfer => ({
  ...{ kind: "internal", transaction: 0, operation: "call_0", operationType },
  ...{ from: of(from), to: of(to), amount }
})

/** The balances before and after a transaction from `aa` to `cc` in a block of the miner `ee`; undefined for no account. */
type Balances = Readonly<Record<string, readonly [before: number | undefined, after: number | undefined]>>

const refused = new NodeRejected({ node: "n", method: "m", code: -32601, message: "method not found" })

const hashes = ["0x01", "0x02"]

/** The amounts that are left of what a node tells of each transaction, and how often its balances were asked for. */
const left = Effect.fnUntraced(function* (
  told: ReadonlyArray<Told>,
  balances: Balances | NodeError,
  value = 0n,
  to: Address.AddressBytes | null = of("cc")
) {
  let asked = 0
  const stateOf = (at: 0 | 1) =>
    Object.fromEntries(
      Object.entries(balances as Balances).flatMap(([byte, states]) =>
        states[at] === undefined ? [] : [[textOf(byte), { balance: `0x${states[at].toString(16)}` }]]
      )
    )
  const call = () =>
    Effect.suspend(() => {
      asked++
      const result = { pre: stateOf(0), post: stateOf(1) }
      return "_tag" in balances
        ? Effect.fail(balances)
        : Effect.succeed(hashes.map((txHash) => ({ txHash, result })).reverse())
    })
  const transaction = { from: of("aa"), to: to ?? undefined, value }
  const block = { json: { miner: textOf("ee") }, listed: hashes.map((hashText) => ({ hashText, transaction })) }
  const trace: Trace = { failed: false, broken: [], transfers: told.map(transferOf) }
  const [read, ...others] = yield* RepeatedMoves.removed(
    { rpc: { node: "n", call }, inTime: (all: unknown) => all } as unknown as TracingNode,
    Effect.succeed(block as unknown as BlockAnswer),
    hashes.map(() => Result.succeed(trace)),
    false
  )
  for (const other of others) assert.deepStrictEqual(other, read)
  return [asked, Result.map(read!, ({ transfers }) => transfers.map(({ amount }) => Number(amount)))] as const
})

const end = "selfdestruct"

describe("Moves that a node tells once more", () => {
  it.effect("are those that the balances do not show", () =>
    Effect.gen(function* () {
      const paid: ReadonlyArray<Told> = [
        ["call", "cc", "dd", 5n],
        [end, "cc", "dd", 5n],
        [end, "cc", "dd", 5n]
      ]
      const once = yield* left(paid, { cc: [9, 4], dd: [undefined, 5] })
      assert.deepStrictEqual(once, [1, Result.succeed([5])])
      const indeed = yield* left(paid, { cc: [15, 0], dd: [1, 16] })
      assert.deepStrictEqual(indeed, [1, Result.succeed([5, 5, 5])])
      // Of a payer that has ended the balances need not tell.
      const ended = yield* left(paid.slice(0, 2), { cc: [15, undefined], dd: [1, 11] })
      assert.deepStrictEqual(ended, [1, Result.succeed([5, 5])])
    })
  )

  it.effect("are told from others by themselves", () =>
    Effect.gen(function* () {
      const paid: ReadonlyArray<Told> = [
        ["call", "cc", "dd", 5n],
        [end, "cc", "dd", 5n]
      ]
      // The second one has left to the recipient what was left, the third one nothing.
      const half = yield* left([...paid, [end, "cc", "dd", 5n]], { dd: [1, 11] })
      assert.deepStrictEqual(half, [1, Result.succeed([5, 5])])
      const also = yield* left([...paid, ["call", "bb", "ab", 4n], [end, "bb", "ab", 4n]], { ab: [1, 5], dd: [1, 11] })
      assert.deepStrictEqual(also, [1, Result.succeed([5, 5, 4])])
      // Of the sender of a new contract, whose code runs here (EIP-7702), nothing tells.
      const bySender: ReadonlyArray<Told> = [...paid, ["call", "aa", "ab", 4n], [end, "aa", "ab", 4n]]
      const created = yield* left(bySender, { ab: [1, 5], dd: [1, 11] }, 0n, null)
      assert.deepStrictEqual(created, [1, Result.succeed([5, 5, 4])])
      // Less by 1 than what two smaller ones tell in excess is what one tells that has moved.
      const several: ReadonlyArray<Told> = [
        ["call", "bb", "dd", 3n],
        [end, "bb", "dd", 3n],
        [end, "bb", "dd", 3n],
        ...paid
      ]
      assert.deepStrictEqual(yield* left(several, { dd: [0, 13] }), [1, Result.succeed([3, 5])])
    })
  )

  it.effect("are asked for again where the node has no answer now", () =>
    Effect.gen(function* () {
      const paid: ReadonlyArray<Told> = [
        ["call", "cc", "dd", 5n],
        [end, "cc", "dd", 5n]
      ]
      const node = { node: "n", method: "m" }
      for (const error of [
        new NodeUnreachable({ ...node, message: "no answer" }),
        new NodeRejected({ ...node, code: 429, message: "too many requests" })
      ]) {
        const untraced = yield* Effect.flip(left(paid, error))
        assert.strictEqual(untraced.reason, `whether coins moved twice is not known: ${error.message}`)
      }
    })
  )

  it.effect("are known by who pays no fees for the transaction, and gets none", () =>
    Effect.gen(function* () {
      // The transaction's own move; its sender pays fees.
      const own = yield* left([[end, "aa", "cc", 7n]], { aa: [90, 80], cc: [1, 8] }, 7n)
      assert.deepStrictEqual(own, [1, Result.succeed([])])
      const creating = yield* left([[end, "aa", "cc", 7n]], { aa: [90, 80], cc: [undefined, 7] }, 7n, null)
      assert.deepStrictEqual(creating, [1, Result.succeed([])])
      const toMiner: ReadonlyArray<Told> = [
        ["call", "aa", "ee", 7n],
        [end, "aa", "ee", 7n]
      ]
      assert.deepStrictEqual(yield* left(toMiner, { aa: [90, 80], ee: [1, 11] }), [1, Result.succeed([7])])
      const byPayer = toMiner.map(([type, , to, amount]): Told => [type, "bb", to, amount])
      assert.deepStrictEqual(yield* left(byPayer, { bb: [14, 7], ee: [1, 11] }), [1, Result.succeed([7])])
      assert.deepStrictEqual(yield* left(byPayer, { bb: [14, undefined], ee: [1, 18] }), [1, Result.succeed([7, 7])])
    })
  )

  it.effect("are not looked for where no end of a contract tells the move before it", () =>
    Effect.gen(function* () {
      const others: ReadonlyArray<Told> = [
        [end, "cc", "dd", 7n],
        ["call", "cc", "dd", 7n],
        ["call", "cc", "dd", 7n],
        [end, "cc", "dd", 8n],
        [end, "bb", "dd", 8n]
      ]
      assert.deepStrictEqual(yield* left(others, refused, 7n), [0, Result.succeed([7, 7, 7, 8, 8])])
    })
  )

  it.effect("make a transaction not understood whose balances the node does not show", () =>
    Effect.gen(function* () {
      const [, read] = yield* left(
        [
          ["call", "cc", "dd", 5n],
          [end, "cc", "dd", 5n]
        ],
        refused
      )
      assert.deepStrictEqual(read, Result.fail("whether coins moved twice is not known: method not found"))
    })
  )
})
