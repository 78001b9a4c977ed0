import { assert, it } from "@effect/vitest"
import * as CommitRate from "@headwater/indexer/families/node/internal/CommitRate"

it("the rate is that of the last minute, and begins anew where blocks were undone", () => {
  const rate = CommitRate.make()
  assert.isUndefined(rate(0, 0))
  assert.isUndefined(rate(0, 0))
  assert.strictEqual(rate(5, 500), 10)
  for (let second = 1; second <= 30; second++) rate(second * 10, second * 1_000)
  assert.strictEqual(rate(310, 31_000), 10)
  // Of a slower minute, only that minute counts.
  for (let second = 32; second <= 100; second++) rate(310 + (second - 31), second * 1_000)
  assert.strictEqual(rate(380, 101_000), 1)
  assert.isUndefined(rate(370, 102_000))
  assert.strictEqual(rate(372, 103_000), 2)
})
