import { assert, describe, it } from "@effect/vitest"
import * as UtxoSelfReport from "@headwater/indexer/families/utxo/internal/UtxoSelfReport"

const network = { subversion: "/Satoshi:28.0.0/", timeoffset: 0 }
const chain = { initialblockdownload: false, blocks: 100, headers: 110 }
const lines = (answers: Partial<UtxoSelfReport.Answers>) =>
  UtxoSelfReport.read({ network, chain, indexes: undefined, ...answers }).map(
    ({ advice, level, message }) => `${level}: ${message}${advice === undefined ? "" : " → …"}`
  )

describe("UtxoSelfReport", () => {
  it("a node that is well, with and without txindex, and one that answers nothing", () => {
    const version = "ok: /Satoshi:28.0.0/"
    assert.deepStrictEqual(lines({}), [version])
    assert.deepStrictEqual(lines({ indexes: { txindex: { synced: true } } }), [version, "ok: txindex: yes"])
    assert.deepStrictEqual(lines({ indexes: {} }), [version, "ok: txindex: no"])
    assert.deepStrictEqual(lines({ network: undefined, chain: undefined }), [])
  })

  it("a clock that is off, and a node that still synchronises: each with what to do", () => {
    const [, clock] = lines({ network: { ...network, timeoffset: -61 } })
    assert.strictEqual(clock, "warning: the node's clock is -61 s from its peers' → …")
    assert.lengthOf(lines({ network: { ...network, timeoffset: 60 } }), 1)
    const synchronising = "warning: the node still synchronises: block 100 of 111 → …"
    assert.include(lines({ chain: { ...chain, headers: 111 } }), synchronising)
    assert.include(
      lines({ chain: { ...chain, initialblockdownload: true } }),
      "warning: the node still synchronises: block 100 of 110 → …"
    )
  })
})
