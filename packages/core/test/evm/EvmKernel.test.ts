import * as EvmKernel from "@headwater/core/evm/EvmKernel"
import { atOnce } from "@headwater/core/Steps"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The answers' ids, with their results as values. */
const answers = (text: string) => {
  const body = encoder.encode(text)
  return atOnce(EvmKernel.answers(body))?.map(({ from, id, to }) => [
    id,
    JSON.parse(decoder.decode(body.subarray(from, to)))
  ])
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe("answers of JSON-RPC, found by the kernel", () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"result":"0x1"}', [[1, "0x1"]]],
    [' {"result" : null , "id":7 ,"error":null}\n', [[7, null]]],
    [
      '[{"id":1,"result":{"id":5,"result":[{}, []]}},{"id":2,"result":[true,false,-1.5e+3]}]',
      [
        [1, { id: 5, result: [{}, []] }],
        [2, [true, false, -1500]]
      ]
    ],
    ["[]", []]
  ])("%s", (text, found) => {
    expect(answers(text)).toEqual(found)
  })

  it.each([
    "",
    "null",
    '"text"',
    "[1]",
    "[[]]",
    '{"id":1}',
    '{"result":1}',
    '{"id":"1","result":1}',
    '{"id":1.5,"result":1}',
    '{"id":1,"result":1,"result":2}',
    '{"id":1,"id":2,"result":1}',
    '{"id":1,"result":1,"error":{"code":1}}',
    '{"id":1,"res\\u0075lt":1,"result":2}',
    '{"id":1,"result":1}{}',
    '{"id":1,"result":01}',
    '{"id":1,"result":1.}',
    '{"id":1,"result":.5}',
    '{"id":1,"result":1e}',
    '{"id":1,"result":nul}',
    '{"id":1,"result":[1,]}',
    '{"id":1,"result":[,1]}',
    '{"id":1,"result":{"a":1,}}',
    '{"id":1,"result":{"a"}}',
    '{"id":1,"result":{"a" 1}}',
    '{"id":1,"result":{a:1}}',
    '{"id":1,"result":[1}}',
    '{"id":1,"result":"\\x"}',
    '{"id":1,"result":"\\u12g4"}',
    '{"id":1,"result":"a\nb"}',
    '{"id":1,"result":"a',
    '{"id":1,"result":"a\\',
    '{"id":1,"result":[',
    '{"id":1,"result":{'
  ])("%s is refused", (text) => {
    expect(answers(text)).toBeUndefined()
  })

  it("are those that a parser finds, whatever is changed", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 0, max: 2 }),
        fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'"\\{}[]:,0e-.tn \n\u0001é')), { maxLength: 2 }),
        (value, spaces, changes) => {
          const whole = JSON.stringify([{ jsonrpc: "2.0", id: 3, result: value }], undefined, spaces)
          const text = changes.reduce((before, [at, letter]) => {
            const place = at % before.length
            return before.slice(0, place) + letter + before.slice(place + 1)
          }, whole)
          const found = answers(text)
          const json = [parsed(text)].flat() as ReadonlyArray<{ readonly id: unknown; readonly result: unknown }>
          if (changes.length === 0) expect(found).toEqual([[3, JSON.parse(JSON.stringify(value))]])
          else if (found !== undefined) expect(found).toEqual(json.map(({ id, result }) => [id, result]))
        }
      ),
      // Brackets that go leave an answer that stands alone.
      {
        numRuns: 2_000,
        examples: [
          [
            null,
            0,
            [
              [39, "\n"],
              [0, "\n"]
            ]
          ]
        ]
      }
    )
  })

  it("are refused where the body is very large", () => {
    expect(answers(JSON.stringify({ id: 1, result: " ".repeat(EvmKernel.maxBytes) }))).toBeUndefined()
  })

  it("are found in steps", () => {
    const body = encoder.encode(JSON.stringify({ id: 1, result: Array.from({ length: 500_000 }, (_, index) => index) }))
    const steps = [...EvmKernel.answers(body)].length
    expect(steps).toBeGreaterThan(2)
  })
})
