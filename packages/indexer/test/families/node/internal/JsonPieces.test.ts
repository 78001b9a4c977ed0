import { assert, describe, it } from "@effect/vitest"
import * as DecimalText from "@headwater/indexer/families/node/DecimalText"
import { LongText } from "@headwater/indexer/families/node/LongText"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import * as JsonPieces from "../../../../src/families/node/internal/JsonPieces.ts"

const numRuns = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 1) * 2_000

const plain: JsonPieces.Parse = (text, before = "", after = "") => JSON.parse(before + text.toString() + after)
const decimalText: JsonPieces.Parse = (text, before = "", after = "") =>
  DecimalText.parse(Buffer.from(before + text.toString() + after))

/** The value, and how often the thread was given up on the way. */
const pieced = (json: string, pieceBytes: number, parse = plain) => {
  const work = JsonPieces.read(Buffer.from(json), parse, pieceBytes)
  let pieces = 0
  let step = work.next()
  for (; step.done !== true; step = work.next()) pieces++
  return { read: step.value, pieces }
}

const whole = (json: string) => Result.try(() => plain(Buffer.from(json)))

/** As `JSON.parse` does: the same value, or a failure of both. */
const agrees = (json: string, pieceBytes: number) => {
  const { read } = pieced(json, pieceBytes)
  const expected = whole(json)
  assert.strictEqual(Result.isSuccess(read), Result.isSuccess(expected), json)
  if (Result.isSuccess(expected)) assert.deepStrictEqual(Result.getOrUndefined(read), expected.success, json)
}

describe("JsonPieces", () => {
  it("reads every document as JSON.parse does, whatever the pieces", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(40), fc.nat(2), (value, pieceBytes, indent) => {
        agrees(JSON.stringify(value, undefined, indent), pieceBytes)
      }),
      { numRuns }
    )
  })

  it("refuses what JSON.parse refuses: documents with a byte more, less or other", () => {
    const bytes = '[]{},:" 0a\\'
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.nat(20),
        fc.nat(),
        fc.constantFrom(...bytes, ""),
        fc.nat(1),
        (value, pieceBytes, place, byte, removed) => {
          const json = JSON.stringify(value)
          const at = place % (json.length + 1)
          agrees(json.slice(0, at) + byte + json.slice(at + removed), pieceBytes)
        }
      ),
      { numRuns }
    )
  })

  it("refuses a child right behind a number, whatever the pieces", () => {
    for (const json of ["[1[2,3],4]", '[1{"a":2,"b":3},4]', '{"a":1[2,3],"b":4}', '{"a":{"b":1[2,3,4]},"c":5}']) {
      for (let pieceBytes = 0; pieceBytes < json.length; pieceBytes++) agrees(json, pieceBytes)
    }
  })

  it("names that objects are wary of are members like others", () => {
    const json = '{"a":{"x":1,"__proto__":{"y":[1,2,3]},"constructor":2},"__proto__":7,"a":{"z":1}}'
    for (let pieceBytes = 0; pieceBytes < json.length; pieceBytes++) {
      const read = Result.getOrThrow(pieced(json, pieceBytes).read) as object
      assert.strictEqual(JSON.stringify(read), JSON.stringify(JSON.parse(json)))
      assert.strictEqual(Object.getPrototypeOf(read), Object.prototype)
    }
  })

  it("keeps numbers as text where the parser of its pieces does", () => {
    const json = JSON.stringify({ tx: Array.from({ length: 50 }, (_, i) => ({ i, vout: [{ n: 0 }] })) }).replaceAll(
      '"n":0',
      '"value":0.10000000'
    )
    for (const pieceBytes of [1, 7, 64, 500]) {
      const { read } = pieced(json, pieceBytes, decimalText)
      assert.deepStrictEqual(Result.getOrThrow(read), DecimalText.parse(Buffer.from(json)))
    }
  })

  it("gives up the thread after each piece of a large document", () => {
    const json = JSON.stringify({
      result: Array.from({ length: 10_000 }, (_, i) => ({ i, data: "0x".padEnd(66, "a") }))
    })
    const { pieces, read } = pieced(json, 32_768)
    assert.isAbove(pieces, Math.floor(json.length / 40_000))
    assert.deepStrictEqual(Result.getOrThrow(read), JSON.parse(json))
  })

  it("leaves long strings unparsed, wherever they stand", () => {
    const limit = 100
    const shown = (value: unknown): unknown =>
      value instanceof LongText
        ? JSON.parse(`"${value.bytes}"`)
        : typeof value === "object" && value !== null
          ? Array.isArray(value)
            ? value.map(shown)
            : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(item)]))
          : value
    const read = (json: string, pieceBytes: number) =>
      TimeSlice.atOnce(JsonPieces.read(Buffer.from(json), plain, pieceBytes, limit))
    const text = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom("a".repeat(200), '\\"'.repeat(90), `${"\\".repeat(301)}x`)
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.array(tie("tree")),
        fc.dictionary(fc.string(), tie("tree"))
      )
    }))
    fc.assert(
      fc.property(tree, fc.nat(60), fc.nat(1), (value, pieceBytes, indent) => {
        const json = JSON.stringify([value, 1], undefined, indent)
        const found = Result.getOrThrow(read(json, pieceBytes))
        assert.deepStrictEqual(shown(found), JSON.parse(json))
      }),
      { numRuns: numRuns / 4 }
    )
    const long = `"${"ab".repeat(200)}"`
    for (const broken of [
      ...[`{${long}:1,"a":2}`, `[${long}${long}]`, `[1${long}]`, `{"a":1${long}}`, `[${long}1]`, `[${long} 1,2]`],
      ...[`{"a":${long.slice(0, -1)}`, `[${long}`, long, `{"a":[]${long}}`, `[${"1".repeat(2_000_000)},2]`]
    ]) {
      assert.isTrue(Result.isFailure(read(broken, 10)), broken.slice(0, 60))
    }
    const kept = Result.getOrThrow(read(`{"result":${long}}`, 10)) as { readonly result: LongText }
    assert.strictEqual(JSON.stringify(kept), `{"result":"${"ab".repeat(200)}…"}`)
  })

  it("refuses a document that is nested without end", () => {
    assert.isTrue(Result.isFailure(pieced("[".repeat(1_000_000), 1_000).read))
    assert.isTrue(Result.isFailure(pieced('{"a":'.repeat(100_000), 1_000).read))
    const deep = `${'{"calls":[1,'.repeat(1_100)}2${"]}".repeat(1_100)}`
    // deepStrictEqual would overflow the stack.
    assert.strictEqual(JSON.stringify(Result.getOrThrow(pieced(deep, 1_000).read)), JSON.stringify(JSON.parse(deep)))
  })
})
