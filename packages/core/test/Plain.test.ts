import { assert, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Signature from "@headwater/core/events/Signature"
import { derive, match, sighash, verifyCallback } from "@headwater/core/Plain"
import * as Result from "effect/Result"

/** The tag of what a function throws. */
const tagOf = (run: () => unknown): unknown =>
  Result.match(Result.try(run), {
    onSuccess: () => assert.fail("nothing was thrown"),
    onFailure: (error) => (error as { readonly _tag?: unknown })._tag
  })

const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"

it("derive gives addresses of both branches, from an index on", () => {
  const texts = (options: Parameters<typeof derive>[2]) =>
    derive("bitcoin/mainnet", zpub, options).map(({ address }) => address)
  assert.deepStrictEqual(texts({ count: 2 }), [
    "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"
  ])
  assert.deepStrictEqual(texts({ from: 1, count: 1 }), ["bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"])
  assert.deepStrictEqual(texts({ type: "change", count: 1 }), ["bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"])
  assert.strictEqual(texts(undefined).length, 20)
  assert.strictEqual(
    tagOf(() => derive("bitcoin/mainnet", "xpub")),
    "InvalidExtendedPublicKey"
  )
  assert.strictEqual(
    tagOf(() => derive("bitcoin", zpub)),
    "UnknownNetwork"
  )
  assert.strictEqual(
    tagOf(() => derive("bitcoin/mainnet", zpub, { derivation: "bip32", type: "change" })),
    "InvalidDerivation"
  )
})

it("derive refuses what is no number, no name and no text of a key, and shows no key that stands in a wrong place", () => {
  const fault = (run: () => unknown) =>
    Result.merge(Result.flip(Result.try(run))) as { _tag?: string; message?: string }
  const ofOptions = (options: object) => fault(() => derive("bitcoin/mainnet", zpub, options))
  for (const wrong of [Number.NaN, -1, 0.5, 1 / 0, "2", null, 2 ** 32]) {
    for (const field of ["from", "count"]) {
      const { _tag, message } = ofOptions({ [field]: wrong })
      assert.deepStrictEqual([_tag, message?.split(":")[0]], ["InvalidDerivation", field], `${field} ${wrong}`)
    }
  }
  // Taken for the default, it would be receiving addresses.
  for (const wrong of [{ type: "CHANGE" }, { type: "change " }, { derivation: "bip44" }]) {
    assert.strictEqual(ofOptions(wrong)._tag, "InvalidDerivation", JSON.stringify(wrong))
  }
  const tag = (chain: string, key: string) => fault(() => derive(chain, key))._tag
  assert.strictEqual(tag("bitcoin/mainnet/more", zpub), "UnknownNetwork")
  assert.strictEqual(tag(undefined as never, zpub), "UnknownBlockchain")
  assert.strictEqual(tag("bitcoin/mainnet", undefined as never), "InvalidExtendedPublicKey")
  // BIP-32, test vector 1: the master's private key.
  const xprv =
    "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
  for (const [chain, key] of [
    [xprv, "bitcoin/mainnet"],
    [`bitcoin/${xprv}`, zpub],
    [`bitcoin/mainnet/${xprv}`, zpub],
    ["bitcoin/mainnet", xprv]
  ] as const) {
    const error = fault(() => derive(chain, key))
    assert.isDefined(error._tag)
    assert.notInclude(`${error.message} ${JSON.stringify(error)}`, xprv.slice(0, 8))
  }
})

it("sighash takes bigints, numbers and text", () => {
  const to = "0x3535353535353535353535353535353535353535"
  const transaction = {
    type: 0,
    chainId: 1,
    nonce: 9n,
    gasPrice: "20000000000",
    gasLimit: 21_000,
    to,
    value: 10n ** 18n
  }
  assert.strictEqual(sighash(transaction), "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53")
  // As JSON the last numbers are null: the hash would be that of another value, or of a contract's creation.
  for (const wrong of [{ to: "0x35" }, { value: -1n }, { value: Number.NaN }, { nonce: 1 / 0 }, { to: Number.NaN }]) {
    assert.strictEqual(
      tagOf(() => sighash({ ...transaction, ...wrong })),
      "InvalidTransaction"
    )
  }
  assert.strictEqual(
    tagOf(() => sighash(null as never)),
    "InvalidTransaction"
  )
})

it("match gives what a block has of addresses, both sides of a transfer", () => {
  const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
  const [alice, bob] = ["0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"]
  const bytes = (text: string) => Result.getOrThrow(Address.decode(chain, text))
  const hash = new Uint8Array(32)
  const transfer = {
    kind: "coin",
    transaction: 0,
    position: 0,
    from: bytes(alice),
    to: bytes(bob),
    amount: 5n
  } as const
  const header = { height: 1, hash, parent: hash, time: 1_438_269_988 }
  const block: Block = { ...header, transactions: [hash], transfers: [transfer], spends: [] }
  const directions = (addresses: ReadonlyArray<string>) =>
    match("ethereum/mainnet", block, addresses).map((item) => ("direction" in item ? item.direction : ""))
  assert.deepStrictEqual(directions([bob]), ["incoming"])
  assert.deepStrictEqual(directions([alice, bob]), ["outgoing", "incoming"])
  assert.strictEqual(
    tagOf(() => directions(["bob"])),
    "InvalidAddress"
  )
  for (const name of ["ethereum", "bitcoin", "bitcoin-cash", "tron", "xrp"]) {
    for (const wrong of [undefined, 5, {}]) {
      assert.strictEqual(
        tagOf(() => match(`${name}/mainnet`, block, [wrong as never])),
        "InvalidAddress"
      )
    }
  }
})

it("verifyCallback throws for what nobody has signed", () => {
  assert.strictEqual(
    tagOf(() => verifyCallback({}, "{}", ["a secret"], 0)),
    "InvalidSignature"
  )
  // What a framework has parsed.
  const headers = Signature.headers({ secrets: ["a secret"], id: "1", timestamp: 0, body: "{}" })
  for (const body of [undefined, {}, []]) {
    assert.strictEqual(
      tagOf(() => verifyCallback(headers, body as never, ["a secret"], 0)),
      "InvalidSignature"
    )
    assert.isTrue(Result.isFailure(Signature.verifyBody(headers, body as never, ["a secret"])))
  }
})
