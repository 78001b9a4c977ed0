import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as InternalTransactions from "../../../../src/families/tron/internal/InternalTransactions.ts"
import * as TronBlock from "../../../../src/families/tron/internal/TronBlock.ts"
import * as Fixtures from "../../../Fixtures.ts"
import {
  account,
  bare,
  base58,
  blockOf,
  bytesOf,
  call,
  infoOf,
  internal,
  mainnet,
  transaction,
  transfer,
  trc20,
  trc721
} from "../TronBlocks.ts"
import type { Json, TronBlock as Recorded } from "../TronNode.ts"

const height = 66_987_565

const read = (recorded: Recorded, internal = true): Result.Result<Block, string> =>
  TimeSlice.atOnce(
    TronBlock.decode(mainnet, Schema.decodeUnknownSync(TronBlock.Answer)(recorded.block), recorded.infos, {
      height,
      internal
    })
  )

const transfers = (transactions: ReadonlyArray<Json>, infos?: ReadonlyArray<Json>) =>
  Result.getOrThrow(read(blockOf(height, transactions, infos))).transfers

const refusal = (recorded: Recorded): string => {
  const result = read(recorded)
  return Result.isFailure(result) ? result.failure : assert.fail("was read")
}

describe("TronBlock", () => {
  it("names who has sent each transaction and to whom, whether or not the transaction took effect", () => {
    const failed = call(3, 50, 7, "OUT_OF_ENERGY")
    const created = transaction("CreateSmartContract", {
      owner_address: account(1),
      new_contract: { origin_address: account(1), bytecode: "6001", name: "n", abi: {} }
    })
    const asset = transaction("TransferAssetContract", {
      ...{ asset_name: "31303030", owner_address: account(1), to_address: account(4), amount: 9 }
    })
    const renamed = transaction("AccountUpdateContract", { owner_address: account(5), account_name: "6e" })
    const all = [transfer(1, 2, 5), failed, created, asset, renamed]
    const infos = all.map((each) =>
      infoOf(
        each,
        height,
        each === created ? { contract_address: account(61) } : each === failed ? { result: "FAILED" } : {}
      )
    )
    const { parties, transfers } = Result.getOrThrow(read(blockOf(height, all, infos)))
    assert.deepStrictEqual(
      parties,
      [
        [bytesOf(1), bytesOf(2)],
        [bytesOf(3), bytesOf(50)],
        [bytesOf(1), bytesOf(61)],
        [bytesOf(1), bytesOf(4)],
        [bytesOf(5), undefined]
      ].map(([from, to], index) => ({ kind: "transaction" as const, transaction: index, from: from!, to }))
    )
    assert.strictEqual(transfers.length, 1)
  })

  it("reads the header, and coins in order", () => {
    const first = transfer(1, 2, 5)
    const second = transfer(2, 3, 9_007_199_254_740_991)
    const block = Result.getOrThrow(read(blockOf(height, [first, second])))
    assert.strictEqual(block.height, height)
    assert.strictEqual(Buffer.from(block.hash).toString("hex"), blockOf(height, []).block.blockID)
    assert.strictEqual(Buffer.from(block.parent).toString("hex"), blockOf(height - 1, []).block.blockID)
    assert.strictEqual(block.time, 1_777_000_000 + height * 3)
    assert.deepStrictEqual(
      block.transactions.map((id) => Buffer.from(id).toString("hex")),
      [first.txID, second.txID]
    )
    assert.deepStrictEqual(block.transfers, [
      { kind: "coin", transaction: 0, position: 0, from: bytesOf(1), to: bytesOf(2), amount: 5n },
      { kind: "coin", transaction: 1, position: 0, from: bytesOf(2), to: bytesOf(3), amount: 9_007_199_254_740_991n }
    ])
  })

  it("reads an empty block, and the genesis block with its missing number and infos", () => {
    const empty = Result.getOrThrow(read(blockOf(height, [])))
    assert.deepStrictEqual([empty.transactions, empty.transfers], [[], []])
    const genesis = blockOf(0, [transfer(1, 2, 5, undefined)], [])
    const block = TronBlock.decode(mainnet, Schema.decodeUnknownSync(TronBlock.Answer)(genesis.block), [], {
      height: 0,
      internal: true
    })
    assert.strictEqual(Result.getOrThrow(TimeSlice.atOnce(block)).transactions.length, 1)
  })

  it("reads coins that calls, creations and token sales move", () => {
    const called = call(1, 50, 7)
    const created = transaction("CreateSmartContract", {
      owner_address: account(1),
      new_contract: {
        origin_address: account(1),
        abi: { entrys: [] },
        bytecode: "6080",
        call_value: 11,
        name: "x",
        consume_user_resource_percent: 100,
        origin_energy_limit: 1
      }
    })
    const bought = transaction("ParticipateAssetIssueContract", {
      owner_address: account(1),
      to_address: account(2),
      asset_name: "31303035343136",
      amount: 13
    })
    const infos = [
      infoOf(called, height, { contract_address: account(50), receipt: { result: "SUCCESS" } }),
      infoOf(created, height, { contract_address: account(51), receipt: { result: "SUCCESS" } })
    ]
    assert.deepStrictEqual(
      transfers([called, created, bought], infos).map((each) => [each.transaction, each.to, each.amount]),
      [
        [0, bytesOf(50), 7n],
        [1, bytesOf(51), 11n],
        [2, bytesOf(2), 13n]
      ]
    )
  })

  it("lets failed transactions and other contracts move nothing", () => {
    const failed = call(1, 50, 7, "REVERT")
    const outOfEnergy = call(1, 50, 7)
    const wrongReceipt = call(1, 50, 7)
    const trc10 = transaction("TransferAssetContract", {
      owner_address: account(1),
      to_address: account(2),
      asset_name: "31303035343136",
      amount: 100
    })
    const frozen = transaction("FreezeBalanceV2Contract", {
      owner_address: account(1),
      frozen_balance: 1_000_000,
      resource: "ENERGY"
    })
    const all = [failed, outOfEnergy, wrongReceipt, trc10, frozen, transfer(1, 2, 5, "FAILED")]
    const logs = { log: [trc20(50, 1, 2, 5n)], internal_transactions: [internal(50, 2, 5)] }
    const infos = [
      infoOf(failed, height, logs),
      infoOf(outOfEnergy, height, { ...logs, result: "FAILED" }),
      infoOf(wrongReceipt, height, { ...logs, receipt: { result: "OUT_OF_TIME" } }),
      infoOf(frozen, height, { unfreeze_amount: 5 })
    ]
    assert.deepStrictEqual(transfers(all, infos), [])
  })

  it("reads tokens by their place among the logs of the block", () => {
    const first = call(1, 50)
    const failed = call(1, 50, 0, "REVERT")
    const second = call(2, 51)
    const infos = [
      infoOf(second, height, { log: [{ address: bare(51), topics: [], data: "" }, trc721(51, 2, 3, 2n ** 255n)] }),
      infoOf(first, height, { log: [trc20(50, 1, 2, 2n ** 200n)] }),
      infoOf(failed, height, { result: "FAILED" })
    ]
    assert.deepStrictEqual(transfers([first, failed, second], infos), [
      {
        ...{ kind: "token", transaction: 0, position: 0, batchIndex: 0, contract: bytesOf(50), token: "fungible" },
        ...{ from: bytesOf(1), to: bytesOf(2), amount: 2n ** 200n, tokenId: undefined }
      },
      {
        ...{ kind: "token", transaction: 2, position: 2, batchIndex: 0, contract: bytesOf(51), token: "non-fungible" },
        ...{ from: bytesOf(2), to: bytesOf(3), amount: 1n, tokenId: 2n ** 255n }
      }
    ])
  })

  it("reads internal transactions that moved TRX: by id, not undone, not TRC-10, not staking", () => {
    const [first, second] = [call(1, 50), call(2, 51)]
    const infos = [
      infoOf(second, height, {
        internal_transactions: [
          internal(51, 60, undefined),
          internal(51, 61, 5),
          internal(51, 62, 6, "call", { rejected: true }),
          internal(51, 63, 7, "create"),
          internal(63, 64, 8, "suicide"),
          internal(51, 65, 9, "delegateResourceOfEnergy"),
          internal(51, 66, 0, "call", { callValueInfo: [{ tokenId: "1002000", callValue: 5 }] }),
          internal(51, 67, 0, "call", { callValueInfo: [{ callValue: 10 }, { tokenId: "1002000", callValue: 5 }] }),
          internal(51, 68, 0, "call", { callValueInfo: [{ callValue: "99000000000000001" }] })
        ]
      }),
      infoOf(first, height)
    ]
    assert.deepStrictEqual(
      transfers([first, second], infos).map((each) =>
        each.kind === "internal"
          ? [each.transaction, each.operation, each.operationType, each.from, each.to, each.amount]
          : each
      ),
      [
        [1, "call_1", "call", bytesOf(51), bytesOf(61), 5n],
        [1, "call_3", "create", bytesOf(51), bytesOf(63), 7n],
        [1, "call_4", "selfdestruct", bytesOf(63), bytesOf(64), 8n],
        [1, "call_7", "call", bytesOf(51), bytesOf(67), 10n],
        [1, "call_8", "call", bytesOf(51), bytesOf(68), 99_000_000_000_000_001n]
      ]
    )
    assert.deepStrictEqual(Result.getOrThrow(read(blockOf(height, [first, second], infos), false)).transfers, [])
  })

  // java-tron, Program.freezeBalanceV2 and delegateResource: the operand's lowest 64 bits are listed before it is refused.
  it("reads what a contract moved that also asked to stake more than there can be, and refuses a negative move", () => {
    const asked = (callValue: number | string, note: string) =>
      internal(50, 50, 0, note, { callValueInfo: [{ callValue }], rejected: true })
    const called = call(1, 50)
    const blockWith = (...internal_transactions: ReadonlyArray<Json>) =>
      Result.getOrThrow(read(blockOf(height, [called], [infoOf(called, height, { internal_transactions })])))
    const block = blockWith(
      asked(-1, "freezeBalanceV2ForEnergy"),
      asked("-9223372036854775808", "delegateResourceOfUnknownType"),
      internal(50, 60, 42)
    )
    assert.isUndefined(block.notUnderstood)
    assert.deepStrictEqual(
      block.transfers.map((each) => each.kind === "internal" && [each.operation, each.to, each.amount]),
      [["call_2", bytesOf(60), 42n]]
    )
    const [odd] = blockWith(internal(50, 60, -42)).notUnderstood!
    assert.deepStrictEqual(odd?.lacks, ["internal"])
    assert.match(odd?.reason ?? "", /internal_transactions\[0\]: callValue must not be negative/)
  })

  // java-tron, Program.callToAddress: a CALLCODE with coins is listed as a call of the account itself, and moves none.
  it("takes no coins that a contract gives itself by the code of another", () => {
    const called = call(1, 50)
    const infos = [infoOf(called, height, { internal_transactions: [internal(50, 50, 5), internal(50, 51, 6)] })]
    assert.deepStrictEqual(
      transfers([called], infos).map(({ amount, to }) => [to, amount]),
      [[bytesOf(51), 6n]]
    )
  })

  // java-tron, Program.suicide: they go to the black hole, or stay where they are.
  it("takes no coins that a contract leaves to itself with its end", () => {
    const called = call(1, 50)
    const internals = [internal(50, 50, 5, "suicide"), internal(50, 51, 6, "suicide")]
    assert.deepStrictEqual(
      transfers([called], [infoOf(called, height, { internal_transactions: internals })]).map(({ amount, to }) => [
        to,
        amount
      ]),
      [[bytesOf(51), 6n]]
    )
  })

  it("takes addresses in either form of the API", () => {
    const called = call(1, 50)
    const visible = infoOf(called, height, {
      log: [{ ...trc20(50, 1, 2, 5n), address: base58(50) }],
      internal_transactions: [
        internal(50, 60, 5, "call", { caller_address: base58(50), transferTo_address: base58(60), note: "call" })
      ]
    })
    const found = transfers([called], [visible])
    assert.deepStrictEqual(
      found.map(({ kind }) => kind),
      ["token", "internal"]
    )
    assert.deepStrictEqual(found[1]?.to, bytesOf(60))
  })

  it("refuses what contradicts itself, naming it", () => {
    const [called, other] = [call(1, 50), call(1, 50)]
    assert.include(refusal(blockOf(height + 1, [])), `asked for block ${height}`)
    assert.include(refusal(blockOf(height, [called], [])), "storage.transHistory.switch")
    assert.include(refusal(blockOf(height, [called, called])), "twice")
    assert.include(refusal(blockOf(height, [{ ...called, txID: other.txID }])), "does not hash to its id")
    assert.include(refusal(blockOf(height, [{ ...called, raw_data_hex: "0a" }])), "does not hash")
    for (const wrong of [{}, { ...blockOf(height, []).block, blockID: "x" }, { transactions: [] }, null, "x"]) {
      assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(TronBlock.Answer)(wrong)))
    }
  })

  it("goes on beside a transaction that is not understood, takes what is certain of it, and names the rest", () => {
    const [odd, other] = [call(1, 50, 7), call(2, 51, 9)]
    const log = [trc20(50, 1, 2, 5n)]
    const whole = { log, internal_transactions: [internal(50, 60, 5)] }
    const expected = transfers([other], [infoOf(other, height, { log })]).map(({ amount, kind }) => [kind, amount])
    const cases: ReadonlyArray<readonly [Json, ReadonlyArray<Json>, ReadonlyArray<string>, RegExp]> = [
      [odd, [infoOf(odd, height, { ...whole, result: "LATER" })], [], /the result LATER is not known/],
      [{ ...odd, ret: 5 }, [infoOf(odd, height, whole)], [], /^ret: /],
      [odd, [infoOf(odd, height - 1, whole)], ["coin"], /there is no info/],
      [odd, [{ ...infoOf(odd, height, whole), id: "x" }], ["coin"], /there is no info/],
      [odd, [infoOf(odd, height, { ...whole, log: 5 })], ["coin", "internal"], /^log: /],
      [odd, [infoOf(odd, height, { ...whole, log: [{ address: "41" }] })], ["coin", "internal"], /log.address/],
      [
        odd,
        [infoOf(odd, height, { ...whole, internal_transactions: [5] })],
        ["coin", "token"],
        /internal_transactions/
      ],
      [{ ...odd, raw_data_hex: "x" }, [infoOf(odd, height, whole)], ["token", "internal"], /raw_data_hex/],
      [{ raw_data_hex: odd.raw_data_hex }, [infoOf(odd, height, whole)], ["coin", "token", "internal"], /txID/]
    ]
    for (const [of, infos, taken, rule] of cases) {
      // The other one stands before, so that the place of its log is known whatever follows.
      const block = Result.getOrThrow(read(blockOf(height, [other, of], [...infos, infoOf(other, height, { log })])))
      assert.deepStrictEqual(
        block.transfers.filter(({ transaction }) => transaction === 0).map(({ amount, kind }) => [kind, amount]),
        expected,
        rule.source
      )
      assert.deepStrictEqual(
        block.transfers.filter(({ transaction }) => transaction === 1).map(({ kind }) => kind),
        taken,
        rule.source
      )
      assert.strictEqual(block.notUnderstood?.length, 1)
      assert.match(block.notUnderstood?.[0]?.reason ?? "", rule)
      assert.strictEqual(Buffer.from(block.notUnderstood![0]!.transactionId!).toString("hex"), odd.txID)
    }
  })

  it("tells no token under a place that is not certain", () => {
    const [odd, other] = [call(1, 50, 7), call(2, 51, 9)]
    const infos = [infoOf(odd, height, { log: "x" }), infoOf(other, height, { log: [trc20(50, 1, 2, 5n)] })]
    const block = Result.getOrThrow(read(blockOf(height, [odd, other], infos)))
    assert.deepStrictEqual(
      block.transfers.map(({ kind, transaction }) => [transaction, kind]),
      [
        [0, "coin"],
        [1, "coin"]
      ]
    )
    assert.deepStrictEqual(
      block.notUnderstood?.map(({ reason }) => reason.split(":")[0]),
      ["log", "how many logs the transactions before it have is not known"]
    )
  })

  it("tells from infos whether a node keeps internal transactions", () => {
    const called = call(1, 50)
    const log = [trc20(50, 1, 2, 5n)]
    const ofContract = (more: Json) => infoOf(called, height, { contract_address: account(50), ...more })
    const kept = (...infos: ReadonlyArray<Json>) => TimeSlice.atOnce(InternalTransactions.areKept(infos))
    assert.isUndefined(kept())
    assert.isUndefined(kept(infoOf(transfer(1, 2, 5), height), ofContract({ log })))
    assert.isTrue(kept(ofContract({ log }), ofContract({ internal_transactions: [internal(50, 51, undefined)] })))
    assert.isFalse(kept(ofContract({ log }), ofContract({ log: [...log, trc20(51, 1, 2, 5n)] })))
    assert.isTrue(
      kept(ofContract({ log: [trc20(51, 1, 2, 5n)] }), ofContract({ internal_transactions: [internal(50, 51, 1)] }))
    )
  })
})

describe.skipIf(!Fixtures.exist)("recorded on mainnet", () => {
  interface Transcribed {
    readonly transactions: ReadonlyArray<Json>
    readonly transactionInfos: ReadonlyArray<Json>
  }
  const transcribed = () => Fixtures.json("tron/transcribed/ledger-live-trongrid.json") as Transcribed

  it("moves what recorded transfers say", () => {
    const { transactions } = transcribed()
    const shown = transactions.map(({ raw_data_hex, txID }) => ({
      txID,
      raw_data_hex,
      ret: [{ contractRet: "SUCCESS" }]
    }))
    const block = Result.getOrThrow(read(blockOf(height, shown, [])))
    assert.deepStrictEqual(
      block.transfers.map(({ amount, from, to }) => [
        `41${Buffer.from(from!).toString("hex")}`,
        `41${Buffer.from(to!).toString("hex")}`,
        Number(amount)
      ]),
      transactions.map(({ amount, owner_address, to_address }) => [owner_address, to_address, amount])
    )
  })

  it("reads recorded infos, and the USDT that two of them moved", () => {
    const { transactionInfos } = transcribed()
    const infos = transactionInfos.map((info) => ({ ...info, blockNumber: height }))
    const read = Schema.decodeUnknownSync(Schema.Array(TronBlock.Info))(infos)
    const usdt = read.filter(({ log = [] }) => log.length > 0)
    assert.strictEqual(usdt.length, 2)
    assert.isUndefined(TimeSlice.atOnce(InternalTransactions.areKept(read)))
    // The same logs in transactions made here, whose bytes were not recorded.
    const called = usdt.map(() => call(1, 50))
    const found = transfers(
      called,
      usdt.map((info, index) => ({ ...info, id: called[index]!.txID }))
    )
    assert.deepStrictEqual(
      found.map((each) => each.kind === "token" && [each.token, each.amount]),
      [
        ["fungible", 0x27bf24dn],
        ["fungible", 1000n]
      ]
    )
  })

  it("reads every collected transaction in a block", () => {
    const collected = Fixtures.json("tron/collected/tx-sha256-verified.shared.json") as ReadonlyArray<{
      readonly type: string
      readonly tx: Json
    }>
    const unique = [...new Map(collected.map(({ tx }) => [tx.txID, tx])).values()]
    const infos = unique.map((tx) => infoOf(tx, height, { contract_address: account(50) }))
    const block = Result.getOrThrow(read(blockOf(height, unique, infos)))
    assert.strictEqual(block.transactions.length, unique.length)
    assert.isAbove(block.transfers.length, 3)
  })
})
