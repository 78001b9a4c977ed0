/** What an XRP server's answer to a command means, over either transport. Pure; the answer is hostile. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Failure } from "../../node/Failover.ts"
import {
  answerTooLarge,
  type NodeError,
  NodeInconsistent,
  NodeRejected,
  NodeUnreachable
} from "../../node/NodeError.ts"

/** The `result` of a command. */
export type Json = Readonly<Record<string, unknown>>

/**
 * Errors of one server, which another one may not have: busy, starting, cut off from its peers, closed to its callers, too
 * old for the ledger's amendments, broken.
 */
const passing: ReadonlySet<string> = new Set([
  ...["slowDown", "tooBusy", "noNetwork", "noCurrent", "noClosed", "notReady", "notSynced", "failedToForward"],
  ...["internal", "forbidden", "noPermission", "amendmentBlocked", "expiredValidatorList", "unlBlocked"],
  ...["notEnabled", "notImpl", "reportingUnsupported", "databaseUnavailable", "wsTextRequired", "jsonRPCDisabled"]
])

const RippledError = Schema.Struct({
  error: Schema.String,
  error_code: Schema.optionalKey(Schema.Finite),
  error_message: Schema.optionalKey(Schema.String)
})

const isError = Schema.is(RippledError)

const maxMessage = 300

const failure = (error: NodeError, retry = true, waitMillis = 0): Failure => ({ error, retry, waitMillis })

export const unreachable = (node: string, method: string, message: string, waitMillis = 0): Failure =>
  failure(new NodeUnreachable({ node, method, message }), true, waitMillis)

/** The answer was broken off because of its size. */
export const tooLarge = (node: string, method: string, message: string): Failure =>
  failure(answerTooLarge(node, method, message), false)

/**
 * `answer` is a response of the WebSocket API, or a body of JSON-RPC, whose errors are inside its `result`. A refusal is
 * `NodeRejected` with a message that begins with rippled's name for it: `lgrNotFound: ledgerNotFound`. What may be secret of
 * the server's URL is taken out of the message by `redact`.
 */
export const read = (
  node: string,
  method: string,
  answer: unknown,
  redact: (text: string) => string
): Result.Result<Json, Failure> => {
  const result = Predicate.isReadonlyObject(answer) ? answer.result : undefined
  const refusal = [answer, result].find(isError)
  if (refusal !== undefined) {
    const { error, error_code: code = 0, error_message: said } = refusal
    const message = redact(said === undefined || said === error ? error : `${error}: ${said}`).slice(0, maxMessage)
    return Result.fail(failure(new NodeRejected({ node, method, code, message }), passing.has(error)))
  }
  return Predicate.isReadonlyObject(result)
    ? Result.succeed(result)
    : Result.fail(failure(new NodeInconsistent({ node, method, message: "neither result nor error" })))
}

/** Whether a server said that it does not have the ledger. */
export const isLedgerMissing = (error: NodeError): boolean =>
  error._tag === "NodeRejected" && /^lgr(?:NotFound|IdxsInvalid|NotValidated)/.test(error.message)

/** Whether a server said that there is no such account. */
export const isAccountMissing = (error: NodeError): boolean =>
  error._tag === "NodeRejected" && error.message.startsWith("actNotFound")

/** Whether a server said that it knows no such transaction. */
export const isTransactionMissing = (error: NodeError): boolean =>
  error._tag === "NodeRejected" && error.message.startsWith("txnNotFound")
