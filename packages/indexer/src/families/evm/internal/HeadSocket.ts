/** One WebSocket connection to an EVM node, which is asked for new heads and for nothing else. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Agent, buildConnector, WebSocket } from "undici"
import { authorization } from "../../node/NodeHttp.ts"
import * as Hex from "./Hex.ts"

/** What a node says of a block before it is asked for that block: a hint. */
export interface AnnouncedHead {
  readonly height: number
  readonly hash: Uint8Array
}

export interface Options {
  readonly silenceMillis: number
  readonly onHead: (head: AnnouncedHead) => void
  /** Runs when the node has agreed to announce heads. */
  readonly onSubscribed: Effect.Effect<unknown>
}

/** A header is one or two thousand bytes. */
const largestMessage = 2 ** 16
/** More is no chain of blocks. */
const messagesPerSecond = 200
/** How long the node may take to connect, and to agree. */
const answerMillis = 10_000

/** Host and port: all that may be said of the node in public. */
export const nameOf = (url: URL) => `${url.hostname}:${url.port || (url.protocol === "wss:" ? "443" : "80")}`

const subscribe = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] })

const Message = Schema.Union([
  Schema.Struct({ method: Schema.Literal("eth_subscription"), params: Schema.Struct({ result: Schema.Unknown }) }),
  Schema.Struct({ id: Schema.Literal(1), result: Schema.String }),
  Schema.Struct({ id: Schema.Literal(1), error: Schema.Unknown })
])
const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Message))

const headOf = (json: unknown): AnnouncedHead | undefined =>
  Result.getOrUndefined(
    Result.try(() => {
      const { hash, number } = Hex.object(json, "head")
      return { height: Hex.integer(number, "head.number"), hash: Hex.hash(hash, "head.hash") }
    })
  )

/** A head, or undefined for the node's word that it will announce heads; a failure is why the connection has to end. */
const read = (data: unknown): Result.Result<AnnouncedHead | undefined, string> => {
  if (typeof data !== "string") return Result.fail("the node sent bytes")
  const message = decode(data)
  if (Result.isFailure(message)) return Result.fail("the node sent something that is no head")
  if ("error" in message.success) return Result.fail("the node refuses eth_subscribe")
  if ("result" in message.success) return Result.succeed(undefined)
  const head = headOf(message.success.params.result)
  return head === undefined ? Result.fail("the node sent something that is no head") : Result.succeed(head)
}

/** The end of a connection over which nothing comes: the chain may rest. */
const silent = ({ silenceMillis }: Options) => `no head within ${silenceMillis} ms`

/** Listens until the connection is of no use any more, and says why in words that hold no secret. */
const connect = Effect.fnUntraced(function* (from: URL, options: Options) {
  const { onHead, onSubscribed } = options
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const url = new URL(from)
  const basic = authorization(url)
  url.username = ""
  url.password = ""
  const headers = basic === undefined ? {} : { authorization: basic }
  let destroy = () => {}
  const open = buildConnector({ timeout: answerMillis, allowH2: false })
  const dispatcher = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Agent({
          webSocket: { maxPayloadSize: largestMessage },
          connect: (to, done) =>
            open(to, (error, socket) => {
              if (error !== null) return done(error, null)
              // An upgraded connection does not end with its agent, and the other side need not answer that it is closed.
              destroy = () => socket.destroy()
              done(null, socket)
            })
        })
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
  return yield* Effect.callback<string>((resume) => {
    const socket = new WebSocket(url, { headers, dispatcher })
    let timer: NodeJS.Timeout
    let second = 0
    let messages = 0
    let isOpen = false
    const close = () => {
      clearTimeout(timer)
      socket.onopen = socket.onmessage = socket.onclose = null
      socket.close()
      destroy()
    }
    const end = (reason: string) => {
      close()
      resume(Effect.succeed(reason))
    }
    const expect = (millis: number, reason: string) => {
      clearTimeout(timer)
      timer = setTimeout(() => end(reason), millis)
    }
    expect(answerMillis, `no answer within ${answerMillis} ms`)
    socket.onopen = () => {
      isOpen = true
      socket.send(subscribe)
    }
    socket.onmessage = ({ data }) => {
      const now = Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
      messages = now === second ? messages + 1 : 1
      second = now
      if (messages > messagesPerSecond) return end(`more than ${messagesPerSecond} messages a second`)
      const message = read(data)
      if (Result.isFailure(message)) return end(message.failure)
      // Before anybody is told: whoever has heard enough ends the connection meanwhile, and its timer with it.
      expect(options.silenceMillis, silent(options))
      if (message.success === undefined) run(onSubscribed)
      else onHead(message.success)
    }
    socket.onclose = ({ code }) => end(isOpen ? `the connection was closed (${code})` : "no connection")
    return Effect.sync(close)
  })
}, Effect.scoped)

export const listen = (url: URL, options: Options) =>
  Effect.map(connect(url, options), (reason) => ({ name: nameOf(url), reason, isSilent: reason === silent(options) }))

/** Whether a node agrees to announce heads; the reason where it does not. */
export const probe = Effect.fnUntraced(function* (url: URL, timeoutMillis: number) {
  const agreed = yield* Deferred.make<undefined>()
  const onSubscribed = Deferred.succeed(agreed, undefined)
  const reason = yield* connect(url, { silenceMillis: timeoutMillis, onHead: () => {}, onSubscribed }).pipe(
    Effect.raceFirst(Deferred.await(agreed)),
    Effect.timeoutOrElse({
      duration: timeoutMillis,
      orElse: () => Effect.succeed(`no answer within ${timeoutMillis} ms`)
    })
  )
  return { name: nameOf(url), reason }
})
