import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as BlockBody from "../../../src/families/utxo/internal/BlockBody.ts"
import { withoutToken } from "../../../src/families/utxo/internal/CashToken.ts"
import { merkleRoot } from "../../../src/families/utxo/internal/MerkleRoot.ts"
import * as NodeTransaction from "../../../src/families/utxo/internal/NodeTransaction.ts"
import * as RawBlock from "../../../src/families/utxo/internal/RawBlock.ts"
import { RawBytes } from "../../../src/families/utxo/internal/RawBytes.ts"
import * as RawTransaction from "../../../src/families/utxo/internal/RawTransaction.ts"
import * as RawZcashTransaction from "../../../src/families/utxo/internal/RawZcashTransaction.ts"
import * as TransactionProof from "../../../src/families/utxo/internal/TransactionProof.ts"
import * as WholeTransaction from "../../../src/families/utxo/WholeTransaction.ts"
import { compactSize, p2pkh, withSize } from "./UtxoBlocks.ts"

const chainOf = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "hex"))
const unlisted = (transactions: number) => new Array<Uint8Array>(transactions).fill(new Uint8Array(32))

const readBlock = (blockchain: string, raw: string, transactions: number) =>
  TimeSlice.atOnce(RawBlock.read(chainOf(blockchain), bytesOf(raw), unlisted(transactions)))

/** One transaction, which must be all of the bytes. */
const readTransaction = (blockchain: string, text: string) => {
  const raw = new RawBytes(bytesOf(text))
  const body = BlockBody.empty()
  RawTransaction.read(raw, chainOf(blockchain), 0, body)
  assert.strictEqual(raw.at, text.length / 2)
  return body
}

const summary = ({ transactions, transfers, spends }: BlockBody.BlockBody) => ({
  ids: transactions.map(hex),
  outputs: transfers.map(({ position, to, amount }) => [position, hex(to!), amount]),
  inputs: spends.map(({ position, outpoint }) => [position, hex(outpoint.transactionId), outpoint.index])
})

describe("RawBlock", () => {
  it("Bitcoin's genesis block", () => {
    const publicKey =
      "04678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5f"
    const message =
      "5468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73"
    const raw = [
      "01000000",
      "00".repeat(32),
      "3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a",
      "29ab5f49ffff001d1dac2b7c",
      "01",
      `0100000001${"00".repeat(32)}ffffffff4d04ffff001d010445${message}ffffffff01`,
      `00f2052a01000000${withSize(`41${publicKey}ac`)}00000000`
    ].join("")
    const { hash, merkleRoot: root, body } = readBlock("bitcoin", raw, 1)
    assert.strictEqual(hex(hash!), "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f")
    const id = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
    assert.strictEqual(hex(root), id)
    assert.deepStrictEqual(summary(body), { ids: [id], outputs: [[0, `41${publicKey}ac`, 5000000000n]], inputs: [] })
  })

  // Block 371,337 of Dogecoin, merge-mined with Litecoin.
  const auxPow = [
    "020162000d6f03470d329026cd1fc720c0609cd378ca8691a117bd1aa46f01fb09b1a8468a15bf6f0b0e83f2e5036684169eafb9406468",
    "d4f075c999fb5b2a78fbb827ee41fb11548441361b00000000010000000100000000000000000000000000000000000000000000000000",
    "00000000000000ffffffff380345bf09fabe6d6d980ba42120410de0554d42a5b5ee58167bcd86bf7591f429005f24da45fb51cf080000",
    "0000000000cdb1f1ff0e000000ffffffff01800c0c2a010000001976a914aa3750aa18b8a0f3f0590731e1fab934856680cf88ac000000",
    "00b3e64e02fff596209c498f1b18f798d62f216f11c8462bf3922319000000000003a979a636db2450363972d211aee67b71387a3daaa3",
    "051be0fd260c5acd4739cd52a418d29d8a0e56c8714c95a0dc24e1c9624480ec497fe2441941f3fee8f9481a3370c334178415c83d1d0c",
    "2deeec727c2330617a47691fc5e79203669312d100000000036fa40307b3a439538195245b0de56a2c1db6ba3a64f8bdd2071d00bc48c8",
    "41b5e77b98e5c7d6f06f92dec5cf6d61277ecb9a0342406f49f34c51ee8ce4abd678038129485de14238bd1ca12cd2de12ff0e383aee54",
    "2d90437cd664ce139446a00000000002000000d2ec7dfeb7e8f43fe77aba3368df95ac2088034420402730ee0492a2084217083411b3fc",
    "91033bfdeea339bc11b9efc986e161c703e07a9045338c165673f09940fb11548b54021b58cc9ae5060100000001000000000000000000",
    "0000000000000000000000000000000000000000000000ffffffff0d0389aa050101062f503253482fffffffff010066f33caf05000023",
    "2102b73438165461b826b30a46078f211aa005d1e7e430b1e0ed461678a5fe516c73ac000000000100000001ef2e86aa5f027e13d7fc1f",
    "0bd4a1fc677d698e42850680634ccd1834668ff320010000006b483045022100fcf5dc43afa85978a71e76a9f4c11cd6bf2a7d5677212f",
    "9001ad085d420a5d3a022068982e1e53e94fc6007cf8b60ff3919bcaf7f0b70fefb79112cb840777d8c7cf0121022b050b740dd02c1b4e",
    "1e7cdbffe6d836d987c9db4c4db734b58526f08942193bffffffff02004e7253000000001976a91435cb1f77e88e96fb3094d84e8d3b77",
    "89a092636d88ac00d4b7e8b00700001976a9146ca1f634daa4efc7871abab945c7cefd282b481f88ac0000000001000000010a6c24bbc9",
    "2fd0ec32bb5b0a051c44eba0c1325f0b24d9523c109f8bb1281f49000000006a4730440220608577619fb3a0b826f09df5663ffbf121c8",
    "e0164f43b73d9affe2f9e4576bd0022040782c9a7df0a20afe1a7e3578bf27e1331c862253af21ced4fde5ef1b44b787012103e4f91ad8",
    "31a87cc532249944bc7138a355f7d0aac25dc4737a8701181ce680a5ffffffff010019813f0d0000001976a91481db1aa49ebc6a71cad9",
    "6949eb28e22af85eb0bd88ac0000000001000000017b82db0f644ecff378217d9b8dc0de8817eaf85ceefacab23bf344e2e495dca50100",
    "00006b483045022100f07ced6bfdbd6cdeb8b2c8fc92b9803f5798754b5b6c454c8f084198bea303f402205616f84d7ec882af9c34a3fd",
    "2457ca3fb81ec5a463a963a6e684edee427d4525012102c056b10494520dbd7b37e2e6bb8f72f98d73a609a926901221bfb114fa1d5a80",
    "ffffffff02f0501a22000000001976a914ca63ded8b23d0252158a3bdc816747ef89fb438988ac80b65ea1350700001976a914fb26a7c1",
    "6ace531a8e7bbd925e46c67c3150c1c888ac000000000100000001c9bdba900e1579ebf4e44415fe8b9abec57a763f8c70a30604bea7fb",
    "e7c55d42000000006a47304402204ccbeeace0630e72102fdaf0836e41f8f6dcdde6a178f0fbc2d96a4d17a1df8f02207e4a91203a2abd",
    "87fdddee96510482ef96535741b6c17a1acae93c977ad248e5012103e0747583a342b76a5de9c21db138b9640d49b4f3b67a306d3b3f21",
    "7416d49b55ffffffff020058850c020000001976a9144417c63a91208a02a5f46a0f7a2b806adc7d19a788ac0042dc06030000001976a9",
    "147b61c5adef0d559e5acf2901c2989294624b651988ac0000000001000000017c1423b198dfc3da37ae9a5fc11a3720e4343b3049d3b2",
    "89b8285eb04595c04b000000006b483045022100b0c1cb9608bf644d7a8916bf61f36ced95bd045e97612804ca774f60e05e7bde022017",
    "c12255eecc474c8d8b05d0910013b2df8703af68212cf0962b6b8ee0e101ee01210341e154088c23b8ea943bca94c1d4f65361668a242b",
    "168522f00199365414b46affffffff01019891ad000000001976a91481db1aa49ebc6a71cad96949eb28e22af85eb0bd88ac00000000"
  ].join("")

  it("a Dogecoin block with AuxPoW: the parent's proof is passed over", () => {
    const { hash, merkleRoot: root, body } = readBlock("dogecoin", auxPow, 6)
    assert.strictEqual(hex(hash!), "60323982f9c5ff1b5a954eac9dc1269352835f47c2c5222691d80f0d50dcf053")
    assert.strictEqual(hex(root), "ee27b8fb782a5bfb99c975f0d4686440b9af9e16846603e5f2830e0b6fbf158a")
    assert.strictEqual(hex(TimeSlice.atOnce(merkleRoot(body.transactions))), hex(root))
    const { ids, outputs, inputs } = summary(body)
    assert.strictEqual(ids[0], "4547b14bc16db4184fa9f141d645627430dd3dfa662d0e6f418fba497091da75")
    assert.strictEqual(ids[5], "02c16e3389320da3e77686d39773dda65a1ecdf98a2ef9cfb938c9f4b58f7a40")
    assert.deepStrictEqual(outputs[0], [
      0,
      "2102b73438165461b826b30a46078f211aa005d1e7e430b1e0ed461678a5fe516c73ac",
      6250200000000n
    ])
    assert.strictEqual(outputs.length, 9)
    assert.strictEqual(inputs.length, 5)
  })

  it("only Dogecoin has AuxPoW: the version bit means nothing elsewhere", () => {
    assert.throws(() => readBlock("bitcoin", auxPow, 6), /transactions|ends early|flags/)
  })

  it("cut off anywhere, it is refused, or what is behind the last whole transaction is named", () => {
    const whole = readBlock("dogecoin", auxPow, 6).body
    let named = 0
    for (let length = 0; length < auxPow.length; length += 20) {
      const read = Result.try(() => readBlock("dogecoin", auxPow.slice(0, length), 6))
      if (Result.isFailure(read)) {
        assert.match(String(read.failure), /ends early|listed/)
        continue
      }
      const { notUnderstood = [], transfers } = read.success.body
      const understood = 6 - notUnderstood.length
      assert.deepStrictEqual(
        transfers,
        whole.transfers.filter(({ transaction }) => transaction < understood)
      )
      assert.match(notUnderstood[0]?.reason ?? "", /ends early/)
      for (const { reason } of notUnderstood.slice(1)) assert.match(reason, /behind a transaction/)
      named++
    }
    assert.isAbove(named, 5)
  })

  it("another number of transactions than listed is refused", () => {
    assert.throws(() => readBlock("dogecoin", auxPow, 5), /6 transactions, 5 listed/)
  })
})

describe("RawTransaction", () => {
  it("segwit: the witness is no part of the id (a Litecoin coinbase)", () => {
    const commitment = "6a24aa21a9edfbe0360e18dbebed72d3b4a648fb6e38d8acbeaae2d36fb79ca2b431192d0beb"
    const script = "0014de9aee36a5461239c4ec5069de012a3c0f9de1d3"
    const body = readTransaction(
      "litecoin",
      [
        `020000000001 01${"00".repeat(32)}ffffffff0502b0010101ffffffff02`.replace(" ", ""),
        `7898814a00000000${withSize(script)}`,
        `0000000000000000${withSize(commitment)}`,
        `0120${"00".repeat(32)}00000000`
      ].join("")
    )
    assert.deepStrictEqual(summary(body), {
      ids: ["abee3b3406dc726f397a5f9b720cba6a283c2d0e1fb951f8d7bc3775212fce5a"],
      outputs: [[0, script, 1250007160n]],
      inputs: []
    })
  })

  it("MWEB: a HogEx spends the peg-in, and its flag and empty extension are no part of the id", () => {
    const pegIn = "339f712bfa8ae22fccff370a30253ac5c46866739ab248baf6e4b3ee189632a2"
    const address = "58205235b5d488f77d239aa22f1467968356beae9eff9203da1df80af452fea22e02"
    const raw = `02000000000801${hex(bytesOf(pegIn).reverse())}0000000000ffffffff018860814a00000000${withSize(address)}00 00000000`
    const body = readTransaction("litecoin", raw.replace(" ", ""))
    assert.deepStrictEqual(summary(body), {
      ids: ["e1f0c8110245027aa38f69a8590f32f3663cd2d9325ce9d0d76ccc041176ef6c"],
      outputs: [[0, address, 1249992840n]],
      inputs: [[0, pegIn, 0]]
    })
    assert.throws(() => readTransaction("litecoin", raw.replace("00 ", "01")), /an MWEB transaction in the list/)
  })

  it("Dash: special transactions have a payload, and quorum commitments neither inputs nor outputs", () => {
    const payload = withSize("0200".padEnd(76, "ab"))
    const coinbase = `03000500 01${"00".repeat(32)}ffffffff0251ffffffffff01 80f0fa0200000000${withSize(p2pkh(7))} 00000000`
    const body = readTransaction("dash", coinbase.replaceAll(" ", "") + payload)
    assert.deepStrictEqual(summary(body).outputs, [[0, p2pkh(7), 50000000n]])
    const commitment = readTransaction("dash", `03000600 00 00 00000000`.replaceAll(" ", "") + payload)
    assert.deepStrictEqual([commitment.transfers, commitment.spends], [[], []])
    assert.strictEqual(commitment.transactions.length, 1)
    // A plain transaction of version 3 ends at the lock time.
    readTransaction("dash", coinbase.replace("03000500", "03000000").replaceAll(" ", ""))
  })

  // Dash Core's `HasExtraPayloadField`: the version is a signed number of 16 bits.
  for (const [version, hasPayload] of [
    ["0300", true],
    ["0400", true],
    ["ff7f", true],
    ["0200", false],
    ["ffff", false]
  ] as const) {
    it(`Dash: of a type and version ${version}, a transaction has ${hasPayload ? "a" : "no"} payload`, () => {
      const plain = `${version}080001${"ab".repeat(32)}0200000000ffffffff0180f0fa0200000000${withSize(p2pkh(7))}00000000`
      const text = hasPayload ? plain + withSize("abcd") : plain
      assert.strictEqual(summary(readTransaction("dash", text)).inputs.length, 1)
      const whole = Result.getOrThrow(WholeTransaction.decode(chainOf("dash"), bytesOf(text)))
      assert.strictEqual(whole.version, Buffer.from(version, "hex").readInt16LE())
      assert.strictEqual(whole.special && hex(whole.special.payload), hasPayload ? "abcd" : undefined)
    })
  }

  describe("Dash: coins that leave the pool of the Platform (DIP-27)", () => {
    const outputs = `01 80f0fa0200000000${withSize(p2pkh(7))} 00000000`.replaceAll(" ", "")
    /** What is signed anew is made of this byte. */
    const unlock = (version: string, signed: string) =>
      `0300090000${outputs}${withSize(`${version}0500000000000000${"be000000"}${signed.repeat(4 + 32 + 96)}`)}`
    const sha256d = (text: string) => hash("sha256", hash("sha256", bytesOf(text), "buffer"), "buffer").reverse()
    const idOf = (text: string) => summary(readTransaction("dash", text)).ids[0]!

    it.each(["02", "03"])("since version 2 have one id, however often they are signed: %s", (version) => {
      const id = hex(sha256d(unlock(version, "00")))
      for (const signed of ["ab", "cd"]) assert.strictEqual(idOf(unlock(version, signed)), id)
    })

    it("of version 1, and what only looks like them, have the hash of all their bytes", () => {
      for (const text of [unlock("01", "ab"), unlock("02", "ab").replace("03000900", "03000800")]) {
        assert.strictEqual(idOf(text), hex(sha256d(text)))
      }
    })

    it("have their ids among those of a raw block, and are decoded with them", () => {
      const all = [unlock("01", "aa"), unlock("02", "ab"), unlock("01", "cd")]
      const { body } = readBlock("dash", `${"00".repeat(80)}03${all.join("")}`, 3)
      const ids = [all[0]!, unlock("02", "00"), all[2]!].map((text) => hex(sha256d(text)))
      assert.deepStrictEqual(body.transactions.map(hex), ids)
      const decoded = all.map((text) => WholeTransaction.decode(chainOf("dash"), bytesOf(text)))
      assert.deepStrictEqual(
        decoded.map((one) => hex(Result.getOrThrow(one).id)),
        ids
      )
    })

    it("are no contradiction between a decoded transaction and its bytes", () => {
      const dash = chainOf("dash")
      const decoded = {
        ...{ txid: hex(sha256d(unlock("02", "00"))), hex: unlock("02", "ab"), vin: [] },
        vout: [{ n: 0, value: "0.50000000", scriptPubKey: { hex: p2pkh(7) } }]
      }
      const body = BlockBody.empty()
      TimeSlice.atOnce(NodeTransaction.read(dash, decoded, 0, body))
      const { mismatch } = TimeSlice.atOnce(TransactionProof.of(dash, [decoded], body))
      assert.strictEqual(mismatch, undefined)
    })
  })

  it("a version that fills 32 bits is no sign", () => {
    const raw = `ffffffff01${"ab".repeat(32)}0200000000ffffffff0101000000000000000151 00000000`
    assert.deepStrictEqual(summary(readTransaction("bitcoin", raw.replace(" ", ""))).outputs, [[0, "51", 1n]])
  })

  it("lengths past the end are refused before anything is read", () => {
    for (const size of ["fdffff", "feffffffff", "ffffffffffffffffff"]) {
      assert.throws(() => readTransaction("bitcoin", `01000000${size}`), /ends early/)
    }
  })
})

describe("CashToken", () => {
  const category = "bb".repeat(32)
  const token = (rest: string) => `ef${category}${rest}`
  const strip = (script: string) => hex(withoutToken(bytesOf(script)))

  // The valid prefixes of CHIP-2022-02's test vectors: amounts, capabilities, commitments.
  for (const rest of [
    "1001",
    "10fdfd00",
    "10fe00000100",
    "10ffffffffffffffff7f",
    "20",
    "21",
    "22",
    "3001",
    "31ffffffffffffffff7f",
    "6001cc",
    `6228${"cc".repeat(40)}`,
    // CHIP-2024-12, since May 2026.
    `6129${"cc".repeat(41)}`,
    `7280${"cc".repeat(128)}fdfd00`,
    // Nodes read tokens whose commitment is longer than any block may have.
    `70fdfd00${"cc".repeat(253)}01`,
    "7202ccccfdfd00"
  ]) {
    it(`is taken off the script: ${rest}`, () => {
      assert.strictEqual(strip(token(rest) + p2pkh(5)), p2pkh(5))
    })
  }

  for (const [name, rest] of [
    ["no token", "00"],
    ["the reserved bit", "a0"],
    ["a commitment without an NFT", "5001cc01"],
    ["a capability without an NFT", "1101"],
    ["a capability that does not exist", "23"],
    ["an empty commitment", "6000"],
    ["a commitment whose length takes more bytes than it needs", "60fd0100cc"],
    ["an amount of zero", "1000"],
    ["an amount of zero beside an NFT", "3000"],
    ["an amount of more than 63 bits", "10ff0000000000000080"],
    ["an amount that takes more bytes than it needs, three", "10fd0100"],
    ["an amount that takes more bytes than it needs, five", "10fe01000000"],
    ["an amount that takes more bytes than it needs, nine", "30ff0100000000000000"]
  ]) {
    it(`only looks like one: ${name}`, () => {
      const script = token(rest!) + p2pkh(5)
      assert.strictEqual(strip(script), script)
    })
  }

  it("ends before the token does", () => {
    for (const script of ["ef", "efbb", token(""), token("10"), token("10ff"), token("6005cc")]) {
      assert.strictEqual(strip(script), script)
    }
  })

  it("that has a long commitment is no contradiction between a decoded transaction and its bytes", () => {
    const bitcoinCash = chainOf("bitcoin-cash")
    const script = token(`6180${"cc".repeat(128)}`) + p2pkh(5)
    const raw = `0100000001${"ab".repeat(32)}0200000000ffffffff010100000000000000${withSize(script)}00000000`
    const txid = summary(readTransaction("bitcoin-cash", raw)).ids[0]!
    const decoded = {
      ...{ txid, hex: raw, vin: [{ txid: "ab".repeat(32), vout: 2, scriptSig: { hex: "" } }] },
      vout: [{ n: 0, value: "0.00000001", scriptPubKey: { hex: p2pkh(5) } }]
    }
    const body = BlockBody.empty()
    TimeSlice.atOnce(NodeTransaction.read(bitcoinCash, decoded, 0, body))
    const { mismatch } = TimeSlice.atOnce(TransactionProof.of(bitcoinCash, [decoded], body))
    assert.strictEqual(mismatch, undefined)
  })

  it("is read on Bitcoin Cash only", () => {
    const raw = `0100000001${"ab".repeat(32)}0200000000ffffffff010100000000000000${withSize(token("1001") + p2pkh(5))}00000000`
    assert.deepStrictEqual(summary(readTransaction("bitcoin-cash", raw)).outputs, [[0, p2pkh(5), 1n]])
    assert.deepStrictEqual(summary(readTransaction("bitcoin", raw)).outputs, [[0, token("1001") + p2pkh(5), 1n]])
  })
})

describe("RawZcashTransaction", () => {
  const read = (text: string) => {
    const raw = new RawBytes(bytesOf(text.replaceAll(" ", "")))
    const body = BlockBody.empty()
    RawZcashTransaction.read(raw, chainOf("zcash"), 0, body)
    assert.strictEqual(raw.at, raw.bytes.length)
    return body
  }
  const wholeOf = (text: string) =>
    Result.getOrThrow(WholeTransaction.decode(chainOf("zcash"), bytesOf(text.replaceAll(" ", ""))))
  const fill = (bytes: number) => "cd".repeat(bytes)
  const transparent = `01${"ab".repeat(32)}0200000002aabbffffffff 01 0100000000000000${withSize(p2pkh(5))}`
  const moved = { outputs: [[0, p2pkh(5), 1n]], inputs: [[0, "ab".repeat(32), 2]] }

  // Sizes of the shielded parts: protocol specification 7.1, written out here by their fields.
  const joinSplit = (proof: number) => fill(8 + 8 + 32 + 2 * 32 + 2 * 32 + 32 + 32 + 2 * 32 + proof + 2 * 601)
  const spend4 = fill(32 + 32 + 32 + 32 + 192 + 64)
  const output4 = fill(32 + 32 + 32 + 580 + 80 + 192)

  for (const [name, text] of [
    ["1", `01000000 ${transparent} 00000000`],
    ["2 without JoinSplits", `02000000 ${transparent} 00000000 00`],
    ["2 with JoinSplits", `02000000 ${transparent} 00000000 02 ${joinSplit(296).repeat(2)} ${fill(32 + 64)}`],
    ["3 from before Overwinter", `03000000 ${transparent} 00000000 01 ${joinSplit(296)} ${fill(32 + 64)}`],
    // As in zcashd's `sighash.json`, whose versions are random numbers.
    ["a random number from before Overwinter", `5d1c0d58 ${transparent} 00000000 00`],
    ["3", `03000080 7082c403 ${transparent} 00000000 00000000 01 ${joinSplit(296)} ${fill(32 + 64)}`],
    ["4, transparent", `04000080 85202f89 ${transparent} 00000000 00000000 ${fill(8)} 00 00 00`],
    [
      "4 with all parts",
      `04000080 85202f89 ${transparent} 00000000 00000000 ${fill(8)} 02 ${spend4.repeat(2)} 01 ${output4} 01 ${joinSplit(192)} ${fill(32 + 64)} ${fill(64)}`
    ]
  ] as const) {
    it(`version ${name}`, () => {
      const body = read(text)
      const { ids, ...rest } = summary(body)
      assert.deepStrictEqual(rest, moved)
      assert.deepStrictEqual(body.spends[0]!.unlocking!()!, { scriptSig: Buffer.from("aabb", "hex"), witness: [] })
      const whole = wholeOf(text)
      assert.strictEqual(hex(whole.id), ids[0])
      assert.strictEqual(whole.version, Buffer.from(text.slice(0, 8), "hex").readUInt32LE() & 0x7fff_ffff)
    })
  }

  const version5 = `05000080 0a27a726 b4d0d6c2 00000000 00000000 ${transparent}`
  const spends5 = (spends: number, outputs: number) =>
    [
      compactSize(spends),
      fill(spends * (32 + 32 + 32)),
      compactSize(outputs),
      fill(outputs * (32 + 32 + 32 + 580 + 80)),
      spends + outputs > 0 ? fill(8) : "",
      spends > 0 ? fill(32) : "",
      fill(spends * 192 + spends * 64 + outputs * 192),
      spends + outputs > 0 ? fill(64) : ""
    ].join("")
  const actions = (count: number) =>
    count === 0
      ? "00"
      : [
          compactSize(count),
          fill(count * (32 + 32 + 32 + 32 + 32 + 580 + 80)),
          fill(1 + 8 + 32),
          withSize(fill(2720 + 2272 * count)),
          fill(count * 64),
          fill(64)
        ].join("")

  for (const [spends, outputs, orchard] of [
    [0, 0, 0],
    [1, 2, 0],
    [0, 1, 0],
    [0, 0, 2],
    [2, 2, 3]
  ] as const) {
    it(`version 5 with ${spends} Sapling spends, ${outputs} outputs, ${orchard} Orchard actions`, () => {
      const text = `${version5} ${spends5(spends, outputs)} ${actions(orchard)}`
      assert.deepStrictEqual(summary(read(text)), { ids: [hex(wholeOf(text).id)], ...moved })
    })
  }

  const version6 = `06000080 98b684d8 5b16a537 00000000 00000000 ${transparent}`
  for (const [spends, outputs, orchard, ironwood] of [
    [0, 0, 0, 0],
    [0, 0, 0, 2],
    [2, 2, 3, 1]
  ] as const) {
    it(`version 6 with ${spends} Sapling spends, ${outputs} outputs, ${orchard} Orchard and ${ironwood} Ironwood actions`, () => {
      const text = `${version6} ${spends5(spends, outputs)} ${actions(orchard)} ${actions(ironwood)}`
      assert.deepStrictEqual(summary(read(text)), { ids: [hex(wholeOf(text).id)], ...moved })
    })
  }

  /** A raw block of these transactions. */
  const blockOf = (...transactions: ReadonlyArray<string>) => {
    const header = `04000000${fill(96)}00000000${fill(4 + 32)}${withSize(fill(1344))}`
    return `${header}${compactSize(transactions.length)}${transactions.join("")}`.replaceAll(" ", "")
  }

  it("a large transaction of a new version is read in steps", () => {
    const large = [
      `${version5} ${spends5(400, 400)} ${actions(400)}`,
      `${version6} ${spends5(400, 400)} ${actions(400)} ${actions(400)}`,
      `${version5.replace(transparent, `${compactSize(20_000)}${transparent.slice(2, 88).repeat(20_000)} 00`)} 00 00 00`
    ]
    for (const text of large) {
      const raw = blockOf(text)
      const work = RawBlock.read(chainOf("zcash"), bytesOf(raw), unlisted(1))
      let steps = 1
      let step = work.next()
      for (; step.done !== true; step = work.next()) steps++
      assert.deepStrictEqual(step.value.body.transactions.map(hex), [hex(wholeOf(text).id)])
      // About 8,000 bytes of what is hashed in each; proofs and signatures are not.
      assert.isAbove(steps, wholeOf(text).size / 30_000)
    }
  })

  it("what unlocks inputs is proved by ids before version 5 alone", () => {
    const shielded = `05000080 0a27a726 b4d0d6c2 00000000 00000000 00 00 ${spends5(0, 1)} 00`
    const coinbase = `05000080 0a27a726 b4d0d6c2 00000000 00000000 01${"00".repeat(32)}ffffffff02aabbffffffff 00 00 00 00`
    const version4 = `04000080 85202f89 ${transparent} 00000000 00000000 ${fill(8)} 00 00 00`
    const unprovenOf = (texts: ReadonlyArray<string>) => {
      const raw = readBlock("zcash", blockOf(...texts), texts.length)
      const shown = TimeSlice.atOnce(raw.witnesses())
      const hexes = texts.map((text) => ({ hex: text.replaceAll(" ", "") }))
      const decoded = TimeSlice.atOnce(TransactionProof.of(chainOf("zcash"), hexes, raw.body))
      assert.deepStrictEqual(decoded, shown)
      assert.isUndefined(shown.mismatch)
      return shown.unproven.map(({ cause, part }) => [part, cause])
    }
    assert.deepStrictEqual(unprovenOf([coinbase, version4, shielded]), [])
    const spending = [coinbase, version4, `${version5} 00 00 00`]
    assert.deepStrictEqual(unprovenOf(spending), [["witnesses", "uncommitted"]])
    // The same id with another signature.
    const forged = `${version5} 00 00 00`.replace("02aabb", "02aabc")
    assert.deepStrictEqual(wholeOf(forged).id, wholeOf(spending[2]!).id)
    assert.deepStrictEqual(unprovenOf([coinbase, `${version6} 00 00 00 00`]), [["witnesses", "uncommitted"]])
  })

  it("a version that is not known is refused, and a form of one that is not", () => {
    for (const version of [2, 3, 4, 5, 6, 7]) {
      assert.throws(
        () => read(`0${version}000080 ${fill(100)}`),
        new RegExp(`version ${version}, which is not decoded`)
      )
    }
  })
})
