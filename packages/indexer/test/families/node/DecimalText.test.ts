import { assert, describe, it } from "@effect/vitest"
import * as DecimalText from "@headwater/indexer/families/node/DecimalText"
import * as fc from "fast-check"

const parse = (json: string) => DecimalText.parse(Buffer.from(json))

describe("DecimalText", () => {
  it("keeps as text what a float would change or may be an amount", () => {
    assert.deepStrictEqual(
      parse(
        '{"a":0.1,"b":1e-8,"c":12345678901.12345678,"d":9007199254740993,"e":-0.5,"f":[1.0,2E+3],"g":20999999.9769}'
      ),
      {
        a: "0.1",
        b: "1e-8",
        c: "12345678901.12345678",
        d: "9007199254740993",
        e: "-0.5",
        f: ["1.0", "2E+3"],
        g: "20999999.9769"
      }
    )
  })

  it("leaves safe integers, strings and literals as they are", () => {
    const json =
      '{"n":9007199254740991,"m":-9007199254740991,"z":0,"s":"0.1","q":"a\\"0.5","b":"\\\\","c":[true,null],"u":"é0.1"}'
    assert.deepStrictEqual(parse(json), JSON.parse(json))
  })

  it("is not confused by quotes and backslashes in long strings", () => {
    for (const text of ["x".repeat(200), `${"x".repeat(150)}"1.5,`, `${"\\".repeat(131)}"0.1`, '"'.repeat(99), "\\"]) {
      assert.deepStrictEqual(parse(JSON.stringify({ text, n: 1.25 })), { text, n: "1.25" })
    }
  })

  it("refuses what JSON refuses", () => {
    for (const broken of [
      "",
      "{",
      '{"a":1.}',
      '{"a":.5}',
      '{"a":01.5}',
      '{"a":1.2.3}',
      '{"a":1e}',
      '["abc',
      "1.5 2.5"
    ]) {
      assert.throws(() => parse(broken), SyntaxError)
    }
  })

  it("agrees with JSON.parse with a reviver that sees the source text", () => {
    const reviver = (_: string, value: unknown, context?: { readonly source?: string }) =>
      typeof value === "number" && !(Number.isSafeInteger(value) && /^-?\d+$/.test(context!.source!))
        ? context!.source
        : value
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        assert.deepStrictEqual(parse(json), (JSON.parse as (t: string, r: typeof reviver) => unknown)(json, reviver))
      }),
      { numRuns: 3000 }
    )
  })
})
