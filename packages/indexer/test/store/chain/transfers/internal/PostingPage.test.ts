import { assert, describe, it } from "@effect/vitest"
import * as Posting from "../../../../../src/store/chain/transfers/internal/Posting.ts"
import * as PostingPage from "../../../../../src/store/chain/transfers/internal/PostingPage.ts"

/** Of two addresses, in blocks near and far. */
const postings = Posting.toWords(
  [3, 0xffff_ffff].flatMap((hash) =>
    [0, 1, 5_000_000].map((height) => Posting.keyOf(hash, Posting.positionOf(height, height % 1_000)))
  )
)

describe("PostingPage", () => {
  it("has the postings that were packed", () => {
    const { data, end } = PostingPage.pack(postings, 0)
    assert.strictEqual(end, postings.length)
    assert.deepStrictEqual([...PostingPage.unpack(data)], [...postings])
  })

  it("refuses a page that is cut off within a posting, instead of reading on for ever", () => {
    const { data } = PostingPage.pack(postings, 0)
    const ends = Array.from(
      { length: postings.length / Posting.words + 1 },
      (_, count) => PostingPage.pack(postings.subarray(0, count * Posting.words), 0).data.length
    )
    for (let length = 0; length < data.length; length++) {
      const unpack = () => PostingPage.unpack(data.slice(0, length))
      if (ends.includes(length)) assert.lengthOf(unpack(), ends.indexOf(length) * Posting.words)
      else assert.throws(unpack, /damaged/)
    }
  })
})
