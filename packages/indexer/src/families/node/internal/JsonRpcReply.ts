/** Reads the results of calls out of a node's HTTP answer to a JSON-RPC request or batch. The answer is hostile. */
import * as EvmKernel from "@headwater/core/evm/EvmKernel"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as JsonAnswer from "../JsonAnswer.ts"
import { JsonText } from "../JsonText.ts"
import type { NodeRejected } from "../NodeError.ts"
import * as JsonRpcFailure from "./JsonRpcFailure.ts"

/** As of `JsonAnswer`; with `text` a large result is given as its JSON. */
export type Numbers = JsonAnswer.Numbers | "text"

/** The node's result to one call, or its error. */
export type CallResult = Result.Result<unknown, NodeRejected>

type Exchange = JsonRpcFailure.Exchange
type Results = Result.Result<ReadonlyArray<CallResult>, JsonRpcFailure.Failure>
type Json = Readonly<Record<string, unknown>>

const isOk = ({ reply }: Exchange) => reply.status >= 200 && reply.status < 300

/** The body as an object or an array; a failure where the node answered anything else. */
const parse = Effect.fnUntraced(function* (
  exchange: Exchange,
  numbers: JsonAnswer.Numbers
): Effect.fn.Return<Json | Array<unknown>, JsonRpcFailure.Failure> {
  const { body, status } = exchange.reply
  if (status === 401 || status === 403) {
    const message = `HTTP ${status}: the node does not accept the credentials`
    return yield* Effect.fail(JsonRpcFailure.unreachable(exchange, message))
  }
  const answer = Result.getOrUndefined(yield* Effect.result(JsonAnswer.parse(body, numbers)))
  if (Array.isArray(answer) || Predicate.isReadonlyObject(answer)) return answer
  return yield* Effect.fail(
    isOk(exchange)
      ? JsonRpcFailure.unreachable(exchange, "the answer is not JSON-RPC: truncated, or not a node's")
      : JsonRpcFailure.refusedByStatus(exchange)
  )
})

const hasError = ({ error }: Json) => error !== undefined && error !== null

/** One object: the answer to the only call, or an error to all calls of a batch. */
const readSingle = (exchange: Exchange, answer: Json): Results => {
  const { reply, sent } = exchange
  const inconsistent = (message: string) => Result.fail(JsonRpcFailure.inconsistent(exchange, message))
  if (hasError(answer)) {
    const error = JsonRpcFailure.rejection(exchange, answer.error)
    return sent.length === 1 && !JsonRpcFailure.passesLater(exchange, error)
      ? Result.succeed([Result.fail(error)])
      : Result.fail(JsonRpcFailure.refused(exchange, error, true))
  }
  if (!isOk(exchange)) return Result.fail(JsonRpcFailure.unreachable(exchange, `HTTP ${reply.status}`))
  if (sent.length > 1) return inconsistent("one answer to a batch of calls")
  if (answer.id !== sent[0]!.id) return inconsistent("the answer has the id of another call")
  if (!("result" in answer)) return inconsistent("neither result nor error")
  return Result.succeed([Result.succeed(answer.result)])
}

/** An array: one answer to each call, in any order. */
const readBatch = (exchange: Exchange, answers: ReadonlyArray<unknown>): Results => {
  const { sent } = exchange
  const inconsistent = (message: string) => Result.fail(JsonRpcFailure.inconsistent(exchange, message))
  const places = new Map<unknown, number>(sent.map(({ id }, place) => [id, place]))
  const results = new Array<CallResult | undefined>(sent.length).fill(undefined)
  let ofBatch: NodeRejected | undefined
  for (const answer of answers) {
    if (!Predicate.isReadonlyObject(answer)) return inconsistent("an answer in the batch is not an object")
    const failed = hasError(answer)
    // An error under no id is to a request that the node could not read: to the batch.
    if (failed && (answers.length < sent.length || (answer.id ?? null) === null)) {
      return Result.fail(JsonRpcFailure.refused(exchange, JsonRpcFailure.rejection(exchange, answer.error), true))
    }
    const place = places.get(answer.id)
    if (place === undefined) return inconsistent("an answer in the batch has an id that was not asked")
    if (results[place] !== undefined) return inconsistent("two answers in the batch have the same id")
    if (failed) {
      const error = JsonRpcFailure.rejection(exchange, answer.error, sent[place]!.method)
      if (JsonRpcFailure.concernsBatch(error)) ofBatch = error
      results[place] = Result.fail(error)
    } else if ("result" in answer) {
      results[place] = Result.succeed(answer.result)
    } else {
      return inconsistent("neither result nor error")
    }
  }
  if (ofBatch !== undefined) return Result.fail(JsonRpcFailure.refused(exchange, ofBatch, false))
  const complete = results.filter((result) => result !== undefined)
  return complete.length === sent.length
    ? Result.succeed(complete)
    : inconsistent(`${answers.length} answers to ${sent.length} calls`)
}

/** Smaller answers, and smaller results, are parsed. */
const smallBytes = 2_048

/** A result that is JSON, as far as it is known. */
const textOf = (body: Buffer, { from, to }: EvmKernel.Answer): unknown =>
  to - from < smallBytes ? JSON.parse(body.toString("utf8", from, to)) : new JsonText(body.subarray(from, to))

/** The results in the order of the calls, large ones as JSON; undefined where there is not simply one for each call. */
const texts = Effect.fnUntraced(function* (exchange: Exchange) {
  const { reply, sent } = exchange
  const { body } = reply
  if (!isOk(exchange) || body.length < smallBytes || body.length > EvmKernel.maxBytes) return undefined
  const answers = yield* TimeSlice.run(() => EvmKernel.answers(body))
  if (answers === undefined || answers.length !== sent.length) return undefined
  const found = sent.map(({ id }) => answers.find((answer) => answer.id === id))
  return found.every((answer) => answer !== undefined) ? found.map((answer) => textOf(body, answer)) : undefined
})

/**
 * Results in the order of the calls. An error to one call is that call's result, unless the error passes with time or is
 * about the batch: then the whole request is worth another try.
 */
export const read = (
  exchange: Exchange,
  numbers: Numbers
): Effect.Effect<ReadonlyArray<CallResult>, JsonRpcFailure.Failure> =>
  numbers === "text"
    ? Effect.flatMap(texts(exchange), (found) =>
        found === undefined ? read(exchange, "plain") : Effect.succeed(found.map(Result.succeed))
      )
    : Effect.flatMap(parse(exchange, numbers), (answer) =>
        Effect.fromResult(Array.isArray(answer) ? readBatch(exchange, answer) : readSingle(exchange, answer))
      )
