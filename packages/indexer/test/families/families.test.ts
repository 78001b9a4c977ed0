import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Families from "@headwater/indexer/families/families"

describe("families", () => {
  it("gives each chain the family of its name, whose node code loads", async () => {
    for (const name of new Set(Chain.all.map(({ family }) => family))) {
      const chain = Chain.all.find(({ family }) => family === name)!
      const family = Families.of(chain)
      assert.strictEqual(family.name, name)
      const { connect, selfReport } = await family.nodeAccess()
      assert.isFunction(connect)
      assert.isFunction(selfReport)
    }
  })

  it("gives a chain the settings of its own family alone", () => {
    const settings = Chain.all.map((chain) => `${chain.family}: ${Object.keys(Families.settingsOf(chain))}`)
    assert.sameMembers(
      [...new Set(settings)],
      ["evm: tracer,newHeads,traceTimeoutMillis", "tron: apiKey", "utxo: cookie,zmq", "xrp: "]
    )
  })

  it("says what is lost by a rewind below what can be undone: on UTXO chains alone", () => {
    for (const chain of Chain.all) {
      const { lossByRewind } = Families.of(chain)
      assert.isUndefined(lossByRewind?.(100, 100))
      const loss = lossByRewind?.(99, 100)
      if (chain.family === "utxo") assert.match(loss!, /^below block 100, .* coins from before block 99 /)
      else assert.isUndefined(loss)
    }
  })
})
