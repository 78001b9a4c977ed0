import { assert, describe, it } from "@effect/vitest"
import { fromBytes } from "@headwater/core/address/Address"
import type { Block, TokenTransfer } from "@headwater/core/Block"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as TokenFlood from "../../../../src/families/evm/internal/TokenFlood.ts"
import * as TransferLog from "../../../../src/store/chain/transfers/TransferLog.ts"

const address = (byte: number) => fromBytes(new Uint8Array(20).fill(byte))
const ids = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte))

const [from, to, contract] = [address(1), address(2), address(9)]
const amount = 1n

/** The transfers of one log. */
const logOf = (transaction: number, position: number, count: number): ReadonlyArray<TokenTransfer> =>
  Array.from({ length: count }, (_, batchIndex) => ({
    kind: "token",
    token: "multi",
    transaction,
    position,
    batchIndex,
    contract,
    from,
    to,
    amount,
    tokenId: 2n
  }))

const blockOf = (transfers: Block["transfers"]): Block => ({
  ...{ height: 7, hash: ids[0]!, parent: ids[1]!, time: 1, transactions: ids, transfers, spends: [] }
})
const bounded = (block: Block, most?: number) => TimeSlice.atOnce(TokenFlood.bounded(block, most))

describe("A block with more token transfers than the record has numbers for", () => {
  const coin = { kind: "coin", transaction: 1, position: 0, from, to, amount } as const

  it("is without its largest logs, and says of which transactions", () => {
    const [first, large, last] = [logOf(0, 0, 4), logOf(1, 1, 8), logOf(2, 0, 5)]
    const block = blockOf([...first, coin, ...large, ...last])
    assert.strictEqual(bounded(block, 18), block)
    // Coins are counted apart.
    assert.strictEqual(bounded(block, 17), block)
    const { notUnderstood, transfers, ...rest } = bounded(block, 16)
    const { transfers: _, ...before } = block
    assert.deepStrictEqual(rest, before)
    assert.deepStrictEqual(transfers, [...first, coin, ...last])
    assert.deepStrictEqual(
      notUnderstood!.map(({ lacks, transactionId, transfers }) => ({ lacks, transactionId, transfers })),
      [{ lacks: ["token"], transactionId: ids[1], transfers: 1 }]
    )
    const { transfers: least } = bounded(block, 1)
    assert.deepStrictEqual(least, [coin])
  })

  it("can be recorded", () => {
    const flood = [0, 1, 2, 3].flatMap((position) => logOf(0, position, 275_000))
    const block = blockOf([...flood, ...logOf(1, 4, 1)])
    const { transfers } = bounded(block)
    assert.lengthOf(transfers, 825_001)
    // All of them are more than it has numbers for.
    const rows = TimeSlice.atOnce(TransferLog.pack(1, bounded(block), () => true))
    assert.isAbove(rows.packed_transfers.length, 0)
  })

  it("can be recorded where each transfer names addresses of its own", () => {
    const own = (index: number, kind: number) => {
      const bytes = new Uint8Array(20).fill(kind)
      new DataView(bytes.buffer).setUint32(0, index)
      return fromBytes(bytes)
    }
    const flood = Array.from(
      { length: 360_000 },
      (_, position): TokenTransfer => ({
        kind: "token",
        token: "fungible",
        transaction: 0,
        position,
        batchIndex: 0,
        contract: own(position, 3),
        from: own(position, 1),
        to: own(position, 2),
        amount,
        tokenId: undefined
      })
    )
    const rows = TimeSlice.atOnce(TransferLog.pack(1, bounded(blockOf(flood)), () => true))
    assert.isAbove(rows.packed_transfers.length, 0)
  })
})
