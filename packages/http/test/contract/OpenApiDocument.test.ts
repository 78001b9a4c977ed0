import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { broadcastKinds, eventKinds } from "@headwater/core/events/EventKinds"
import { fieldsOf } from "@headwater/http/contract/SchemaFields"
import { Validator } from "@seriousme/openapi-schema-validator"
import { document, exampleOf, operationNamed, operations, requestExampleOf, wrongWithExample } from "../Contract.ts"

interface Parameter {
  readonly operationId: string
  readonly name: string
  readonly description?: string
  readonly example?: unknown
  readonly schema: { readonly type?: string }
}

/** What stands where nobody has written an example: see `Example.placeholders`. */
const words = { text: "text", number: 999_999 }

const leaves = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [value]

/** Every example of the document that stands beside the schema that it is of. */
const examplesIn = function* (
  node: unknown,
  at: string
): Generator<{ readonly at: string; readonly schema: object; readonly value: unknown }> {
  if (typeof node !== "object" || node === null) return
  if ("schema" in node && typeof node.schema === "object" && node.schema !== null) {
    const { schema } = node
    if ("example" in node) yield { at, schema, value: node.example }
    if ("examples" in node) {
      for (const { value } of Object.values(node.examples as Record<string, { readonly value: unknown }>)) {
        yield { at, schema, value }
      }
    }
  }
  for (const [key, child] of Object.entries(node)) {
    if (key !== "example" && key !== "examples") yield* examplesIn(child, `${at}/${key}`)
  }
}

interface Subschema {
  readonly type: string
  readonly pattern?: string
  readonly items?: object
}

const schemasIn = function* (
  node: unknown,
  at: string
): Generator<{ readonly at: string; readonly schema: Subschema }> {
  if (typeof node !== "object" || node === null) return
  if ("type" in node && typeof node.type === "string") yield { at, schema: node as Subschema }
  for (const [key, child] of Object.entries(node)) {
    if (key !== "example" && key !== "examples") yield* schemasIn(child, `${at}/${key}`)
  }
}

describe("OpenApiDocument", () => {
  it("is a valid OpenAPI 3.1 document", async () => {
    const { errors, valid } = await new Validator().validate(structuredClone(document))
    assert.isTrue(valid, JSON.stringify(errors))
  })

  it("has one component for a schema, whatever fields say of it", () => {
    const { schemas } = document.components
    const plain = Object.keys(schemas).filter((name) => !/^(error|CallbackBody)\./.test(name))
    assert.deepStrictEqual(
      plain.filter((name) => /\d$/.test(name)),
      []
    )
    assert.notProperty(schemas.Amount, "description")
    const { properties } = schemas.XrpAddressTransaction as { readonly properties: Readonly<Record<string, unknown>> }
    assert.deepStrictEqual(properties.receive, {
      $ref: "#/components/schemas/Amount",
      description: "What arrived at the recipient"
    })
    assert.deepStrictEqual(properties.fee, { $ref: "#/components/schemas/Amount" })
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
        `POST ${events}/bulk`,
        `POST ${events}/bulk/delete`,
        `GET ${events}/bulk`,
        `POST ${events}/address-lists`,
        `POST ${events}/extended-keys`,
        `GET ${events}/{referenceId}/extended-key`,
        `POST ${events}/{referenceId}/addresses`,
        `POST ${events}/{referenceId}/addresses/remove`,
        `GET ${events}/{referenceId}/addresses`,
        "GET /callbacks",
        `GET ${events}/{referenceId}/callbacks`,
        `POST ${events}/{referenceId}/callbacks/{idempotencyKey}/redeliver`,
        `POST ${events}/{referenceId}/recover`,
        `POST ${events}/{referenceId}/test`,
        `POST ${events}/{referenceId}/secret`,
        `GET ${events}/{referenceId}/status`,
        `GET ${events}/{referenceId}/unresolved`,
        ...["evm", "utxo", "xrp"].map((family) => `POST /utils/${family}/{blockchain}/{network}/validate-address`),
        "POST /utils/{blockchain}/{network}/convert-address",
        "GET /utils/{blockchain}/{network}/decode-x-address/{xAddress}",
        "GET /utils/{blockchain}/{network}/encode-x-address/{classicAddress}/{addressTag}",
        "GET /utils/{blockchain}/{network}/xpubs/{extendedPublicKey}/derive-addresses",
        ...["evm", "utxo"].map((family) => `POST /utils/${family}/{blockchain}/{network}/decode-raw-transaction`),
        "GET /blockchain-fees/evm/{blockchain}/{network}/eip-1559",
        "GET /blockchain-fees/evm/{blockchain}/{network}/mempool",
        "POST /blockchain-fees/evm/{blockchain}/{network}/estimate-native-coin-transfer-gas-limit",
        "POST /blockchain-fees/evm/{blockchain}/{network}/estimate-token-transfer-gas-limit",
        "GET /blockchain-fees/utxo/{blockchain}/{network}/mempool",
        "GET /blockchain-fees/utxo/{blockchain}/{network}/smart",
        "GET /blockchain-fees/xrp/{network}/mempool",
        "GET /addresses-latest/evm/{blockchain}/{network}/{address}/next-available-nonce",
        "GET /addresses-latest/evm/{blockchain}/{network}/{address}/balance",
        "GET /addresses-latest/xrp/{network}/{address}/balance",
        "GET /contracts/evm/{blockchain}/{network}/{contractAddress}/token-details",
        "GET /addresses-latest/xrp/{network}/{address}/next-available-sequence",
        "POST /prepare-transactions/evm/{blockchain}/{network}/fungible-tokens",
        "POST /prepare-transactions/evm/{blockchain}/{network}/non-fungible-tokens",
        "POST /prepare-transactions/xrp/{network}/payments",
        "POST /simulate-transactions/evm/{blockchain}/{network}",
        "GET /market-data/assets/by-id/{assetId}",
        "GET /market-data/assets/by-symbol/{assetSymbol}",
        "GET /market-data/assets/by-slug/{assetSlug}",
        "GET /market-data/assets",
        "GET /market-data/metadata/assets",
        "GET /market-data/exchange-rates/by-id/{fromAssetId}/{toAssetId}",
        "GET /market-data/exchange-rates/by-symbol/{fromAssetSymbol}/{toAssetSymbol}",
        ...["hash/{blockHash}", "height/{blockHeight}"].flatMap((block) => [
          `GET /blocks/xrp/{network}/${block}/details`,
          `GET /blocks/utxo/{blockchain}/{network}/${block}/details`,
          `GET /blocks/utxo/{blockchain}/{network}/${block}/transactions`,
          `GET /blocks/xrp/{network}/${block}/transactions`,
          `GET /blocks/evm/{blockchain}/{network}/${block}/details`,
          `GET /blocks/evm/{blockchain}/{network}/${block}/transactions`
        ]),
        "GET /blocks/evm/{blockchain}/{network}/latest",
        "GET /blocks/evm/{blockchain}/{network}/latest/details",
        ...["", "/internal", "/tokens-transfers"].map(
          (part) => `GET /transactions/evm/{blockchain}/{network}/{transactionHash}${part}`
        ),
        "GET /blocks/utxo/{blockchain}/{network}/latest",
        "GET /transactions/utxo/{blockchain}/{network}/{transactionHash}",
        "GET /transactions/utxo/{blockchain}/{network}/{transactionHash}/raw-data",
        "GET /blocks/xrp/{network}/latest",
        "GET /blocks/xrp/{network}/latest/details",
        "GET /transactions/xrp/{network}/{transactionHash}",
        "GET /addresses-latest/evm/{blockchain}/{network}/{address}/internal-transactions",
        "GET /addresses-historical/evm/{blockchain}/{network}/{address}/tokens-transfers",
        ...[
          "internal",
          "internal-transactions",
          "tokens",
          "transactions",
          "transactions/from-timestamp/{timestamp}"
        ].map((path) => `GET /addresses-historical/evm/{blockchain}/{network}/{address}/${path}`),
        "GET /addresses-latest/xrp/{network}/{address}/transactions",
        ...["transactions", "tokens-transfers"].map(
          (path) => `GET /addresses-latest/evm/{blockchain}/{network}/{address}/${path}`
        ),
        ...["balance", "transactions", "transactions/from-timestamp/{timestamp}", "unspent-outputs"].map(
          (path) => `GET /addresses-historical/utxo/{blockchain}/{network}/{address}/${path}`
        ),
        ...["balance", "transactions", "unconfirmed-transactions"].map(
          (path) => `GET /addresses-latest/utxo/{blockchain}/{network}/{address}/${path}`
        ),
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
        ...["addresses", "transactions"].flatMap((list) =>
          ["evm/", "utxo/", ""].map(
            (family) => `GET /hd-wallets/${family}{blockchain}/{network}/{extendedPublicKey}/${list}`
          )
        ),
        "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/unspent-outputs",
        "POST /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync-change",
        "POST /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
        "GET /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}/status",
        ...["evm/", "utxo/", ""].map(
          (family) => `GET /hd-wallets/${family}{blockchain}/{network}/{extendedPublicKey}/details`
        ),
        "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/assets",
        "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/status",
        "POST /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/transactions/prepare",
        "POST /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/transactions/prepare",
        "GET /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/assets",
        "GET /transactions/evm/{blockchain}/{network}/{transactionHash}/logs",
        "POST /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
        "POST /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
        "POST /broadcast-transactions/{blockchain}/{network}",
        "GET /broadcast-transactions/{blockchain}/{network}/{transactionId}",
        "POST /prepare-transactions/evm/{blockchain}/{network}/native-coins",
        "POST /domains",
        "GET /domains",
        "GET /receivers",
        "POST /receivers/recover",
        "POST /domains/{domain}/verify",
        "GET /credits/balance",
        "GET /credits/statement",
        "GET /limits"
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

  it("lists no price of a chain that an operation is not for", () => {
    const described = (operationId: string) => (operationNamed(operationId) as { description?: string }).description!
    assert.include(described("blocks.evmLatest"), "tron 45")
    assert.notInclude(described("blocks.evmLatest"), "dash")
    assert.include(described("blocks.utxoLatest"), "dash")
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

  it("describes every parameter, and types it as it is read", () => {
    const ofParameters = operations.flatMap(({ operationId, parameters }) =>
      parameters.map((parameter) => ({ operationId, ...parameter }) as Parameter)
    )
    assert.isAbove(ofParameters.length, 200)
    for (const { description, name, operationId, schema } of ofParameters) {
      assert.isAbove(description?.length ?? 0, 10, `${operationId} ${name}`)
      const isNumber =
        ["limit", "offset", "wait", "count", "blockHeight", "calculationTimestamp"].includes(name) ||
        (name === "startingAfter" && "minimum" in schema)
      if (isNumber) assert.strictEqual(schema.type, "integer", `${operationId} ${name}`)
    }
    assert.deepInclude(ofParameters.find(({ name }) => name === "limit")!.schema as object, { minimum: 1, maximum: 50 })
    const feed = ofParameters.filter(({ operationId }) => operationId === "callbacks.list")
    assert.strictEqual(feed.find(({ name }) => name === "wait")!.schema.type, "integer")
  })

  it("says of the lists that the interface gives ten items where no limit is given, that these have ten", () => {
    const ofTen = [
      ...["addresses.syncedAddresses", "addressHistory.evmLatestTokens", "addressHistory.evmLatestTransactions"],
      ...["addressHistory.evmTransactions", "addressHistory.xrpAddressTransactions", "hdWallets.syncedWallets"],
      ...["hdWalletLists.evmWalletAddresses", "hdWalletLists.evmWalletTransactions"],
      ...["hdWalletLists.utxoWalletAddresses", "hdWalletLists.utxoWalletTransactions"],
      ...["hdWalletLists.utxoWalletOutputs", "hdWalletLists.xrpWalletAddresses"],
      ...["hdWalletLists.xrpWalletTransactions", "marketData.supportedAssets", "subscriptions.list"]
    ]
    for (const name of ofTen) {
      const { parameters } = operationNamed(name)
      const limit = parameters.find((parameter) => parameter.name === "limit")! as { readonly description?: string }
      assert.match(limit.description!, /; 10 if not given$/, name)
    }
  })

  it("has patterns that say the same to every engine of regular expressions, and a type for what each list holds", () => {
    const patterns = new Set<string>()
    for (const { at, schema } of schemasIn(document, "#")) {
      if (schema.pattern !== undefined) patterns.add(schema.pattern)
      if (schema.type === "array") assert.isNotEmpty(schema.items, at)
    }
    assert.isNotEmpty(patterns)
    for (const pattern of patterns) {
      // Go and PHP know no \\u, others than JavaScript no \\u{…}, RE2 no lookaround; an emoji is two characters without the flag u.
      assert.notMatch(pattern, /\\[upP]|\(\?/)
      assert.match("note \u{1f600}", new RegExp(pattern))
    }
  })

  it("says of an item among many what the operation of each event takes", () => {
    const fields = (operationId: string) => {
      const { schema } = operationNamed(operationId).requestBody!.content["application/json"]!
      return fieldsOf(document.components.schemas, schema).map(({ path }) => path)
    }
    const ofItem = fields("bulk.create").flatMap((path) => (path.startsWith("items[].") ? [path.slice(8)] : []))
    const ofEvents = Object.values(eventKinds).flatMap(({ path }) => fields(`subscriptions.${path}`))
    assert.sameMembers(ofItem, [...new Set(["eventType", ...ofEvents])])
  })

  it("has examples that fit their schemas, and no placeholder", () => {
    const found = [...examplesIn(document, "#")]
    assert.isAbove(found.length, 500)
    for (const { at, schema, value } of found) {
      assert.isUndefined(wrongWithExample(schema, value), at)
      for (const leaf of leaves(value)) assert.notInclude(Object.values(words), leaf, at)
    }
    const missing = operations.flatMap(({ operationId, parameters, requestBody }) => [
      ...parameters.flatMap((parameter) =>
        "example" in parameter || parameter.name === "startingAfter" ? [] : [`${operationId} ${parameter.name}`]
      ),
      ...(requestBody === undefined || "example" in requestBody.content["application/json"]! ? [] : [operationId])
    ])
    assert.deepStrictEqual(missing, [])
  })

  it("names no token in the filter of a request for events of another kind", () => {
    for (const operation of operations) {
      if (operation.requestBody === undefined) continue
      const { eventType, filter } = requestExampleOf(operation) as {
        readonly eventType?: keyof typeof eventKinds
        readonly filter?: object
      }
      if (eventType === undefined || filter === undefined || eventKinds[eventType].class === "token") continue
      assert.notProperty(filter, "contractAddress", operation.operationId)
    }
  })

  it("says of a block that every number is there, as clients know them, and that each is a whole one", () => {
    const block = document.components.schemas.EvmBlock as {
      readonly required: ReadonlyArray<string>
      readonly properties: Readonly<Record<string, { readonly type?: string; readonly description?: string }>>
    }
    for (const name of ["gasLimit", "gasUsed", "height", "minedInSeconds", "nonce", "size", "totalDifficulty"]) {
      assert.include(block.required, name)
      assert.strictEqual(block.properties[name]!.type, "integer", name)
    }
    assert.match(block.properties.totalDifficulty!.description!, /0 where the node keeps none/)
  })

  it("shows the event that an operation subscribes to, and values of the chain that it is for", () => {
    for (const [event, { class: kind, path }] of Object.entries(eventKinds)) {
      const { item } = exampleOf(operationNamed(`subscriptions.${path}`)) as { item: { eventType?: string } }
      if (kind !== "block") assert.strictEqual(item.eventType, event)
    }
    const text = (operationId: string) => JSON.stringify(exampleOf(operationNamed(operationId)))
    assert.include(text("hdWallets.xrpAssets"), '"unit":"XRP"')
    assert.include(text("blocks.xrpTransactions"), '"unit":"XRP"')
    assert.include(text("hdWallets.utxoAssets"), '"unit":"BTC"')
    assert.include(text("transactions.prepare"), '"unit":"Wei"')
    assert.include(text("addresses.internalTransactions"), '"unit":"ETH"')
    assert.include(text("marketData.assetById"), '"unit":"USD"')
    for (const { path, ...operation } of operations) {
      const chains = operation.parameters.flatMap((parameter) =>
        parameter.name === "blockchain" ? [(parameter as unknown as Parameter).example] : []
      )
      if (path.includes("/utxo/")) assert.deepStrictEqual(chains, ["bitcoin"], path)
    }
  })

  it("shows hashes and addresses of UTXO chains and the XRP Ledger as these write them, on operations and on schemas", () => {
    const shown = operations
      .filter(({ path }) => path.includes("/utxo/") || path.includes("/xrp/"))
      .flatMap((operation) => [...examplesIn(operation, operation.path)].map(({ at, value }) => [at, value] as const))
    const schemas = Object.entries(document.components.schemas).filter(([name]) => /Utxo|Xrp/.test(name))
    assert.isAbove(shown.length, 100)
    assert.isAbove(schemas.length, 10)
    for (const [at, part] of [...shown, ...schemas]) assert.notMatch(JSON.stringify(part), /"0x[0-9A-Fa-f]/, at)
  })

  it("shows every amount in the unit of the chain that the example is of", () => {
    const unitsIn = (value: unknown): ReadonlyArray<string> =>
      typeof value !== "object" || value === null
        ? []
        : Object.entries(value).flatMap(([name, part]) =>
            name === "unit" && typeof part === "string" ? [part] : unitsIn(part)
          )
    let count = 0
    const check = (blockchain: string, value: unknown, at: string) => {
      const { unit } = Chain.all.find((chain) => chain.blockchain === blockchain)!
      for (const found of unitsIn(value)) {
        count++
        assert.include(unit === "ETH" ? [unit, "Wei"] : [unit], found, at)
      }
    }
    for (const operation of operations) {
      const named = operation.parameters.find(({ name }) => name === "blockchain") as unknown as Parameter | undefined
      const blockchain = named?.example ?? (operation.path.includes("/xrp/") ? "xrp" : undefined)
      if (blockchain !== undefined) check(String(blockchain), exampleOf(operation), operation.operationId)
    }
    for (const [event, { post }] of Object.entries(document.webhooks)) {
      const { examples } = post.requestBody.content["application/json"]
      for (const [blockchain, { value }] of Object.entries(examples)) check(blockchain, value, event)
    }
    assert.isAbove(count, 100)
  })

  it("has a webhook for each event, whose examples are callbacks as they are sent on a chain of each family", () => {
    const { webhooks } = document
    const kinds = { ...eventKinds, ...broadcastKinds }
    assert.sameMembers(Object.keys(webhooks), Object.keys(kinds))
    for (const [event, { post }] of Object.entries(webhooks)) {
      const { examples, schema } = post.requestBody.content["application/json"]
      const { families } = kinds[event as keyof typeof kinds]
      assert.lengthOf(Object.keys(examples), families.length, event)
      for (const [blockchain, { value }] of Object.entries(examples)) {
        assert.isUndefined(wrongWithExample(schema, value), `${event} ${blockchain}`)
        assert.strictEqual(value.data.event, event)
        assert.strictEqual(value.data.item.blockchain, blockchain)
        const test = { ...value, data: { ...value.data, event: `${event}_TEST` } }
        assert.isUndefined(wrongWithExample(schema, test))
        const other = { ...value, data: { ...value.data, event: `${event}_OTHER` } }
        assert.isDefined(wrongWithExample(schema, other))
        assert.isUndefined(wrongWithExample(schema, { ...value, ofALaterRelease: true }))
      }
    }
  })

  it("says of each field of a request what the field is", () => {
    const { schemas } = document.components
    for (const { operationId, requestBody } of operations) {
      if (requestBody === undefined) continue
      for (const { description, path } of fieldsOf(schemas, requestBody.content["application/json"]!.schema)) {
        assert.isNotEmpty(description, `${operationId}: ${path}`)
      }
    }
  })

  it("says of no sender that it is paid, and of signing only where something is signed", () => {
    const { schemas } = document.components
    for (const { operationId, requestBody } of operations) {
      const fields = fieldsOf(schemas, requestBody === undefined ? {} : requestBody.content["application/json"]!.schema)
      const sender = fields.find(({ path }) => path === "sender")?.description
      if (sender === undefined) continue
      assert.notInclude(sender, "is paid", operationId)
      assert.strictEqual(
        sender.includes("is to sign"),
        /[pP]repare/.test(operationId) && !/Wallets/.test(operationId),
        operationId
      )
    }
  })

  it("names a field in the examples of those errors alone that always name one", () => {
    const named = new Map<string, string | undefined>()
    for (const { responses } of operations) {
      for (const [status, answer] of Object.entries(responses)) {
        const { examples = {} } = answer.content["application/json"] as {
          examples?: Record<string, { value: { error: { details?: ReadonlyArray<{ attribute: string }> } } }>
        }
        for (const [code, { value }] of Object.entries(examples)) {
          named.set(`${status} ${code}`, value.error.details?.[0]?.attribute)
        }
      }
    }
    assert.strictEqual(named.get("400 invalid_data"), "callbackUrl")
    assert.strictEqual(named.get("400 limit_greater_than_allowed"), "limit")
    assert.strictEqual(named.get("400 invalid_network"), "network")
    assert.isUndefined(named.get("401 missing_api_key"))
    assert.isUndefined(named.get("503 node_unavailable"))
  })
})
