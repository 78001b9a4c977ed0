import { assert, describe, it } from "@effect/vitest"
import { fieldsOf } from "@headwater/http/contract/SchemaFields"
import { document, operationNamed } from "../Contract.ts"

const { schemas } = document.components

const ofRequest = (operationId: string) =>
  fieldsOf(schemas, operationNamed(operationId).requestBody!.content["application/json"]!.schema)

const ofAnswer = (operationId: string) =>
  fieldsOf(schemas, operationNamed(operationId).responses[200]!.content["application/json"]!.schema)

const named = (fields: ReturnType<typeof fieldsOf>, path: string) => fields.find((field) => field.path === path)

describe("SchemaFields", () => {
  it("lists fields within fields, with bounds and values", () => {
    const fields = ofRequest("hdWallets.utxoPrepare")
    assert.deepInclude(named(fields, "recipients"), { type: "list of object, from 1 to 2000 items", required: true })
    assert.deepInclude(named(fields, "recipients[].amount"), { type: "string", required: true })
    assert.deepInclude(named(fields, "fee.priority"), { type: "`slow`, `standard` or `fast`", required: false })
    const { type } = named(ofRequest("subscriptions.address-coins-transactions-confirmed"), "receiveCallbackOn")!
    assert.strictEqual(type, "integer from 1 to 100")
  })

  it("reads bodies that may be absent, references, and items of lists", () => {
    assert.isFalse(named(ofRequest("hdWallets.utxoDerive"), "format")!.required)
    assert.deepInclude(named(ofRequest("subscriptions.contract-events"), "filter.abi"), { type: "string or object" })
    const { type } = named(ofRequest("subscriptions.contract-events"), "filter.topics")!
    assert.strictEqual(type, "list of (string or list of string, from 1 to 50 items), up to 4 items")
    const fields = ofAnswer("feed.read")
    assert.deepInclude(named(fields, "attempts[].statusCode"), { type: "integer", required: false })
    assert.include(named(fields, "state")!.type, "`delivered`")
  })

  it("has no bounds that every integer has", () => {
    assert.strictEqual(named(ofAnswer("feed.read"), "sequence")!.type, "integer")
  })

  it("requires of several forms what all of them require", () => {
    const form = (name: string) => ({ properties: { kind: { const: name }, [name]: {} }, required: ["kind", name] })
    const item = { anyOf: [form("a"), form("b"), { type: "null" }] }
    const fields = fieldsOf({}, { properties: { data: { properties: { item } } } })
    assert.deepStrictEqual(
      fields.map(({ path, required, type }) => [path, required, type]),
      [
        ["kind", true, "`a` or `b`"],
        ["a", false, "object"],
        ["b", false, "object"]
      ]
    )
  })
})
