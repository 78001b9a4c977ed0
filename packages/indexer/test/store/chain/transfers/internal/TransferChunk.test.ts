import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer } from "@headwater/core/Block"
import { type Entry, kinds } from "../../../../../src/store/chain/transfers/internal/Logs.ts"
import * as Posting from "../../../../../src/store/chain/transfers/internal/Posting.ts"
import * as TransferChunk from "../../../../../src/store/chain/transfers/internal/TransferChunk.ts"

/** Of the length of a script: 22, 25, 34 bytes, and now and then some thousands. */
const address = (number: number) => {
  const bytes = new Uint8Array(number % 5_000 === 0 ? 3_000 : [22, 25, 34][number % 3]!)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes as AddressBytes
}

const transferOf = (number: number): CoinTransfer => ({
  ...{ kind: "coin", transaction: number >> 2, position: number & 3, amount: BigInt(number) ** 4n },
  ...(number % 2 === 0 ? { from: undefined, to: address(number) } : { from: address(number), to: undefined })
})

const idOf = (number: number) => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(5, number)
  return bytes
}

/** An entry of each kind, with addresses and numbers of all lengths. */
const entriesOf = (number: number): ReadonlyArray<Entry> => {
  const [from, to, contract] = [address(number), address(number % 7), address(3 * (number % 11))]
  const shared = { transaction: number >> 1, from, to }
  const amount = 3n ** BigInt(number % 162)
  const token = (["fungible", "non-fungible", "multi"] as const)[number % 3]!
  const tokenId = number % 3 === 0 ? undefined : 2n ** BigInt(number % 257) - 1n
  return [
    { kind: "coin", ...shared, from: number % 5 === 0 ? undefined : from, amount, position: 200 * (number % 3) },
    { kind: "token", ...shared, contract, token, position: 3 * number, batchIndex: number % 4, tokenId, amount },
    { kind: "internal", ...shared, amount, operation: `call${"_1".repeat(number % 200)}`, operationType: "create2" },
    { kind: "transaction", ...shared, to: number % 9 === 0 ? undefined : to }
  ]
}

describe("TransferChunk", () => {
  it("packs to the bytes that stores have, whose blocks would be written anew otherwise", () => {
    const digest = createHash("sha256")
    for (const kind of kinds) {
      const packing = new TransferChunk.Packing(kind)
      for (let i = 0; i < 4_000; i++) {
        const transfer = entriesOf(i).find((entry) => entry.kind === kind)!
        const [from, to] = [transfer.from, transfer.to].map((side) => (side === undefined ? 0 : Posting.hash(side)))
        const number = packing.add({ transactionId: idOf(i >> 1), transfer }, from!, to!)
        digest.update(Posting.keyOf(from!, Posting.positionOf(i, number)))
      }
      for (const chunk of packing.end()) digest.update(chunk)
    }
    assert.strictEqual(digest.digest("hex"), "6e9d971215f39e046340d8c9771ac33f2124689dbb20eb4033ddc2b0d69d8148")
  })

  it("numbers a huge block's transfers in their order, below those of the next block, and finds each by its number", () => {
    const packing = new TransferChunk.Packing("coin")
    const numbers: Array<number> = []
    for (let i = 0; i < 120_000; i++) {
      const transfer = transferOf(i)
      const hash = Posting.hash((transfer.from ?? transfer.to)!)
      numbers.push(packing.add({ transactionId: idOf(i >> 2), transfer }, hash, hash))
    }
    const chunks = packing.end()
    assert.isTrue(numbers.every((number, i) => number < Posting.perBlock && (i === 0 || number > numbers[i - 1]!)))
    // As long as chunks are small, a page of the database has two of them, but for what is larger by itself.
    assert.isBelow(chunks.slice(0, 100).filter(({ length }) => length > 4_060).length, 3)
    const unpacked = chunks.map((chunk) => TransferChunk.unpack(chunk))
    assert.strictEqual(
      unpacked.reduce((sum, { length }) => sum + length, 0),
      numbers.length
    )
    for (let i = 0; i < numbers.length; i += 97) {
      const chunk = Math.floor(numbers[i]! / TransferChunk.numbers)
      const number = numbers[i]! % TransferChunk.numbers
      const expected = { transactionId: Buffer.from(idOf(i >> 2)), transfer: transferOf(i) }
      for (const found of [
        unpacked[chunk]![number]!,
        TransferChunk.unpack(chunks[chunk]!, new Set([number]))[number]!
      ]) {
        const { transfer, transactionId } = found
        assert.strictEqual(Buffer.compare(transactionId, expected.transactionId), 0)
        const { amount, from, kind, position, to, transaction } = transfer as CoinTransfer
        assert.deepStrictEqual(
          [kind, transaction, position, amount, ...[from, to].map((side) => side && Buffer.from(side).toString("hex"))],
          [
            ...["coin", i >> 2, i & 3, expected.transfer.amount],
            ...[expected.transfer.from, expected.transfer.to].map((side) => side && Buffer.from(side).toString("hex"))
          ]
        )
      }
    }
  })

  it("refuses a chunk that is cut off anywhere, or has more behind its end, instead of reading on for ever", () => {
    for (const kind of kinds) {
      const packing = new TransferChunk.Packing(kind)
      for (let i = 1; i < 4; i++) {
        const transfer = entriesOf(i).find((entry) => entry.kind === kind)!
        packing.add({ transactionId: idOf(i), transfer }, Posting.hash(transfer.from!), Posting.hash(transfer.to!))
      }
      const [chunk] = packing.end()
      for (let length = 1; length < chunk!.length; length++) {
        assert.throws(() => TransferChunk.unpack(chunk!.slice(0, length)), Error, undefined, `${kind} ${length}`)
      }
      assert.throws(() => TransferChunk.unpack(Buffer.concat([chunk!, Buffer.alloc(1)])), /damaged/)
    }
  })

  it("refuses a block whose transfers would have numbers of the next block", () => {
    const packing = new TransferChunk.Packing("transaction")
    const side = address(1)
    const transfer = { kind: "transaction", transaction: 0, from: side, to: side } as const
    const packed = { transactionId: idOf(0), transfer }
    assert.throws(() => {
      for (let i = 0; i < Posting.perBlock; i++) packing.add(packed, 1, 1)
    }, /more transfers/)
  })
})
