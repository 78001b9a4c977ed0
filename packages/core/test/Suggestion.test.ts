import { assert, describe, it } from "@effect/vitest"
import { suggest } from "@headwater/core/Suggestion"

describe("suggest", () => {
  const names = ["http", "store", "callbacks", "credits", "log", "chains"]

  it("finds the name that was misspelt", () => {
    assert.strictEqual(suggest("htpp", names), "http")
    assert.strictEqual(suggest("callback", names), "callbacks")
    assert.strictEqual(suggest("Stores", names), "store")
  })

  it("finds the name that was begun", () => {
    assert.strictEqual(suggest("ethereum", ["bitcoin/mainnet", "ethereum/mainnet"]), "ethereum/mainnet")
  })

  it("is silent where nothing is near", () => {
    assert.strictEqual(suggest("database", names), undefined)
    assert.strictEqual(suggest("x", []), undefined)
  })
})
