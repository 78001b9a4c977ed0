import { assert, describe, it } from "@effect/vitest"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { Validator } from "@seriousme/openapi-schema-validator"
import { document, operationNamed, operations } from "../Contract.ts"

describe("OpenApiDocument", () => {
  it("is a valid OpenAPI 3.1 document", async () => {
    const { errors, valid } = await new Validator().validate(structuredClone(document))
    assert.isTrue(valid, JSON.stringify(errors))
  })

  it("has every endpoint of the interface, and the extra ones", () => {
    const events = "/blockchain-events/{blockchain}/{network}"
    assert.deepStrictEqual(
      operations.map(({ method, path }) => `${method} ${path}`).sort(),
      [
        ...Object.values(eventKinds).map(({ path }) => `POST ${events}/${path}`),
        `GET ${events}`,
        `GET ${events}/{referenceId}`,
        `DELETE ${events}/{referenceId}`,
        `POST ${events}/{referenceId}/activate`,
        `GET ${events}/{referenceId}/callbacks`,
        `POST ${events}/{referenceId}/callbacks/{idempotencyKey}/redeliver`,
        `POST ${events}/{referenceId}/test`,
        `POST ${events}/{referenceId}/secret`,
        `GET ${events}/{referenceId}/status`,
        `GET ${events}/{referenceId}/unresolved`,
        "GET /market-data/assets/by-id/{assetId}",
        "GET /market-data/assets/by-symbol/{assetSymbol}",
        "GET /market-data/assets/by-slug/{assetSlug}",
        "GET /market-data/assets",
        "GET /blocks/xrp/{network}/hash/{blockHash}/transactions",
        "GET /addresses-latest/evm/{blockchain}/{network}/{address}/internal-transactions",
        "GET /addresses-historical/evm/{blockchain}/{network}/{address}/tokens-transfers",
        "GET /addresses-historical/manage/{blockchain}/{network}",
        "POST /addresses-historical/manage/{blockchain}/{network}",
        "DELETE /addresses-historical/manage/{blockchain}/{network}/{address}",
        "POST /addresses-historical/manage/{blockchain}/{network}/{address}/activate",
        "GET /hd-wallets/manage/{blockchain}/{network}",
        "POST /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}/sync",
        "DELETE /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}",
        "POST /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}/activate",
        "GET /blocks/utxo/{blockchain}/{network}/latest/details",
        "GET /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/assets",
        "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/assets",
        "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/status",
        "GET /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/assets",
        "GET /transactions/evm/{blockchain}/{network}/{transactionHash}/logs",
        "POST /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
        "POST /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
        "POST /prepare-transactions/evm/{blockchain}/{network}/native-coins",
        "POST /domains",
        "GET /domains",
        "POST /domains/{domain}/verify",
        "GET /credits/balance",
        "GET /credits/statement"
      ].sort()
    )
  })

  it("says of every operation what it costs, how it fails, and what its answer looks like", () => {
    for (const operation of operations) {
      const { description, operationId, responses, summary } = operation as typeof operation & Record<string, string>
      assert.match(description!, /^Costs /, operationId)
      assert.isAbove(summary!.length, 10, operationId)
      for (const status of ["401", "403", "429", "500"]) assert.property(responses, status, operationId)
      for (const [status, answer] of Object.entries(responses)) {
        const content = answer.content["application/json"] as { example?: unknown; examples?: unknown }
        assert.isDefined(content.example ?? content.examples, `${operationId} ${status}`)
      }
    }
  })

  it("requires what the interface requires, and lets unknown fields pass", () => {
    const schemaOf = (name: string) => {
      const { content } = operationNamed(`subscriptions.${name}`).requestBody!
      return (content["application/json"]!.schema as never as { properties: { data: { properties: { item: never } } } })
        .properties.data.properties.item as { required: Array<string>; additionalProperties?: boolean }
    }
    assert.sameMembers(schemaOf("address-coins-transactions-confirmed").required, ["address", "callbackUrl"])
    assert.sameMembers(schemaOf("block-mined").required, ["callbackUrl"])
    assert.sameMembers(schemaOf("address-internal-transactions-confirmed-each-confirmation").required, [
      "address",
      "allowDuplicates",
      "callbackSecretKey",
      "callbackUrl",
      "confirmationsCount"
    ])
    assert.isUndefined(schemaOf("block-mined").additionalProperties)
  })
})
