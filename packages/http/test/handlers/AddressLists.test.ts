import { assert, layer } from "@effect/vitest"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const path = "/blockchain-events/ethereum/mainnet"
const addressOf = (i: number) => `0x${(i + 0x1000).toString(10).padStart(40, "0")}`
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => addressOf(from + i))
const eventType = "ADDRESS_COINS_TRANSACTION_CONFIRMED"

const call = Effect.fnUntraced(function* (
  method: string,
  more: string,
  item?: unknown,
  who: "alice" | "bob" = "alice"
) {
  const server = yield* TestServer
  const body = item === undefined ? {} : { body: { data: { item } } }
  return yield* send(server.url, { method, path: `${path}${more}`, key: server[who], ...body })
})
const newList = (item: object = {}) =>
  Effect.map(
    call("POST", "/address-lists", { eventType, callbackUrl: "https://example.com/", ...item }),
    ({ body }) => body.data.item.referenceId as string
  )

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store), { excludeTestServices: true })(`Lists of addresses over HTTP on ${store.name}`, (it) => {
    it.effect("are made for coins of a UTXO chain, in blocks and in the mempool, and not for its tokens", () =>
      Effect.gen(function* () {
        const { alice, url } = yield* TestServer
        const create = (eventType: string) =>
          send(url, {
            ...{ method: "POST", path: "/blockchain-events/litecoin/mainnet/address-lists", key: alice },
            body: { data: { item: { eventType, callbackUrl: "https://example.com/" } } }
          })
        for (const event of [eventType, "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"]) {
          const made = yield* create(event)
          assert.strictEqual(made.status, 201)
          const path = `/blockchain-events/litecoin/mainnet/${made.body.data.item.referenceId}/addresses`
          const addresses = ["ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"]
          const added = yield* send(url, { method: "POST", path, key: alice, body: { data: { item: { addresses } } } })
          assert.deepStrictEqual(added.body.data?.item, { added: 1, total: 1 })
        }
        const refused = yield* create("ADDRESS_TOKENS_TRANSACTION_CONFIRMED")
        assert.deepStrictEqual([refused.status, refused.body.error.code], [501, "unimplemented"])
      })
    )

    it.effect("are made, edited and read by a cursor, by their own account alone", () =>
      Effect.gen(function* () {
        const referenceId = yield* newList()
        const added = yield* call("POST", `/${referenceId}/addresses`, { addresses: range(0, 1_200) })
        assert.isUndefined(wrongWith(operationNamed("addressLists.add"), added.status, added.body))
        assert.deepStrictEqual(added.body.data.item, { added: 1_200, total: 1_200 })
        const again = yield* call("POST", `/${referenceId}/addresses`, { addresses: range(1_100, 1_300) })
        assert.deepStrictEqual(again.body.data.item, { added: 100, total: 1_300 })
        const removed = yield* call("POST", `/${referenceId}/addresses/remove`, { addresses: range(0, 600) })
        assert.deepStrictEqual(removed.body.data.item, { removed: 600, total: 700 })
        const listed: Array<string> = []
        let next = ""
        do {
          const { body, status } = yield* call("GET", `/${referenceId}/addresses?limit=300${next}`)
          assert.isUndefined(wrongWith(operationNamed("addressLists.list"), status, body))
          listed.push(...body.data.items.map(({ address }: { address: string }) => address.toLowerCase()))
          next = body.data.hasMore ? `&startingAfter=${body.data.nextStartingAfter}` : ""
        } while (next !== "")
        assert.deepStrictEqual(listed, range(600, 1_300))
        for (const [method, more, item] of [
          ["GET", "/addresses", undefined],
          ["POST", "/addresses", { addresses: range(0, 1) }],
          ["POST", "/addresses/remove", { addresses: range(600, 601) }]
        ] as const) {
          assert.strictEqual((yield* call(method, `/${referenceId}${more}`, item, "bob")).status, 404)
        }
        const shown = yield* call("GET", `/${referenceId}`)
        assert.isUndefined(wrongWith(operationNamed("subscriptions.get"), shown.status, shown.body))
        assert.strictEqual((yield* call("DELETE", `/${referenceId}`)).status, 200)
        assert.strictEqual((yield* call("GET", `/${referenceId}/addresses`)).status, 404)
      })
    )

    it.effect("are refused with what is wrong with each address, and change nothing then", () =>
      Effect.gen(function* () {
        const referenceId = yield* newList()
        const { body } = yield* call("POST", `/${referenceId}/addresses`, { addresses: [addressOf(0), "0x1", "x"] })
        const { code, details } = body.error
        assert.strictEqual(code, "invalid_data")
        assert.deepStrictEqual(
          details.map(({ attribute }: { attribute: string }) => attribute),
          ["addresses.1", "addresses.2"]
        )
        assert.deepStrictEqual((yield* call("GET", `/${referenceId}/addresses`)).body.data.items, [])
      })
    )

    it.effect("are for events of addresses, with the confirmations and the filters that these have", () =>
      Effect.gen(function* () {
        const create = (item: object) =>
          Effect.map(
            call("POST", "/address-lists", { eventType, callbackUrl: "https://example.com/", ...item }),
            ({ body, status }) =>
              status === 201 ? body.data.item : (body.error.details?.[0].attribute ?? body.error.code)
          )
        assert.strictEqual(yield* create({ eventType: "BLOCK_MINED" }), "eventType")
        assert.strictEqual(yield* create({ eventType: "ADDRESS_COINS_TRANSACTION_UNCONFIRMED" }), "unimplemented")
        assert.strictEqual(yield* create({ eventType: `${eventType}_EACH_CONFIRMATION` }), "confirmationsCount")
        assert.strictEqual(yield* create({ filter: { contractAddress: addressOf(1) } }), "filter.contractAddress")
        const made = yield* create({ receiveCallbackOn: 5, filter: { minimumAmount: "2" } })
        assert.strictEqual(made.confirmationsCount, 5)
        assert.deepStrictEqual(made.filter, { minimumAmount: "2" })
      })
    )
  })

  layer(testServer(store, { credits: 130 }), { excludeTestServices: true })(`Paid lists on ${store.name}`, (it) => {
    it.effect("cost what a subscription costs for each address that comes, and nothing for one that is there", () =>
      Effect.gen(function* () {
        const referenceId = yield* newList()
        const add = (from: number, to: number) =>
          call("POST", `/${referenceId}/addresses`, { addresses: range(from, to) })
        const first = yield* add(0, 3)
        assert.strictEqual(first.headers.get("x-credits-consumed"), "90")
        assert.strictEqual((yield* add(0, 3)).headers.get("x-credits-consumed"), "0")
        const second = yield* add(3, 4)
        assert.strictEqual(second.status, 402)
        assert.strictEqual(second.headers.get("x-credits-available"), "10")
      })
    )
  })

  layer(testServer(store).pipe(Layer.provide(Layer.succeed(Limits, { ...defaultMaxima, listedAddresses: 3 }))), {
    excludeTestServices: true
  })(`Limited lists on ${store.name}`, (it) => {
    it.effect("have no more addresses together than the account may have", () =>
      Effect.gen(function* () {
        const [one, two] = [yield* newList(), yield* newList()]
        const add = (list: string, from: number, to: number) =>
          Effect.map(call("POST", `/${list}/addresses`, { addresses: range(from, to) }), ({ status }) => status)
        assert.strictEqual(yield* add(one, 0, 2), 201)
        assert.strictEqual(yield* add(two, 0, 2), 403)
        assert.strictEqual(yield* add(two, 0, 1), 201)
      })
    )
  })
}
