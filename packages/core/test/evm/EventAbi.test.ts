import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as EventAbi from "@headwater/core/evm/EventAbi"
import * as Result from "effect/Result"
import { AbiCoder, id, Interface } from "ethers"
import * as fc from "fast-check"

const ethereum = Chain.ofName("ethereum/mainnet")!
const tron = Chain.ofName("tron/mainnet")!
const abiOf = (abi: string | object) => Result.getOrThrow(EventAbi.parse(abi))
const encode = (types: ReadonlyArray<string>, values: ReadonlyArray<unknown>) =>
  AbiCoder.defaultAbiCoder().encode(types, values)
const address = "0x52908400098527886E0F7030069857D2E4169EE7"

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
const int = (bits: number) => fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n })

/** Values of each kind of type. */
const valueOf: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex),
  bool: fc.boolean(),
  string: fc.string({ unit: "grapheme" }),
  bytes: fc.uint8Array({ maxLength: 80 }).map(hex),
  bytes4: fc.uint8Array({ minLength: 4, maxLength: 4 }).map(hex),
  bytes32: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex),
  uint8: uint(8),
  uint256: uint(256),
  int24: int(24),
  int256: int(256)
}
const types = Object.keys(valueOf)
const lists = types.filter((type) => type !== "string" && type !== "bytes").map((type) => `${type}[]`)

describe("EventAbi", () => {
  it("has one form of what Solidity declares and of what a compiler writes", () => {
    const inputs = [
      { indexed: true, internalType: "address", name: "from", type: "address" },
      { indexed: true, internalType: "address", name: "to", type: "address" },
      { indexed: false, internalType: "uint256", name: "value", type: "uint256" }
    ]
    const abi = "event Transfer(address indexed from, address indexed to, uint256 value)"
    assert.strictEqual(abiOf({ anonymous: false, inputs, name: "Transfer", type: "event" }), abi)
    assert.strictEqual(abiOf("  event Transfer(address indexed from,address indexed to,uint value) ;"), abi)
    assert.strictEqual(abiOf("Transfer(address indexed from, address indexed to, uint256 value)"), abi)
    assert.strictEqual(EventAbi.topicOf(abi), id("Transfer(address,address,uint256)"))
    assert.strictEqual(abiOf("Paused()"), "event Paused()")
    // Names that are words of Solidity.
    for (const name of ["event", "address", "tuple", "anonymous"]) {
      const made = abiOf({ type: "event", name, inputs: [{ type: "uint", name, indexed: true }] })
      assert.strictEqual(abiOf(made), made)
      assert.strictEqual(EventAbi.topicOf(made), id(`${name}(uint256)`))
    }
    assert.isUndefined(EventAbi.topicOf("no ABI"))
  })

  it("refuses what is no event, what nothing in a log tells, and what would take long to decode", () => {
    const wrong: ReadonlyArray<string | object> = [
      ...[
        "",
        "Transfer",
        "function f()",
        "event T(uint8) anonymous",
        "event T(foo x)",
        "event T(uint7 a)",
        "event T(bytes33 b)"
      ],
      ...[
        "event T(uint8[100000000] a)",
        "event T(uint256[][] a)",
        "event T((uint a) b)",
        "event T(string[] a)",
        "event T(uint0 a)"
      ],
      ...["event T(uint a b)", "event T(uint a,)", "event T(uint indexed indexed)", "event 1T()", "event T(uint a-b)"],
      ...[`event T(${"(".repeat(1_500)}uint a${")".repeat(1_500)} b)`, `event T(${"uint a,".repeat(40)}uint b)`],
      ...[
        `event T(${"uint indexed a,".repeat(3)}uint indexed b)`,
        {},
        { type: "function" },
        { type: "event", name: "T" }
      ],
      ...[
        { type: "event", name: "a b", inputs: [] },
        { type: "event", name: "T", inputs: [{ type: "tuple", name: "", components: [] }] }
      ]
    ]
    for (const abi of wrong) {
      const parsed = EventAbi.parse(abi)
      assert.isTrue(Result.isFailure(parsed) && /^must /.test(parsed.failure.message), JSON.stringify(abi))
    }
  })

  it("decodes what ethers encodes, exactly", () => {
    const one = fc.constantFrom(...types, ...lists).chain((type) => {
      const value = type.endsWith("[]") ? fc.array(valueOf[type.slice(0, -2)]!, { maxLength: 6 }) : valueOf[type]!
      return fc.record({ type: fc.constant(type), value })
    })
    const told = (type: string, value: unknown): unknown =>
      Array.isArray(value)
        ? value.map((each) => told(type.slice(0, -2), each))
        : type === "address"
          ? Address.encode(ethereum, Result.getOrThrow(Address.decode(ethereum, String(value))))
          : typeof value === "bigint"
            ? String(value)
            : value
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), (all) => {
        const abi = abiOf(`E(${all.map(({ type }, i) => `${type} a${i}`).join(", ")})`)
        const log = new Interface([abi]).encodeEventLog(
          "E",
          all.map(({ value }) => value)
        )
        assert.deepStrictEqual(
          EventAbi.decode(ethereum, abi, log)?.arguments.map(({ value }) => value as unknown),
          all.map(({ type, value }) => told(type, value))
        )
      })
    )
  })

  it("reads indexed arguments from the topics: values as they are, of others the hash; addresses as the chain writes them", () => {
    const abi = abiOf("Named(string indexed name, address indexed who, uint256 value)")
    const log = new Interface([abi]).encodeEventLog("Named", ["alice", address, 5])
    const decoded = EventAbi.decode(ethereum, abi, log)
    assert.deepStrictEqual(decoded, {
      event: "Named",
      signature: "Named(string,address,uint256)",
      arguments: [
        { name: "name", type: "string", value: id("alice") },
        { name: "who", type: "address", value: address },
        { name: "value", type: "uint256", value: "5" }
      ]
    })
    const onTron = EventAbi.decode(tron, abi, log)!.arguments[1]!.value
    assert.strictEqual(onTron, Address.encode(tron, Result.getOrThrow(Address.decode(tron, String(onTron)))))
    assert.match(String(onTron), /^T/)
  })

  it("gives nothing of a log that does not fit", () => {
    const abi = abiOf("E(uint8 indexed a, bool b, address c, string d, bytes4 e)")
    const fitting = new Interface([abi]).encodeEventLog("E", [1, true, address, "text", "0x01020304"])
    assert.isDefined(EventAbi.decode(ethereum, abi, fitting))
    const { data, topics } = fitting
    const word = (digits: string) => digits.padStart(64, "0")
    const withWord = (place: number, digits: string) =>
      `0x${data.slice(2, 2 + 64 * place)}${digits}${data.slice(2 + 64 * (place + 1))}`
    const others = [
      { topics: [id("Other()"), topics[1]!], data },
      { topics: topics.slice(0, 1), data },
      { topics: [...topics, topics[1]!], data },
      { topics: [topics[0]!, `0x${word("0201")}`], data },
      { topics: [], data },
      { topics, data: "0x" },
      { topics, data: data.slice(0, -64) },
      { topics, data: withWord(0, word("2")) },
      { topics, data: withWord(1, `01${word("5").slice(2)}`) },
      { topics, data: withWord(2, "f".repeat(64)) },
      { topics, data: withWord(3, `01020304${"0".repeat(55)}1`) },
      { topics, data: withWord(4, word("ffffffff")) },
      // No UTF-8.
      { topics, data: withWord(5, `ff${"0".repeat(62)}`) }
    ]
    for (const log of others) assert.isUndefined(EventAbi.decode(ethereum, abi, log), JSON.stringify(log))
  })

  it("decodes no more than the data of a log, also where arguments share a tail, and never throws", () => {
    const shared = abiOf(`E(${Array.from({ length: 8 }, (_, i) => `uint256[] a${i}`).join(", ")})`)
    const words = 400
    const list = encode(["uint256[]"], [Array.from({ length: words }, (_, i) => i)]).slice(2 + 64)
    const heads = Array.from({ length: 8 }, () => (8 * 32).toString(16).padStart(64, "0")).join("")
    const topic = EventAbi.topicOf(shared)!
    assert.isUndefined(EventAbi.decode(ethereum, shared, { topics: [topic], data: `0x${heads}${list}` }))
    const abi = abiOf("E(uint256[] a, string b, bytes c, address[] d)")
    const word = fc.oneof(
      fc.nat(400).map((number) => number.toString(16).padStart(64, "0")),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => hex(bytes).slice(2))
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), (all) => {
        const data = `0x${all.join("")}`
        const decoded = EventAbi.decode(ethereum, abi, { topics: [EventAbi.topicOf(abi)!], data })
        assert.isAtMost(JSON.stringify(decoded ?? {}).length, 4 * data.length + 400)
      })
    )
  })
})
