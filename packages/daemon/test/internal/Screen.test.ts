import { assert, describe, it } from "@effect/vitest"
import * as Screen from "../../src/internal/Screen.ts"

describe("Screen", () => {
  it("wraps a text between its words, and leaves the lines of an excerpt as they are", () => {
    const said = "is not valid TOML, and what is said of that is long\n    2 | port = •• ••\n      |           ^"
    assert.strictEqual(
      Screen.wrap(said, 20, "  - "),
      [
        ...["  - is not valid", "    TOML, and what", "    is said of that", "    is long"],
        ...["    2 | port = •• ••", "      |           ^"]
      ].join("\n")
    )
    assert.strictEqual(Screen.wrap("two words", undefined, "> "), "> two words")
  })
})
