import { assert, describe, it } from "@effect/vitest"
import type { NodeFinding } from "@headwater/indexer/families/node/NodeFinding"
import * as XrpSelfReport from "@headwater/indexer/families/xrp/internal/XrpSelfReport"
import * as Fixtures from "../../../Fixtures.ts"

const lines = (found: ReadonlyArray<NodeFinding>) => found.map(({ level, message }) => `${level}: ${message}`)

describe.skipIf(!Fixtures.exist)("recorded server_info of rippled", () => {
  const recorded = (name: string) => {
    const answer = Fixtures.json(`xrp/xrpl.js/packages/xrpl/test/fixtures/rippled/${name}.json`) as {
      readonly result: { readonly info: object }
    }
    return answer.result
  }

  it("of a full server of old, and of a test network's", () => {
    assert.deepStrictEqual(lines(XrpSelfReport.read(recorded("serverInfo"))), [
      "ok: rippled 0.24.0-rc1",
      "ok: server state: full"
    ])
    assert.deepStrictEqual(lines(XrpSelfReport.read(recorded("serverInfoNetworkID"))), [
      "ok: rippled 1.11.0-rc2",
      "ok: server state: full"
    ])
  })
})

describe("XRP servers", () => {
  const info = { build_version: "2.2.3", complete_ledgers: "5-9,12-20", server_state: "full", peers: 20 }
  const of = (more: object) => XrpSelfReport.read({ info: { ...info, ...more } })

  it("a server that is not done, blocked, or alone: each with what to do", () => {
    for (const state of ["disconnected", "connected", "syncing", "tracking"]) {
      const [, found] = of({ server_state: state })
      assert.strictEqual(found!.level, "warning")
      assert.strictEqual(found!.message, `the server still synchronises: server state ${state}`)
      assert.isDefined(found!.advice)
    }
    for (const state of ["full", "validating", "proposing"])
      assert.strictEqual(of({ server_state: state })[1]!.level, "ok")
    assert.include(lines(of({ peers: 0 })), "warning: the node has no peers")
    const blocked = of({ amendment_blocked: true }).find(({ level }) => level === "problem")
    assert.strictEqual(blocked!.advice, "upgrade the server")
  })

  it("clio, and answers of another form", () => {
    const clio = { info: { clio_version: "2.7.0", rippled_version: "3.1.0", complete_ledgers: "32570-102609807" } }
    assert.deepStrictEqual(lines(XrpSelfReport.read(clio)), ["ok: clio 2.7.0 (rippled 3.1.0)"])
    for (const answer of [undefined, null, 1, [], {}, { info: [] }, { info: { build_version: {}, peers: "0" } }]) {
      assert.deepStrictEqual(XrpSelfReport.read(answer), [])
    }
  })
})
