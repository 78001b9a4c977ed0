/** Failures of JSON-RPC requests: the error, and whether to send the request again, whole or in parts, now or later. */
import * as Predicate from "effect/Predicate"
import type * as Failover from "../Failover.ts"
import {
  answerTooLarge,
  isRefusedForNow,
  isTooLarge,
  type NodeError,
  NodeInconsistent,
  NodeRejected,
  NodeUnreachable
} from "../NodeError.ts"
import type { NodeHttp, NoReply, Reply } from "../NodeHttp.ts"

/** A call with the id under which it was sent. */
export interface Sent {
  readonly id: number
  readonly method: string
}

/** The calls of one request to a node. */
export interface Request {
  readonly node: NodeHttp
  readonly sent: ReadonlyArray<Sent>
}

/** A request with the node's HTTP answer to it. */
export interface Exchange extends Request {
  readonly reply: Reply
}

export interface Failure extends Failover.Failure {
  /**
   * The node refused the batch and not a call in it: fewer calls at once may succeed, from now on (`calls`) or for this
   * request (`bytes`).
   */
  readonly tooMany: "calls" | "bytes" | undefined
}

const maxMessage = 300
const maxRetryAfterMillis = 30_000

const badRequest = 400
const payloadTooLarge = 413
const tooManyRequests = 429
const serviceUnavailable = 503

/** `a, b` and how many more: an error's name for a batch. */
const nameOf = (sent: ReadonlyArray<Sent>): string => {
  const methods = [...new Set(sent.map((call) => call.method))]
  return methods.length <= 3 ? methods.join(", ") : `${methods.slice(0, 3).join(", ")} and ${methods.length - 3} more`
}

const waitMillisOf = ({ reply }: Exchange) => Math.min((reply.retryAfter ?? 0) * 1000, maxRetryAfterMillis)

const failure = (error: NodeError, about?: Partial<Omit<Failure, "error">>): Failure => ({
  error,
  retry: true,
  waitMillis: 0,
  tooMany: undefined,
  ...about
})

const nodeUnreachable = ({ node, sent }: Request, message: string) =>
  new NodeUnreachable({ node: node.name, method: nameOf(sent), message })

/** The answer to the request was broken off. */
export const tooLarge = ({ node, sent }: Request, { reason }: NoReply): NodeRejected =>
  answerTooLarge(node.name, nameOf(sent), reason)

/** The node gave no HTTP answer, or too large a one to a batch; `reason` is said without the secrets of its URL. */
export const unanswered = (request: Request, noReply: NoReply): Failure =>
  noReply.tooLarge
    ? failure(tooLarge(request, noReply), { retry: false, tooMany: "bytes" })
    : failure(nodeUnreachable(request, request.node.redact(noReply.reason)))

/** The node gave an HTTP answer that answers none of the calls. */
export const unreachable = (exchange: Exchange, message: string): Failure =>
  failure(nodeUnreachable(exchange, message), { waitMillis: waitMillisOf(exchange) })

/** The node answered with an HTTP status in place of JSON-RPC, as some servers refuse batches. */
export const refusedByStatus = (exchange: Exchange): Failure => {
  const { reply, sent } = exchange
  const refusesBatch = sent.length > 1 && (reply.status === payloadTooLarge || reply.status === badRequest)
  return { ...unreachable(exchange, `HTTP ${reply.status}`), tooMany: refusesBatch ? "calls" : undefined }
}

/** The node's answer contradicts the request. */
export const inconsistent = ({ node, sent }: Request, message: string): Failure =>
  failure(new NodeInconsistent({ node: node.name, method: nameOf(sent), message }))

/** The node's own error; `method` names the call, by default all of the request's. */
export const rejection = ({ node, sent }: Request, error: unknown, method = nameOf(sent)): NodeRejected => {
  const code = Predicate.isReadonlyObject(error) && typeof error.code === "number" ? error.code : 0
  const said =
    Predicate.isReadonlyObject(error) && typeof error.message === "string" ? error.message : JSON.stringify(error)
  return new NodeRejected({ node: node.name, method, code, message: node.redact(said).slice(0, maxMessage) })
}

/** Whether the same request may succeed later. */
export const passesLater = ({ reply }: Exchange, error: NodeRejected): boolean =>
  isRefusedForNow(error) || reply.status === tooManyRequests || reply.status === serviceUnavailable

/** Whether an error to one call of a batch is about the batch: the other calls' results are then of no use either. */
export const concernsBatch = (error: NodeRejected): boolean => isRefusedForNow(error) || isTooLarge(error)

/** The node refused the request: with one error to all of its calls (`whole`), or with one to a call among others. */
export const refused = (exchange: Exchange, error: NodeRejected, whole: boolean): Failure => {
  const retry = passesLater(exchange, error)
  const splits = !retry && exchange.sent.length > 1
  return failure(error, {
    retry,
    waitMillis: waitMillisOf(exchange),
    tooMany: splits && isTooLarge(error) ? "bytes" : splits && whole ? "calls" : undefined
  })
}
