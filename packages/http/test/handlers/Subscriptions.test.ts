import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const lower = "0x52908400098527886e0f7030069857d2e4169ee7"
const checksummed = "0x52908400098527886E0F7030069857D2E4169EE7"

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store), { excludeTestServices: true })(`Subscriptions over HTTP on ${store.name}`, (it) => {
    const post = Effect.fnUntraced(function* (path: string, item: unknown, more: object = {}) {
      const { alice, url } = yield* TestServer
      return yield* send(url, {
        method: "POST",
        path: `/blockchain-events/${path}`,
        key: alice,
        body: { ...more, data: { item } }
      })
    })
    const get = Effect.fnUntraced(function* (path: string, method = "GET") {
      const { alice, url } = yield* TestServer
      return yield* send(url, { method, path: `/blockchain-events/${path}`, key: alice })
    })
    const idOf = Effect.fnUntraced(function* (referenceId: string) {
      const { read } = yield* Database
      const [row] = yield* read((db) =>
        db.selectFrom("subscription").select("id").where("reference_id", "=", referenceId)
      )
      return row!.id
    })
    const callbackUrl = () => `https://example.com/${crypto.randomUUID()}`

    const confirmed = [
      ["address-coins-transactions-confirmed", "ADDRESS_COINS_TRANSACTION_CONFIRMED"],
      ["address-tokens-transactions-confirmed", "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"],
      ["address-internal-transactions-confirmed", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"]
    ] as const

    for (const [name, eventType] of confirmed) {
      it.effect(`creates ${name}`, () =>
        Effect.gen(function* () {
          const url = callbackUrl()
          const item = { address: lower, callbackUrl: url, callbackSecretKey: "s", receiveCallbackOn: 12, extra: [1] }
          const { body, status } = yield* post(`ethereum/mainnet/${name}`, item, { context: "c", extra: true })
          assert.strictEqual(status, 201)
          const { createdTimestamp, referenceId } = body.data.item
          assert.deepStrictEqual(body, {
            apiVersion: "2024-12-12",
            requestId: body.requestId,
            context: "c",
            data: {
              item: {
                address: checksummed,
                callbackSecretKey: "s",
                callbackUrl: url,
                createdTimestamp,
                eventType,
                isActive: true,
                receiveCallbackOn: 12,
                referenceId
              }
            }
          })
          assert.closeTo(createdTimestamp, Date.now() / 1000, 10)
          assert.isUndefined(wrongWith(operationNamed(`subscriptions.${name}`), status, body))
          const byDefault = yield* post(`ethereum/mainnet/${name}`, { address: lower, callbackUrl: callbackUrl() })
          assert.strictEqual(byDefault.body.data.item.receiveCallbackOn, 1)
        })
      )

      it.effect(`creates ${name}-each-confirmation`, () =>
        Effect.gen(function* () {
          const item = {
            address: checksummed,
            allowDuplicates: false,
            callbackUrl: callbackUrl(),
            callbackSecretKey: "s",
            confirmationsCount: 100
          }
          const { body, status } = yield* post(`ethereum/mainnet/${name}-each-confirmation`, item)
          assert.strictEqual(status, 201)
          assert.strictEqual(body.data.item.eventType, `${eventType}_EACH_CONFIRMATION`)
          assert.strictEqual(body.data.item.confirmationsCount, 100)
          assert.isUndefined(body.data.item.receiveCallbackOn)
        })
      )
    }

    it.effect("takes each confirmation of tokens for the first one where no count is given", () =>
      Effect.gen(function* () {
        const item = { address: checksummed, callbackUrl: callbackUrl() }
        const each = (kind: string) =>
          post(`ethereum/mainnet/address-${kind}-transactions-confirmed-each-confirmation`, item)
        const { body, status } = yield* each("tokens")
        assert.strictEqual(status, 201)
        assert.strictEqual(body.data.item.confirmationsCount, 1)
        assert.strictEqual((yield* each("coins")).status, 400)
      })
    )

    it.effect("creates address-coins-transactions-unconfirmed", () =>
      Effect.gen(function* () {
        const item = { address: "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", callbackUrl: callbackUrl() }
        const { body } = yield* post("bitcoin/mainnet/address-coins-transactions-unconfirmed", item)
        assert.strictEqual(body.data.item.eventType, "ADDRESS_COINS_TRANSACTION_UNCONFIRMED")
        assert.hasAllKeys(body.data.item, [
          "address",
          "callbackSecretKey",
          "callbackUrl",
          "createdTimestamp",
          "eventType",
          "isActive",
          "referenceId"
        ])
        // Clients of the hosted service require the field.
        assert.strictEqual(body.data.item.callbackSecretKey, "")
      })
    )

    it.effect("creates block-mined, without address and event", () =>
      Effect.gen(function* () {
        const { body } = yield* post("tron/mainnet/block-mined", { callbackUrl: callbackUrl() })
        assert.hasAllKeys(body.data.item, [
          "callbackSecretKey",
          "callbackUrl",
          "createdTimestamp",
          "isActive",
          "referenceId"
        ])
        assert.strictEqual(body.data.item.callbackSecretKey, "")
      })
    )

    it.effect("refuses at creation what a chain has no events of", () =>
      Effect.gen(function* () {
        const item = { address: checksummed, callbackUrl: callbackUrl() }
        for (const path of [
          "ethereum/mainnet/address-coins-transactions-unconfirmed",
          "tron/mainnet/address-coins-transactions-unconfirmed",
          "bitcoin/mainnet/address-tokens-transactions-confirmed",
          "xrp/mainnet/address-internal-transactions-confirmed"
        ]) {
          assert.strictEqual((yield* post(path, item)).status, 501, path)
        }
      })
    )

    it.effect("refuses numbers of confirmations outside 1 to 100", () =>
      Effect.gen(function* () {
        for (const receiveCallbackOn of [0, 101, -1, 1.5, "3", 1e308]) {
          const item = { address: checksummed, callbackUrl: callbackUrl(), receiveCallbackOn }
          const { body, status } = yield* post("ethereum/mainnet/address-coins-transactions-confirmed", item)
          assert.strictEqual(status, 400, String(receiveCallbackOn))
          assert.strictEqual(body.error.details[0].attribute, "receiveCallbackOn")
        }
      })
    )

    it.effect("refuses a callback URL with the rule that it breaks", () =>
      Effect.gen(function* () {
        for (const [url, rule] of [
          ["http://example.com/", /must begin with https/],
          ["https://user@example.com/", /must have no user name/],
          ["https://nas.lan/", /must name its host by a public DNS name/],
          ["https://example.com./", /must name its host by a public DNS name/],
          ["https://127.1/", /must name its host by a public DNS name/]
        ] as const) {
          const { body, status } = yield* post("ethereum/mainnet/block-mined", { callbackUrl: url })
          const [{ attribute, message }] = body.error.details
          assert.deepStrictEqual([status, attribute], [400, "callbackUrl"], url)
          assert.match(message, rule)
        }
      })
    )

    it.effect("refuses a context of more than 512 characters, and echoes one of 512", () =>
      Effect.gen(function* () {
        const item = { callbackUrl: callbackUrl() }
        const long = yield* post("ethereum/mainnet/block-mined", item, { context: "é".repeat(513) })
        assert.deepStrictEqual([long.status, long.body.context], [400, undefined])
        const fits = yield* post("ethereum/mainnet/block-mined", item, { context: "é".repeat(512) })
        assert.strictEqual(fits.body.context, "é".repeat(512))
      })
    )

    it.effect("refuses addresses of other chains, and secrets that cannot be kept", () =>
      Effect.gen(function* () {
        const path = "bitcoin/mainnet/address-coins-transactions-confirmed"
        for (const address of [
          checksummed,
          "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
          "x",
          "1".repeat(200),
          "\u0000"
        ]) {
          const { body, status } = yield* post(path, { address, callbackUrl: callbackUrl() })
          assert.deepStrictEqual([status, body.error.details[0].attribute], [400, "address"], address)
        }
        for (const callbackSecretKey of [
          "a\u0000b",
          "\ud800",
          "x".repeat(513),
          "whsec_",
          "whsec_a-b_c-d_",
          "whsec_YWI"
        ]) {
          const { body, status } = yield* post("bitcoin/mainnet/block-mined", {
            callbackUrl: callbackUrl(),
            callbackSecretKey
          })
          assert.deepStrictEqual([status, body.error.details[0].attribute], [400, "callbackSecretKey"])
        }
      })
    )

    it.effect("keeps the tag of an X-address: two tags are two subscriptions, and the account is a third", () =>
      Effect.gen(function* () {
        const path = "xrp/mainnet/address-coins-transactions-confirmed"
        const shared = { callbackUrl: callbackUrl() }
        // The vectors of XLS-5d: tags 1 and 4294967295, no tag, and the account itself.
        const one = "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC"
        const other = "XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi"
        const untagged = "XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb"
        const classic = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"
        for (const address of [one, other, classic]) {
          const { body, status } = yield* post(path, { ...shared, address })
          assert.deepStrictEqual([status, body.data.item.address], [201, address])
          const { referenceId } = body.data.item
          assert.strictEqual((yield* get(`xrp/mainnet/${referenceId}`)).body.data.item.address, address)
          const tested = yield* get(`xrp/mainnet/${referenceId}/test`, "POST")
          assert.strictEqual(tested.status, 201)
          const again = yield* post(path, { ...shared, address })
          assert.deepStrictEqual([again.status, again.body.error.code], [409, "already_exists"])
        }
        const same = yield* post(path, { ...shared, address: untagged })
        assert.deepStrictEqual([same.status, same.body.error.code], [409, "already_exists"])
        const { body } = yield* get("xrp/mainnet?limit=50")
        const listed = body.data.items
          .filter((item: { callbackUrl: string }) => item.callbackUrl === shared.callbackUrl)
          .map(({ address }: { address: string }) => address)
        assert.deepStrictEqual(listed, [one, other, classic])
        const elsewhere = yield* post("xrp/testnet/address-coins-transactions-confirmed", { ...shared, address: one })
        assert.deepStrictEqual([elsewhere.status, elsewhere.body.error.details[0].attribute], [400, "address"])
      })
    )

    it.effect("refuses a duplicate unless it is allowed", () =>
      Effect.gen(function* () {
        const path = "ethereum/mainnet/address-coins-transactions-confirmed"
        const item = { address: checksummed, callbackUrl: callbackUrl(), receiveCallbackOn: 2 }
        assert.strictEqual((yield* post(path, item)).status, 201)
        const again = yield* post(path, { ...item, address: lower })
        assert.deepStrictEqual([again.status, again.body.error.code], [409, "already_exists"])
        assert.strictEqual((yield* post(path, { ...item, receiveCallbackOn: 3 })).status, 201)
        assert.strictEqual((yield* post(path, { ...item, allowDuplicates: true })).status, 201)
      })
    )

    it.effect("keeps a filter, in whose contract any form is taken, and tells two filters apart", () =>
      Effect.gen(function* () {
        const path = "ethereum/mainnet/address-tokens-transactions-confirmed"
        const item = { address: checksummed, callbackUrl: callbackUrl() }
        const filter = { minimumAmount: "0.50", contractAddress: lower, direction: "incoming" }
        const made = yield* post(path, { ...item, filter })
        assert.strictEqual(made.status, 201)
        const kept = { ...filter, contractAddress: checksummed }
        assert.deepStrictEqual(made.body.data.item.filter, kept)
        assert.isUndefined(
          wrongWith(operationNamed("subscriptions.address-tokens-transactions-confirmed"), 201, made.body)
        )
        const { referenceId } = made.body.data.item
        const shown = yield* get(`ethereum/mainnet/${referenceId}`)
        assert.deepStrictEqual(shown.body.data.item.filter, kept)
        const list = (yield* get("ethereum/mainnet?limit=50")).body.data.items as ReadonlyArray<{
          referenceId: string
          filter?: unknown
        }>
        assert.deepInclude(
          list.find((one) => one.referenceId === referenceId),
          { filter: kept }
        )
        assert.strictEqual((yield* post(path, { ...item, filter: { ...kept } })).status, 409)
        const others = [{ ...filter, minimumAmount: "0.6" }, { direction: "incoming" }, undefined]
        for (const filter of others) assert.strictEqual((yield* post(path, { ...item, filter })).status, 201)
        assert.strictEqual((yield* post(path, { ...item, filter: {} })).status, 409, "nothing is asked for, as without")
      })
    )

    it.effect("subscribes to the events of a contract, by an ABI in any form and topics", () =>
      Effect.gen(function* () {
        const item = { address: lower, callbackUrl: callbackUrl() }
        const topic = `0x${"0".repeat(24)}${lower.slice(2)}`
        const filter = {
          abi: "Transfer(address indexed from, address indexed to, uint value)",
          topics: [null, [topic], null]
        }
        const made = yield* post("ethereum/mainnet/contract-events", { ...item, filter })
        assert.strictEqual(made.status, 201)
        const abi = "event Transfer(address indexed from, address indexed to, uint256 value)"
        assert.deepStrictEqual(made.body.data.item.filter, { ...filter, abi })
        assert.isUndefined(wrongWith(operationNamed("subscriptions.contract-events"), 201, made.body))
        assert.strictEqual((yield* post("bitcoin/mainnet/contract-events", { ...item, filter })).status, 501)
      })
    )

    it.effect("refuses a filter with the part and the rule that the part breaks", () =>
      Effect.gen(function* () {
        const refused = Effect.fnUntraced(function* (event: string, filter: unknown) {
          const name = event === "contract" ? "contract-events" : `address-${event}-transactions-confirmed`
          const item = { address: checksummed, callbackUrl: callbackUrl(), filter }
          const { body, status } = yield* post(`ethereum/mainnet/${name}`, item)
          assert.strictEqual(status, 400, JSON.stringify(filter))
          return body.error.details.map(({ attribute }: { attribute: string }) => attribute)
        })
        assert.deepStrictEqual(yield* refused("tokens", { contractAddress: "0x12" }), ["filter.contractAddress"])
        for (const minimumAmount of ["-1", "1e3", "1,5", "", ".5", 1, "1".repeat(79)]) {
          assert.deepStrictEqual(yield* refused("coins", { minimumAmount }), ["filter.minimumAmount"])
        }
        assert.deepStrictEqual(yield* refused("coins", { direction: "in" }), ["filter.direction"])
        assert.deepStrictEqual(yield* refused("coins", { contractAddress: lower }), ["filter.contractAddress"])
        assert.deepStrictEqual(yield* refused("internal", { minimumamount: "1" }), ["filter.minimumamount"])
        assert.deepStrictEqual(yield* refused("coins", "incoming"), ["filter"])
        for (const abi of ["", "function f()", { type: "event" }]) {
          assert.deepStrictEqual(yield* refused("contract", { abi }), ["filter.abi"])
        }
        assert.deepStrictEqual(yield* refused("contract", { direction: "incoming" }), ["filter.direction"])
        assert.deepStrictEqual(yield* refused("contract", { topics: [null, null, null, null, null] }), [
          "filter.topics"
        ])
        assert.include((yield* refused("contract", { topics: ["0x12"] }))[0], "filter.topics.0")
      })
    )

    it.effect("lists and shows what was created, until it is deleted", () =>
      Effect.gen(function* () {
        const place = "litecoin/mainnet"
        const address = "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"
        const [first, second] = [
          yield* post(`${place}/address-coins-transactions-confirmed`, { address, callbackUrl: callbackUrl() }),
          yield* post(`${place}/block-mined`, { callbackUrl: callbackUrl(), callbackSecretKey: "s" })
        ].map(({ body }) => body.data.item)
        const listed = yield* get(place)
        assert.deepStrictEqual(
          { ...listed.body.data, items: listed.body.data.items.map(({ referenceId }: never) => referenceId) },
          { limit: 10, offset: 0, total: 2, items: [first.referenceId, second.referenceId] }
        )
        assert.isUndefined(wrongWith(operationNamed("subscriptions.list"), 200, listed.body))
        const shown = yield* get(`${place}/${second.referenceId}`)
        assert.deepStrictEqual(shown.body.data.item, {
          blockchain: "litecoin",
          callbackSecretKey: "s",
          callbackUrl: second.callbackUrl,
          createdTimestamp: second.createdTimestamp,
          eventType: "BLOCK_MINED",
          isActive: true,
          network: "mainnet",
          referenceId: second.referenceId
        })
        const deleted = yield* get(`${place}/${first.referenceId}`, "DELETE")
        assert.strictEqual(deleted.status, 200)
        assert.isUndefined(wrongWith(operationNamed("subscriptions.delete"), 200, deleted.body))
        assert.deepStrictEqual(deleted.body.data.item, {
          ...{ address, blockchain: "litecoin", callbackSecretKey: "", callbackUrl: first.callbackUrl },
          ...{ confirmationsCount: 1, createdTimestamp: first.createdTimestamp },
          ...{ eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED", isActive: true, network: "mainnet" },
          ...{ referenceId: first.referenceId, transactionId: "" }
        })
        assert.strictEqual((yield* get(`${place}/${first.referenceId}`)).status, 404)
        assert.strictEqual((yield* get(`${place}/${first.referenceId}`, "DELETE")).status, 404)
        assert.strictEqual((yield* get(place)).body.data.total, 1)
      })
    )

    it.effect("pages through a list", () =>
      Effect.gen(function* () {
        const place = "dogecoin/mainnet"
        const made: Array<string> = []
        for (let i = 0; i < 7; i++) {
          const { body } = yield* post(`${place}/block-mined`, { callbackUrl: callbackUrl() })
          made.push(body.data.item.referenceId)
        }
        const page = Effect.fnUntraced(function* (query: string) {
          const { body } = yield* get(`${place}?${query}`)
          return body.data.items.map(({ referenceId }: { referenceId: string }) => referenceId)
        })
        assert.deepStrictEqual(yield* page("limit=3"), made.slice(0, 3))
        assert.deepStrictEqual(yield* page("limit=3&offset=3"), made.slice(3, 6))
        assert.deepStrictEqual(yield* page("limit=50&offset=6"), made.slice(6))
        assert.deepStrictEqual(yield* page("offset=7"), [])
        assert.deepStrictEqual(yield* page("offset=999999999999999"), [])
        for (const query of [
          "limit=+5",
          "limit=1e1",
          "limit=",
          "limit= 5",
          "limit=3&limit=4",
          "offset=-1",
          "offset=1.0"
        ]) {
          const { body, status } = yield* get(`${place}?${query}`)
          assert.deepStrictEqual([status, body.error.code], [400, "invalid_pagination"], query)
        }
      })
    )

    it.effect("shows why a subscription is inactive, and activates it again", () =>
      Effect.gen(function* () {
        const { deactivate } = yield* Subscriptions
        const place = "polygon/mainnet"
        const { body: made } = yield* post(`${place}/block-mined`, { callbackUrl: callbackUrl() })
        const { referenceId } = made.data.item
        const { alice, url } = yield* TestServer
        yield* deactivate(yield* idOf(referenceId), "maximum_retry_attempts_reached")
        const inactive = yield* get(`${place}/${referenceId}`)
        assert.isFalse(inactive.body.data.item.isActive)
        assert.deepStrictEqual(
          inactive.body.data.item.deactivationReasons.map(({ reason }: { reason: string }) => reason),
          ["maximum_retry_attempts_reached"]
        )
        const path = `/blockchain-events/${place}/${referenceId}/activate`
        const active = yield* send(url, { method: "POST", path, key: alice })
        assert.strictEqual(active.status, 201)
        assert.isUndefined(wrongWith(operationNamed("subscriptions.activate"), 201, active.body))
        const { callbackUrl: to, createdTimestamp } = made.data.item
        assert.deepStrictEqual(active.body.data.item, {
          ...{ address: "", blockchain: "polygon", callbackSecretKey: "", callbackUrl: to, confirmationsCount: 0 },
          ...{ createdTimestamp, eventType: "BLOCK_MINED", isActive: true, network: "mainnet" },
          ...{ referenceId, transactionId: "" }
        })
        const withBody = yield* send(url, { method: "POST", path, key: alice, body: { data: { item: {} } } })
        assert.deepStrictEqual([withBody.status, withBody.body.error.code], [409, "invalid_data"])
      })
    )
  })
}
