/**
 * Requests that nobody wrote: valid ones made from the OpenAPI document's schemas, and broken in every way that we know.
 * No answer may be a 500, lie outside the envelope, or be one that the document does not describe.
 *
 * HEADWATER_FUZZ_RUNS sets how many; the full run is 20,000 (`HEADWATER_FUZZ_RUNS=20000 vitest run packages/http/test/server/Fuzz.test.ts`).
 */
import { request as httpRequest } from "node:http"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { takenStores } from "../../../../test/Stores.ts"
import { document, operations, wrongWith, wrongWithError } from "../Contract.ts"
import { TestServer, testServer } from "../TestServer.ts"

const runs = Number(process.env.HEADWATER_FUZZ_RUNS ?? 500)

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Record<string, JsonSchema>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
}

const evm = "0x52908400098527886E0F7030069857D2E4169EE7"
/** Values that get past the first check, so that the ones behind it are reached too. */
const known: Record<string, fc.Arbitrary<unknown>> = {
  address: fc.constantFrom(evm, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "rf1BiGeXwwQoi8Z2ueFYTEXSwuJYfV2Jpn"),
  callbackUrl: fc.constantFrom("https://example.com/a", "https://example.com/b", "https://localhost/", "http://x.com"),
  domain: fc.constantFrom("example.com", "example.net", "localhost", "EXAMPLE.com"),
  sender: fc.constant(evm),
  recipient: fc.constant(evm)
}

/** Texts that have broken servers before. */
const nasty = fc.constantFrom(
  "",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u{1F4A9}",
  "__proto__",
  "constructor",
  "toString",
  "../../etc/passwd",
  "' or 1=1 --",
  "%00",
  "%",
  "%zz",
  "null",
  "NaN",
  "1e999",
  "9".repeat(400),
  "-0",
  "0x10",
  "x".repeat(5000),
  "{}",
  "\r\nx-injected: 1",
  "ＡＢＣ",
  "\u202Etxt"
)

const anyText = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: "binary", maxLength: 40 }), nasty)

/** Built as text, since an object literal would set the prototype instead of a key of that name. */
const hostileKeys = fc.constantFrom('{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}', '{"toString":1}')

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  anyText,
  fc.constantFrom(Number.MAX_SAFE_INTEGER + 2, -1, 1e308, 1.5, 0, 2 ** 31, true, null),
  hostileKeys.map((text) => JSON.parse(text) as unknown)
)

const validOf = (name: string, schema: JsonSchema): fc.Arbitrary<unknown> => {
  const here = known[name]
  if (here !== undefined) return here
  if (schema.$ref !== undefined) {
    return validOf(name, document.components.schemas[schema.$ref.split("/").at(-1)!] as JsonSchema)
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => validOf(name, one)))
  const limits = Object.assign({}, schema, ...(schema.allOf ?? [])) as JsonSchema
  switch (schema.type) {
    case "string": {
      if (limits.pattern !== undefined) return fc.stringMatching(new RegExp(limits.pattern, "u"), { maxLength: 100 })
      const minLength = limits.minLength ?? 0
      return fc.string({ minLength, maxLength: Math.min(limits.maxLength ?? 60, minLength + 60) })
    }
    case "integer":
      return fc.integer({ min: limits.minimum ?? 0, max: limits.maximum ?? 1000 })
    case "boolean":
      return fc.boolean()
    case "array":
      return fc.array(validOf(name, schema.items ?? {}), { maxLength: 3 })
    case "object": {
      const properties = Object.entries(schema.properties ?? {})
      return fc.record(Object.fromEntries(properties.map(([key, value]) => [key, validOf(key, value)])), {
        requiredKeys: [...(schema.required ?? [])]
      })
    }
    case "null":
      return fc.constant(null)
    default:
      return anyJson
  }
}

/** A value with one part of it, at any depth, replaced, removed or added. */
const mutated = (value: unknown): fc.Arbitrary<unknown> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return anyJson
  const entries = Object.entries(value)
  const inside = entries.map(([key, part]) => mutated(part).map((changed): unknown => ({ ...value, [key]: changed })))
  const removed = entries.map(([key]) =>
    fc.constant(Object.fromEntries(entries.filter(([other]) => other !== key)) as unknown)
  )
  return fc.oneof(
    { arbitrary: anyJson, weight: 1 },
    ...[...inside, ...removed].map((arbitrary) => ({ arbitrary, weight: 3 })),
    { arbitrary: fc.tuple(anyText, anyJson).map(([key, more]): unknown => ({ ...value, [key]: more })), weight: 2 }
  )
}

const blockchains = fc.oneof(
  { arbitrary: fc.constantFrom("ethereum", "bitcoin", "xrp"), weight: 6 },
  { arbitrary: fc.constantFrom("tron", "litecoin", "zcash", "nonsense", "__proto__"), weight: 2 }
)
const networks = fc.oneof(
  { arbitrary: fc.constant("mainnet"), weight: 6 },
  { arbitrary: fc.constantFrom("testnet", "sepolia", "nonsense", "constructor"), weight: 2 }
)

const pathValue = (name: string, schema: JsonSchema): fc.Arbitrary<string> => {
  const good =
    name === "blockchain"
      ? blockchains
      : name === "network"
        ? networks
        : name === "referenceId"
          ? fc.uuid()
          : validOf(name, schema).map(String)
  return fc.oneof(
    { arbitrary: good.map(encodeURIComponentSafely), weight: 8 },
    {
      arbitrary: fc.oneof(
        anyText.map(encodeURIComponentSafely),
        fc.constantFrom("%zz", "%00", "%E0%A4%A", "..", "%2F", "a%2Fb")
      ),
      weight: 1
    }
  )
}

/** Lone surrogates have no encoding: they go as the bytes that a broken client would send. */
function encodeURIComponentSafely(text: string) {
  return Buffer.from(text, "utf8")
    .toString("latin1")
    .replace(/[^A-Za-z0-9_.~-]/g, (char) => {
      return `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`
    })
}

const queryValue = (schema: JsonSchema) =>
  fc.oneof({ arbitrary: validOf("", schema).map(String), weight: 3 }, { arbitrary: anyText, weight: 1 })

interface Case {
  readonly operation: (typeof operations)[number]
  readonly path: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: Buffer | undefined
}

const caseOf = (operation: (typeof operations)[number]): fc.Arbitrary<Case> => {
  const inPath = operation.parameters.filter((parameter) => parameter.in === "path")
  const inQuery = operation.parameters.filter((parameter) => parameter.in === "query")
  const path = fc
    .tuple(...inPath.map(({ name, schema }) => pathValue(name, schema as JsonSchema)))
    .map((values) => inPath.reduce((path, { name }, i) => path.replace(`{${name}}`, values[i]!), operation.path))
  const pairs = fc.oneof(
    ...inQuery.map(({ name, schema }) => queryValue(schema as JsonSchema).map((value) => [name, value] as const)),
    fc.tuple(anyText, anyText)
  )
  // The same key may come more than once.
  const query = fc
    .array(pairs, { maxLength: 4 })
    .map((pairs) => pairs.map((pair) => pair.map(encodeURIComponentSafely).join("=")).join("&"))
  const schema = operation.requestBody?.content["application/json"]?.schema as JsonSchema | undefined
  const json = schema === undefined ? anyJson : validOf("", schema)
  const body = fc.oneof(
    { arbitrary: json.map((value) => Buffer.from(JSON.stringify(value))), weight: 8 },
    { arbitrary: json.chain(mutated).map((value) => Buffer.from(JSON.stringify(value) ?? "")), weight: 8 },
    { arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
    {
      arbitrary: fc
        .constantFrom(
          '{"data":{"item":{}},"data":{"item":1}}',
          '{"__proto__":{"data":{"item":{}}}}',
          "[".repeat(20_000),
          '{"data":{"item":{"callbackUrl":"https://example.com/\\u0000"}}}',
          '"',
          "nul",
          "\ufeff{}",
          `{"data":{"item":{"confirmationsCount":${"9".repeat(500)}}}}`
        )
        .map((text) => Buffer.from(text)),
      weight: 1
    },
    {
      // Not UTF-8 inside of otherwise good JSON.
      arbitrary: fc.constant(
        Buffer.concat([
          Buffer.from('{"context":"'),
          Buffer.from([0xc3, 0x28, 0xff]),
          Buffer.from('","data":{"item":{}}}')
        ])
      ),
      weight: 1
    },
    { arbitrary: fc.constant(Buffer.alloc(70_000, 0x20)), weight: 1 }
  )
  const contentType = fc.oneof(
    { arbitrary: fc.constant("application/json"), weight: 12 },
    {
      arbitrary: fc.constantFrom("application/json; charset=utf-8", "text/plain", "", "multipart/form-data", "x"),
      weight: 1
    }
  )
  const method = fc.oneof(
    { arbitrary: fc.constant(operation.method), weight: 20 },
    { arbitrary: fc.constantFrom("PUT", "PATCH", "OPTIONS", "HEAD", "DELETE", "POST", "GET"), weight: 1 }
  )
  return fc.record({ path, query, body, contentType, method }).map(({ body, contentType, method, path, query }) => {
    const sent =
      method === "GET" || method === "HEAD" ? undefined : operation.requestBody === undefined ? undefined : body
    return {
      operation,
      method,
      path: query === "" ? path : `${path}?${query}`,
      headers: sent === undefined ? {} : { "content-type": contentType, "content-length": String(sent.length) },
      body: sent
    }
  })
}

const exchange = (url: string, key: string, { body, headers, method, path }: Case) =>
  new Promise<{ readonly status: number; readonly text: string; readonly headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(url)
      const sent = httpRequest(
        { hostname, port, method, path, headers: { ...headers, "x-api-key": key } },
        (answer) => {
          const chunks: Array<Buffer> = []
          answer.on("data", (chunk: Buffer) => chunks.push(chunk))
          answer.on("end", () =>
            resolve({
              status: answer.statusCode!,
              text: Buffer.concat(chunks).toString(),
              headers: answer.headers
            })
          )
          answer.on("error", reject)
        }
      )
      sent.on("error", reject)
      sent.end(body)
    }
  )

const outsideOfOperations = new Set(["uri_not_found", "method_not_allowed"])

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store), { excludeTestServices: true })(`Requests that nobody wrote, on ${store.name}`, (it) => {
    const numRuns = store.name === "sqlite" ? runs : Math.ceil(runs / 2)
    it.effect(
      `${numRuns} of them are answered as the document says`,
      () =>
        Effect.gen(function* () {
          const { alice, url } = yield* TestServer
          const statuses = new Map<number, number>()
          const check = async (one: Case) => {
            const { headers, status, text } = await exchange(url, alice, one)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            if (one.method === "HEAD") return
            const body = JSON.parse(text)
            assert.notStrictEqual(status, 500, text)
            assert.strictEqual(headers["x-request-id"], body.requestId)
            const { code } = body.error ?? {}
            if (code !== undefined) assert.isUndefined(wrongWithError(code, body), text)
            if (one.method === one.operation.method && !outsideOfOperations.has(code)) {
              // A path value may make it another operation's path: its answers are described elsewhere.
              if (!sameShape(one)) return
              assert.isUndefined(wrongWith(one.operation, status, body), `${status} ${text}`)
            } else if (code === "method_not_allowed") assert.isDefined(headers.allow)
          }
          yield* Effect.promise(() =>
            fc.assert(fc.asyncProperty(fc.oneof(...operations.map(caseOf)), check), {
              numRuns,
              endOnFailure: false
            })
          )
          // The run reached what is behind the first checks, not only those; a short one may by chance make nothing.
          for (const status of [200, 400, 404, 422, ...(runs > 5000 ? [201] : [])])
            assert.isAbove(statuses.get(status) ?? 0, 0, String(status))
          if (runs > 5000) console.info(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))
        }),
      1_800_000
    )
  })
}

/** Whether the path is still one of the operation's own, and not of one with fewer or other segments. */
function sameShape({ operation, path }: Case) {
  const segments = path.split("?")[0]!.split("/")
  const wanted = operation.path.split("/")
  return (
    segments.length === wanted.length &&
    wanted.every((segment, i) => (segment.startsWith("{") ? segments[i] !== "" : segments[i] === segment)) &&
    !segments.includes("..") &&
    !segments.includes(".")
  )
}
