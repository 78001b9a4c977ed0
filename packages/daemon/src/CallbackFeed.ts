/**
 * Reads the feeds of subscriptions over HTTP and passes each callback on, one after another within a subscription: the
 * same bytes under the same signature headers as those that are sent. What the receiver cannot take, because it does not
 * run, waits until it does.
 */
import * as Signature from "@headwater/core/events/Signature"
import type * as Client from "@headwater/http/contract/Client"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

export interface Forwarded {
  readonly referenceId: string
  readonly sequence: number
  readonly event: string
  readonly idempotencyKey: string
  /** What the receiver answered. */
  readonly status: number
}

export interface Options {
  readonly params: { readonly blockchain: string; readonly network: string }
  readonly to: string
  /** Reference id of the only subscription. */
  readonly only: string | undefined
  /** File of positions. */
  readonly state: string | undefined
  readonly onForwarded: (forwarded: Forwarded) => Effect.Effect<void>
}

/** Number of the last callback that was passed on, by reference id. */
const Positions = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Int))

/** Subscriptions of one request, and how often the list is read for new ones. */
const pageSize = 50
const lookEvery = "10 seconds"
/** How long one request waits for callbacks, in seconds. */
const waitSeconds = 30
const again = Schedule.spaced("2 seconds")

/** Those that would no longer be sent either. */
const gone: ReadonlySet<string> = new Set(["orphaned", "expired"])

/** Passes callbacks on until it is interrupted; fails where the service refuses to be asked. */
export const forward = Effect.fn("CallbackFeed.forward")(
  function* (client: Client.Client, options: Options) {
    const { params } = options
    const fs = yield* FileSystem.FileSystem
    const positions = new Map<string, number>()
    if (options.state !== undefined && (yield* fs.exists(options.state))) {
      const known = yield* Schema.decodeUnknownEffect(Positions)(yield* fs.readFileString(options.state))
      for (const [reference, sequence] of Object.entries(known)) positions.set(reference, sequence)
    }
    const remember = Effect.fnUntraced(function* (reference: string, sequence: number) {
      positions.set(reference, sequence)
      if (options.state === undefined) return
      const text = yield* Schema.encodeEffect(Positions)(Object.fromEntries(positions))
      yield* fs.writeFileString(`${options.state}.partial`, text)
      yield* fs.rename(`${options.state}.partial`, options.state)
    })

    const subscriptions = Effect.gen(function* () {
      if (options.only !== undefined) {
        return [(yield* client.subscriptions.get({ params: { ...params, referenceId: options.only }, query: {} })).item]
      }
      const found: Array<{ readonly referenceId: string; readonly callbackSecretKey?: string }> = []
      for (let offset = 0; ; offset += pageSize) {
        const data = yield* client.subscriptions.list({ params, query: { limit: pageSize, offset } })
        found.push(...data.items)
        if (found.length >= data.total || data.items.length === 0) return found
      }
    })

    const post = Effect.fnUntraced(function* (
      callback: { readonly body: string; readonly idempotencyKey: string },
      sequence: number,
      secret: string | undefined
    ) {
      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const { body, idempotencyKey: id } = callback
      const request = HttpClientRequest.post(options.to).pipe(
        HttpClientRequest.setHeaders({
          "user-agent": "Headwater",
          "x-callback-sequence": String(sequence),
          ...(secret === undefined ? {} : Signature.headers({ secrets: [secret], id, timestamp, body }))
        }),
        HttpClientRequest.bodyText(body, "application/json")
      )
      return (yield* HttpClient.execute(request)).status
    })

    const read = Effect.fnUntraced(function* (referenceId: string, secret: string | undefined) {
      const of = { ...params, referenceId }
      if (!positions.has(referenceId)) {
        const data = yield* client.callbacks.status({ params: of, query: {} })
        yield* remember(referenceId, data.item.lastSequence)
      }
      return yield* Effect.forever(
        Effect.gen(function* () {
          const query = { startingAfter: positions.get(referenceId)!, wait: waitSeconds, limit: pageSize }
          const data = yield* client.callbacks.list({ params: of, query })
          for (const callback of data.items) {
            const { event, idempotencyKey, sequence, state } = callback
            if (sequence === undefined) continue
            if (!gone.has(state)) {
              const status = yield* post(callback, sequence, secret).pipe(
                Effect.tapError((error) => Effect.logWarning(`${options.to} does not answer: ${error.message}`)),
                Effect.retry(again)
              )
              yield* options.onForwarded({ referenceId, sequence, event, idempotencyKey, status })
            }
            yield* remember(referenceId, sequence)
          }
        })
      )
    })

    const reading = new Set<string>()
    return yield* Effect.gen(function* () {
      for (const { callbackSecretKey, referenceId } of yield* subscriptions) {
        if (reading.has(referenceId)) continue
        reading.add(referenceId)
        yield* read(referenceId, callbackSecretKey).pipe(
          // A service that restarts is asked again; a subscription that was removed is not.
          Effect.retry({ schedule: again, while: (error) => error._tag !== "resource_not_found" }),
          Effect.catch((error) => Effect.logInfo(`${referenceId}: ${error.message}`)),
          Effect.forkScoped
        )
      }
    }).pipe(
      Effect.retry({ schedule: again, while: (error) => error._tag === "HttpClientError" }),
      Effect.repeat(Schedule.spaced(lookEvery))
    )
  },
  Effect.scoped,
  Effect.provide(FetchHttpClient.layer)
)
