import { assert, describe, it } from "@effect/vitest"
import type { Blockchain } from "@headwater/core/chains/Blockchain"
import * as Chain from "@headwater/core/chains/Chain"
import { ethereum } from "@headwater/core/chains/ethereum"
import { type FamilyName, families, familyNames } from "@headwater/core/families/families"

describe("families", () => {
  it("each have chains, and no two the same name in documents", () => {
    const withChains = new Set(Chain.all.map(({ family }) => family))
    assert.sameMembers([...withChains], [...familyNames])
    assert.strictEqual(new Set(familyNames.map((name) => families[name].title)).size, familyNames.length)
  })

  it.each(Chain.all.map((chain) => [Chain.nameOf(chain), chain] as const))(
    "%s pays to formats of its family",
    (_, of) => {
      const formatsOf = <Name extends FamilyName>(name: Name) => families[name].keyFormatsOf(of[name] as never)
      assert.includeMembers([...families[of.family].keyFormats], [...formatsOf(of.family)])
    }
  )

  it("a network with the facts of another family is no network of a blockchain", () => {
    const { networks, ...facts } = ethereum
    const xrp = { networkKind: "live", xrp: { networkId: 0, xAddresses: "X" } } as const
    const noVersions = { networkKind: "live", utxo: { genesis: [] } } as const
    // @ts-expect-error: a network of an EVM chain states the rules of EVM chains
    const evm: Blockchain = { ...facts, family: "evm", networks: { mainnet: xrp } }
    // @ts-expect-error: a network of a UTXO chain states its version bytes
    const utxo: Blockchain = { ...facts, family: "utxo", networks: { mainnet: noVersions } }
    const right: Blockchain = { ...facts, family: "xrp", networks: { mainnet: xrp } }
    assert.sameMembers(
      [evm, utxo, right].map(({ family }) => family),
      ["evm", "utxo", "xrp"]
    )
  })
})
