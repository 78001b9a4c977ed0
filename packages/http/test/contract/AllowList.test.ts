import { assert, describe, it } from "@effect/vitest"
import * as AllowList from "@headwater/http/contract/AllowList"
import { operations } from "../Contract.ts"

describe("The allow-list of a key", () => {
  it("names operations as the OpenAPI document does", () => {
    assert.deepStrictEqual([...AllowList.operations].sort(), operations.map(({ operationId }) => operationId).sort())
    assert.includeMembers([...AllowList.patterns], ["subscriptions.*", "callbacks.*", "domains.*", "credits.balance"])
  })

  it("opens what it names, a group by `.*`, and nothing of the same name elsewhere", () => {
    const list = new Set(["domains.list", "callbacks.*"])
    const open = AllowList.operations.filter((name) => {
      const [group, endpoint] = name.split(".") as [string, string]
      return AllowList.allows(list, group, endpoint)
    })
    assert.deepStrictEqual(
      open.sort(),
      ["domains.list", ...AllowList.operations.filter((name) => name.startsWith("callbacks."))].sort()
    )
    assert.isTrue(AllowList.allows(undefined, "credits", "balance"))
    assert.isFalse(AllowList.allows(new Set(), "credits", "balance"))
    // The names of release 0.1, which meant an endpoint of every group.
    assert.isFalse(AllowList.allows(new Set(["list", "*"]), "subscriptions", "list"))
  })
})
