import { assert, describe, it } from "@effect/vitest"
import * as Proof from "@headwater/indexer/families/node/Proof"

describe("Proof", () => {
  it("lists a part once, with the reason of its newest block and how many blocks have it", () => {
    const frames = Proof.uncommitted("internal transactions", "nothing commits to call frames")
    const odd = (field: string) => Proof.unknown("header", `unknown field ${field}`)
    const blocks = [
      { height: 7, unproven: [frames] },
      { height: 8 },
      { height: 9, unproven: [odd("a"), frames] },
      { height: 10, unproven: [odd("b")] }
    ]
    assert.deepStrictEqual(blocks.reduce(Proof.add, [] as ReadonlyArray<Proof.Unproven>), [
      { ...frames, height: 9, blocks: 2 },
      { ...odd("b"), height: 10, blocks: 2 }
    ])
  })

  it("shows no control character of a node, and at most 200 characters", () => {
    const { reason } = Proof.unknown("header", `unknown field ${"\u001b[2J\n".repeat(100)}`)
    assert.strictEqual(reason.length, 200)
    assert.notMatch(reason, /\p{Cc}/u)
  })

  it("says for the operator which part, why and where", () => {
    const part = Proof.uncommitted("senders", "unsigned")
    assert.strictEqual(Proof.describe({ ...part, height: 9, blocks: 1 }), "senders without proof (unsigned) in block 9")
    assert.strictEqual(
      Proof.describe({ ...part, height: 9, blocks: 3 }),
      "senders without proof (unsigned) in 3 blocks, last in 9"
    )
  })
})
