/** A server on this machine that answers as CoinGecko does, or as a test wants it to. */
import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as LocalServer from "../../../../test/LocalServer.ts"

export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  /** Says a longer body than it sends, and hangs up. */
  readonly cut?: boolean
  /** Never answers. */
  readonly silent?: boolean
}

export interface Asked {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage["headers"]
  /** When it came, in milliseconds. */
  readonly at: number
}

const notFound: Answer = { status: 404, body: JSON.stringify({ error: "coin not found" }) }

/** Starts it; answers are made by `answer`, `undefined` is 404. It stops with the scope. */
export const start = (answer: (asked: Asked) => Answer | undefined) =>
  Effect.gen(function* () {
    const asked: Array<Asked> = []
    const url = yield* LocalServer.http((request, response) => {
      const url = new URL(request.url ?? "/", "http://localhost")
      const one = { path: url.pathname, query: url.searchParams, headers: request.headers, at: performance.now() }
      asked.push(one)
      const { body = "", cut, headers, silent, status = 200 } = answer(one) ?? notFound
      if (silent) return
      response.writeHead(status, {
        "content-type": "application/json",
        ...(cut ? { "content-length": String(body.length * 2) } : {}),
        ...headers
      })
      if (cut) response.write(body, () => setTimeout(() => response.destroy(), 20))
      else response.end(body)
    })
    return { asked, url }
  })

export type CoinGeckoServer = Effect.Success<ReturnType<typeof start>>

export const json = (value: unknown): Answer => ({ body: JSON.stringify(value) })

/** A number of JSON with just these digits, which a float may not have. */
export const exactly = (digits: string): unknown =>
  (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(digits)
