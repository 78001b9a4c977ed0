import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import type { Status } from "@headwater/indexer/families/node/ChainStatus"
import * as Result from "effect/Result"
import { notReady } from "../src/Health.ts"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const arbitrum = Result.getOrThrow(Chain.find("arbitrum", "mainnet"))
const now = 1_800_000_000_000

const following: Status = {
  chain: bitcoin,
  state: "following",
  message: undefined,
  height: 1000,
  head: 1000,
  committedAt: now - 60_000,
  blockTime: now / 1000 - 60,
  unproven: [],
  resting: [],
  since: now - 3_600_000
}
const reason = (change: Partial<Status>) => notReady({ ...following, ...change }, 12_000, now)

describe("readiness of a chain", () => {
  it("is given at the head, and a little behind it", () => {
    assert.strictEqual(reason({}), undefined)
    assert.strictEqual(reason({ state: "syncing", head: 1010 }), undefined)
  })

  it("is not given far behind, which depends on the time between blocks", () => {
    assert.strictEqual(reason({ state: "syncing", head: 1011 }), "catching up: 11 blocks behind")
    assert.strictEqual(reason({ chain: arbitrum, state: "syncing", head: 3000 }), undefined)
    assert.strictEqual(reason({ chain: arbitrum, state: "syncing", head: 3401 }), "catching up: 2401 blocks behind")
    const rate = { perSecond: 44, state: "syncing", head: 3401 } as const
    const told = "catching up: 2401 blocks behind, 44 blocks/s"
    assert.strictEqual(reason({ ...rate, chain: bitcoin }), `${told}, 55s left`)
    // The chain itself brings four blocks a second.
    assert.strictEqual(reason({ ...rate, chain: arbitrum }), `${told}, 1m 1s left`)
    const slow = { ...rate, perSecond: 3.5, chain: arbitrum }
    assert.match(reason(slow) ?? "", /3\.5 blocks\/s, which is no faster than the chain$/)
  })

  it("is not given before the node has answered", () => {
    const fresh = { head: undefined, height: undefined, committedAt: undefined, since: now - 10 } as const
    assert.strictEqual(reason({ ...fresh, state: "starting" }), "starting: its node has not answered yet")
    assert.strictEqual(reason({ ...fresh, state: "failing", message: "refused" }), "failing for 0 s: refused")
  })

  it("is not given before a block is committed, which is not told as a node that does not answer", () => {
    const first = { state: "syncing", head: 1_000_000, height: undefined, committedAt: undefined, since: now } as const
    assert.strictEqual(reason(first), "catching up: no block is committed yet")
  })

  it("survives one failure, not a lasting one", () => {
    const failing = { state: "failing", message: "timed out" } as const
    assert.strictEqual(reason({ ...failing, since: now - 3_000 }), undefined)
    assert.strictEqual(reason({ ...failing, since: now - 9_000 }), "failing for 9 s: timed out")
  })

  it("is not given to a chain that waits for an operator or brings no blocks", () => {
    assert.strictEqual(reason({ state: "stopped", message: "too deep" }), "stopped: too deep")
    assert.strictEqual(reason({ committedAt: now - 12_001_000 }), "silent: no block for 12001 s")
    assert.strictEqual(reason({ committedAt: undefined, since: now - 12_001_000 }), "silent: no block for 12001 s")
    assert.strictEqual(reason({ committedAt: undefined, since: now - 1_000 }), undefined)
  })
})
