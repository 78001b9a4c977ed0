import { assert, describe, it } from "@effect/vitest"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as SeededRandom from "../../../../../../test/SeededRandom.ts"
import * as DoubleSha256 from "../../../../src/families/utxo/internal/DoubleSha256.ts"
import { merkleRoot } from "../../../../src/families/utxo/internal/MerkleRoot.ts"
import { written } from "../../../../src/families/utxo/internal/RawBytes.ts"
import * as Mutation from "../../Mutation.ts"

const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

const plain = (bytes: Uint8Array, messages: DoubleSha256.Messages) =>
  Buffer.concat(
    Array.from({ length: messages.count }, (_, index) =>
      DoubleSha256.sha256d(DoubleSha256.message(bytes, messages, index))
    )
  )

describe("DoubleSha256", () => {
  it(`is that of each message, short or long, near or far (seed ${seed})`, () => {
    const next = SeededRandom.make(seed)
    const bytes = Buffer.from(Array.from({ length: 300_000 }, () => Mutation.below(next, 256)))
    for (const longest of [80, 400, 6_000, 150_000]) {
      const messages = new DoubleSha256.Messages(300)
      for (let message = 0; message < 300; message++) {
        const slices = Array.from({ length: 3 }, (_, slice) => {
          const length = slice > 0 && next() < 0.5 ? 0 : Mutation.below(next, longest)
          const from = Mutation.below(next, bytes.length - length)
          return length === 0 ? [0, 0] : [from, from + length]
        })
        messages.add(...(slices.flat() as [number, number]))
      }
      const found = TimeSlice.atOnce(DoubleSha256.ofEach(bytes, messages))
      assert.strictEqual(Buffer.compare(found, plain(bytes, messages)), 0)
    }
  })

  it("makes the Merkle root of any number of ids, as one pair after another does", () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => new Uint8Array(32).fill(index % 251, index % 32))
    const plainRoot = (level: ReadonlyArray<Uint8Array>): Uint8Array =>
      level.length === 1
        ? level[0]!
        : plainRoot(
            level.flatMap((left, index) =>
              index % 2 === 1 ? [] : [DoubleSha256.sha256d(Buffer.concat([left, level[index + 1] ?? left]))]
            )
          )
    for (const count of [1, 2, 3, 5, 64, 127, 4_099]) {
      const some = ids.slice(0, count)
      assert.deepStrictEqual(TimeSlice.atOnce(merkleRoot(some)), written(plainRoot(some.map(written))), `${count} ids`)
    }
  })
})
