import { inspect } from "node:util"
import { assert, layer } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { stores } from "../../../test/Stores.ts"
import { document, operations } from "./Contract.ts"
import { send, TestServer, testServer } from "./TestServer.ts"

const xpub =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
const xprv =
  "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
const context = "the-context-of-a-caller"

const spans: Array<Tracer.NativeSpan> = []
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})

/** Everything that an exporter writes of a span. */
const spanText = ({ _events, attributes, name, status }: Tracer.NativeSpan) => {
  const exit = status._tag === "Ended" && status.exit._tag === "Failure" ? status.exit.cause : Cause.empty
  const errors = Cause.prettyErrors(exit, { includeCauseInStack: true }).map(({ message, stack }) => [message, stack])
  return inspect([name, [...attributes], _events, errors], { depth: Number.POSITIVE_INFINITY })
}

/** Everything that a logger writes of a line: with message, cause, annotations and spans. */
const lines: Array<string> = []
const logger = Logger.layer([
  Logger.make((entry) => {
    lines.push(Logger.formatJson.log(entry), inspect(entry.message, { depth: Number.POSITIVE_INFINITY }))
  })
])

/** The names of all fields of bodies, among others. */
const fields = [...JSON.stringify(document.components.schemas).matchAll(/"(\w+)":\{/g)].flatMap(
  ([, name]) => name ?? []
)

const chainOf = (path: string): Record<string, string> => ({
  blockchain: path.includes("utxo") ? "bitcoin" : path.includes("xrp") ? "xrp" : "ethereum",
  network: "mainnet"
})

const [store] = stores as [(typeof stores)[number]]

layer(testServer(store, { logLevel: "All" }).pipe(Layer.provideMerge([Layer.succeed(Tracer.Tracer, tracer), logger])), {
  excludeTestServices: true
})("The trace of a request", (it) => {
  const ofServer = () => spans.filter(({ kind }) => kind === "server")

  it.effect("goes on from the caller's, names the route and the status, and fails where the server does", () =>
    Effect.gen(function* () {
      const { alice, insides, url } = yield* TestServer
      const before = ofServer().length
      const traceId = "0af7651916cd43dd8448eb211c80319c"
      const path = `/hd-wallets/utxo/bitcoin/mainnet/${xpub}/assets`
      const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
      yield* send(url, { path, key: alice, headers })
      insides.broken = true
      yield* send(url, { path, key: alice })
      insides.broken = false
      const [joined, failed] = ofServer().slice(before) as [Tracer.NativeSpan, Tracer.NativeSpan]
      assert.strictEqual(joined.traceId, traceId)
      assert.strictEqual(Option.getOrThrow(joined.parent).spanId, "b7ad6b7169203331")
      for (const [span, status] of [[joined, 200] as const, [failed, 500] as const]) {
        assert.deepStrictEqual(Object.fromEntries(span.attributes), {
          "http.request.method": "GET",
          "http.route": "/hd-wallets/utxo/:blockchain/:network/:extendedPublicKey/assets",
          "http.response.status_code": status
        })
      }
      const exits = [joined, failed].map(({ status }) => status._tag === "Ended" && status.exit._tag)
      assert.deepStrictEqual(exits, ["Success", "Failure"])
    })
  )

  it.effect("has no key, no context and no API key, and neither has the log; no refusal repeats a private key", () =>
    Effect.gen(function* () {
      const { alice, insides, url } = yield* TestServer
      const statuses = new Set<number>()
      const ask = Effect.fnUntraced(function* (request: Omit<Parameters<typeof send>[1], "key">) {
        const { status, text } = yield* send(url, { key: alice, ...request })
        statuses.add(status)
        if (status >= 400) assert.notInclude(text, xprv, `${request.method} ${request.path}`)
      })
      const sweep = (key: string) =>
        Effect.gen(function* () {
          for (const { method, parameters, path } of operations) {
            const names = parameters.flatMap((parameter) => (parameter.in === "query" ? parameter.name : []))
            const all = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, key]))
            // The key in its own place alone, then in every place that there is.
            for (const { item, params, query } of [
              { params: chainOf(path), query: {}, item: {} },
              { params: all([]), query: all(names), item: all(fields) }
            ]) {
              const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? key)
              const search = new URLSearchParams({ ...query, context })
              const body = method === "POST" ? { body: { context, data: { item } } } : {}
              yield* ask({ method, path: `${filled}?${search}`, ...body })
            }
          }
          const wallet = `/hd-wallets/utxo/bitcoin/mainnet/${key}/assets`
          yield* ask({ path: `/${key}?context=${context}` })
          yield* ask({ path: `${wallet}${key.repeat(3)}?context=${context}` })
          yield* ask({ path: `${wallet}?context=${context}`, method: "PUT" })
          yield* ask({ path: wallet, method: "POST", body: `{"context":"${context}","${key}` })
          yield* send(url, { path: wallet, key: `${alice}-of-another` })
        })
      yield* sweep(xpub)
      yield* sweep(xprv)
      insides.broken = true
      yield* sweep(xpub)
      insides.broken = false
      assert.deepStrictEqual([...statuses].sort(), [200, 201, 400, 404, 405, 500])

      assert.isAbove(ofServer().length, 6 * operations.length)
      assert.isAbove(lines.length, 6 * operations.length)
      for (const secret of [xpub, xprv, context, alice]) {
        for (const text of [...spans.map(spanText), ...lines]) assert.notInclude(text, secret)
      }
    })
  )
})
