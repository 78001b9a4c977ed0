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
const address = "0x52908400098527886E0F7030069857D2E4169EE7"

describe("EventAbi", () => {
  it("has one form of what Solidity declares and of what a compiler writes", () => {
    const inputs = [
      { indexed: true, internalType: "address", name: "from", type: "address" },
      { indexed: true, internalType: "address", name: "to", type: "address" },
      { indexed: false, internalType: "uint256", name: "value", type: "uint256" }
    ]
    const abi = "event Transfer(address indexed from, address indexed to, uint256 value)"
    assert.strictEqual(abiOf({ anonymous: false, inputs, name: "Transfer", type: "event" }), abi)
    assert.strictEqual(abiOf("  event Transfer(address indexed from,address indexed to,uint value)"), abi)
    assert.strictEqual(abiOf("Transfer(address indexed from, address indexed to, uint256 value)"), abi)
    assert.strictEqual(EventAbi.topicOf(abi), id("Transfer(address,address,uint256)"))
  })

  it("refuses what is no event, and what nothing in a log tells", () => {
    const wrong = [
      "",
      "Transfer",
      "function f()",
      "event T(uint8) anonymous",
      "event T(foo x)",
      {},
      { type: "function" }
    ]
    for (const abi of [...wrong, `event T(${"uint256 a,".repeat(1_000)}uint256 b)`]) {
      const parsed = EventAbi.parse(abi)
      assert.isTrue(Result.isFailure(parsed) && /^must /.test(parsed.failure.message), JSON.stringify(abi))
    }
  })

  it("decodes what ethers encodes, exactly, and writes addresses as the chain does", () => {
    const abi = abiOf(
      "E(address indexed who, uint256 n, int8 i, bytes b, string s, bool y, uint256[2][] m, (address a, bytes4 x) t)"
    )
    const coder = new Interface([abi])
    const bytes = fc.uint8Array({ maxLength: 40 }).map((some) => `0x${Buffer.from(some).toString("hex")}`)
    const number = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    fc.assert(
      fc.property(
        number,
        fc.integer({ min: -128, max: 127 }),
        bytes,
        fc.string(),
        fc.boolean(),
        fc.array(fc.tuple(number, number)),
        (n, i, b, s, y, m) => {
          const log = coder.encodeEventLog("E", [address, n, i, b, s, y, m, [address, "0x01020304"]])
          const decoded = EventAbi.decode(ethereum, abi, log)!
          assert.deepStrictEqual(
            decoded.arguments.map(({ value }) => value),
            [address, `${n}`, `${i}`, b, s, y, m.map((pair) => pair.map(String)), [address, "0x01020304"]]
          )
          const onTron = EventAbi.decode(tron, abi, log)!.arguments[0]!.value
          assert.strictEqual(onTron, Address.encode(tron, Result.getOrThrow(Address.decode(tron, String(onTron)))))
          assert.match(String(onTron), /^T/)
        }
      )
    )
  })

  it("gives the hash of an indexed text, and nothing of a log that does not fit", () => {
    const abi = abiOf("Named(string indexed name, uint256 value)")
    const data = AbiCoder.defaultAbiCoder().encode(["uint256"], [5])
    const topics = [id("Named(string,uint256)"), id("alice")]
    const decoded = EventAbi.decode(ethereum, abi, { topics, data })
    assert.deepStrictEqual(decoded, {
      event: "Named",
      signature: "Named(string,uint256)",
      arguments: [
        { name: "name", type: "string", value: id("alice") },
        { name: "value", type: "uint256", value: "5" }
      ]
    })
    for (const log of [
      { topics: [id("Other()"), id("alice")], data },
      { topics: topics.slice(0, 1), data },
      { topics, data: "0x" },
      { topics: [], data }
    ]) {
      assert.isUndefined(EventAbi.decode(ethereum, abi, log))
    }
    // Not UTF-8.
    const text = abiOf("Said(string words)")
    const bad = AbiCoder.defaultAbiCoder().encode(["bytes"], ["0xff"])
    assert.isUndefined(EventAbi.decode(ethereum, text, { topics: [id("Said(string)")], data: bad }))
  })
})
