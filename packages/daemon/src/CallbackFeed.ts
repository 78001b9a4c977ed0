/**
 * Reads the feed of an account, or of one subscription, over HTTP and passes each callback on, one after another: the same
 * bytes under the same signature headers as those that are sent. What the receiver cannot take, because it does not run,
 * waits until it does.
 */
import * as Signature from "@headwater/core/events/Signature"
import type * as Client from "@headwater/http/contract/Client"
import { Conflict } from "@headwater/http/contract/Errors"
import { now } from "@headwater/http/contract/Feed"
import * as UnixTime from "@headwater/indexer/UnixTime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { commandName } from "./CommandName.ts"

export interface Forwarded {
  readonly referenceId: string
  readonly sequence: number
  readonly event: string
  readonly idempotencyKey: string
  /** What the receiver answered. */
  readonly status: number
}

interface ChainParams {
  readonly blockchain: string
  readonly network: string
}

export interface Options {
  /** The callbacks that are passed on: of one subscription, of one chain, or all of the account. */
  readonly of: { readonly chain: ChainParams; readonly referenceId?: string } | undefined
  readonly to: string
  /** File of positions. */
  readonly state: string | undefined
  /** Runs once the place in the feed is known: what happens from then on is passed on. */
  readonly onBegun: Effect.Effect<void>
  readonly onForwarded: (forwarded: Forwarded) => Effect.Effect<void>
}

type Position = number | string

/** A callback of either feed. */
interface Told extends ChainParams {
  readonly referenceId: string
  readonly sequence: number
  readonly position: Position
  readonly event: string
  readonly idempotencyKey: string
  readonly state: string
  readonly body: string
}

/**
 * Where listen has been, by the feed: a reference id, a chain or `account`. Older releases kept the number of the last
 * callback of each subscription.
 */
const Positions = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Union([Schema.Int, Schema.String])))

/** Callbacks of one request. */
const pageSize = 50
/** How long one request waits for callbacks, in seconds. */
const waitSeconds = 30
/** How long the service may take for an answer, beside the wait that it was asked for. */
const spareSeconds = 10
/** How long a secret is used that was read, in milliseconds: no longer, since it may have been rotated. */
const secretMillis = 10_000
/** Until the service answers: soon after a restart, and slower where the service stays away. */
const again = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])
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

/** Asks the service until it answers; says once that it does not, and once that it does again. */
const makeAsked = () => {
  let answers = true
  return <A, E extends { readonly _tag: string; readonly message: string }, R>(
    call: Effect.Effect<A, E, R>,
    seconds = 0
  ) =>
    call.pipe(
      Effect.timeoutOrElse({
        duration: `${seconds + spareSeconds} seconds`,
        orElse: () => Effect.fail(new NoAnswer({ message: `no answer in ${seconds + spareSeconds} seconds` }))
      }),
      Effect.tapError((error) => {
        if (!answers || !passing.has(error._tag)) return Effect.void
        answers = false
        return Effect.logWarning(
          `The service does not answer, and is asked again until it does: ${error.message}. See that --service names it, ` +
            `and that ${commandName} serve runs there`
        )
      }),
      Effect.retry({ schedule: again, while: ({ _tag }) => passing.has(_tag) }),
      Effect.tap(() => {
        if (answers) return Effect.void
        answers = true
        return Effect.logInfo("The service answers again")
      })
    )
}

/** The feed that is read: where it ends now, and its pages. */
const feedOf = (client: Client.Client, of: Options["of"]) => {
  const referenceId = of?.referenceId
  const limit = pageSize
  if (of === undefined || referenceId === undefined) {
    return {
      end: Effect.map(
        client.feed.read({ query: { startingAfter: now, limit: 1 } }),
        ({ nextStartingAfter }): Position => nextStartingAfter!
      ),
      page: (startingAfter: Position) =>
        Effect.map(client.feed.read({ query: { startingAfter, limit, wait: waitSeconds } }), (page) => ({
          items: page.items as ReadonlyArray<Told>,
          end: page.nextStartingAfter as Position | undefined,
          missed: page.missed
        }))
    }
  }
  const params = { ...of.chain, referenceId }
  return {
    end: Effect.map(client.callbacks.status({ params, query: {} }), ({ item }): Position => item.lastSequence),
    page: (startingAfter: Position) =>
      Effect.map(client.callbacks.list({ params, query: { startingAfter, limit, wait: waitSeconds } }), (page) => ({
        items: page.items.flatMap(
          ({ sequence, ...item }): ReadonlyArray<Told> =>
            sequence === undefined ? [] : [{ ...of.chain, referenceId, position: sequence, ...item, sequence }]
        ),
        end: page.nextStartingAfter as Position | undefined,
        missed: 0
      }))
  }
}

/** Positions that a file keeps, where there is one. */
const keptIn = Effect.fnUntraced(function* (file: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const known =
    file !== undefined && (yield* fs.exists(file))
      ? yield* Schema.decodeEffect(Positions)(yield* fs.readFileString(file))
      : {}
  const positions = new Map(Object.entries(known))
  const remember = Effect.fnUntraced(function* (feed: string, position: Position) {
    positions.set(feed, position)
    if (file === undefined) return
    yield* fs.writeFileString(`${file}.partial`, yield* Schema.encodeEffect(Positions)(Object.fromEntries(positions)))
    yield* fs.rename(`${file}.partial`, file)
  })
  return { positions, remember, before: new Map(positions) }
})

/** What a key that may not ask is not told. */
const ofSubscriptions = (client: Client.Client) =>
  client.limits.get({ query: {} }).pipe(
    Effect.map(({ item }): number | undefined => item.subscriptions.used),
    Effect.catchTag("endpoint_not_allowed_for_api_key", () => Effect.undefined)
  )

/**
 * Passes callbacks on until it is interrupted; fails where the service refuses to be asked. A callback that is not accepted
 * is passed on again until it is, and holds back the later ones. While nothing happens nothing is asked that costs credits.
 */
export const forward = Effect.fn("CallbackFeed.forward")(function* (client: Client.Client, options: Options) {
  const { of, state, to } = options
  const asked = makeAsked()
  const feed = feedOf(client, of)
  const name = of?.referenceId ?? (of === undefined ? "account" : `${of.chain.blockchain}/${of.chain.network}`)
  const { before, positions, remember } = yield* keptIn(state)

  if (of?.referenceId === undefined && (yield* asked(ofSubscriptions(client))) === 0) {
    yield* Effect.logWarning("The account has no subscription yet: callbacks of one that is made are passed on")
  }

  const secrets = new Map<string, { readonly secret: string | undefined; readonly until: number }>()
  const secretOf = Effect.fnUntraced(function* ({ blockchain, network, referenceId }: Told) {
    const at = yield* Clock.currentTimeMillis
    const known = secrets.get(referenceId)
    if (known !== undefined && at < known.until) return known.secret
    const params = { blockchain, network, referenceId }
    const { item } = yield* asked(client.subscriptions.get({ params, query: {} }))
    for (const [one, { until }] of secrets) if (until <= at) secrets.delete(one)
    secrets.set(referenceId, { secret: item.callbackSecretKey, until: at + secretMillis })
    return item.callbackSecretKey
  })

  const post = Effect.fnUntraced(function* (callback: Told) {
    const { body, event, idempotencyKey, idempotencyKey: id, referenceId, sequence } = callback
    const key = yield* secretOf(callback)
    const timestamp = yield* UnixTime.seconds
    const request = HttpClientRequest.post(to).pipe(
      HttpClientRequest.setHeaders({
        "user-agent": "Headwater",
        "x-callback-sequence": String(sequence),
        ...(key === undefined ? {} : Signature.headers({ secrets: [key], id, timestamp, body }))
      }),
      HttpClientRequest.bodyText(body, "application/json")
    )
    const { status } = yield* HttpClient.execute(request).pipe(
      Effect.mapError(({ message }) => new NotAccepted({ message: `${to} does not answer: ${message}` }))
    )
    yield* options.onForwarded({ referenceId, sequence, event, idempotencyKey, status })
    if (status < 200 || status > 299) {
      return yield* new NotAccepted({ message: `${to} answered ${status} to #${sequence}` })
    }
  })

  const pass = (callback: Told) =>
    post(callback).pipe(
      Effect.tapError((error) =>
        error._tag === "NotAccepted" ? Effect.logWarning(`${error.message}; it is passed on again`) : Effect.void
      ),
      Effect.retry({ schedule: untilAccepted, while: ({ _tag }) => _tag === "NotAccepted" }),
      Effect.catchTag("resource_not_found", ({ message }) =>
        Effect.logInfo(`#${callback.sequence} of ${callback.referenceId} is not passed on: ${message}`)
      )
    )

  const isWanted = ({ blockchain, network, referenceId, sequence, state }: Told) =>
    (of === undefined || (of.chain.blockchain === blockchain && of.chain.network === network)) &&
    !gone.has(state) &&
    // Passed on by an older release, which knew the subscriptions alone.
    (name === referenceId || Number.parseInt(String(before.get(referenceId) ?? 0), 10) < sequence)

  const remedy =
    state === undefined
      ? "Start listen again: it begins with what comes then"
      : `Remove ${state} to begin with what comes then, or set its positions to 0 to have all passed on again`

  // Without a position a file of an older release begins with what is kept: what was passed on is known by its numbers.
  if (!positions.has(name)) yield* remember(name, before.size > 0 ? 0 : yield* asked(feed.end))
  yield* options.onBegun
  return yield* Effect.forever(
    Effect.gen(function* () {
      const { end, items, missed } = yield* Effect.catchIf(
        asked(feed.page(positions.get(name)!), waitSeconds),
        isConflict,
        ({ message }) => new PositionLost({ message: `${message}. ${remedy}` })
      )
      if (missed > 0) {
        yield* Effect.logWarning(`${missed} callbacks are not passed on, since the service keeps them no longer`)
      }
      for (const callback of items) {
        if (isWanted(callback)) yield* pass(callback)
        yield* remember(name, callback.position)
      }
      if (items.length === 0 && missed > 0) yield* remember(name, end!)
    })
  )
}, Effect.provide(FetchHttpClient.layer))
