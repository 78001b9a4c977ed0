import { readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { sql } from "kysely"
import * as Anvil from "./Anvil.ts"
import * as Collector from "./Collector.ts"
import * as EveryOperation from "./EveryOperation.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations, taken } from "./Stores.ts"
import { half } from "./Turn.ts"

const watched = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

/** All that a store holds, as texts by the name of the file or table: bytes as they are, and of a table in hexadecimal too. */
const contentsOf = (location: Location) =>
  location.kind === "sqlite"
    ? Effect.sync(() => {
        const folder = dirname(location.file)
        return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("latin1")] as const)
      })
    : Effect.gen(function* () {
        const { read } = yield* Database
        const tables = yield* read(
          rows(sql<{ name: string }>`
            select table_name as name from information_schema.tables
            where table_schema = current_schema() and table_type = 'BASE TABLE'`)
        )
        return yield* Effect.forEach(tables, ({ name }) =>
          Effect.map(
            read(rows(sql<{ row: string }>`select ${sql.ref("row")}::text as row from ${sql.table(name)} as row`)),
            (found) => [name, found.map(({ row }) => row).join("\n")] as const
          )
        )
      }).pipe(Effect.provide(Database.layer(location)))

/** A text as it may stand in a store: as it is, and as a row of PostgreSQL shows bytes. */
const formsOf = (text: string) => [text, Buffer.from(text).toString("hex")]

const attribute = (span: Collector.Span, key: string) => {
  const value = span.attributes.find((attribute) => attribute.key === key)?.value
  return value === undefined ? undefined : Object.values(value)[0]
}

describe("traces", () => {
  it.live(
    "join a block's way from the node, its commit and every attempt to deliver its callbacks",
    () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start()
        const { paths, spans, url } = yield* Collector.start
        let attempts = 0
        const receiver = yield* Receiver.start(() => ({ status: attempts++ === 0 ? 503 : 200 }))
        const [{ location }] = locations as [(typeof locations)[number]]
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca, retry: "standard-webhooks" },
          traces: { otlp: `${url}/` },
          log: { format: "json", level: "debug" }
        })
        yield* headwater.post("/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed", {
          address: watched,
          callbackUrl: `${receiver.url}/secret-path`,
          callbackSecretKey: "secret"
        })
        // Blocks that are committed together share one span of the store, in the trace of the first.
        yield* headwater.get("/ready").pipe(
          Effect.repeat({
            until: ({ body }) => body.chains["ethereum/devnet"].height !== null,
            schedule: Schedule.spaced("200 millis")
          })
        )
        const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
        yield* anvil.rpc("eth_sendTransaction", [{ from, to: watched, value: "0x1" }])
        const [delivery] = yield* receiver.until((accepted) => accepted.length === 1)
        const { hash, height } = delivery!.body.data.item.minedInBlock
        // What has not been sent yet is sent at the end.
        assert.strictEqual(yield* headwater.terminate, 0)

        assert.deepStrictEqual([...paths], ["/v1/traces"])
        const ofBlock = spans.filter(({ traceId }) => traceId === hash.slice(-32))
        const named = (name: string) => ofBlock.filter((span) => span.name === name)
        const [commit] = named("Block.commit")
        assert.lengthOf(named("Block.commit"), 1)
        assert.strictEqual(attribute(commit!, "chain"), "ethereum/devnet")
        assert.strictEqual(Number(attribute(commit!, "block.height")), height)
        assert.strictEqual(attribute(commit!, "block.hash"), hash)
        const [stored] = named("ChainStore.commit")
        assert.strictEqual(stored!.parentSpanId, commit!.spanId)

        const [refused, accepted, ...more] = named("Callback.attempt").toSorted(
          (a, b) => Number(attribute(a, "callback.attempt")) - Number(attribute(b, "callback.attempt"))
        )
        assert.lengthOf(more, 0)
        for (const span of [refused!, accepted!]) {
          assert.strictEqual(attribute(span, "callback.id"), delivery!.body.idempotencyKey)
          assert.strictEqual(attribute(span, "server.address"), "localhost")
          assert.notInclude(JSON.stringify(span), "secret-path")
          assert.strictEqual(span.parentSpanId, "", "a root of the trace: its parent is nowhere to be missed")
        }
        const judged = [refused!, accepted!].map((span) => [
          Number(attribute(span, "http.response.status_code")),
          span.status.code
        ])
        assert.deepStrictEqual(judged, [
          [503, 2],
          [200, 1]
        ])

        const lines = headwater
          .log()
          .split("\n")
          .filter((line) => line.includes("was not accepted"))
        assert.lengthOf(lines, 1)
        assert.strictEqual(JSON.parse(lines[0]!).annotations.callback, delivery!.body.idempotencyKey)

        const fetch = spans.find(({ spanId }) => spanId === commit!.links[0]?.spanId)!
        assert.strictEqual(fetch.traceId, commit!.links[0]!.traceId)
        assert.notStrictEqual(fetch.traceId, commit!.traceId)
        assert.strictEqual(fetch.name, "Block.fetch")
        assert.strictEqual(attribute(fetch, "block.hash"), hash)

        const whole = new Set(spans.map(({ spanId }) => spanId))
        const orphans = spans.filter(
          ({ parentSpanId }) => parentSpanId !== undefined && parentSpanId !== "" && !whole.has(parentSpanId)
        )
        assert.deepStrictEqual(
          orphans.map(({ name }) => name),
          [],
          "every span ends, and its parent too"
        )
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live.each(taken(import.meta.url))(
    "hold nothing of a request but its route, and no credentials, and neither do log, metrics and what $name keeps",
    ({ location }) =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start()
        const { spans, url } = yield* Collector.start
        const receiver = yield* Receiver.start()
        const store: Location = yield* location
        const [callbackSecret, nextSecret] = ["the-secret-of-a-callback", "the-next-secret-of-a-callback"]
        const secrets = ["node-user", "node-password", "node-api-key", "provider-api-key", "provider-url-key"]
        const withCredentials = (url: string) =>
          `${url.replace("://", "://node-user:node-password@")}/?key=node-api-key`
        const stranger = yield* Effect.gen(function* () {
          const accounts = yield* Accounts
          const { id } = yield* accounts.create("stranger")
          return Redacted.value((yield* accounts.createKey(id, { name: "stranger" })).key)
        }).pipe(Effect.provide(Accounts.layer.pipe(Layer.provide(Database.layer(store)))))
        const headwater = yield* Headwater.start(store, {
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca },
          chains: {
            "ethereum/devnet": { nodes: [withCredentials(anvil.url)], start: 0, pollMillis: 200 },
            "bitcoin/mainnet": { nodes: [withCredentials("http://127.0.0.1:1")], start: 0 },
            "xrp/mainnet": { nodes: [withCredentials("ws://127.0.0.1:1")], start: 0 }
          },
          marketData: { coingecko: { key: "provider-api-key", url: "http://127.0.0.1:1/provider-url-key" } },
          traces: { otlp: url },
          log: { format: "json", level: "trace" }
        })
        const states = (body: { readonly chains: Record<string, { readonly state: string }> }) =>
          ["ethereum/devnet", "bitcoin/mainnet", "xrp/mainnet"].map((chain) => body.chains[chain]!.state).join(" ")
        yield* Effect.repeat(Effect.delay(headwater.get("/ready"), "200 millis"), {
          // A chain at its head is following while its first block is still committed.
          until: ({ body }) =>
            states(body) === "following failing failing" && body.chains["ethereum/devnet"].height !== null
        })

        const xpub =
          "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
        const xprv =
          "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
        const context = "the-context-of-a-caller"
        const ask = Effect.fnUntraced(function* (key: string) {
          const answers = yield* Effect.all([
            headwater.get(`/hd-wallets/evm/ethereum/devnet/${key}/assets?context=${context}`),
            headwater.get(`/hd-wallets/utxo/bitcoin/mainnet/${key}/status?context=${context}`),
            headwater.post(`/hd-wallets/utxo/bitcoin/mainnet/${key}/addresses/derive-and-sync?context=${context}`, {}),
            headwater.get(`/hd-wallets/utxo/bitcoin/mainnet/${key}/assets?context=${context}`),
            headwater.get(`/market-data/assets/by-id/${key}?context=${context}`)
          ])
          for (const { body } of answers) assert.notInclude(JSON.stringify(body), key)
          return answers.map(({ status }) => status)
        })
        assert.deepStrictEqual(yield* ask(xpub), [200, 400, 503, 400, 404])
        assert.deepStrictEqual(yield* ask(xprv), [400, 400, 400, 400, 404])
        const events = "/blockchain-events/ethereum/devnet"
        const item = { callbackUrl: `${receiver.url}/`, callbackSecretKey: callbackSecret }
        const { body: made } = yield* headwater.post(`${events}/block-mined`, item)
        const { referenceId } = made.data.item
        yield* headwater.post(`${events}/${referenceId}/secret`, { callbackSecretKey: nextSecret })
        yield* anvil.rpc("anvil_mine", ["0x1"])
        yield* receiver.until((accepted) => accepted.length > 0)
        // Two signatures, since both secrets are in use.
        assert.lengthOf(String(receiver.deliveries[0]!.headers["webhook-signature"]).split(" "), 2)

        // Every operation of the document, of its own account, of a stranger, and of nobody, on chains of three families.
        const [wrongKey, strangeSecret] = ["hw_the-key-of-nobody", "the-secret-of-a-stranger"]
        const statuses = new Map<string, Array<number>>()
        const names = { referenceId, address: watched, addressId: watched, domain: "localhost" }
        const secretly = half("chains that are asked with a private key", ["bitcoin", "ethereum", "xrp"])
        for (const [blockchain, network] of [
          ["ethereum", "devnet"],
          ["bitcoin", "mainnet"],
          ["xrp", "mainnet"]
        ] as const) {
          // All that a stranger could see is on the first chain.
          const strangers = [
            [stranger, xpub],
            [wrongKey, xpub]
          ] as const
          for (const [key, extendedPublicKey] of [
            ...(blockchain === "ethereum" ? strangers : []),
            ...(secretly.includes(blockchain) ? [[headwater.apiKey, xprv] as const] : []),
            [headwater.apiKey, xpub] as const
          ]) {
            const answers = yield* EveryOperation.every(headwater, {
              ...{ key, context },
              path: { ...names, blockchain, network, extendedPublicKey, "": "0x1" },
              item: {
                ...item,
                callbackSecretKey: strangeSecret,
                address: watched,
                extendedPublicKey,
                domain: "localhost",
                allowDuplicates: true
              }
            })
            for (const { operationId, status, text } of answers) {
              statuses.set(operationId, [...(statuses.get(operationId) ?? []), status])
              const unseen = [...secrets, headwater.apiKey, stranger, wrongKey, xprv]
              const others = key === headwater.apiKey ? [] : [callbackSecret, nextSecret]
              for (const secret of [...unseen, ...others]) assert.notInclude(text, secret, `${operationId} ${status}`)
              if (status >= 400) assert.notInclude(text, xpub, operationId)
            }
          }
        }
        assert.isAbove(statuses.size, 40)
        const reached = [...statuses].filter(([, all]) => all.some((status) => status !== 401 && status < 500))
        assert.deepStrictEqual(
          [...statuses.keys()].filter((name) => !reached.some(([one]) => one === name)),
          []
        )
        for (const [name, all] of statuses) assert.notInclude(all, 500, name)

        const metrics = yield* Effect.promise(async () =>
          (await fetch(`${headwater.url}/metrics`, { headers: headwater.operator })).text()
        )
        assert.strictEqual(yield* headwater.terminate, 0)

        const routes = new Set(spans.map((span) => attribute(span, "http.route")))
        assert.isTrue(routes.has("/hd-wallets/utxo/:blockchain/:network/:extendedPublicKey/assets"))
        const all = { spans: JSON.stringify(spans), log: headwater.log(), metrics }
        const keys = [headwater.apiKey, stranger, wrongKey]
        const never = [...secrets, callbackSecret, nextSecret, strangeSecret, xprv, context, ...keys]
        for (const [name, text] of Object.entries(all)) {
          for (const secret of [...never, xpub]) assert.notInclude(text, secret, name)
        }
        // Nothing of the store but the key that secrets are encrypted with; wallets are kept by their public keys.
        const contents = new Map(yield* contentsOf(store))
        for (const [name, text] of contents) {
          for (const secret of never.flatMap(formsOf)) assert.notInclude(text, secret, name)
        }
        if (store.kind === "sqlite") assert.isTrue(contents.has(`${basename(store.file)}.key`))
        // What the store keeps is found there: the name of an account.
        assert.isTrue([...contents.values()].some((text) => text.includes("stranger")))
        assert.include(all.spans, "CoinGecko.get")
        assert.include(all.log, "utxoDerive")
        assert.include(all.metrics, "utxoDerive")
      }).pipe(Effect.scoped)
  )
})
