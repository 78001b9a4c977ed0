/** An OpenTelemetry collector for tests: it keeps what it is sent. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"

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

/** Listens until the scope ends; the spans and the paths that they came at, so far. */
export const start = Effect.gen(function* () {
  const spans: Array<Span> = []
  const paths = new Set<string>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      paths.add(request.url ?? "")
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString("utf8"))
      for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
      response.setHeader("content-type", "application/json")
      response.end("{}")
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return { spans, paths, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})
