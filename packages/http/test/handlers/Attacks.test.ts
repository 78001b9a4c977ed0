/**
 * What one account may try on another: to find what is the other's, to use it, and to keep the other from being served. What
 * needs more than requests is tried elsewhere; none of these attacks works.
 *
 * Guess and use: 1. references, keys and cursors of the other; 2. fields that name another account; 3. keys that are like
 * the other's; 4. a domain that the other has proved (all here). 5. Lists, histories and domains of the other, beside the
 * same addresses and URLs (`Isolation`). 6. Places of another's feed (`Feed`). 7. A key beyond its list of endpoints, by
 * names that are alike; 8. a key that only reads, for a secret to sign with (`server/Authentication`). 9. Secrets in the
 * answers of any operation, and in logs, spans and metrics (`test/Traces`).
 *
 * Exhaust: 10. requests that wait, trickle or are many (here). 11. Idle and half-sent connections (`server/Server`).
 * 12. Haste, also at what has no price (here, `server/Charging`), and over several daemons (`RateBuckets`). 13. Requests that
 * race for a limit of subscriptions; 14. duplicates, wherever they are sent; 15. domains, verifications, wallets and
 * addresses without end (`store/accounts/Limits`). 16. A wallet's scan without end (`operations/evm/EndlessWallet`). 17. A body too
 * large, too deep, or of odd forms (`server/Fuzz`).
 *
 * Fill and stall: 18. a busy address with very many subscriptions (`subscriptions/FanOut`, `bench/fairness.ts`). 19. Its
 * confirmations, of lower blocks than the other's (`FanOut`). 20. More waiting callbacks than may be (`FanOut`).
 * 21. Many callbacks that are parked, let go, given up, removed or taken back (`database/SmallSteps`). 22. Very many
 * subscriptions that a daily charge cannot be taken for (`store/accounts/Credits`). 23. A host's places, by a backlog of
 * streams or of what is sent again (`subscriptions/Outbox`). 24. A path that hangs on a host that both use; 25. a thousand
 * silent hosts (`delivery/Delivery`). 26. Hosts of its own that fail, to have an outage of our own believed, or none
 * (`delivery/OwnFailures`). 27. URLs and names that lead to private addresses (`delivery/CallbackTarget`).
 */
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { takenStores } from "../../../../test/Stores.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const ethereum = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const events = "/blockchain-events/ethereum/mainnet"
const blocks = `${events}/block-mined`
const item = (fields: object) => ({ data: { item: { callbackUrl: "https://victim.example/", ...fields } } })

/** Bob's subscription with a secret, and what Alice asks for by its path. */
const victim = Effect.gen(function* () {
  const { alice, bob, url } = yield* TestServer
  const secret = "the secret of bob"
  const made = yield* send(url, {
    method: "POST",
    path: blocks,
    key: bob,
    body: item({ callbackSecretKey: secret, allowDuplicates: true })
  })
  const reference = made.body.data.item.referenceId as string
  const test = yield* send(url, { method: "POST", path: `${events}/${reference}/test`, key: bob })
  const key = test.body.data.item.idempotencyKey as string
  const attack = (method: string, path: string, body?: unknown) =>
    send(url, { method, path, key: alice, ...(body === undefined ? {} : { body }) })
  return { alice, attack, bob, key, reference, secret, url }
})

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store, { requestsAtOnce: 20 }), { excludeTestServices: true })(
    `One account's attacks on another on ${store.name}`,
    (it) => {
      it.effect("by references, keys and cursors of the other find nothing, and change nothing", () =>
        Effect.gen(function* () {
          const { attack, bob, key, reference, secret, url } = yield* victim
          const domain = { data: { item: { domain: "of-bob.example" } } }
          yield* send(url, { method: "POST", path: "/domains", body: domain, key: bob })
          for (const [method, path, body] of [
            ["GET", `${events}/${reference}`],
            ["DELETE", `${events}/${reference}`],
            ["POST", `${events}/${reference}/activate`],
            ["GET", `${events}/${reference}/status`],
            ["GET", `${events}/${reference}/unresolved`],
            ["GET", `${events}/${reference}/callbacks`],
            ["POST", `${events}/${reference}/callbacks/${key}/redeliver`],
            ["POST", `${events}/${reference}/test`],
            ["POST", `${events}/${reference}/recover`, item({})],
            ["POST", `${events}/${reference}/secret`, item({ callbackSecretKey: "of alice" })],
            ["GET", `${events}/${reference.toUpperCase()}`],
            ["GET", `${events}/${encodeURIComponent(`${reference}' or '1'='1`)}`],
            ["GET", `/blockchain-events/polygon/mainnet/${reference}`],
            ["POST", "/domains/of-bob.example/verify"]
          ] as const) {
            const answer = yield* attack(method, path, body)
            assert.strictEqual(answer.status, 404, `${method} ${path} ${answer.text}`)
            assert.notInclude(answer.text, secret)
          }
          const kept = yield* send(url, { path: `${events}/${reference}`, key: bob })
          assert.deepInclude(kept.body.data.item, { callbackSecretKey: secret, isActive: true })
        })
      )

      it.effect("by fields, headers and keys that are not theirs, act as nobody else", () =>
        Effect.gen(function* () {
          const { alice, attack, bob, reference, url } = yield* victim
          const forged = yield* attack("POST", blocks, {
            account: 2,
            data: { item: { ...item({}).data.item, account: 2, __proto__: { account: 2 }, referenceId: reference } }
          })
          assert.strictEqual(forged.status, 201)
          assert.notStrictEqual(forged.body.data.item.referenceId, reference)
          for (const key of [bob.toLowerCase(), bob.slice(0, -1), `${alice},${bob}`, "hw_", "\u00e9"]) {
            assert.strictEqual((yield* send(url, { path: "/credits/balance", key })).status, 401, key)
          }
          const ofBob = yield* send(url, { path: `${events}?limit=50`, key: bob })
          assert.notInclude(
            ofBob.body.data.items.map(({ referenceId }: { referenceId: string }) => referenceId),
            forged.body.data.item.referenceId
          )
        })
      )

      it.effect("by a domain that the other has proved, send nothing there", () =>
        Effect.gen(function* () {
          const { attack, bob, url } = yield* victim
          const add = {
            method: "POST",
            path: "/domains",
            body: { data: { item: { domain: "victim.example" } } }
          } as const
          const ofBob = yield* send(url, { ...add, key: bob })
          yield* send(url, { method: "POST", path: "/domains/victim.example/verify", key: bob })
          const ofAlice = yield* attack(add.method, add.path, add.body)
          assert.isFalse(ofAlice.body.data.item.isVerified)
          assert.notStrictEqual(ofAlice.body.data.item.token, ofBob.body.data.item.token)
          const domains = yield* Domains
          const [alice, , account] = yield* (yield* Accounts).list
          assert.isFalse(yield* domains.isVerified(alice!.id, "victim.example"))
          assert.isTrue(yield* domains.isVerified(account!.id, "victim.example"))
        })
      )

      it.effect("by requests that wait, trickle or are many, keep nobody else from being answered", () =>
        Effect.gen(function* () {
          const { attack, bob, url } = yield* victim
          const own = yield* attack(
            "POST",
            blocks,
            item({ callbackUrl: "https://alice.example/", allowDuplicates: true })
          )
          const feed = `${events}/${own.body.data.item.referenceId}/callbacks?wait=60`
          const waiting = yield* Effect.forkChild(
            Effect.all(
              Array.from({ length: 60 }, () => attack("GET", feed)),
              { concurrency: "unbounded" }
            )
          )
          const sockets = Array.from({ length: 100 }, () => {
            const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
              socket.write("POST /domains HTTP/1.1\r\n")
            )
            socket.on("error", () => {})
            return socket
          })
          yield* Effect.sleep("300 millis")
          for (let i = 0; i < 20; i++) {
            assert.strictEqual((yield* send(url, { path: `${events}?limit=1`, key: bob })).status, 200)
          }
          assert.isUndefined(waiting.pollUnsafe())
          for (const socket of sockets) socket.destroy()
          const { referenceId } = own.body.data.item
          const account = (yield* (yield* Accounts).list).find(({ name }) => name === "alice")!.id
          yield* (yield* Callbacks).test({ account, chain: ethereum, referenceId })
          // Twenty waited until there was a callback, and the others were told to come again.
          const statuses = (yield* Fiber.join(waiting)).map(({ status }) => status)
          assert.deepStrictEqual(statuses.sort(), [
            ...Array.from({ length: 20 }, () => 200),
            ...Array.from({ length: 40 }, () => 429)
          ])
        })
      )
    }
  )

  layer(testServer(store), { excludeTestServices: true })(`One account's long lists on ${store.name}`, (it) => {
    it.effect("are made one after another, so that the other is answered between two of them", () =>
      Effect.gen(function* () {
        const { attack, bob, url } = yield* victim
        const address = (i: number) => `0x${(i + 1).toString(16).padStart(40, "0")}`
        const items = Array.from({ length: 1_000 }, (_, i) => ({
          ...{ eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: address(i) },
          callbackUrl: "https://alice.example/"
        }))
        const made = yield* attack("POST", `${events}/bulk`, { data: { item: { idempotencyKey: "lists", items } } })
        assert.strictEqual(made.status, 201, made.text.slice(0, 200))
        const clock = yield* Clock.Clock
        const now = () => clock.currentTimeMillisUnsafe()
        const begun = now()
        const lists = yield* Effect.forkChild(
          Effect.forEach(Array(60), () => attack("GET", `${events}/bulk?limit=1000`), { concurrency: "unbounded" })
        )
        yield* Effect.sleep("300 millis")
        const asked = now()
        assert.strictEqual((yield* send(url, { path: "/limits", key: bob })).status, 200)
        const waited = now() - asked
        for (const { body, status } of yield* Fiber.join(lists)) {
          assert.deepStrictEqual([status, body.data.items.length], [200, 1_000])
        }
        assert.isBelow(waited, (now() - begun) / 4)
      })
    )
  })

  const rate = { creditsPerSecond: 1, burst: 600 }
  layer(testServer(store, { rate }), { excludeTestServices: true })(`One account's haste on ${store.name}`, (it) => {
    it.effect("leaves the other's rate and credits as they were", () =>
      Effect.gen(function* () {
        const { attack, bob, url } = yield* victim
        const balance = send(url, { path: "/credits/balance", key: bob })
        const before = yield* balance
        const statuses: Array<number> = []
        for (let i = 0; i < 30; i++) statuses.push((yield* attack("GET", "/domains")).status)
        assert.deepStrictEqual([...new Set(statuses)], [200, 429])
        const after = yield* balance
        assert.strictEqual(after.status, 200)
        assert.deepStrictEqual(after.body.data.item, before.body.data.item)
      })
    )
  })
}
