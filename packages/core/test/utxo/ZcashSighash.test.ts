import { assert, describe, it } from "@effect/vitest"
import * as Steps from "@headwater/core/Steps"
import * as ZcashSighash from "@headwater/core/utxo/ZcashSighash"
import { blake2b } from "@noble/hashes/blake2.js"

/** The fifth vector of ZIP-244 (zcash-test-vectors, `zip_0244`, MIT and Apache-2.0): two inputs, two outputs, an Orchard action. */
const vector = {
  transaction: [
    "050000800a27a726b4d0d6c26ff1b78ddc5216150251d6006becf8d2ffb03990f67774a81e05b7f4bbad8577fa27c9de64e1b11dcf384f",
    "5956086a0063526a6552000b10c3657ebac03bfc0b587bef2f45ec8acdaa51c143b0cb25b9142c61bd790a80d7c23f90cc03490151e4d2",
    "843e0290cfe0d2bf4b020008636aacac6a0051002092acdccb61010004ac6a6a00000001d20a407ee47f4bf9acf251700f786839692d9f",
    "f0ee5b28b5373476639d08a284c6da1bd5a0d59a280fa27132ba0f247d6ee100927d1bd860d445a9de50d4c304c85c8f025485a839e477",
    "baed37833c1907dc24aacb63d540b4d5920b3b2c07157333494a7ae130fe86e8f818f9261a2dadb4125229ba0ffc0e7090324430b521f5",
    "1a47d47e71e1f08838350c1de48230d83c4033823931aeb0a7470a170300bb9687684460271ee133a437fe52fb6cfba97fcec161df515d",
    "de905a24da6d37bdc34044a955e682b47471ca1e8c78c51ed377cd4afa894bd9bd12e707156da0726f7cf5729fabe372160463fe042924",
    "4d067489ba5d09472ecd9bcdc4d5e4df101e189db8463eb538307b587deff78de9c73af28080b2fd05003e11d3e1b3299dc9521f8b513b",
    "adb010e91bfeb91b0b2a6cb129c2e825a597b8fb75bc562d654d62104640dd74e56cd14baaba565b84b845e163d1caef2533c398163720",
    "4f96a59c8e8024d9041b2029e94c15245f1a958840ba3f380a4d20f1184e77827de3ff8f3d73459afe241f723c084823230e003d3d21e5",
    "3501ec0499b083a7dad685c57127f4de64733a880c2db28fdaabf1b542d205f664a35135712711dcccd931a50b9c5661882360d4cac004",
    "7681bc2e2b3bf6c99760d7cfb4fa21394377a4551c76d1f75ac03c262054dffd79a9ded05e888958199eea4501e2990a53a5cd2a46a401",
    "576588fd7d058a26f28438e5782f45ac1d07f6f6f5ed73741d5785837a6b844b474775718c29dd99084e9f88ef153a8329f532a69017dc",
    "3a97ed754367723098e5765840b022897244745fbbbb30a7cb54fa0511166e9544122000610bd2aacbd82325a59b95154ecd82c88d23ab",
    "d1e20770ffb8aabf83fc0734964ccd411d1c935714e24aab566f4f08424014c4eca91b590f082b473f361c87415d37bd20d70fd0b52b6d",
    "df1865f766702e32b05b3cf1630ee8597aae19633f3516a8555ac5be32c675be1817efbffd9369041a089c283f19649968c2498cde56f5",
    "00434f280d77a9c62e43cbd3f136a4c6a00a43e6ed530cb2e8ae838860adc88aacc7bd6a00ae0c19ff4533a485efde082b5f4d1f7a8ebe",
    "7ed82b7b05a8cfe1e373459f1bdcbf9525747e8c9508a555facb798740e0bd03f925ac730ca9010035ae2fba2ddc1038d547d84854817e",
    "f39635c29827aad86726c9ade3b265b9088c8b5b75ef56fe4bd8b4d62893895b3fd2734fdac464156d7e5ebc7ecf1d83b86f659637e3b1",
    "42c164963b8cdcf4ba4f4035dffc5a789458847781918ac72fc18bbbf5110032e66d75b3171ef4b513290164a77b42b0a4cfb89639ab23",
    "845e1aa2a452f3731c8cb65082a622a7c2e0013ea47d0bdd42d6990466649a905c684c3251716d61f760d53de6e3f7903793d15ff7891a",
    "8e1210cef3847321401e5233ab73f98caa30ced267a3a686b13b98cb0e970d6a2bb3ca4c307e3d092783e999206ebd1393b9b2a7f41448",
    "0f2013c8e9ef15f3b507e4c7b92965d1cf723be1c95b6aa7612e946fe6f862617f102cc51639f8dce7029804a99dd11e7fca3d46918103",
    "5bc3660f0b8f9fbe6e4035"
  ].join(""),
  amounts: [754044915413924n, 637640651332574n],
  scripts: ["ac6a53656aac", "536aac6a00006a63"],
  input: 0,
  sighashAll: "92dc54223e4fd679b98c146f10d3a56fd81ab5dc843cb110af9857649eb518d5"
}

const hash = (personalization: string, ...parts: ReadonlyArray<Uint8Array>) =>
  new Uint8Array(blake2b(Buffer.concat(parts), { dkLen: 32, personalization: Buffer.from(personalization) }))

/** Reads the vector from its beginning, all sizes of which take one byte but those of scripts' parts. */
const reader = (bytes: Buffer) => {
  let at = 0
  const take = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  const uint32 = () => take(4).readUInt32LE()
  const size = (): number => {
    const first = take(1)[0]!
    return first < 0xfd ? first : take(2).readUInt16LE()
  }
  return { take, uint32, size }
}

/** T.4 of ZIP-244. */
const orchardDigest = (actions: ReadonlyArray<Buffer>, rest: Buffer) =>
  hash(
    "ZTxIdOrchardHash",
    hash(
      "ZTxIdOrcActCHash",
      ...actions.flatMap((action) => [
        action.subarray(32, 64),
        action.subarray(96, 128),
        action.subarray(128, 160),
        action.subarray(160, 160 + 52)
      ])
    ),
    hash("ZTxIdOrcActMHash", ...actions.map((action) => action.subarray(212, 212 + 512))),
    hash(
      "ZTxIdOrcActNHash",
      ...actions.flatMap((action) => [
        action.subarray(0, 32),
        action.subarray(64, 96),
        action.subarray(160 + 52 + 512, 160 + 580),
        action.subarray(160 + 580, 820)
      ])
    ),
    rest
  )

describe("ZcashSighash", () => {
  it("hashes what ZIP-244's own vector has", () => {
    const { size, take, uint32 } = reader(Buffer.from(vector.transaction, "hex"))
    assert.strictEqual(uint32(), ZcashSighash.header)
    assert.strictEqual(uint32(), ZcashSighash.versionGroupId)
    const [branchId, locktime, expiryHeight] = [uint32(), uint32(), uint32()]
    const inputs = Array.from({ length: size() }, (_, i) => {
      const transactionId = new Uint8Array(take(32)).toReversed()
      const index = uint32()
      take(size())
      const script = new Uint8Array(Buffer.from(vector.scripts[i]!, "hex"))
      return { transactionId, index, script, amount: vector.amounts[i]!, sequence: uint32() }
    })
    const outputs = Array.from({ length: size() }, () => ({
      amount: take(8).readBigInt64LE(),
      script: new Uint8Array(take(size()))
    }))
    assert.deepStrictEqual([size(), size()], [0, 0])
    const actions = Array.from({ length: size() }, () => take(820))
    const orchard = orchardDigest(actions, take(1 + 8 + 32))
    const shielded = [hash("ZTxIdSaplingHash"), orchard] as const
    const digests = Steps.atOnce(ZcashSighash.digests({ branchId, locktime, expiryHeight, inputs, outputs, shielded }))
    assert.strictEqual(Buffer.from(digests[vector.input]!).toString("hex"), vector.sighashAll)
  })

  it("never signs a number in place of one that is missing or does not fit", () => {
    const output = { amount: 1n, script: new Uint8Array() }
    const input = { ...output, transactionId: new Uint8Array(32), index: 0, sequence: 0 }
    const whole = { branchId: 1, locktime: 0, expiryHeight: 0, inputs: [input], outputs: [output] }
    assert.strictEqual(Steps.atOnce(ZcashSighash.digests(whole)).length, 1)
    const { expiryHeight: _, ...forgotten } = whole
    for (const broken of [
      forgotten as typeof whole,
      { ...whole, locktime: -1 },
      { ...whole, locktime: 2 ** 32 },
      { ...whole, outputs: [{ ...output, amount: -1n }] },
      { ...whole, inputs: [{ ...input, amount: 2n ** 64n }] }
    ]) {
      assert.throws(() => Steps.atOnce(ZcashSighash.digests(broken)), RangeError)
    }
  })
})
