/**
 * Calls for small blocks that are read together, in one request to a node: an exchange over HTTP costs more than such a block
 * takes to read. As many calls share a request as the last answers were small for.
 *
 * Where a shared request fails, or the node answers a call with an error, the calls for each block are sent alone: whatever
 * follows from a failure is judged by that, as if no request had been shared.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as SteadyTime from "../../SteadyTime.ts"
import * as BytesInFlight from "./BytesInFlight.ts"
import type * as JsonRpcReply from "./internal/JsonRpcReply.ts"

/** For how many of the blocks that are read together one request may be; 0 for a block that is waited for by itself. */
export const MostBlocks = Context.Reference<number>("@headwater/indexer/families/node/SharedRequests/MostBlocks", {
  defaultValue: () => 0
})

type Results = ReadonlyArray<JsonRpcReply.CallResult>

export interface SharedRequests<Call, E> {
  /** The results of the calls for one block; by `alone` where the calls do not share a request. */
  readonly results: (
    calls: ReadonlyArray<Call>,
    numbers: JsonRpcReply.Numbers,
    alone: Effect.Effect<Results, E>
  ) => Effect.Effect<Results, E>
  /** For how many blocks one request may be, to judge by the last ones. */
  readonly blocks: () => number
}

/** Calls that are sent in the next turn of the event loop. */
interface Request<Call> {
  readonly calls: Array<Call>
  readonly numbers: JsonRpcReply.Numbers
  /** Undefined where the request failed. */
  readonly answer: Deferred.Deferred<{ readonly results: Results; readonly bytes: number } | undefined>
}

/** What a shared request's answer is to have at most. */
const mostBytes = 256 * 2 ** 10
/** What the answer for a block is expected to have falls by this factor a block. */
const decay = 0.8
/** Many nodes take 100 calls in a request, and some fewer. */
const mostCalls = 40
/** For so long a shared request is waited for: a node works through its calls one after another. */
const patience = "5 seconds"
/** For so long after a failure only half as many calls share a request. */
const restMillis = 60_000

const share = (bytes: number, calls: number, of: number) => Math.round((bytes * calls) / of)

/** For one node; `send` sends all calls in one request. */
export const make = <Call, E>(
  send: (calls: ReadonlyArray<Call>, numbers: JsonRpcReply.Numbers) => Effect.Effect<Results, E>,
  bytesInFlight: number
): SharedRequests<Call, E> => {
  const limit = Math.min(mostBytes, bytesInFlight / 8)
  let open: Request<Call> | undefined
  let expected = limit
  let callsOfBlock = 1
  let size = mostCalls
  /** When `size` last became what a failure, or the time since one, made of it. */
  let sizedAt = Number.NEGATIVE_INFINITY

  const blocks = () => Math.floor(Math.min(size / callsOfBlock, limit / expected))

  const learn = (bytes: number, calls: number) => {
    expected = Math.max(bytes, expected * decay)
    callsOfBlock = calls
  }

  const failed = (calls: number) =>
    Effect.map(SteadyTime.millis, (now) => {
      size = Math.min(size, calls >> 1)
      sizedAt = now
    })

  const recovered = Effect.map(SteadyTime.millis, (now) => {
    if (size === mostCalls || now - sizedAt < restMillis) return
    size = Math.min(2 * size, mostCalls)
    sizedAt = now
  })

  /** Sends the calls that gather in this turn of the event loop; gives the results of the first `own`. */
  const sendGathered = (request: Request<Call>, own: number, alone: Effect.Effect<Results, E>) =>
    Effect.gen(function* () {
      const { answer, calls, numbers } = request
      open = request
      yield* Effect.yieldNow
      if (open === request) open = undefined
      if (calls.length === own) return yield* alone
      const sent = BytesInFlight.counting(send(calls, numbers), (receiver, bytes, exit) => {
        receiver.giveBack(Exit.isFailure(exit) ? bytes : bytes - share(bytes, own, calls.length))
        if (Exit.isFailure(exit)) return
        learn(share(bytes, own, calls.length), own)
        Deferred.doneUnsafe(answer, Effect.succeed({ results: exit.value, bytes }))
      })
      const results = Result.getOrUndefined(yield* Effect.result(Effect.timeout(sent, patience)))
      if (results === undefined || !results.every(Result.isSuccess)) yield* failed(calls.length)
      const first = results?.slice(0, own)
      return first?.every(Result.isSuccess) ? first : yield* alone
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          if (open === request) open = undefined
          Deferred.doneUnsafe(request.answer, Effect.undefined)
        })
      )
    )

  /** The results of calls that another one sends along. */
  const gathered = Effect.fnUntraced(function* (
    { answer, calls }: Request<Call>,
    from: number,
    own: number,
    alone: Effect.Effect<Results, E>
  ): Effect.fn.Return<Results, E> {
    const answered = yield* Deferred.await(answer)
    const results = answered?.results.slice(from, from + own)
    if (!results?.every(Result.isSuccess)) return yield* alone
    const receiver = yield* BytesInFlight.CurrentReceiver
    const became = receiver?.take(share(answered!.bytes, own, calls.length))
    // What gave way is interrupted, and asks again.
    if (became === "gaveWay") return yield* Effect.never
    return became === "tooLarge" ? yield* alone : results
  })

  return {
    blocks,
    results: Effect.fnUntraced(function* (calls, numbers, alone) {
      const mostBlocks = yield* MostBlocks
      if (mostBlocks === 0) return yield* alone
      const learning = BytesInFlight.counting(alone, (_, bytes, exit) => {
        if (Exit.isSuccess(exit)) learn(bytes, calls.length)
      })
      yield* recovered
      const together = Math.min(blocks(), mostBlocks)
      if (together < 2) return yield* learning
      if (open?.numbers === numbers && open.calls.length + calls.length <= together * calls.length) {
        const from = open.calls.length
        open.calls.push(...calls)
        return yield* gathered(open, from, calls.length, learning)
      }
      return yield* sendGathered({ calls: [...calls], numbers, answer: Deferred.makeUnsafe() }, calls.length, learning)
    })
  }
}
