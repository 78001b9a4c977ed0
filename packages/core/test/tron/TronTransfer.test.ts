import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as TronTransfer from "@headwater/core/tron/TronTransfer"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import fc from "fast-check"
import * as Protobuf from "../../src/tron/internal/Protobuf.ts"

// The example answer of /wallet/createtransaction in java-tron's documentation, recorded on Nile.
const built = {
  visible: false,
  txID: "6303c7639f591407ef9f34a7ac8c9c9a21151f5a6af21924502515734fc267ab",
  raw_data: {
    contract: [
      {
        parameter: {
          value: {
            amount: 1000000,
            owner_address: "41dd791d6b49e190062d650e6a23c575510d35f2f9",
            to_address: "4192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a"
          },
          type_url: "type.googleapis.com/protocol.TransferContract"
        },
        type: "TransferContract"
      }
    ],
    ref_block_bytes: "2927",
    ref_block_hash: "939ece39d08a7abe",
    expiration: 1777447527000,
    timestamp: 1777447470038
  },
  raw_data_hex:
    "0a0229272208939ece39d08a7abe40d8c483c1dd335a67080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412320a1541dd791d6b49e190062d650e6a23c575510d35f2f912154192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a18c0843d70d68780c1dd33"
}

const wanted: TronTransfer.Wanted = {
  owner: Address.fromBytes(hexToBytes("dd791d6b49e190062d650e6a23c575510d35f2f9")),
  to: Address.fromBytes(hexToBytes("92ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a")),
  amount: 1_000_000n,
  memo: new Uint8Array(0),
  now: 1777447470038
}

const tron = Result.getOrThrow(Chain.find("tron", "nile"))

const other = Address.fromBytes(new Uint8Array(20).fill(7))

const transfer: TronTransfer.TronTransfer = {
  owner: wanted.owner,
  to: wanted.to,
  amount: wanted.amount,
  memo: wanted.memo,
  refBlockBytes: hexToBytes("2927"),
  refBlockHash: hexToBytes("939ece39d08a7abe"),
  expiration: 1777447527000,
  timestamp: 1777447470038
}

/** What a node would answer for these bytes, without the readable part. */
const answerOf = (rawData: Uint8Array) => ({
  txID: bytesToHex(TronTransaction.id(rawData)),
  raw_data_hex: bytesToHex(rawData)
})

const refusal = (answer: unknown, of = wanted): string => {
  const result = TronTransfer.verify(answer, of)
  if (Result.isSuccess(result)) return assert.fail("was accepted")
  assert.strictEqual(result.failure._tag, "TamperedTransaction")
  return result.failure.message
}

describe("TronTransfer", () => {
  it("writes a transfer byte for byte as java-tron does", () => {
    assert.strictEqual(bytesToHex(TronTransfer.encode(transfer)), built.raw_data_hex)
    assert.strictEqual(bytesToHex(TronTransaction.id(TronTransfer.encode(transfer))), built.txID)
  })

  it("accepts what was asked for, with and without the readable part, in either form of address", () => {
    for (const answer of [built, answerOf(hexToBytes(built.raw_data_hex))]) {
      const verified = Result.getOrThrow(TronTransfer.verify(answer, wanted))
      assert.strictEqual(bytesToHex(verified.id), built.txID)
      assert.deepStrictEqual(verified.transfer, transfer)
    }
    const visible = structuredClone(built)
    visible.raw_data.contract[0]!.parameter.value.to_address = Address.encode(tron, wanted.to)!
    assert.isTrue(Result.isSuccess(TronTransfer.verify(visible, wanted)))
  })

  it("refuses bytes that say another sender, recipient, amount or memo", () => {
    const changed = (change: Partial<TronTransfer.TronTransfer>) =>
      refusal(answerOf(TronTransfer.encode({ ...transfer, ...change })))
    assert.include(changed({ owner: other }), "another sender")
    assert.include(changed({ to: other }), "another recipient")
    assert.include(changed({ amount: 1_000_001n }), "another amount")
    assert.include(changed({ memo: Uint8Array.of(1) }), "another memo")
    assert.include(changed({ refBlockHash: Uint8Array.of(1) }), "must refer to a block")
  })

  it("refuses a second contract, another kind of contract, and anything beside the transfer", () => {
    const rawData = TronTransfer.encode(transfer)
    const contract = Protobuf.bytesOf(Result.getOrThrow(Protobuf.decode(rawData)), 11)
    const withField = (number: number, value: bigint | Uint8Array) =>
      answerOf(Uint8Array.from([...rawData, ...Protobuf.encode([[number, value]])]))
    assert.include(refusal(withField(11, contract)), "one contract")
    assert.include(refusal(withField(18, 5n)), "more in it")
    assert.include(refusal(withField(9, Uint8Array.of(8, 1))), "more in it")
    assert.include(refusal(withField(14, 1777447470039n)), "more in it")
    // Another permission of the sender's account, and an amount in the fields of another type.
    const typed = (type: bigint, permission: bigint) =>
      answerOf(
        Protobuf.encode([
          [1, transfer.refBlockBytes],
          [4, transfer.refBlockHash],
          [8, BigInt(transfer.expiration)],
          [
            11,
            Protobuf.encode([
              [1, type],
              [2, Protobuf.bytesOf(Result.getOrThrow(Protobuf.decode(contract)), 2)],
              [5, permission]
            ])
          ],
          [14, BigInt(transfer.timestamp)]
        ])
      )
    assert.isTrue(Result.isSuccess(TronTransfer.verify(typed(1n, 0n), wanted)))
    assert.include(refusal(typed(1n, 2n)), "more in it")
    assert.include(refusal(typed(31n, 0n)), "TransferContract")
    assert.include(refusal(answerOf(new Uint8Array([0x0a, 0x02, 1, 2]))), "one contract")
  })

  it("refuses an id that is not the hash, and a readable part that says otherwise than the bytes", () => {
    assert.include(refusal({ ...built, txID: "00".repeat(32) }), "not the hash")
    const changed = (change: (value: (typeof built.raw_data.contract)[0]["parameter"]["value"]) => void) => {
      const answer = structuredClone(built)
      change(answer.raw_data.contract[0]!.parameter.value)
      return refusal(answer)
    }
    const otherText = `41${bytesToHex(other)}`
    assert.include(
      changed((value) => (value.to_address = otherText)),
      "another recipient"
    )
    assert.include(
      changed((value) => (value.owner_address = otherText)),
      "another sender"
    )
    assert.include(
      changed((value) => (value.amount = 2_000_000)),
      "another amount"
    )
    const two = structuredClone(built)
    two.raw_data.contract.push(two.raw_data.contract[0]!)
    assert.include(refusal(two), "one contract")
    const kind = structuredClone(built)
    kind.raw_data.contract[0]!.type = "TriggerSmartContract"
    assert.include(refusal(kind), "TransferContract")
    const late = structuredClone(built)
    late.raw_data.expiration += 1
    assert.include(refusal(late), "another expiration")
  })

  it("refuses what has expired or would stay valid for more than a day", () => {
    assert.include(refusal(built, { ...wanted, now: transfer.expiration }), "must expire")
    assert.include(refusal(built, { ...wanted, now: transfer.expiration - 86_400_001 }), "must expire")
    assert.isTrue(Result.isSuccess(TronTransfer.verify(built, { ...wanted, now: transfer.expiration - 86_400_000 })))
  })

  it("refuses every answer that is no transaction, without failing otherwise", () => {
    for (const answer of [undefined, null, {}, [], "x", { Error: "class x" }, { ...built, raw_data_hex: "0g" }]) {
      refusal(answer)
    }
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        refusal(answerOf(bytes))
      })
    )
    // One bit changed anywhere.
    const rawData = TronTransfer.encode(transfer)
    for (let bit = 0; bit < rawData.length * 8; bit++) {
      const changed = Uint8Array.from(rawData)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      const result = TronTransfer.verify({ ...answerOf(changed), raw_data: built.raw_data }, wanted)
      // Only what is no part of the bargain may differ: the reference to a block, and the time it was built.
      if (Result.isSuccess(result)) {
        const { refBlockBytes, refBlockHash, timestamp, ...rest } = result.success.transfer
        assert.deepStrictEqual(rest, {
          owner: transfer.owner,
          to: transfer.to,
          amount: transfer.amount,
          memo: transfer.memo,
          expiration: transfer.expiration
        })
      }
    }
  })

  it("reads back what it writes", () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
    fc.assert(
      fc.property(
        fc.record({
          owner: bytes(20),
          to: bytes(20),
          amount: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
          memo: fc.uint8Array({ maxLength: 300 }),
          refBlockBytes: bytes(2),
          refBlockHash: bytes(8),
          expiration: fc.integer({ min: wanted.now + 1, max: wanted.now + 86_400_000 }),
          timestamp: fc.nat()
        }),
        (fields) => {
          const transfer = { ...fields, owner: Address.fromBytes(fields.owner), to: Address.fromBytes(fields.to) }
          const rawData = TronTransfer.encode(transfer)
          const verified = Result.getOrThrow(TronTransfer.verify(answerOf(rawData), { ...transfer, now: wanted.now }))
          assert.deepStrictEqual(verified.transfer, transfer)
          assert.deepStrictEqual(verified.rawData, rawData)
        }
      )
    )
  })

  it("counts bandwidth as the chain does", () => {
    // Transfers like the one above pay 267,000 sun at 1,000 a point (the first two of Nile's block 66987565).
    assert.strictEqual(TronTransfer.bandwidthOf(TronTransfer.encode(transfer)), 267)
    assert.strictEqual(TronTransfer.bandwidthOf(new Uint8Array(127)), 260)
  })
})
