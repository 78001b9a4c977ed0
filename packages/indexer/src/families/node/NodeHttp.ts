/** HTTP POST to one node: a connection pool, whole bodies as bytes, a bound on time and on the bytes in flight. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type Dispatcher, Pool } from "undici"
import * as BytesInFlight from "./BytesInFlight.ts"
import * as CookieFile from "./internal/CookieFile.ts"
import { ResponseBody } from "./internal/ResponseBody.ts"

interface NodeHttpOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMillis: number
  readonly connections: number
  /** File with `user:password`, for a URL that names no user: see {@link CookieFile}. */
  readonly cookie?: string | undefined
}

export interface Reply {
  readonly status: number
  /** Seconds of the `Retry-After` header, if it says seconds. */
  readonly retryAfter: number | undefined
  readonly body: Buffer
}

/** Why there is no reply, in words that hold no secret. */
export interface NoReply {
  readonly reason: string
  /** The answer was broken off because of its size: the same request would have the same answer. */
  readonly tooLarge?: true
}

export interface NodeHttp {
  /** Host and port: all that may be said of the node in public. */
  readonly name: string
  /** Posts JSON to the node's URL, or to a path below it (`/wallet/getnowblock`). */
  readonly post: (body: string, below?: string) => Effect.Effect<Reply, NoReply>
  /** Takes the parts of the node's URL that may be secret out of a text that came from the node. */
  readonly redact: (text: string) => string
}

/** Opens the connections to a node; a simulation has its own. */
export const Connections = Context.Reference("@headwater/indexer/families/node/NodeHttp/Connections", {
  defaultValue:
    () =>
    (origin: string, options: Pool.Options): Dispatcher =>
      new Pool(origin, options)
})

/** `user:pass` percent-decoded; a stray `%` is taken as it is. */
const percentDecoded = (text: string): string =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(text)),
    () => text
  )

/** The header for `user:password` (RFC 7617). */
const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString("base64")}`

/** The header for the user and password of a URL; undefined where it has none. */
export const authorization = ({ password, username }: URL): string | undefined =>
  username === "" && password === "" ? undefined : basic(`${percentDecoded(username)}:${percentDecoded(password)}`)

/** Errors of several addresses at once have no message, those of the system not always their code in it. */
const describe = (error: Error & { readonly code?: unknown }): string => {
  const code = typeof error.code === "string" ? error.code : ""
  return error.message.includes(code) ? error.message || error.name : `${code} ${error.message}`.trimEnd()
}

const unauthorized = 401

/** Shorter parts of a path are words, as `mainnet`. */
const shortestKey = 16

/**
 * What may be secret of a URL and of what is sent to it: also a key by itself, as nodes repeat it in their errors. Long ones
 * come first: of a key that begins with the user's name the rest would be left.
 */
const secretsOf = (url: URL, headers: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const whole = [
    // An API key may stand where the user does.
    url.username,
    percentDecoded(url.username),
    url.password,
    percentDecoded(url.password),
    url.pathname + url.search,
    url.pathname.slice(1),
    url.search.slice(1),
    ...Object.values(headers),
    (authorization(url) ?? "").slice("Basic ".length)
  ].filter((secret) => secret.length >= 4)
  const parts = whole.flatMap((secret) => secret.split(/[\s/?&=:;,]/)).filter((part) => part.length >= shortestKey)
  return [...whole, ...parts, ...parts.map(percentDecoded)].toSorted((a, b) => b.length - a.length)
}

const without = (secrets: ReadonlyArray<string>, text: string): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, "***"), text)

/** Takes the parts of a URL that may be secret out of a text. */
export const redacting = (url: URL): ((text: string) => string) => {
  const secrets = secretsOf(url, {})
  return (text) => without(secrets, text)
}

/** What may be secret of a cookie. */
const secretsOfCookie = (credentials: string): ReadonlyArray<string> => [
  credentials.slice(credentials.indexOf(":") + 1),
  basic(credentials).slice("Basic ".length)
]

/** Opens the pool; with the scope the pool is closed, and requests in flight are aborted. */
export const make = Effect.fnUntraced(function* (
  options: NodeHttpOptions
): Effect.fn.Return<NodeHttp, never, Scope.Scope> {
  const { url, timeoutMillis } = options
  const bytesInFlight = yield* BytesInFlight.Current
  const open = yield* Connections
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() =>
      open(url.origin, {
        connections: options.connections,
        pipelining: 1,
        allowH2: false,
        connect: { timeout: timeoutMillis },
        headersTimeout: 0,
        bodyTimeout: 0
      })
    ),
    (pool) => Effect.promise(() => pool.destroy())
  )
  // Requests wait here, not in the pool, so that a wait for a free connection does not count as slowness of the node.
  const connections = yield* Semaphore.make(options.connections)
  const secrets = secretsOf(url, options.headers)
  const own = authorization(url)
  const cookie = options.cookie === undefined || own !== undefined ? undefined : CookieFile.make(options.cookie)
  const base = url.pathname.replace(/\/$/, "")

  const sendCounted = (
    receiver: BytesInFlight.Receiver,
    authorization: string | undefined,
    body: string,
    below: string | undefined
  ) =>
    Effect.callback<Reply, NoReply>((resume) => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json",
        ...(authorization === undefined ? {} : { authorization }),
        ...options.headers
      }
      let received = new ResponseBody()
      let status = 0
      let retryAfter: number | undefined
      let controller: Dispatcher.DispatchController | undefined
      let abandoned = false
      let taken = 0
      const giveBack = () => {
        receiver.giveBack(taken)
        taken = 0
      }
      const abandon = () => {
        abandoned = true
        clearTimeout(timer)
        received = new ResponseBody()
        giveBack()
        controller?.abort(new Error("abandoned"))
      }
      const refuse = (room: number) => {
        abandon()
        resume(Effect.fail({ reason: `answer larger than ${room} bytes, by bytesInFlight`, tooLarge: true }))
      }
      const end = (effect: Effect.Effect<Reply, NoReply>) => {
        clearTimeout(timer)
        resume(effect)
      }
      const timer = setTimeout(() => {
        abandon()
        resume(Effect.fail({ reason: `no answer within ${timeoutMillis} ms` }))
      }, timeoutMillis)
      pool.dispatch(
        { path: (below === undefined ? url.pathname : base + below) + url.search, method: "POST", headers, body },
        {
          onRequestStart(started) {
            controller = started
            if (abandoned) started.abort(new Error("abandoned"))
          },
          onResponseStart(started, statusCode, responseHeaders) {
            status = statusCode
            const wait = Number(responseHeaders["retry-after"])
            retryAfter = Number.isFinite(wait) && wait >= 0 ? wait : undefined
            const encoding = responseHeaders["content-encoding"]
            if (encoding !== undefined && encoding !== "identity") {
              started.abort(new Error(`body in content-encoding ${encoding}, which was not asked for`))
            }
            const room = receiver.room()
            const length = Number(responseHeaders["content-length"])
            if (length > room) refuse(room)
            else if (length > 0) received.expect(length)
          },
          onResponseData(_, chunk) {
            if (abandoned) return
            const room = receiver.room()
            const became = receiver.take(chunk.length)
            // What gave way is interrupted, and sent again.
            if (became === "gaveWay") return abandon()
            if (became === "tooLarge") return refuse(room + taken)
            received.add(chunk)
            taken += chunk.length
          },
          onResponseEnd() {
            end(Effect.succeed({ status, retryAfter, body: received.bytes }))
          },
          onResponseError(_, error) {
            if (abandoned) return
            giveBack()
            end(Effect.fail({ reason: describe(error) }))
          }
        }
      )
      return Effect.sync(abandon)
    })

  const send = (authorization: string | undefined, body: string, below: string | undefined) =>
    bytesInFlight.request(
      Effect.flatMap(BytesInFlight.CurrentReceiver, (receiver) => sendCounted(receiver!, authorization, body, below))
    )

  /** A node that has started again has a new cookie: a refused one is read again, and the request sent once more. */
  const post = (body: string, below: string | undefined): Effect.Effect<Reply, NoReply> =>
    cookie === undefined
      ? send(own, body, below)
      : Effect.gen(function* () {
          const credentials = yield* cookie.credentials
          const reply = yield* send(basic(credentials), body, below)
          if (reply.status !== unauthorized) return reply
          const renewed = yield* cookie.instead(credentials)
          return renewed === undefined ? reply : yield* send(basic(renewed), body, below)
        })

  return {
    name: `${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`,
    post: (body, below) => connections.withPermit(post(body, below)),
    redact: (text) => without([...secrets, ...(cookie?.known() ?? []).flatMap(secretsOfCookie)], text)
  }
})
