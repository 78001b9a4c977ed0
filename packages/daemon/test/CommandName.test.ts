import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import { anywhere, asTyped, calledIn, commandName, quoted } from "../src/CommandName.ts"

it("the program is called as it can be called from where it lies", () => {
  assert.strictEqual(commandName, "npm start --")
  const installed = { name: "npx headwater", place: "/home/a/project" }
  assert.deepStrictEqual(calledIn("/home/a/project/node_modules/@headwater/daemon/"), installed)
  // npx headwater would run somebody else's package there.
  assert.deepStrictEqual(calledIn("/home/a/.npm/_npx/1f2e/node_modules/@headwater/daemon/"), {
    name: "npx @headwater/daemon"
  })
  assert.strictEqual(calledIn("C:\\project\\node_modules\\@headwater\\daemon\\").name, "npx headwater")
  // As in the image, which holds the program alone.
  assert.deepStrictEqual(calledIn("/app/"), { name: "headwater" })
})

it("a command for any folder changes to the checkout first", () => {
  const checkout = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "")
  assert.strictEqual(anywhere("status", "A=1 "), `(cd ${quoted(checkout)} && A=1 npm start -- status)`)
  assert.strictEqual(quoted("/a b/it's"), "'/a b/it'\\''s'")
})

it("commands in a text are written as they are typed, and nothing else of the name", () => {
  assert.strictEqual(
    asTyped("headwater replay ethereum/mainnet --from 1 fills it in; else headwater skip x", "npx headwater"),
    "npx headwater replay ethereum/mainnet --from 1 fills it in; else npx headwater skip x"
  )
  for (const text of ["/app/headwater status", "A newer headwater has done so"]) {
    assert.strictEqual(asTyped(text, "npx headwater"), text)
  }
})
