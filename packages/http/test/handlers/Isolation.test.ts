import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../test/Stores.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const address = "0x52908400098527886E0F7030069857D2E4169EE7"
const place = "/blockchain-events/ethereum/mainnet"

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store), { excludeTestServices: true })(`Two accounts on ${store.name}`, (it) => {
    it.effect("with the same addresses and URLs never see each other", () =>
      Effect.gen(function* () {
        const { alice, bob, url } = yield* TestServer
        const call = (key: string, method: string, path: string, item?: object) =>
          send(url, { method, path, key, ...(item === undefined ? {} : { body: { data: { item } } }) })
        const keys = [alice, bob]
        const made: Array<Array<string>> = [[], []]
        for (let i = 0; i < 12; i++) {
          for (const [who, key] of keys.entries()) {
            const item = { address, callbackUrl: `https://example.com/${i}` }
            const answer = yield* call(key, "POST", `${place}/address-coins-transactions-confirmed`, item)
            // The other's is no duplicate of one's own.
            assert.strictEqual(answer.status, 201)
            made[who]!.push(answer.body.data.item.referenceId)
          }
        }
        for (const [who, key] of keys.entries()) {
          const listed: Array<string> = []
          for (let offset = 0; offset < 30; offset += 5) {
            const { body } = yield* call(key, "GET", `${place}?limit=5&offset=${offset}`)
            assert.strictEqual(body.data.total, 12)
            listed.push(...body.data.items.map(({ referenceId }: { referenceId: string }) => referenceId))
          }
          assert.deepStrictEqual(listed, made[who])
          const [theirs] = made[1 - who]!
          for (const [method, path] of [
            ["GET", `${place}/${theirs}`],
            ["DELETE", `${place}/${theirs}`],
            ["POST", `${place}/${theirs}/activate`]
          ] as const) {
            const { body, status } = yield* call(key, method, path)
            assert.deepStrictEqual([status, body.error.code], [404, "resource_not_found"])
          }
          assert.strictEqual((yield* call(keys[1 - who]!, "GET", `${place}/${theirs}`)).status, 200)
        }
      })
    )

    it.effect("have domains of their own", () =>
      Effect.gen(function* () {
        const { alice, bob, url } = yield* TestServer
        const add = (key: string) =>
          send(url, { method: "POST", path: "/domains", key, body: { data: { item: { domain: "Example.COM" } } } })
        const [ofAlice, ofBob] = [yield* add(alice), yield* add(bob)]
        assert.strictEqual(ofAlice.body.data.item.domain, "example.com")
        assert.notStrictEqual(ofAlice.body.data.item.token, ofBob.body.data.item.token)
        const verified = yield* send(url, { method: "POST", path: "/domains/example.com/verify", key: alice })
        assert.isTrue(verified.body.data.item.isVerified)
        const listed = yield* send(url, { path: "/domains", key: bob })
        assert.deepStrictEqual(listed.body.data.items, [ofBob.body.data.item])
        assert.isFalse(listed.body.data.items[0].isVerified)
      })
    )

    it.effect("have credits of their own, and cursors that the other cannot use", () =>
      Effect.gen(function* () {
        const { alice, bob, url } = yield* TestServer
        const statement = (key: string, query: string) => send(url, { path: `/credits/statement?${query}`, key })
        for (const key of [alice, alice, alice, bob]) yield* send(url, { path: place, key })
        const first = yield* statement(alice, "limit=3")
        const cursor = first.body.data.nextStartingAfter
        assert.isTrue(first.body.data.hasMore)
        assert.strictEqual((yield* statement(alice, `limit=3&startingAfter=${cursor}`)).status, 200)
        for (const [key, query] of [
          [bob, `startingAfter=${cursor}`],
          [alice, `sortingOrder=ascending&startingAfter=${cursor}`],
          [alice, `startingAfter=${cursor.slice(0, -1)}`],
          [alice, `startingAfter=${cursor}AAAA`],
          [alice, "startingAfter="],
          [alice, "startingAfter=%2F"]
        ] as const) {
          const { body, status } = yield* statement(key, query)
          assert.deepStrictEqual([status, body.error.code], [400, "invalid_pagination"], query)
        }
        const keysOf = (answer: typeof first) => answer.body.data.items.map(({ key }: { key: string }) => key)
        const ofBob = new Set(keysOf(yield* statement(bob, "limit=50")))
        assert.isFalse(keysOf(first).some((key: string) => ofBob.has(key)))
      })
    )
  })
}
