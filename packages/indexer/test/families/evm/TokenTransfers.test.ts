import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as TokenTransfers from "@headwater/indexer/families/evm/TokenTransfers"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as fc from "fast-check"

const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
const single = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62"
const batch = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb"
const contract = `0x${"70".repeat(20)}`
const [operator, from, to] = ["0e", "aa", "bb"].map((byte) => `0x${"0".repeat(24)}${byte.repeat(20)}`) as [
  string,
  string,
  string
]
const word = (value: number | bigint) => value.toString(16).padStart(64, "0")
const data = (...words: ReadonlyArray<number | bigint | string>) =>
  `0x${words.map((value) => (typeof value === "string" ? value.slice(2) : word(value))).join("")}`
const address = Address.fromBytes(Uint8Array.from(Buffer.from(contract.slice(2), "hex")))
const log = (topics: ReadonlyArray<string>, body: string) =>
  TimeSlice.atOnce(
    TokenTransfers.ofLog({
      ...{ transaction: 3, position: 7, contract: address, data: body },
      topics: topics.map((topic) => topic.toLowerCase())
    })
  )
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`

describe("TokenTransfers", () => {
  it("ERC-20: two indexed addresses and an amount", () => {
    const [move, ...more] = log([transfer, from, to], data(2n ** 256n - 1n))
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual({ ...move!, contract: hex(move!.contract), from: hex(move!.from), to: hex(move!.to) }, {
      kind: "token",
      transaction: 3,
      position: 7,
      batchIndex: 0,
      token: "fungible",
      contract,
      from: `0x${"aa".repeat(20)}`,
      to: `0x${"bb".repeat(20)}`,
      amount: 2n ** 256n - 1n,
      tokenId: undefined
    } as never)
    assert.strictEqual(log([transfer, from, to], data(0))[0]!.amount, 0n)
    const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`
    assert.deepStrictEqual(log([transfer, from, to].map(upper), upper(data(2n ** 256n - 1n))), [move!])
  })

  it("no transfer of tokens is what the chain itself logs of its coins (EIP-7708, MRC20 on Polygon)", () => {
    const ofCoins = (contract: string) => ({
      ...{ transaction: 3, position: 7, data: data(5), topics: [transfer, from, to] },
      contract: Address.fromBytes(Uint8Array.from(Buffer.from(contract, "hex")))
    })
    const count = (contract: string) => TimeSlice.atOnce(TokenTransfers.ofLog(ofCoins(contract))).length
    assert.deepStrictEqual([count(`${"ff".repeat(19)}fe`), count(`${"ff".repeat(19)}ff`)], [0, 1])
    assert.deepStrictEqual([count(`${"00".repeat(18)}1010`), count(`${"00".repeat(18)}1011`)], [0, 1])
  })

  it("ERC-721: the id indexed too", () => {
    const [move] = log([transfer, from, to, data(9)], "0x")
    assert.deepInclude(move!, { token: "non-fungible", tokenId: 9n, amount: 1n })
  })

  it("before ERC-721 was final: all arguments in the data (CryptoKitties)", () => {
    const [move] = log([transfer], data(from, to, 5))
    assert.deepInclude(move!, { token: "non-fungible", tokenId: 5n, amount: 1n })
    assert.deepStrictEqual([hex(move!.from), hex(move!.to)], [`0x${"aa".repeat(20)}`, `0x${"bb".repeat(20)}`])
  })

  it("ERC-1155: one id, and each id of a batch", () => {
    assert.deepInclude(log([single, operator, from, to], data(4, 100))[0]!, {
      token: "multi",
      tokenId: 4n,
      amount: 100n
    })
    const moves = log([batch, operator, from, to], data(64, 160, 2, 6, 12, 2, 1, 0))
    assert.deepStrictEqual(
      moves.map(({ batchIndex, tokenId, amount, position }) => [batchIndex, tokenId, amount, position]),
      [
        [0, 6n, 1n, 7],
        [1, 12n, 0n, 7]
      ]
    )
    assert.deepStrictEqual(log([batch, operator, from, to], data(64, 96, 0, 0)), [])
  })

  it("a batch may have its arrays in any order, even the same one for both", () => {
    assert.deepStrictEqual(
      log([batch, operator, from, to], data(128, 64, 1, 50, 1, 9)).map(({ tokenId, amount }) => [tokenId, amount]),
      [[9n, 50n]]
    )
    assert.deepStrictEqual(
      log([batch, operator, from, to], data(64, 64, 1, 5)).map(({ tokenId, amount }) => [tokenId, amount]),
      [[5n, 5n]]
    )
  })

  it("logs of another shape are no transfers", () => {
    const shapes: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [[], "0x"],
      [[`0x${"12".repeat(32)}`, from, to], data(1)],
      [[transfer], "0x"],
      [[transfer], data(1)],
      [[transfer, from], data(to, 1)],
      [[transfer, from, to], "0x"],
      [[transfer, from, to], data(1, 2)],
      [[transfer, from, to], data(1).slice(0, -2)],
      [[transfer, from, to], `0x${"z".repeat(64)}`],
      [[transfer, from, to, data(1)], data(1)],
      [[transfer, from, to, data(1), data(2)], "0x"],
      [[transfer, `0x01${from.slice(4)}`, to], data(1)],
      [[transfer, from.slice(0, -2), to], data(1)],
      [[transfer], data(from, `0x01${to.slice(4)}`, 5)],
      [[single, operator, from, to], data(1)],
      [[single, from, to], data(operator, 1, 2)],
      [[batch, operator, from, to], data(64, 160, 2, 6, 12, 1, 1)],
      [[batch, operator, from, to], data(64, 160, 2, 6, 12, 3, 1, 0)],
      [[batch, operator, from, to], data(64, 320, 1, 6)],
      [[batch, operator, from, to], data(63, 96, 1, 6)],
      [[batch, operator, from, to], data(64, 2n ** 255n, 1, 6)],
      [[batch, operator, from, to], data(64, 64, 2n ** 200n, 6)],
      [[batch, operator, from, to], "0x"],
      [[batch, from, to], data(64, 64, 0)],
      [[transfer, from, to], word(1)]
    ]
    for (const [topics, body] of shapes) assert.deepStrictEqual(log(topics, body), [], `${topics} ${body}`)
    assert.deepStrictEqual(log([], "0x"), [])
  })

  it("never throws for what a contract can emit, and a batch gives at most as many moves as words", () => {
    const words = fc.array(fc.oneof(fc.bigInt({ min: 0n, max: 400n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })), {
      maxLength: 12
    })
    const topic = fc.constantFrom(transfer, single, batch, from, to, operator, data(3))
    fc.assert(
      fc.property(fc.array(topic, { maxLength: 4 }), words, fc.nat(31), (topics, values, cut) => {
        const body = data(...values)
        const moves = log(topics, cut === 0 ? body : body.slice(0, Math.max(2, body.length - 2 * cut)))
        assert.isAtMost(moves.length, Math.max(1, values.length))
      }),
      { numRuns: 5000 }
    )
  })
})
