/** Every form that is taken beside the one that the document shows, since clients send such forms. */
import { gzipSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import * as AbsentFields from "@headwater/http/server/AbsentFields"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { stores } from "../../../../test/Stores.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

/** PostgreSQL where there is one, which takes the fewest texts. */
const store = stores.at(-1)
const address = "0x52908400098527886E0F7030069857D2E4169EE7"
const xpub =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
const events = "/blockchain-events/ethereum/mainnet"
const coins = `${events}/address-coins-transactions-confirmed`
const each = `${coins}-each-confirmation`
const prepare = "/prepare-transactions/evm/ethereum/mainnet/native-coins"
/** Of a subscription of the caller: its body may be absent. */
const sendTest = `${events}/{referenceId}/test`
const wallet = { callbackUrl: "https://example.com/" }
const payment = { amount: "1", recipient: address, sender: address, fee: { priority: "slow" } }

const posts: ReadonlyArray<readonly [what: string, path: string, body: unknown, status: number]> = [
  ["null for each optional field", coins, item({ allowDuplicates: null, callbackSecretKey: null }), 201],
  [
    "null for a confirmation number",
    coins,
    item({ receiveCallbackOn: null, callbackUrl: "https://example.com/1" }),
    201
  ],
  ["null for the context", coins, { context: null, ...item({ callbackUrl: "https://example.com/2" }) }, 201],
  ["an empty secret", coins, item({ callbackSecretKey: "", callbackUrl: "https://example.com/3" }), 201],
  [
    "fields that nobody knows",
    coins,
    item({ callbackUrl: "https://example.com/4", colour: "blue", tags: [null] }),
    201
  ],
  ["null for a required field", coins, item({ callbackUrl: null }), 400],
  ["null for an address", coins, item({ address: null, callbackUrl: "https://example.com/5" }), 400],
  [
    "an empty secret where one is required",
    `${events}/address-internal-transactions-confirmed-each-confirmation`,
    item({ confirmationsCount: 2, allowDuplicates: true, callbackSecretKey: "" }),
    400
  ],
  ["null where a secret is optional", each, item({ confirmationsCount: 2, callbackSecretKey: null }), 201],
  ["null for an item", coins, { data: { item: null } }, 422],
  ["null for the data", coins, { data: null }, 422],
  ["null for a body", coins, null, 422],
  ["null for an optional item", sendTest, { data: { item: null } }, 201],
  ["null for optional data", sendTest, { data: null }, 201],
  ["null for an optional body", sendTest, null, 201],
  ["no body", sendTest, undefined, 201],
  ["nulls of a transaction", prepare, { data: { item: { ...payment, additionalData: null, nonce: null } } }, 201],
  [
    "nulls within a fee",
    prepare,
    { data: { item: { ...payment, fee: { priority: "slow", exactAmount: null }, type: null } } },
    201
  ],
  [
    "an empty fee of tokens, which the interface requires",
    prepare.replace("native-coins", "fungible-tokens"),
    { data: { item: { ...payment, contract: address, fee: { priority: "slow", exactAmount: "" } } } },
    201
  ],
  ["a fee's flag beside the fee", prepare, { data: { item: { ...payment, substractFromAmount: true } } }, 201]
]

function item(fields: object) {
  return { data: { item: { address, ...wallet, ...fields } } }
}

interface Answer {
  readonly error?: { readonly code: string; readonly message: string }
}

const gets = [
  ["an order in any case", `${"/credits/statement"}?sortingOrder=ascending`, 200],
  ["an order in capitals", `${"/credits/statement"}?sortingOrder=DESCENDING`, 200],
  ["a derivation in any case", `/hd-wallets/utxo/bitcoin/mainnet/${xpub}/assets?derivation=BIP32`, 200],
  ["a slash at the end", `${events}/`, 200],
  ["parameters that nobody knows", `${events}?colour=blue`, 200]
] as const

layer(testServer(store!), { excludeTestServices: true })("Odd forms", (it) => {
  it.effect("of bodies are taken, or refused with the field's name", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      const own = yield* send(url, {
        method: "POST",
        path: coins,
        key: bob,
        body: item({ callbackUrl: "https://a.example/" })
      })
      const { referenceId } = own.body.data.item
      for (const [what, template, body, status] of posts) {
        const path = template.replace("{referenceId}", referenceId)
        const answer = yield* send(url, { method: "POST", path, key: bob, body })
        assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
        if (status === 201) assert.include(["", undefined], answer.body.data.item?.callbackSecretKey, what)
        if (status === 400) assert.match(answer.body.error.details[0].message, /is required/, what)
      }
    })
  )

  it.effect("of queries are taken", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      for (const [what, path, status] of gets) {
        const answer = yield* send(url, { path, key: bob })
        assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
      }
    })
  )

  it.effect("say what is wrong with a parameter that is given twice, or is none", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      for (const limit of ["51", "1".repeat(15), "1".repeat(16), "1".repeat(400)]) {
        const above = yield* send(url, { path: `${events}?limit=${limit}`, key: bob })
        assert.deepStrictEqual([above.status, above.body.error.code], [400, "limit_greater_than_allowed"], limit)
      }
      const twice = yield* send(url, { path: `${events}?limit=10&limit=20`, key: bob })
      assert.strictEqual(twice.status, 400, twice.text)
      assert.strictEqual(twice.body.error.message, "limit: must be given once")
      for (const domain of [
        "https://hooks.example.com/x",
        "hooks.example.com:8443",
        "hooks.example.com/x",
        "a@b.example"
      ]) {
        const body = { data: { item: { domain } } }
        const { body: answer, status, text } = yield* send(url, { method: "POST", path: "/domains", key: bob, body })
        assert.strictEqual(status, 400, text)
        assert.match(answer.error.message, /^domain: must be a host name alone, without scheme/, domain)
      }
    })
  )

  it.effect("that are compressed are refused as such", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      const text = JSON.stringify(item({ callbackUrl: "https://example.com/gzip" }))
      const post = (encoding: string, body: string | Uint8Array<ArrayBuffer>) =>
        Effect.promise(async () => {
          const headers = { "x-api-key": bob, "content-type": "application/json", "content-encoding": encoding }
          const response = await fetch(url + coins, { method: "POST", headers, body })
          return { response, body: (await response.json()) as Answer }
        })
      const { body, response } = yield* post("gzip", gzipSync(text))
      assert.strictEqual(response.status, 415, JSON.stringify(body))
      assert.strictEqual(response.headers.get("accept-encoding"), "identity")
      assert.strictEqual(body.error?.code, "unsupported_media_type")
      assert.include(body.error?.message, "must not be compressed")
      // A charset is no coding, though clients send one there.
      for (const [index, encoding] of ["identity", "utf-8"].entries()) {
        const own = text.replace("/gzip", `/plain/${index}`)
        const plain = yield* post(encoding, own)
        assert.strictEqual(plain.response.status, 201, JSON.stringify(plain.body))
      }
    })
  )

  it.effect("with a NUL character are refused with the name of the parameter", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      for (const [path, name] of [
        [`${events}/a%00b`, "referenceId"],
        [`${events}/a%00b/callbacks`, "referenceId"],
        [`${events}?eventType=%00`, "eventType"],
        ["/market-data/assets/by-id/%00", "assetId"],
        ["/credits/balance?context=a%00", "context"]
      ] as const) {
        const { body, status, text } = yield* send(url, { path, key: bob })
        assert.strictEqual(status, 400, `${path}: ${text}`)
        assert.strictEqual(body.error.details[0].attribute, name, text)
        assert.include(body.error.message, "must have no NUL character")
      }
      const path = coins
      const own = { callbackUrl: "https://example.com/nul" }
      for (const fields of [{ callbackSecretKey: "a\0b" }, { callbackSecretKey: "a\\\0b" }]) {
        const { body, status, text } = yield* send(url, {
          method: "POST",
          path,
          key: bob,
          body: item({ ...own, ...fields })
        })
        assert.strictEqual(status, 400, text)
        assert.include(body.error.message, "must have no NUL character")
      }
      // The six characters themselves are a text as any other.
      const written = item({ ...own, callbackSecretKey: "a\\u0000" })
      const { status, text } = yield* send(url, { method: "POST", path, key: bob, body: written })
      assert.strictEqual(status, 201, text)
    })
  )

  it.effect("with half of a character are not signed as another one", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      const of = (whom: object) => ({ ...whom, additionalData: "note \ud83d" })
      for (const [path, request] of [
        [prepare, payment],
        [
          `/hd-wallets/utxo/bitcoin/mainnet/${xpub}/transactions/prepare`,
          { recipients: [{ address, amount: "1" }], fee: {} }
        ],
        ["/prepare-transactions/xrp/mainnet/payments", { ...payment, publicKey: `ED${"00".repeat(32)}` }]
      ] as const) {
        const { body, status, text } = yield* send(url, { method: "POST", path, key: bob, body: item(of(request)) })
        assert.strictEqual(status, 400, text)
        assert.deepInclude(body.error.details, { attribute: "additionalData", message: "must have no lone surrogates" })
        const whole = item({ ...request, additionalData: "note \u{1f600}" })
        const taken = yield* send(url, { method: "POST", path, key: bob, body: whole })
        assert.isBelow(taken.status, 300, taken.text)
      }
    })
  )

  it.effect("whose values lie too deep are refused, whatever reads them", () =>
    Effect.gen(function* () {
      const { bob, url } = yield* TestServer
      const nested = (levels: number) => `${'{"a":'.repeat(levels)}"]["${"}".repeat(levels)}`
      const bulk = (levels: number) =>
        `{"data":{"item":{"idempotencyKey":"${crypto.randomUUID()}","items":[${nested(levels)}]}}}`
      const filter = (levels: number) =>
        `{"data":{"item":{"address":"${address}","callbackUrl":"https://example.com/6","filter":{"abi":${nested(levels)}}}}}`
      for (const [path, body] of [
        [`${events}/bulk`, bulk],
        [`${events}/contract-events`, filter]
      ] as const) {
        for (const deep of [61, 10_000]) {
          for (const type of ["application/json", "Application/JSON"]) {
            const headers = { "content-type": type }
            const refused = yield* send(url, { method: "POST", path, key: bob, body: body(deep), headers })
            assert.deepStrictEqual([refused.status, refused.body.error?.code], [422, "invalid_request_body_structure"])
          }
        }
        const read = yield* send(url, { method: "POST", path, key: bob, body: body(60) })
        assert.notStrictEqual(read.status, 422, "one level less is read")
      }
    })
  )

  it.effect("that are no JSON are passed on as they are", () =>
    Effect.gen(function* () {
      const { HttpServerRequest: Asked, fromWeb } = HttpServerRequest
      const read = AbsentFields.provide(Effect.flatMap(Asked, ({ text }) => text))
      const readOf = (body: string) =>
        Effect.provideService(read, Asked, fromWeb(new Request("http://localhost", { method: "POST", body })))
      for (const text of ["", "{", "null", '"x"']) assert.strictEqual(yield* readOf(text), text)
      assert.strictEqual(yield* readOf('{"a":null,"b":{"c":null,"d":1},"e":""}'), '{"b":{"d":1},"e":""}')
    })
  )
})
