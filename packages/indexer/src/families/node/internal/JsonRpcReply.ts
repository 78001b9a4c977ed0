/** What a node's HTTP answer to a JSON-RPC request or batch means. Pure; the answer is hostile. */
import * as Result from "effect/Result"
import * as DecimalText from "../DecimalText.ts"
import type * as Failover from "../Failover.ts"
import type { Numbers } from "../JsonRpc.ts"
import { type NodeError, NodeInconsistent, NodeRejected, NodeUnreachable } from "../NodeError.ts"
import type { NodeHttp, Reply } from "../NodeHttp.ts"

/** A call that failed, and what may be done about it. */
export interface Failure extends Failover.Failure {
  /** It was the batch that was refused, not a call in it: fewer calls at once may succeed, from now on or this time. */
  readonly tooMany: "calls" | "bytes" | undefined
}

/** A call with the id under which it was sent. */
export interface Sent {
  readonly id: number
  readonly method: string
}

export const failure = (error: NodeError, about?: Partial<Omit<Failure, "error">>): Failure => ({
  error,
  retry: true,
  waitMillis: 0,
  tooMany: undefined,
  ...about
})

const maxMessage = 300
const maxRetryAfterMillis = 30_000

const tooManyRequests = 429
const payloadTooLarge = 413
const unavailable = 503

/**
 * Codes of refusals that pass: -28 bitcoind warming up, -32005 limit exceeded (EIP-1474), -32029 and 429 too many
 * requests at hosted nodes.
 */
const passingCodes: ReadonlySet<number> = new Set([-28, -32005, -32029, tooManyRequests])
const passingText = /rate limit|too many requests|server (?:is )?busy|warming up|loading block index/i

/** -32003 "response too large" (geth): the answers of a batch together are over the node's limit. */
const responseTooLarge = -32003

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** `a, b` and how many more: an error's name for a batch. */
export const nameOf = (sent: ReadonlyArray<Sent>): string => {
  const methods = [...new Set(sent.map((call) => call.method))]
  return methods.length <= 3 ? methods.join(", ") : `${methods.slice(0, 3).join(", ")} and ${methods.length - 3} more`
}

const rejection = (node: NodeHttp, method: string, error: unknown): NodeRejected => {
  const code = isRecord(error) && typeof error.code === "number" ? error.code : 0
  const said = isRecord(error) && typeof error.message === "string" ? error.message : JSON.stringify(error)
  const message = node.redact(said).slice(0, maxMessage)
  return new NodeRejected({ node: node.name, method, code, message })
}

const passes = (error: NodeRejected): boolean => passingCodes.has(error.code) || passingText.test(error.message)

/** The node's result to one call, or its error. */
export type CallResult = Result.Result<unknown, NodeRejected>

/**
 * Results in the order of `sent`; a single call may be answered by one object, a batch by an array. An error to one call
 * is that call's result, unless it is one that passes: then the whole request is worth another try.
 */
export const read = (
  node: NodeHttp,
  sent: ReadonlyArray<Sent>,
  reply: Reply,
  numbers: Numbers
): Result.Result<ReadonlyArray<CallResult>, Failure> => {
  const method = nameOf(sent)
  const waitMillis = Math.min((reply.retryAfter ?? 0) * 1000, maxRetryAfterMillis)
  const unreachable = (message: string) =>
    Result.fail(failure(new NodeUnreachable({ node: node.name, method, message }), { waitMillis }))
  const inconsistent = (message: string) =>
    Result.fail(failure(new NodeInconsistent({ node: node.name, method, message })))
  const later = (error: NodeRejected) =>
    passes(error) || reply.status === tooManyRequests || reply.status === unavailable
  const refused = (error: NodeRejected, batch: boolean) => {
    const retry = later(error)
    const splits = !retry && sent.length > 1
    const tooMany = splits && error.code === responseTooLarge ? "bytes" : splits && batch ? "calls" : undefined
    return Result.fail(failure(error, { retry, waitMillis, tooMany }))
  }

  if (reply.status === 401 || reply.status === 403) {
    return unreachable(`HTTP ${reply.status}: the node does not accept the credentials`)
  }
  const parsed = Result.try((): unknown =>
    numbers === "decimalText" ? DecimalText.parse(reply.body) : JSON.parse(reply.body.toString())
  )
  const ok = reply.status >= 200 && reply.status < 300
  if (Result.isFailure(parsed) || typeof parsed.success !== "object" || parsed.success === null) {
    if (ok) return unreachable("the answer is not JSON-RPC: truncated, or not a node's")
    // Some servers refuse batches outside JSON-RPC.
    const error = new NodeUnreachable({ node: node.name, method, message: `HTTP ${reply.status}` })
    const tooMany = sent.length > 1 && (reply.status === payloadTooLarge || reply.status === 400) ? "calls" : undefined
    return Result.fail(failure(error, { waitMillis, tooMany }))
  }
  const answer = parsed.success

  if (!Array.isArray(answer)) {
    const single = answer as Readonly<Record<string, unknown>>
    const error = single.error
    if (error !== undefined && error !== null) {
      const refusal = rejection(node, method, error)
      return sent.length === 1 && !later(refusal) ? Result.succeed([Result.fail(refusal)]) : refused(refusal, true)
    }
    if (!ok) return unreachable(`HTTP ${reply.status}`)
    if (sent.length > 1) return inconsistent("one answer to a batch of calls")
    if (single.id !== sent[0]!.id) return inconsistent("the answer has the id of another call")
    if (!("result" in single)) return inconsistent("neither result nor error")
    return Result.succeed([Result.succeed(single.result)])
  }

  const position = new Map(sent.map((call, index) => [call.id, index]))
  const results = new Array<CallResult | undefined>(sent.length).fill(undefined)
  let passing: NodeRejected | undefined
  for (const item of answer) {
    if (!isRecord(item)) return inconsistent("an answer in the batch is not an object")
    const error = item.error
    const failed = error !== undefined && error !== null
    if (failed && answer.length < sent.length) return refused(rejection(node, method, error), true)
    const id = item.id
    const index = typeof id === "number" ? position.get(id) : undefined
    if (index === undefined) return inconsistent("an answer in the batch has an id that was not asked")
    if (results[index] !== undefined) return inconsistent("two answers in the batch have the same id")
    if (failed) {
      const refusal = rejection(node, sent[index]!.method, error)
      if (passes(refusal) || refusal.code === responseTooLarge) passing = refusal
      results[index] = Result.fail(refusal)
    } else if ("result" in item) {
      results[index] = Result.succeed(item.result)
    } else {
      return inconsistent("neither result nor error")
    }
  }
  if (passing !== undefined) return refused(passing, false)
  const complete = results.filter((result) => result !== undefined)
  return complete.length === sent.length
    ? Result.succeed(complete)
    : inconsistent(`${answer.length} answers to ${sent.length} calls`)
}
