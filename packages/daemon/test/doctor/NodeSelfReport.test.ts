import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import * as Fixtures from "../../../indexer/test/Fixtures.ts"
import * as NodeSelfReport from "../../src/doctor/NodeSelfReport.ts"

const mainnet = Result.getOrThrow(Chain.find("tron", "mainnet"))

const lines = (found: ReadonlyArray<NodeSelfReport.About>) => found.map(({ level, message }) => `${level}: ${message}`)

describe.skipIf(!Fixtures.exist)("recorded server_info of rippled", () => {
  const recorded = (name: string) => {
    const answer = Fixtures.json(`xrp/xrpl.js/packages/xrpl/test/fixtures/rippled/${name}.json`) as {
      readonly result: { readonly info: object }
    }
    return answer.result
  }

  it("of a full server of old, and of a test network's", () => {
    assert.deepStrictEqual(lines(NodeSelfReport.xrp(recorded("serverInfo"), 6_000_000)), [
      "ok: rippled 0.24.0-rc1",
      "ok: server state: full"
    ])
    assert.deepStrictEqual(lines(NodeSelfReport.xrp(recorded("serverInfoNetworkID"), "latest")), [
      "ok: rippled 1.11.0-rc2",
      "ok: server state: full"
    ])
  })

  it("whose history begins after the settings' start", () => {
    const [, , lacks] = NodeSelfReport.xrp(recorded("serverInfo"), 32_569)
    assert.match(lacks!.message, /^it lacks ledger 32569, at which the settings start$/)
    assert.match(lacks!.advice!, /full history, or start later/)
  })
})

describe("words of XRP servers", () => {
  const info = { build_version: "2.2.3", complete_ledgers: "5-9,12-20", server_state: "full", peers: 20 }
  const of = (more: object, start: number | "latest" = "latest") =>
    NodeSelfReport.xrp({ info: { ...info, ...more } }, start)

  it("a server that is not done, blocked, or alone: each with what to do", () => {
    for (const state of ["disconnected", "connected", "syncing", "tracking"]) {
      const [, found] = of({ server_state: state })
      assert.strictEqual(found!.level, "warning")
      assert.strictEqual(found!.message, `it still synchronises: server state ${state}`)
      assert.isDefined(found!.advice)
    }
    for (const state of ["full", "validating", "proposing"])
      assert.strictEqual(of({ server_state: state })[1]!.level, "ok")
    assert.include(lines(of({ peers: 0 })), "warning: it has no peers")
    const blocked = of({ amendment_blocked: true }).find(({ level }) => level === "problem")
    assert.strictEqual(blocked!.advice, "upgrade it")
  })

  it("a start in a gap of its history", () => {
    assert.lengthOf(of({}, 12), 2)
    assert.include(lines(of({}, 10)), "warning: it lacks ledger 10, at which the settings start")
    assert.lengthOf(of({ complete_ledgers: "empty" }, 10), 2, "the history itself is what is missing, which is told")
  })

  it("clio, and answers of another form", () => {
    const clio = { info: { clio_version: "2.7.0", rippled_version: "3.1.0", complete_ledgers: "32570-102609807" } }
    assert.deepStrictEqual(lines(NodeSelfReport.xrp(clio, "latest")), ["ok: clio 2.7.0 (rippled 3.1.0)"])
    for (const answer of [undefined, null, 1, [], {}, { info: [] }, { info: { build_version: {}, peers: "0" } }]) {
      assert.deepStrictEqual(NodeSelfReport.xrp(answer, 3), [])
    }
  })
})

describe("words of Tron nodes", () => {
  const genesis = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc"
  const info = {
    block: "Num:66987565,ID:0000000003fe262d",
    solidityBlock: "Num:66987547,ID:0000000003fe261b",
    currentConnectCount: 60,
    configNodeInfo: { codeVersion: "4.8.1" }
  }

  it("a node that is well, and one that says nothing of itself", () => {
    assert.deepStrictEqual(lines(NodeSelfReport.tron(mainnet, info, genesis)), ["ok: java-tron 4.8.1"])
    const silent = NodeSelfReport.tron(mainnet, undefined, undefined)
    assert.deepStrictEqual(lines(silent), [
      "ok: it does not show its version and peers (/wallet/getnodeinfo), as TronGrid"
    ])
  })

  it("no peers, a solid block that stays behind and a network of its own: each with what to do", () => {
    const lonely = { ...info, currentConnectCount: 0, solidityBlock: "Num:66987000,ID:00" }
    const found = NodeSelfReport.tron(mainnet, lonely, `${"00".repeat(28)}deadbeef`)
    assert.deepStrictEqual(lines(found.slice(1)), [
      "warning: it has no peers",
      "warning: its solid block 66987000 is 565 behind its newest block 66987565",
      `warning: its block 0 is ${"00".repeat(28)}deadbeef, which is no public network's, not mainnet's either`
    ])
    for (const { advice } of found.slice(1)) assert.isDefined(advice)
  })
})
