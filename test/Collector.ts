/** An OpenTelemetry collector for tests: it keeps what it is sent. */
import { json } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import * as LocalServer from "./LocalServer.ts"

/** A span as OTLP writes it. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly endTimeUnixNano: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly status: { readonly code: number; readonly message?: string }
}

interface Traces {
  readonly resourceSpans: ReadonlyArray<{
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }>
  }>
}

/** Listens until the scope ends; the spans and the paths that they came at, so far. */
export const start = Effect.gen(function* () {
  const spans: Array<Span> = []
  const paths = new Set<string>()
  const url = yield* LocalServer.http(async (request, response) => {
    paths.add(request.url ?? "")
    const { resourceSpans } = (await json(request)) as Traces
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
    response.setHeader("content-type", "application/json").end("{}")
  })
  return { spans, paths, url }
})
