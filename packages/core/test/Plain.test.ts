import { assert, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
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
})

it("verifyCallback throws for what nobody has signed", () => {
  assert.strictEqual(
    tagOf(() => verifyCallback({}, "{}", ["a secret"], 0)),
    "InvalidSignature"
  )
})
