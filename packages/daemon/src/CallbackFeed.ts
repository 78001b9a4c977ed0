/**
 * Reads the feeds of subscriptions over HTTP and passes each callback on, one after another within a subscription: the
 * same bytes under the same signature headers as those that are sent. What the receiver cannot take, because it does not
 * run, waits until it does.
 */
import * as Signature from "@headwater/core/events/Signature"
import type * as Client from "@headwater/http/contract/Client"
import { Conflict } from "@headwater/http/contract/Errors"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"

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

/** Place of the last callback that was passed on, by reference id; a number alone in files of older releases. */
const Positions = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Union([Schema.Int, Schema.String])))

/** Subscriptions of one request. */
const pageSize = 50
/** How often the number of subscriptions is asked for, which costs no credits; the list is read where it has changed. */
const lookEvery = "10 seconds"
/** How long one request waits for callbacks, in seconds. */
const waitSeconds = 30
/** How long the service may take for an answer, beside the wait that it was asked for. */
const patience = 15
/** How long a secret is used that was read, in milliseconds: no longer, since it may have been rotated. */
const secretMillis = 10_000
const again = Schedule.spaced("2 seconds")
/** Until the receiver accepts a callback: as fast as somebody corrects a program, and slower later. */
const untilAccepted = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

/** Those that would no longer be sent either. */
const gone: ReadonlySet<string> = new Set(["orphaned", "expired"])

/** What passes by itself: the service does not answer, or cannot at the moment. */
const passing: ReadonlySet<string> = new Set([
  ...["HttpClientError", "NoAnswer", "unexpected_server_error", "node_unavailable", "request_limit_reached"]
])

const isConflict = Schema.is(Conflict)

/** The service has no such place in its feed as the one from which listen reads on. */
export class PositionLost extends Schema.TaggedError<PositionLost>()("PositionLost", { message: Schema.String }) {}

/** The service was silent. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { message: Schema.String }) {}

/** The receiver has not accepted the callback. */
export class NotAccepted extends Schema.TaggedError<NotAccepted>()("NotAccepted", { message: Schema.String }) {}

/**
 * Passes callbacks on until it is interrupted; fails where the service refuses to be asked. A callback that is not accepted
 * is passed on again until it is, and holds back the subscription's later ones. While nothing happens nothing is asked
 * that costs credits.
 */
export const forward = Effect.fn("CallbackFeed.forward")(
  function* (client: Client.Client, options: Options) {
    const { params } = options
    const fs = yield* FileSystem.FileSystem
    const positions = new Map<string, number | string>()
    const resumed = options.state !== undefined && (yield* fs.exists(options.state))
    if (options.state !== undefined && resumed) {
      const known = yield* Schema.decodeUnknownEffect(Positions)(yield* fs.readFileString(options.state))
      for (const [reference, position] of Object.entries(known)) positions.set(reference, position)
    }
    const writing = yield* Semaphore.make(1)
    const remember = Effect.fnUntraced(function* (reference: string, position: number | string) {
      positions.set(reference, position)
      if (options.state === undefined) return
      const text = yield* Schema.encodeEffect(Positions)(Object.fromEntries(positions))
      yield* fs.writeFileString(`${options.state}.partial`, text)
      yield* fs.rename(`${options.state}.partial`, options.state)
    }, writing.withPermits(1))

    const remedy =
      options.state === undefined
        ? "Start listen again: it begins with what comes then"
        : `Remove ${options.state} to begin with what comes then, or set its positions to 0 to have all passed on again`

    let answers = true
    /** Asks the service until it answers; says once that it does not, and once that it does again. */
    const asked = <A, E extends { readonly _tag: string; readonly message: string }, R>(
      call: Effect.Effect<A, E, R>,
      seconds = 0
    ) =>
      call.pipe(
        Effect.timeoutOrElse({
          duration: `${seconds + patience} seconds`,
          orElse: () => Effect.fail(new NoAnswer({ message: `no answer in ${seconds + patience} seconds` }))
        }),
        Effect.tapError((error) => {
          if (!answers || !passing.has(error._tag)) return Effect.void
          answers = false
          return Effect.logWarning(`The service does not answer, and is asked again until it does: ${error.message}`)
        }),
        Effect.retry({ schedule: again, while: ({ _tag }) => passing.has(_tag) }),
        Effect.tap(() => {
          if (answers) return Effect.void
          answers = true
          return Effect.logInfo("The service answers again")
        })
      )

    const get = (referenceId: string) =>
      asked(Effect.map(client.subscriptions.get({ params: { ...params, referenceId }, query: {} }), ({ item }) => item))

    const subscriptions = Effect.gen(function* () {
      if (options.only !== undefined) return [yield* get(options.only)]
      const found: Array<{ readonly referenceId: string }> = []
      for (let offset = 0; ; offset += pageSize) {
        const data = yield* asked(client.subscriptions.list({ params, query: { limit: pageSize, offset } }))
        found.push(...data.items)
        if (found.length >= data.total || data.items.length === 0) return found
      }
    })

    const post = Effect.fnUntraced(function* (
      callback: { readonly body: string; readonly event: string; readonly idempotencyKey: string },
      referenceId: string,
      sequence: number,
      secret: Effect.Effect<string | undefined, Effect.Error<ReturnType<typeof get>>>
    ) {
      const { body, event, idempotencyKey, idempotencyKey: id } = callback
      const key = yield* secret
      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const request = HttpClientRequest.post(options.to).pipe(
        HttpClientRequest.setHeaders({
          "user-agent": "Headwater",
          "x-callback-sequence": String(sequence),
          ...(key === undefined ? {} : Signature.headers({ secrets: [key], id, timestamp, body }))
        }),
        HttpClientRequest.bodyText(body, "application/json")
      )
      const { status } = yield* HttpClient.execute(request).pipe(
        Effect.mapError(({ message }) => new NotAccepted({ message: `${options.to} does not answer: ${message}` }))
      )
      yield* options.onForwarded({ referenceId, sequence, event, idempotencyKey, status })
      if (status < 200 || status > 299) {
        return yield* new NotAccepted({ message: `${options.to} answered ${status} to #${sequence}` })
      }
    })

    const read = Effect.fnUntraced(function* (referenceId: string, fromNowOn: boolean) {
      const of = { ...params, referenceId }
      let read: { readonly secret: string | undefined; readonly until: number } = { secret: undefined, until: 0 }
      const secret = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (now >= read.until) {
          read = { secret: (yield* get(referenceId)).callbackSecretKey, until: now + secretMillis }
        }
        return read.secret
      })
      if (!positions.has(referenceId)) {
        const { item } = yield* asked(client.callbacks.status({ params: of, query: {} }))
        yield* remember(referenceId, fromNowOn ? item.lastSequence : 0)
      }
      return yield* Effect.forever(
        Effect.gen(function* () {
          const query = { startingAfter: positions.get(referenceId)!, wait: waitSeconds, limit: pageSize }
          const data = yield* Effect.catchIf(
            asked(client.callbacks.list({ params: of, query }), waitSeconds),
            isConflict,
            ({ message }) => new PositionLost({ message: `${message}. ${remedy}` })
          )
          for (const callback of data.items) {
            const { position, sequence, state } = callback
            if (sequence === undefined) continue
            if (!gone.has(state)) {
              yield* post(callback, referenceId, sequence, secret).pipe(
                Effect.tapError((error) =>
                  error._tag === "NotAccepted"
                    ? Effect.logWarning(`${error.message}; it is passed on again`)
                    : Effect.void
                ),
                Effect.retry({ schedule: untilAccepted, while: ({ _tag }) => _tag === "NotAccepted" })
              )
            }
            yield* remember(referenceId, position ?? sequence)
          }
        })
      )
    })

    type Failure = Effect.Error<ReturnType<typeof read>> | Effect.Error<typeof subscriptions>
    const failed = yield* Deferred.make<never, Failure>()
    const reading = new Set<string>()
    /** Reads those that are not read yet: the ones of the beginning from now on, later ones from their first callback on. */
    const readAll = Effect.fnUntraced(function* (fromNowOn: boolean) {
      for (const { referenceId } of yield* subscriptions) {
        if (reading.has(referenceId)) continue
        reading.add(referenceId)
        yield* read(referenceId, fromNowOn).pipe(
          Effect.catch((error) =>
            error._tag === "resource_not_found" && options.only === undefined
              ? Effect.logInfo(`${referenceId}: ${error.message}`)
              : Deferred.fail(failed, error)
          ),
          Effect.forkScoped
        )
      }
    })
    /** A key that may not ask has the list read every time. */
    const subscribed = asked(client.limits.get({ query: {} })).pipe(
      Effect.map(({ item }): number | undefined => item.subscriptions.used),
      Effect.catchTag("endpoint_not_allowed_for_api_key", () => Effect.undefined)
    )
    const look = Effect.gen(function* () {
      if (options.only !== undefined) {
        yield* readAll(!resumed)
        return yield* Effect.never
      }
      // The number is read first: what is made in between is then found at the next look.
      let count = yield* subscribed
      yield* readAll(!resumed)
      return yield* Effect.forever(
        Effect.gen(function* () {
          yield* Effect.sleep(lookEvery)
          const now = yield* subscribed
          if (now !== undefined && now === count) return
          count = now
          yield* readAll(false)
        })
      )
    })
    return yield* Effect.raceFirst(look, Deferred.await(failed))
  },
  Effect.scoped,
  Effect.provide(FetchHttpClient.layer)
)
