/** Calls every operation of a running daemon's OpenAPI document, with what a caller may not want to be seen elsewhere. */
import * as Effect from "effect/Effect"
import type { Headwater } from "./Headwater.ts"

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: unknown
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export interface Values {
  readonly key: string
  /** What stands in place of `{name}` of a path; any other name gets the value of the empty one. */
  readonly path: Readonly<Record<string, string>>
  readonly context: string
  /** The fields of `data.item`, of every operation alike. */
  readonly item: Readonly<Record<string, unknown>>
}

export interface Answered {
  readonly operationId: string
  readonly status: number
  readonly text: string
}

const call = (url: string, method: string, { context, item, key }: Values) =>
  Effect.promise(async () => {
    const response = await fetch(url, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(["post", "put", "patch"].includes(method) ? { body: JSON.stringify({ context, data: { item } }) } : {})
    })
    if (!response.headers.get("content-type")?.includes("event-stream")) {
      return { status: response.status, text: await response.text() }
    }
    // It does not end by itself.
    await response.body?.cancel()
    return { status: response.status, text: "" }
  })

/** The answers of all operations; those that remove something are called last. */
export const every = Effect.fnUntraced(function* ({ url }: Headwater, values: Values) {
  const document = yield* Effect.promise(
    async () => (await (await fetch(`${url}/openapi.json`)).json()) as unknown as Document
  )
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, operation, path }))
  )
  const answers: Array<Answered> = []
  for (const { method, operation, path } of operations.sort(
    (a, b) => Number(a.method === "delete") - Number(b.method === "delete")
  )) {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(values.path[name] ?? values.path[""]!)
    )
    const answer = yield* call(`${url}${filled}?context=${encodeURIComponent(values.context)}`, method, values)
    answers.push({ operationId: operation.operationId, ...answer })
  }
  return answers
})
