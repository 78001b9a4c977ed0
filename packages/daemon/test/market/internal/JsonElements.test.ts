import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type JsonElement, JsonElements, maxElementBytes } from "../../../src/market/internal/JsonElements.ts"

/** Everything in a text, read in pieces of so many bytes. */
const read = (text: string | Buffer, size = 7): ReadonlyArray<JsonElement> => {
  const bytes = Buffer.from(text)
  const elements = new JsonElements()
  const found: Array<JsonElement> = []
  for (let from = 0; from < bytes.length; from += size) found.push(...elements.push(bytes.subarray(from, from + size)))
  return [...found, ...elements.end()]
}

const shown = (elements: ReadonlyArray<JsonElement>) =>
  elements.map((element) =>
    "text" in element ? [element.line, JSON.parse(element.text.toString())] : [element.line, element.problem]
  )

describe("JsonElements", () => {
  it("reads JSON Lines", () => {
    assert.deepStrictEqual(shown(read('{"a":1}\n{"a":2}\r\n\n{"a":"}{\\"\\\\"}')), [
      [1, { a: 1 }],
      [2, { a: 2 }],
      [4, { a: '}{"\\' }]
    ])
    assert.deepStrictEqual(shown(read("")), [])
    assert.deepStrictEqual(shown(read("\ufeff{}\n")), [[1, {}]])
  })

  it("reads arrays of any layout", () => {
    const values = [{ a: [{ b: 1 }, { b: 2 }] }, { c: { d: "[{" } }, {}]
    const lines = [
      [JSON.stringify(values), [1, 1, 1]],
      [JSON.stringify(values, undefined, 2), [2, 12, 17]],
      [JSON.stringify(values, undefined, "\t"), [2, 12, 17]],
      [`[${values.map((value) => JSON.stringify(value)).join(",\n")}]`, [1, 2, 3]],
      [`[\n${values.map((value) => JSON.stringify(value)).join("\n, ")}\n]\n`, [2, 3, 4]]
    ] as const
    for (const [text, at] of lines) {
      assert.deepStrictEqual(
        shown(read(text)),
        values.map((value, i) => [at[i], value])
      )
    }
  })

  it("gives the same whatever the pieces", () => {
    const text = JSON.stringify([{ a: "\u20ac\n}" }, { b: [1, { c: null }] }], undefined, 1)
    const whole = shown(read(text, text.length))
    for (let size = 1; size < 40; size++) assert.deepStrictEqual(shown(read(text, size)), whole)
  })

  it("finds every object of any list of objects", () => {
    const layout = fc.constantFrom<(values: ReadonlyArray<object>) => string>(
      (values) => JSON.stringify(values),
      (values) => JSON.stringify(values, undefined, 3),
      (values) => values.map((value) => `${JSON.stringify(value)}\n`).join("")
    )
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
        layout,
        fc.integer({ min: 1, max: 50 }),
        (values, write, size) => {
          const found = read(write(values), size)
          assert.deepStrictEqual(
            found.map((element) => ("text" in element ? JSON.parse(element.text.toString()) : element.problem)),
            JSON.parse(JSON.stringify(values))
          )
        }
      ),
      { numRuns: 200 }
    )
  })

  it("names what is broken by its line, and finds the next object", () => {
    for (const [text, expected] of [
      // A brace is missing, in lines and in arrays.
      [
        '{"a":1}\n{"a":{"b":2}\n{"a":3}\n',
        [
          [1, { a: 1 }],
          [2, "is not complete"],
          [3, { a: 3 }]
        ]
      ],
      [
        '[\n  {"a":1},\n  {"a":[2,\n  {"a":3}\n]',
        [
          [2, { a: 1 }],
          [3, "is not complete"],
          [4, { a: 3 }]
        ]
      ],
      [
        '[\n  {\n    "a": [\n      {"b": 1\n    ]\n  },\n  {\n    "a": 2\n  }\n]',
        [
          [2, "is not complete"],
          [7, { a: 2 }]
        ]
      ],
      // A quote is missing: the string ends with its line.
      [
        '{"a":"x}\n{"a":2}\n',
        [
          [1, "is not complete"],
          [2, { a: 2 }]
        ]
      ],
      // Something else between objects.
      [
        'hello\n{"a":1}\n"x" 5\n{"a":2}}\n',
        [
          [1, "is not a JSON object"],
          [2, { a: 1 }],
          [3, "is not a JSON object"],
          [4, { a: 2 }],
          [4, "is not a JSON object"]
        ]
      ],
      [
        '[null,{"a":1},[2]]',
        [
          [1, "is not a JSON object"],
          [1, { a: 1 }]
        ]
      ],
      [
        '{"a":1}\n{"a":',
        [
          [1, { a: 1 }],
          [2, "is not complete"]
        ]
      ]
    ] as const) {
      assert.deepStrictEqual(shown(read(text)), expected as never, text)
    }
  })

  it("does not hold what is too large, and goes on after it", () => {
    const large = `{"a":"${"x".repeat(maxElementBytes)}"}`
    const exact = `{"a":"${"x".repeat(maxElementBytes - 8)}"}`
    const found = read(`${large}\n${exact}\n{"b":1}\n`, 65_536)
    assert.deepStrictEqual(
      found.map((element) => ("text" in element ? element.text.length : element.problem)),
      [`is larger than ${maxElementBytes} bytes`, maxElementBytes, 7]
    )
  })
})
