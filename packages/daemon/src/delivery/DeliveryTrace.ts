/** A span for each attempt to deliver a callback, in the trace of the block that the callback is about. */
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import * as BlockTrace from "@headwater/indexer/sync/BlockTrace"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isAcceptance, type NoReply, type Reply } from "./ReceiverClient.ts"

export type DeliveryTrace = (
  lease: Lease,
  callback: OutboxMessage,
  attempt: Effect.Effect<Reply, NoReply>
) => Effect.Effect<Reply, NoReply>

/** The span of an attempt with another answer than 2xx has failed; the attempt goes on. */
class NotAccepted extends Schema.TaggedError<NotAccepted>()("NotAccepted", { message: Schema.String }) {}

/** The block's hash in a body; in text that somebody else chose its quotes would be escaped. Coins of a mempool have none. */
const blockHash = /"hash":"(\w{32,})"/

const none: DeliveryTrace = (_lease, _callback, attempt) => attempt

const inSpan: DeliveryTrace = ({ host, subscription }, { attempts, body, idempotencyKey, sequence }, attempt) => {
  const hash = blockHash.exec(body)?.[1]
  let reply: Reply | undefined
  const judged = Effect.flatMap(attempt, (answered) => {
    reply = answered
    const { status } = answered
    return Effect.andThen(
      Effect.annotateCurrentSpan("http.response.status_code", status),
      isAcceptance(status) ? Effect.void : new NotAccepted({ message: `answered ${status}` })
    )
  })
  return judged.pipe(
    Effect.withSpan("Callback.attempt", {
      kind: "client",
      ...(hash === undefined ? { root: true } : { parent: BlockTrace.parentOf(hash) }),
      attributes: {
        "callback.id": idempotencyKey,
        "callback.sequence": sequence,
        "callback.attempt": attempts + 1,
        "callback.subscription": subscription,
        "server.address": host,
        ...(hash === undefined ? {} : { "block.hash": hash })
      }
    }),
    Effect.catchTag("NotAccepted", () => Effect.void),
    Effect.map(() => reply!)
  )
}

/** Without anybody who receives spans there are none, and nothing is looked for in the body. */
export const make = Effect.map(BlockTrace.Enabled, (enabled) => (enabled ? inSpan : none))
