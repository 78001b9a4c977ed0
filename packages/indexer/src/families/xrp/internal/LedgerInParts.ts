/** A ledger whose expanded transactions are too large for one answer: its list of hashes, and then each transaction. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as BytesInFlight from "../../node/BytesInFlight.ts"
import { type NodeError, NodeInconsistent } from "../../node/NodeError.ts"
import type { XrpClient } from "../XrpNode.ts"
import type { Json } from "./XrpReply.ts"

const decodeListed = Schema.decodeUnknownEffect(
  Schema.Struct({
    ledger: Schema.StructWithRest(Schema.Struct({ transactions: Schema.Array(Schema.String) }), [
      Schema.Record(Schema.String, Schema.Unknown)
    ])
  })
)

/** The fields of a transaction in its ledger, without what `tx` adds: the names of fields begin with a capital. */
const ownFields = (json: Json): Json => Object.fromEntries(Object.entries(json).filter(([name]) => /^[A-Z]/.test(name)))

/** A transaction as an expanded ledger lists it, of either API version. */
export const entryOf = ({ hash, meta, tx_json: fields, ...flat }: Json): Json =>
  Predicate.isReadonlyObject(fields)
    ? { hash, meta, tx_json: ownFields(fields) }
    : { ...ownFields(flat), hash, metaData: meta }

/** Transactions that are asked for at the same time. */
const concurrency = 8

/**
 * What `ledger` would answer with expanded transactions. One that the server refuses, as where it is too large by itself,
 * has its hash alone. Fails where the server gives none of them.
 */
export const fetch = Effect.fnUntraced(function* (node: XrpClient, wanted: Json): Effect.fn.Return<Json, NodeError> {
  const inconsistent = (method: string, message: string) =>
    new NodeInconsistent({ node: node.name, method, message: message.slice(0, 300) })
  const answer = yield* BytesInFlight.part(node.requestLedger("ledger", { ...wanted, transactions: true }))
  const { ledger } = yield* Effect.mapError(decodeListed(answer), ({ message }) => inconsistent("ledger", message))
  const asked = yield* Effect.forEach(
    ledger.transactions,
    (hash) =>
      BytesInFlight.part(node.requestLedger("tx", { transaction: hash })).pipe(
        Effect.filterOrFail(
          (transaction) => transaction.hash === hash,
          () => inconsistent("tx", `asked for transaction ${hash}, answered another`)
        ),
        Effect.map((transaction) => Result.succeed(entryOf(transaction))),
        Effect.catchTag("NodeRejected", (refusal) => Effect.succeed(Result.fail({ hash, refusal })))
      ),
    { concurrency }
  )
  const [first] = asked
  if (first !== undefined && Result.isFailure(first) && asked.every(Result.isFailure))
    return yield* first.failure.refusal
  const transactions = asked.map((entry) => Result.getOrElse(entry, ({ hash }): Json => ({ hash })))
  return { ...answer, ledger: { ...ledger, transactions } }
})
