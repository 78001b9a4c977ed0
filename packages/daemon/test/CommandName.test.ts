import { assert, it } from "vitest"
import { commandName, nameIn } from "../src/CommandName.ts"

it("the program is called as it can be called from where it lies", () => {
  assert.strictEqual(commandName, "npm start --")
  assert.strictEqual(nameIn("/home/a/project/node_modules/@headwater/daemon/"), "npx headwater")
  // npx headwater would run somebody else's package there.
  assert.strictEqual(nameIn("/home/a/.npm/_npx/1f2e/node_modules/@headwater/daemon/"), "npx @headwater/daemon")
  assert.strictEqual(nameIn("C:\\project\\node_modules\\@headwater\\daemon\\"), "npx headwater")
})
