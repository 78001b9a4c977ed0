import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as BlockMessage from "../../../src/sync/internal/BlockMessage.ts"

describe("BlockMessage", () => {
  // No chain has such a log; a node that is believed may show one.
  it("carries a log with more topics than a byte counts", () => {
    const contract = new Uint8Array(20).fill(7) as AddressBytes
    const topics = Array.from({ length: 300 }, (_, i) => `0x${i.toString(16).padStart(64, "0")}`)
    const block: Block = {
      ...{ height: 1, time: 2, hash: new Uint8Array(32), parent: new Uint8Array(32).fill(1) },
      ...{ transactions: [new Uint8Array(32).fill(2)], transfers: [], spends: [] },
      logs: [
        { transaction: 0, position: 0, contract, topics, data: "0x" },
        { transaction: 0, position: 1, contract, topics: [], data: "0x01" }
      ]
    }
    assert.deepStrictEqual(TimeSlice.atOnce(BlockMessage.read(BlockMessage.write(block))).logs, block.logs)
  })
})
