import { assert, describe, it } from "@effect/vitest"
import * as Sighash from "@headwater/core/evm/Sighash"
import { bytesToHex } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import { encodeRlp, Transaction } from "ethers"
import fc from "fast-check"

const parsed = (json: unknown): Sighash.UnsignedTransaction =>
  Result.getOrThrow(Sighash.parseLine(typeof json === "string" ? json : JSON.stringify(json)))

const hex = (bytes: Uint8Array): string => `0x${bytesToHex(bytes)}`

const refusal = (json: unknown): string => {
  const result = Sighash.parseLine(typeof json === "string" ? json : JSON.stringify(json))
  if (Result.isSuccess(result)) return assert.fail(`accepted ${JSON.stringify(json)}`)
  assert.strictEqual(result.failure._tag, "InvalidTransaction")
  assert.notInclude(result.failure.message, "\n")
  return result.failure.message
}

it("the example of EIP-155, unsigned and signed", () => {
  const transaction = parsed({
    type: 0,
    chainId: 1,
    nonce: 9,
    gasPrice: "20000000000",
    gasLimit: "0x5208",
    to: "0x3535353535353535353535353535353535353535",
    value: "1000000000000000000"
  })
  assert.strictEqual(
    hex(Sighash.serialise(transaction)),
    "0xec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080"
  )
  assert.strictEqual(
    Sighash.digestText(transaction),
    "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"
  )
  assert.strictEqual(
    hex(
      Sighash.serialiseSigned(transaction, {
        r: 18515461264373351373200002665853028612451056578545711640558177340181847433846n,
        s: 46948507304638947509940763649030358759909902576025900602547168820602576006531n,
        yParity: 0
      })
    ),
    "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
  )
})

/** What must be given, without an effect on a test of another field. */
const given = { gasLimit: 0, to: null }

describe("absent fields", () => {
  it("are zero or empty, of each type", () => {
    // keccak256 of c6 80 80 80 80 80 80 and of 01 c8 80 … c0: ethers' masked-000000000000.
    for (const each of [{}, { type: 0 }, { type: "0x0", data: "", input: "", nonce: null, from: null }]) {
      assert.strictEqual(
        Sighash.digestText(parsed({ ...given, ...each })),
        "0x5460be86ce1e4ca0564b5761c6e7070d9f054b671f5404268335000806423d75"
      )
    }
    assert.strictEqual(hex(Sighash.serialise(parsed({ ...given, type: 1 }))), "0x01c880808080808080c0")
    assert.strictEqual(hex(Sighash.serialise(parsed({ ...given, type: "2" }))), "0x02c98080808080808080c0")
  })

  it("chainId in a type 0 decides between EIP-155 and before", () => {
    assert.strictEqual(hex(Sighash.serialise(parsed({ ...given, type: 0, chainId: 61 }))), "0xc98080808080803d8080")
    assert.strictEqual(hex(Sighash.serialise(parsed({ ...given, type: 0 }))), "0xc6808080808080")
    const absent = { ...given, chainId: undefined }
    assert.strictEqual(hex(Sighash.serialise(parsed({ ...absent, type: 0 }))), "0xc6808080808080")
  })

  it("but a type must stand beside the fields of later types", () => {
    assert.include(refusal({ ...given, maxFeePerGas: 1 }), "type")
    assert.include(refusal({ ...given, type: null, accessList: [] }), "type")
    assert.include(refusal({ ...given, blobVersionedHashes: [] }), "type")
  })
})

describe("what a signature must not leave open", () => {
  const to = "0x3535353535353535353535353535353535353535"
  const call = { type: 0, chainId: 1, nonce: 9, gasPrice: "20000000000", value: "1000000000000000000" }
  const digest = "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"

  it("the recipient and the limit of gas", () => {
    assert.include(refusal({}), "gasLimit: must be given")
    assert.include(refusal({ ...call, to }), "gasLimit: must be given")
    assert.include(refusal({ ...call, to, gasLimit: null }), "gasLimit: must be given")
    for (const each of [{}, { to: "" }]) {
      assert.include(refusal({ ...call, ...each, gasLimit: 21000 }), "to: must be given: an address, or null")
    }
    assert.isNull(parsed({ ...call, to: null, gasLimit: 21000 }).to)
  })

  it("not the chain: what is signed for chain 0 is taken by none", () => {
    for (const [type, price] of [
      [1, "gasPrice"],
      [2, "maxFeePerGas"]
    ] as const) {
      const { type: found, ...rest } = parsed({ type, [price]: 1, to, gasLimit: 21000 })
      assert.deepStrictEqual([found, rest.chainId], [type, 0n])
    }
  })

  it("of the values that a program gives, no more than of those that are read", () => {
    const fault = (run: () => unknown) =>
      Result.match(Result.try(run), {
        onSuccess: (digest) => assert.fail(`a digest was made: ${digest}`),
        onFailure: (error) => error as Sighash.InvalidTransaction
      })
    const bytes = (length: number) => new Uint8Array(length)
    const entry = { address: bytes(20), storageKeys: [bytes(32)] }
    const legacy = parsed({ ...call, to, gasLimit: 21000 })
    const market = parsed({ ...call, type: 2, to, gasLimit: 21000, maxFeePerGas: 2, maxPriorityFeePerGas: 1 })
    assert.strictEqual(Sighash.digestText({ ...legacy, to: Buffer.from(legacy.to!) }), digest)
    const { to: _, ...forgotten } = legacy
    for (const [given, field] of [
      // No creation of a contract by oversight.
      [forgotten, "to"],
      // Zero as one byte: the digest of what no node takes.
      [{ ...legacy, nonce: 0 }, "nonce"],
      [{ ...legacy, nonce: -1n }, "nonce"],
      [{ ...legacy, nonce: 2n ** 64n - 1n }, "nonce"],
      [{ ...legacy, gasLimit: 2n ** 64n }, "gasLimit"],
      [{ ...legacy, gasPrice: undefined }, "gasPrice"],
      [{ ...legacy, value: 2n ** 256n }, "value"],
      [{ ...legacy, value: Number.NaN }, "value"],
      [{ ...legacy, chainId: 0n }, "chainId"],
      [{ ...legacy, to: bytes(19) }, "to"],
      [{ ...legacy, to }, "to"],
      [{ ...legacy, data: "0x" }, "data"],
      [{ ...legacy, recipient: bytes(20) }, "recipient"],
      [{ ...legacy, accessList: [] }, "accessList"],
      [{ ...legacy, type: 3 }, "type"],
      [{ ...market, chainId: undefined }, "chainId"],
      [{ ...market, maxPriorityFeePerGas: 3n }, "maxPriorityFeePerGas"],
      [{ ...market, accessList: undefined }, "accessList"],
      [{ ...market, accessList: [undefined] }, "accessList[0]"],
      [{ ...market, accessList: [{ ...entry, address: bytes(32) }] }, "accessList[0].address"],
      [{ ...market, accessList: [{ ...entry, storageKeys: [bytes(31)] }] }, "accessList[0].storageKeys[0]"],
      [{ ...market, accessList: [{ ...entry, storageKeys: undefined }] }, "accessList[0].storageKeys"],
      [null, "transaction"]
    ] as ReadonlyArray<readonly [unknown, string]>) {
      const transaction = given as Sighash.UnsignedTransaction
      const signature = { r: 1n, s: 1n, yParity: 0 } as const
      for (const made of [
        fault(() => Sighash.serialise(transaction)),
        fault(() => Sighash.digest(transaction)),
        fault(() => Sighash.digestText(transaction)),
        fault(() => Sighash.serialiseSigned(transaction, signature))
      ]) {
        assert.deepStrictEqual([made._tag, made.message.split(":")[0]], ["InvalidTransaction", field])
      }
    }
  })

  it("what of a text another reader may read otherwise", () => {
    const other = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    const line = (fields: string) => `{"type":2,"chainId":1,"gasLimit":21000,${fields}}`
    assert.include(refusal(line(`"to":"${to}","to":null`)), "to: must be given once")
    assert.include(refusal(line(`"to":"${other}","value":1,"\\u0074o":"${to}"`)), "to: must be given once")
    assert.include(refusal(line(`"to":"${to}","x":1,"x":1`)), '"x": must be given once')
    const entry = `{"address":"${to}","address":"${other}","storageKeys":[]}`
    assert.include(refusal(line(`"to":null,"accessList":[${entry}]`)), "must be given once")
    // As doubles: 1, 0, 2^52 and 1.
    for (const number of ["0.99999999999999999", "1e-400", "4503599627370496.4", "1.0", "1e3"]) {
      assert.include(refusal(line(`"to":null,"value":${number}`)), "value: must be a whole number", number)
    }
    // The same names in several objects, and whatever may stand in texts and lists, are no fault.
    const entries = [to, other].map((address) => ({ address, storageKeys: [] }))
    assert.strictEqual(parsed({ type: 2, chainId: 1, gas: 1, to, accessList: entries }).type, 2)
    assert.include(refusal(line('"to":"\\"to\\":1.5,{"')), "to: must be 0x and 40")
    assert.include(refusal(line(`"to":null,"data":"0x${"ab".repeat(300_000)}\\""`)), "data: ")
    assert.include(refusal(line(`"to":null,"data":"${"\\n".repeat(300_000)}"`)), "data: ")
  })

  it("what an object has from elsewhere", () => {
    const refused = Sighash.parse(Object.create({ ...call, to, gasLimit: 21000, authorizationList: [] }))
    assert.isTrue(Result.isFailure(refused))
  })

  it.each([
    [{ recipient: to }, 'did you mean "to"?'],
    [{ toAddress: to }, 'did you mean "to"?'],
    [{ amount: 1 }, 'did you mean "value"?'],
    [{ gaslimit: 1 }, 'did you mean "gasLimit"?'],
    [{ gas_price: 1 }, 'did you mean "gasPrice"?'],
    [{ maxPriorityFee: 1 }, 'did you mean "maxPriorityFeePerGas"?'],
    [{ chainID: 1 }, 'did you mean "chainId"?'],
    [{ authorizationList: [] }, '"authorizationList": is no field of an unsigned transaction'],
    [{ r: "0x01" }, '"r": is no field of an unsigned transaction, but of a signed one'],
    [{ hash: null }, "but of a signed one"],
    [{ ["line\nbreak".repeat(99)]: 1 }, '"line\\nbreak'],
    [
      { type: 1, accessList: [{ address: to, storagekeys: [] }] },
      'accessList[0]."storagekeys": is no field of an unsigned transaction; did you mean "storageKeys"?'
    ]
  ])("%j: a field that is not understood", (fields, rule) => {
    assert.include(refusal({ ...call, gasLimit: 21000, to, ...fields }), rule)
  })

  it("nor a field of an object's own language", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      assert.include(refusal(`{"gasLimit":0,"to":null,"${name}":1}`), `"${name}": is no field`)
    }
  })

  it("JSON-RPC's own names say the same, and two names never two things", () => {
    const from = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"
    for (const each of [{ gas: 21000 }, { gas: "0x5208", gasLimit: 21000 }, { gas: null, gasLimit: "21000", from }]) {
      assert.strictEqual(Sighash.digestText(parsed({ ...call, to, ...each })), digest)
    }
    assert.include(refusal({ ...call, to, gas: 21001, gasLimit: 21000 }), "gas: must be the same as gasLimit")
    const whole = { ...call, to, gas: 21000 }
    const wanted = Sighash.digestText(parsed({ ...whole, data: "0xabcd" }))
    assert.notStrictEqual(wanted, digest)
    for (const each of [{ input: "0xABCD" }, { input: "0xabcd", data: "0xABCD" }, { input: "0xabcd", data: "" }]) {
      assert.strictEqual(Sighash.digestText(parsed({ ...whole, ...each })), wanted)
    }
    assert.include(refusal({ ...whole, data: "0xabcd", input: "0xabce" }), "input: must be the same as data")
    assert.include(refusal({ ...whole, data: "0xabcd", input: "0x" }), "input: must be the same as data")
    assert.include(refusal({ ...whole, from: "0x12" }), "from: ")
  })
})

describe("refuses, naming the field", () => {
  it.each([
    ["", "line"],
    ["nothing", "line"],
    ["[]", "line"],
    ["null", "line"],
    ['"0x"', "line"],
    ['{"type":3}', "type: must be 0, 1 or 2"],
    ['{"type":-1}', "type"],
    ['{"type":"legacy"}', "type"],
    ['{"type":2.5}', "type"],
    ['{"type":true}', "type"],
    ['{"nonce":18446744073709551615}', "nonce"],
    ['{"nonce":"18446744073709551615"}', "nonce: must be below 2^64 - 1"],
    ['{"nonce":"0xffffffffffffffff"}', "nonce: must be below 2^64 - 1"],
    ['{"nonce":9007199254740993}', "nonce"],
    ['{"nonce":""}', "nonce"],
    ['{"nonce":"0x"}', "nonce"],
    ['{"nonce":"1e3"}', "nonce"],
    ['{"nonce":" 1"}', "nonce"],
    ['{"nonce":"-1"}', "nonce"],
    ['{"nonce":-1}', "nonce"],
    ['{"nonce":[1]}', "nonce"],
    ['{"gasLimit":"18446744073709551616","to":null}', "gasLimit: must be below 2^64"],
    [`{"gasPrice":"0x1${"0".repeat(64)}"}`, "gasPrice: must be below 2^256"],
    [`{"value":"${"9".repeat(78)}"}`, "value: must be below 2^256"],
    [`{"value":"${"1".repeat(1_000_000)}"}`, "value"],
    [`{"type":2,"maxFeePerGas":"0x1${"0".repeat(64)}"}`, "maxFeePerGas"],
    [`{"type":2,"maxPriorityFeePerGas":"0x1${"0".repeat(64)}"}`, "maxPriorityFeePerGas"],
    [`{"type":1,"chainId":"0x1${"0".repeat(64)}"}`, "chainId"],
    ['{"type":2,"maxFeePerGas":1,"maxPriorityFeePerGas":2}', "maxPriorityFeePerGas: must not be above maxFeePerGas"],
    ['{"chainId":"mainnet"}', "chainId"],
    ['{"to":"0x"}', "to"],
    ['{"to":"0x12"}', "to"],
    ['{"to":5}', "to"],
    ['{"to":"3535353535353535353535353535353535353535"}', "to"],
    ['{"to":"0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}', "to: upper and lower case together must be the EIP-55"],
    ['{"data":"0x123"}', "data"],
    ['{"data":"0xzz"}', "data"],
    ['{"data":"1234"}', "data"],
    ['{"data":[1]}', "data"],
    ['{"type":1,"accessList":{}}', "accessList: must be a list"],
    ['{"type":1,"accessList":[5]}', "accessList[0]"],
    ['{"type":2,"accessList":[{"storageKeys":[]}]}', "accessList[0].address"],
    [
      '{"type":2,"accessList":[{"address":"0x3535353535353535353535353535353535353535","storageKeys":["0x00"]}]}',
      "accessList[0].storageKeys[0]"
    ],
    [
      '{"type":2,"accessList":[{"address":"0x3535353535353535353535353535353535353535","storageKeys":"0x00"}]}',
      "accessList[0].storageKeys: must be a list"
    ]
  ])("%s", (line, rule) => {
    // Beside what must be given, where the line is an object.
    const whole = /^\{(?!"(?:to|gasLimit)")/.test(line) ? line.replace("{", '{"gasLimit":0,"to":null,') : line
    assert.include(refusal(whole.replace('{"to"', '{"gasLimit":0,"to"')), rule)
  })

  it("and accepts the greatest of each", () => {
    const max = String(2n ** 256n - 1n)
    const line = { ...given, nonce: String(2n ** 64n - 2n), gasLimit: String(2n ** 64n - 1n), value: max, chainId: max }
    assert.strictEqual(parsed({ type: 0, ...line, gasPrice: max }).gasLimit, 2n ** 64n - 1n)
    assert.strictEqual(
      parsed({ type: 2, ...line, maxFeePerGas: max, maxPriorityFeePerGas: max }).value,
      2n ** 256n - 1n
    )
  })
})

it("a number of the sender's beyond 2^53, which ethers cannot write", () => {
  // ethereum/tests, TransactionWithHighNonce64Minus2: valid since EIP-2681.
  const unsigned = ["0xfffffffffffffffe", "0x01", "0x5208", `0x${"12".repeat(20)}`, "0x0a", "0x"]
  const ours = parsed({
    ...{ type: 0, nonce: "0xfffffffffffffffe", gasPrice: 1, gasLimit: 21000, value: 10 },
    to: `0x${"12".repeat(20)}`
  })
  assert.strictEqual(hex(Sighash.serialise(ours)), encodeRlp(unsigned))
  assert.throws(() => Transaction.from({ nonce: "0xfffffffffffffffe" as never }))
})

describe("against ethers", () => {
  const quantity = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
  const written = (value: bigint, form: number): string =>
    form % 2 === 0 ? value.toString() : `0x${value.toString(16)}`
  const bytes = (length: number) =>
    fc.uint8Array({ minLength: length, maxLength: length }).map((value) => `0x${bytesToHex(value)}`)
  const fields = fc.record({
    type: fc.constantFrom(0, 1, 2),
    chainId: quantity(52),
    nonce: quantity(52),
    gasPrice: quantity(100),
    maxFeePerGas: quantity(100),
    maxPriorityFeePerGas: quantity(100),
    gasLimit: quantity(63),
    to: fc.option(bytes(20)),
    value: quantity(256),
    data: fc.uint8Array({ maxLength: 300 }).map((value) => `0x${bytesToHex(value)}`),
    accessList: fc.array(fc.record({ address: bytes(20), storageKeys: fc.array(bytes(32), { maxLength: 3 }) }), {
      maxLength: 3
    }),
    form: fc.nat(1)
  })

  it("random transactions of every type", () => {
    fc.assert(
      fc.property(fields, ({ form, ...each }) => {
        const maxFeePerGas = each.maxFeePerGas + each.maxPriorityFeePerGas
        const line = {
          type: each.type,
          chainId: written(each.chainId, form),
          nonce: written(each.nonce, form),
          gasPrice: written(each.gasPrice, form),
          maxFeePerGas: written(maxFeePerGas, form),
          maxPriorityFeePerGas: written(each.maxPriorityFeePerGas, form),
          gasLimit: written(each.gasLimit, form),
          to: each.to,
          value: written(each.value, form),
          data: each.data,
          accessList: each.accessList
        }
        const theirs = new Transaction()
        theirs.type = each.type
        theirs.chainId = each.chainId
        theirs.nonce = Number(each.nonce)
        theirs.gasLimit = each.gasLimit
        if (each.to !== null) theirs.to = each.to
        theirs.value = each.value
        theirs.data = each.data
        if (each.type < 2) theirs.gasPrice = each.gasPrice
        if (each.type > 0) theirs.accessList = each.accessList
        if (each.type === 2) {
          theirs.maxFeePerGas = maxFeePerGas
          theirs.maxPriorityFeePerGas = each.maxPriorityFeePerGas
        }
        const ours = parsed(line)
        assert.strictEqual(hex(Sighash.serialise(ours)), theirs.unsignedSerialized)
        assert.strictEqual(Sighash.digestText(ours), theirs.unsignedHash)
      }),
      { numRuns: 200 }
    )
  })

  it("never throws on any JSON", () => {
    const names = ["type", "chainId", "nonce", "to", "value", "data", "accessList", "gasLimit", "__proto__"]
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.jsonValue()), fc.string(), (json, text) => {
        Sighash.parseLine(JSON.stringify(json))
        Sighash.parseLine(text)
      })
    )
  })
})
