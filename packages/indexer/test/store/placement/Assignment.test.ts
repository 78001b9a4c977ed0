import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Assignment from "@headwater/indexer/store/placement/Assignment"
import * as fc from "fast-check"

const mainnets = Chain.live.map(Chain.nameOf)
const daemonOf = (id: number, chains: ReadonlyArray<string> = mainnets) => ({ id, name: `d${id}`, chains })
const unplaced = (chain: string): Assignment.PlacedChain => ({ chain, daemon: null, pinned: null })

const loadOf = (assigned: ReadonlyMap<string, number>, id: number) =>
  [...assigned].reduce((sum, [chain, at]) => sum + (at === id ? Assignment.weightOf(chain) : 0), 0)

describe("Assignment", () => {
  it("keeps heavy chains apart, and evens the daemons out", () => {
    const daemons = [daemonOf(1), daemonOf(2), daemonOf(3), daemonOf(4)]
    const assigned = Assignment.assign(daemons, mainnets.map(unplaced))
    assert.strictEqual(assigned.size, mainnets.length)
    const heavy = mainnets.toSorted((a, b) => Assignment.weightOf(b) - Assignment.weightOf(a)).slice(0, 4)
    assert.strictEqual(new Set(heavy.map((chain) => assigned.get(chain))).size, 4, heavy.join())
    const loads = daemons.map(({ id }) => loadOf(assigned, id))
    assert.isBelow(Math.max(...loads), Assignment.weightOf(heavy[0]!) * 1.1)
  })

  it("gives a daemon that joins its part, a heavy chain first, and moves nothing otherwise", () => {
    const chains = ["tron/mainnet", "base/mainnet", "dash/mainnet", "zcash/mainnet", "bitcoin/mainnet"]
    const placed = chains.map((chain) => ({ chain, daemon: 1, pinned: null }))
    const assigned = Assignment.assign([daemonOf(1), daemonOf(2)], placed)
    assert.notStrictEqual(assigned.get("tron/mainnet"), assigned.get("base/mainnet"))
    const again = chains.map((chain) => ({ chain, daemon: assigned.get(chain)!, pinned: null }))
    assert.deepStrictEqual(Assignment.assign([daemonOf(1), daemonOf(2)], again), assigned)
  })

  it("gives a chain to the daemon of the name that an operator wants, while such a daemon may follow it", () => {
    const pinnedTo = (name: string) =>
      ["dash/mainnet", "zcash/mainnet"].map((chain) => ({ chain, daemon: 1, pinned: name }))
    const both = [daemonOf(1), daemonOf(2)]
    const at = (assigned: ReadonlyMap<string, number>) => [...assigned.values()]
    assert.deepStrictEqual(at(Assignment.assign(both, pinnedTo("d2"))), [2, 2])
    assert.deepStrictEqual(at(Assignment.assign(both, pinnedTo("gone"))).sort(), [1, 2])
    assert.deepStrictEqual(at(Assignment.assign([daemonOf(1), daemonOf(2, [])], pinnedTo("d2"))), [1, 1])
  })

  it("leaves a chain that no daemon may follow", () => {
    assert.deepStrictEqual(
      [...Assignment.assign([daemonOf(1, ["dash/mainnet"])], mainnets.map(unplaced))],
      [["dash/mainnet", 1]]
    )
  })

  it("comes to rest from wherever the chains are, with daemons as even as single moves can make them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ daemon: fc.integer({ min: 0, max: 5 }), chain: fc.constantFrom(...mainnets) }), {
          minLength: 1
        }),
        fc.integer({ min: 1, max: 5 }),
        (rows, count) => {
          const daemons = Array.from({ length: count }, (_, i) => daemonOf(i + 1))
          const placed = [...new Map(rows.map((row) => [row.chain, { ...row, pinned: null }])).values()]
          const assigned = Assignment.assign(daemons, placed)
          assert.strictEqual(assigned.size, placed.length)
          const at = placed.map(({ chain }) => ({ chain, daemon: assigned.get(chain)!, pinned: null }))
          assert.deepStrictEqual(new Map(Assignment.assign(daemons, at)), new Map(assigned))
          const least = Math.min(...daemons.map(({ id }) => loadOf(assigned, id)))
          for (const [chain, id] of assigned) {
            assert.isAtMost(loadOf(assigned, id) - least - Assignment.weightOf(chain), 0.001, chain)
          }
        }
      )
    )
  })
})
