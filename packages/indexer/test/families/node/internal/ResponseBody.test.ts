import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ResponseBody } from "../../../../src/families/node/internal/ResponseBody.ts"

describe("the body of a response", () => {
  it("is all that came in, in its order, whatever its length was said to be", () => {
    const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(70_000), fc.nat(2_000_000)), { maxLength: 12 })
    fc.assert(
      fc.property(sizes, fc.option(fc.nat(5_000_000)), (sizes, said) => {
        const chunks = sizes.map((size, index) => Buffer.alloc(size, index + 1))
        const body = new ResponseBody()
        if (said !== null) body.expect(said)
        for (const chunk of chunks) body.add(chunk)
        assert.isTrue(body.bytes.equals(Buffer.concat(chunks)))
      }),
      { numRuns: 60 }
    )
  })

  it("does not hold on to thousands of chunks", () => {
    const chunks = Array.from({ length: 5_000 }, (_, index) => Buffer.alloc(1, index))
    const sent = Buffer.concat(chunks)
    const body = new ResponseBody()
    for (const chunk of chunks) body.add(chunk)
    for (const chunk of chunks) chunk.fill(255)
    assert.isTrue(body.bytes.equals(sent))
  })
})
