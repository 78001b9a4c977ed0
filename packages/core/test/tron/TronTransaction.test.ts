import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import fc from "fast-check"
import * as Protobuf from "../../src/tron/internal/Protobuf.ts"

interface Recorded {
  readonly txID: string
  readonly raw_data_hex: string
  // biome-ignore lint/suspicious/noExplicitAny: recorded JSON of every kind of contract
  readonly raw_data: any
}

const collected = new URL("../../../../../shared/fixtures/tron/collected/", import.meta.url)
const recorded = (): ReadonlyArray<{ readonly type: string; readonly tx: Recorded }> =>
  JSON.parse(readFileSync(new URL("tx-sha256-verified.shared.json", collected)).toString())

const tron = Result.getOrThrow(Chain.find("tron", "mainnet"))

/** Hex of an address in either form of the API. */
const hexOf = (text: string) => bytesToHex(Result.getOrThrow(Address.decode(tron, text)))

const decode = (hex: string) => Result.getOrThrow(TronTransaction.decode(hexToBytes(hex)))

const field = (number: number, value: bigint | Uint8Array) => Protobuf.encode([[number, value]])
const account = (byte: number) => Uint8Array.from([0x41, ...new Uint8Array(20).fill(byte)])

/** `raw_data` with one contract. */
const rawData = (type: bigint, value: Uint8Array) =>
  Protobuf.encode([
    [
      11,
      Protobuf.encode([
        [1, type],
        [2, field(2, value)]
      ])
    ]
  ])

const transferOf = (type: bigint, value: Uint8Array) =>
  Result.map(TronTransaction.decode(rawData(type, value)), ({ contracts }) => contracts[0]?.transfer)

describe("TronTransaction", () => {
  it("reads what each kind of contract moves", () => {
    const call = Protobuf.encode([
      [1, account(1)],
      [2, account(2)],
      [3, 9_007_199_254_740_993n],
      [4, Uint8Array.of(1, 2, 3)]
    ])
    const transfer = Result.getOrThrow(transferOf(31n, call))
    assert.deepStrictEqual(transfer?.from, Address.fromBytes(account(1).subarray(1)))
    assert.deepStrictEqual(transfer?.to, Address.fromBytes(account(2).subarray(1)))
    assert.strictEqual(transfer?.amount, 9_007_199_254_740_993n)
    const created = Result.getOrThrow(
      transferOf(
        30n,
        Protobuf.encode([
          [1, account(1)],
          [2, field(5, 77n)]
        ])
      )
    )
    assert.strictEqual(created?.to, undefined)
    assert.strictEqual(created?.amount, 77n)
    const bought = Result.getOrThrow(
      transferOf(
        9n,
        Protobuf.encode([
          [1, account(1)],
          [2, account(3)],
          [3, Uint8Array.of(0x31)],
          [4, 5n]
        ])
      )
    )
    assert.strictEqual(bought?.amount, 5n)
    // TransferAssetContract moves a TRC-10 token: no coin.
    assert.strictEqual(
      Result.getOrThrow(
        transferOf(
          2n,
          Protobuf.encode([
            [1, Uint8Array.of(0x31)],
            [2, account(1)],
            [3, account(2)],
            [4, 5n]
          ])
        )
      ),
      undefined
    )
  })

  it("reads what nodes read of bytes that no wallet writes: a sender may write a contract's message in many ways", () => {
    const address = (byte: number) => bytesToHex(account(byte))
    const amounts = (type: bigint, hex: string) => {
      const transfer = Result.getOrThrow(transferOf(type, hexToBytes(hex)))
      return [transfer && bytesToHex(transfer.from), transfer?.to && bytesToHex(transfer.to), transfer?.amount]
    }
    const [from, to] = [1, 2].map((byte) => address(byte).slice(2))
    // The tag 0x0a with 2^32 more, the length 21 with 2^35 more, and the tag 0x18 in ten bytes with whatever stands above 2^32.
    const wide = `8a8080801015${address(1)}12958080808001${address(2)}98808080f0ffffffff0105`
    assert.deepStrictEqual(amounts(1n, wide), [from, to, 5n])
    const created = (...parts: ReadonlyArray<string>) =>
      `0a15${address(1)}${parts.map((part) => `12${(part.length / 2).toString(16).padStart(2, "0")}${part}`).join("")}`
    assert.deepStrictEqual(amounts(30n, created("284d")), [from, undefined, 77n])
    assert.deepStrictEqual(amounts(30n, created("284d", "220161")), [from, undefined, 77n])
    assert.deepStrictEqual(amounts(30n, created("284d", "284e")), [from, undefined, 78n])
    assert.deepStrictEqual(amounts(30n, created()), [undefined, undefined, undefined])
    // No field has the number 0, and no length is negative.
    for (const broken of ["828080801000", "0affffffff0f"]) {
      assert.isTrue(Result.isFailure(transferOf(1n, hexToBytes(broken))), broken)
    }
  })

  it("names the account that a contract is for, where no coins go there", () => {
    const named = (type: bigint, recipient: number) => {
      const value = Protobuf.encode([
        [1, account(1)],
        [recipient, account(2)]
      ])
      const { contracts } = Result.getOrThrow(TronTransaction.decode(rawData(type, value)))
      assert.isUndefined(contracts[0]!.transfer)
      const { recipient: to, sender } = TronTransaction.partiesOf(contracts[0]!)
      return [sender, to].map((party) => party && bytesToHex(party))
    }
    const both = [1, 2].map((byte) => bytesToHex(account(byte).subarray(1)))
    // AccountCreate, FreezeBalance, UnfreezeBalance, ShieldedTransfer, DelegateResource, UnDelegateResource.
    for (const [type, recipient] of [
      [0n, 2],
      [11n, 15],
      [12n, 15],
      [51n, 6],
      [57n, 4],
      [58n, 4]
    ] as const) {
      assert.deepStrictEqual(named(type, recipient), both, String(type))
    }
    // FreezeBalanceV2 has a stake for its owner alone.
    assert.deepStrictEqual(named(54n, 4), [both[0], undefined])
  })

  it("refuses malformed addresses and amounts, naming field and rule", () => {
    const refused = (type: bigint, value: Uint8Array) => {
      const result = transferOf(type, value)
      if (Result.isSuccess(result)) return assert.fail("was read")
      return result.failure.message
    }
    const of = (owner: Uint8Array, to: Uint8Array) =>
      Protobuf.encode([
        [1, owner],
        [2, to],
        [3, 5n]
      ])
    assert.include(refused(1n, of(account(1).subarray(1), account(2))), "owner_address must be 0x41")
    assert.include(refused(1n, of(account(1), new Uint8Array(0))), "to_address must be 0x41")
    assert.include(refused(31n, of(account(1), new Uint8Array(21))), "contract_address must be 0x41")
    // What moves nothing needs no addresses.
    assert.isUndefined(Result.getOrThrow(transferOf(31n, field(4, Uint8Array.of(1)))))
    const negative = Protobuf.encode([
      [1, account(1)],
      [2, account(2)],
      [3, -1n]
    ])
    assert.include(refused(1n, negative), "amount must not be negative")
    assert.include(refused(1n, Uint8Array.of(0x0a, 0x7f, 1)), "whole protobuf message")
    const late = TronTransaction.decode(field(8, 2n ** 62n))
    assert.isTrue(Result.isFailure(late) && late.failure.message.includes("expiration"))
  })

  it("reads what the chain takes: any timestamp, and unknown fields of any form", () => {
    const transfer = Protobuf.encode([
      [1, account(1)],
      [2, account(2)],
      [3, 5n],
      // The numbers of the amount, the recipient and the contracts, with another wire type.
      [3, Uint8Array.of(7)],
      [2, 7n]
    ])
    // A group with a field in it, as proto2 has them.
    const group = Uint8Array.of(0xa3, 0x06, ...field(11, 9n), ...field(8, 2n ** 62n), 0xa4, 0x06)
    const nested = Uint8Array.of(0xa3, 0x06, ...group, 0xa4, 0x06)
    for (const timestamp of [-1n, 2n ** 62n, 1_777_447_470_038_000_000n]) {
      const odd = [...rawData(1n, transfer), ...field(11, 9n), ...field(14, timestamp), ...group, ...nested]
      const read = Result.getOrThrow(TronTransaction.decode(Uint8Array.from(odd)))
      assert.strictEqual(read.timestamp, Number(timestamp))
      assert.deepStrictEqual(
        read.contracts.map(({ transfer }) => transfer),
        [{ from: Address.fromBytes(account(1).subarray(1)), to: Address.fromBytes(account(2).subarray(1)), amount: 5n }]
      )
    }
    for (const broken of [group.subarray(0, -2), group.subarray(-2)]) {
      assert.isTrue(Result.isFailure(TronTransaction.decode(broken)))
    }
  })

  it("never fails otherwise, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const result = TronTransaction.decode(bytes)
        if (Result.isFailure(result)) assert.strictEqual(result.failure._tag, "InvalidTransaction")
      }),
      { numRuns: 2000 }
    )
  })

  it.skipIf(!existsSync(collected))("recorded: id, times and moves of 26 transactions of 16 kinds", () => {
    let transfers = 0
    for (const { tx, type } of recorded()) {
      assert.strictEqual(bytesToHex(TronTransaction.id(hexToBytes(tx.raw_data_hex))), tx.txID)
      const read = decode(tx.raw_data_hex)
      assert.strictEqual(bytesToHex(read.refBlockBytes), tx.raw_data.ref_block_bytes)
      assert.strictEqual(bytesToHex(read.refBlockHash), tx.raw_data.ref_block_hash)
      assert.strictEqual(read.expiration, tx.raw_data.expiration)
      assert.strictEqual(read.timestamp, tx.raw_data.timestamp ?? 0)
      assert.strictEqual(read.contracts.length, 1)
      const { parameter } = tx.raw_data.contract[0]
      assert.strictEqual(read.contracts[0]!.typeUrl, parameter.type_url)
      const { transfer } = read.contracts[0]!
      const value = parameter.value
      if (type === "TransferContract" || type === "ParticipateAssetIssueContract") {
        assert.strictEqual(bytesToHex(transfer!.from), hexOf(value.owner_address))
        assert.strictEqual(bytesToHex(transfer!.to!), hexOf(value.to_address))
        assert.strictEqual(transfer!.amount, BigInt(value.amount))
        transfers++
      } else if (type === "TriggerSmartContract") {
        assert.strictEqual(transfer?.amount ?? 0n, BigInt(value.call_value ?? 0))
        if (transfer !== undefined) assert.strictEqual(bytesToHex(transfer.to!), hexOf(value.contract_address))
      } else if (type !== "CreateSmartContract") {
        assert.strictEqual(transfer, undefined)
      }
    }
    assert.isAbove(transfers, 3)
  })
})
