import { assert, describe, it } from "@effect/vitest"
import type { NodeFinding } from "@headwater/indexer/families/node/NodeFinding"
import * as TronSelfReport from "@headwater/indexer/families/tron/internal/TronSelfReport"

const lines = (found: ReadonlyArray<NodeFinding>) => found.map(({ level, message }) => `${level}: ${message}`)

describe("TronSelfReport", () => {
  const info = {
    block: "Num:66987565,ID:0000000003fe262d",
    solidityBlock: "Num:66987547,ID:0000000003fe261b",
    currentConnectCount: 60,
    configNodeInfo: { codeVersion: "4.8.1" }
  }

  it("a node that is well, and one that says nothing of itself", () => {
    assert.deepStrictEqual(lines(TronSelfReport.read(info)), ["ok: java-tron 4.8.1"])
    const silent = TronSelfReport.read(undefined)
    assert.deepStrictEqual(lines(silent), [
      "ok: the node does not show its version and peers (/wallet/getnodeinfo), as TronGrid"
    ])
  })

  it("no peers and a solid block that stays behind: each with what to do", () => {
    const lonely = { ...info, currentConnectCount: 0, solidityBlock: "Num:66987000,ID:00" }
    const found = TronSelfReport.read(lonely)
    assert.deepStrictEqual(lines(found.slice(1)), [
      "warning: the node has no peers",
      "warning: the node's solid block 66987000 is 565 behind its newest block 66987565"
    ])
    for (const { advice } of found.slice(1)) assert.isDefined(advice)
  })
})
