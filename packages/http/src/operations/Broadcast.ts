/**
 * Sends signed transactions to the nodes of a chain, and says what became of them (wider interface, *Broadcast*). What is
 * sent is written down before, so that a transaction is the same one however often it is asked for, and whatever happens in
 * between is found out by its id.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import type { Broadcasting, BroadcastRefused, Numbered } from "@headwater/indexer/families/Broadcasting"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import * as Broadcasts from "@headwater/indexer/store/broadcasts/Broadcasts"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { conflictingField, invalidField, ResourceNotFound, Unimplemented } from "../contract/Errors.ts"
import type { Freshness } from "./Freshness.ts"
import * as Hex from "./Hex.ts"
import type { ChainOperations } from "./Operations.ts"

type Request = Parameters<ChainOperations["broadcast"]>[0]

const attribute = "signedTransactionHex"

const refusalOf = ({ message, reason }: BroadcastRefused) =>
  reason === "invalid" ? invalidField(attribute, message) : conflictingField(attribute, message)

const seconds = (millis: number) => Math.floor(millis / 1000)

export const make = Effect.fnUntraced(function* (chain: Chain, freshness: Freshness<ConnectedNode>) {
  const database = yield* Database
  const subscriptions = yield* Subscriptions

  const record = (id: number, found: Broadcasts.Found) => Effect.orDie(Broadcasts.record(chain, id, found))

  /** Whether the nodes have the transaction without having been given it here; where so, that is written. */
  const isThere = Effect.fnUntraced(function* (id: number, raw: Uint8Array, broadcasting: Broadcasting) {
    const standing = yield* broadcasting.standing(raw)
    if (standing.state === "waiting") yield* record(id, { outcome: "sent" })
    else if (standing.state === "mined") {
      const { error, hash, height } = standing
      yield* record(id, { outcome: error === undefined ? "mined" : "failed", error, block: { height, hash } })
    } else return false
    return true
  })

  /**
   * Fails where the transaction cannot be mined and no node has it. Of one that cannot be mined as the nodes see the chain that
   * answer, another node may show that it was, and one that was given to the nodes before (`isKnown`) another one may have
   * taken by its own rules: whoever heard that it is refused might pay a second time.
   */
  const check = Effect.fnUntraced(function* (raw: Uint8Array, isKnown: boolean, broadcasting: Broadcasting) {
    const standing = yield* Effect.result(broadcasting.standing(raw))
    if (Result.isSuccess(standing)) {
      const { state } = standing.success
      if (state === "mined" || state === "waiting") return
    }
    yield* Effect.catchTag(broadcasting.check(raw), "BroadcastRefused", (refused) =>
      Effect.fail(Result.isFailure(standing) && (isKnown || refused.reason === "state") ? standing.failure : refused)
    )
  })

  /**
   * Whether nodes that had the transaction have it no more, as those that start anew forget what waits, and may take it again. What
   * cannot be mined as a node sees the chain may be in a block that another one, or none, shows: whoever heard that it is refused
   * might pay a second time. To give the same one again changes nothing where a node that does not answer has it.
   */
  const isForgotten = Effect.fnUntraced(function* (
    known: Broadcasts.Broadcast,
    raw: Uint8Array,
    broadcasting: Broadcasting
  ) {
    if (known.height !== null) return false
    const standing = yield* Effect.result(broadcasting.standing(raw, known.since_height))
    if (Result.isSuccess(standing) && standing.success.state !== "absent") return false
    return yield* broadcasting.check(raw).pipe(
      Effect.as(true),
      Effect.catchTag("BroadcastRefused", () => Effect.succeed(false))
    )
  })

  const begin = (
    { account, callbackSecretKey, callbackUrl }: Request,
    transactionId: Uint8Array,
    raw: Uint8Array,
    since: number,
    numbered: Numbered | undefined
  ) =>
    Broadcasts.begin({
      ...{ account, chain, transactionId, raw, since, numbered },
      callback: callbackUrl === undefined ? undefined : { url: callbackUrl, secret: callbackSecretKey }
    }).pipe(
      // Neither a limit nor a subscription that is the same stops the one of a broadcast.
      Effect.orDie,
      Effect.provideService(Database, database),
      Effect.provideService(Subscriptions, subscriptions)
    )

  const broadcast = Effect.fnUntraced(function* (request: Request) {
    const raw = Hex.decode(request.signedTransactionHex)
    const { head, node } = yield* freshness.nodeAtHead
    const { broadcasting } = node.sideSources
    if (broadcasting === undefined) {
      return yield* new Unimplemented({ message: `Transactions of ${chain.blockchain} cannot be broadcast yet` })
    }
    const id = yield* broadcasting.idOf(raw)
    const answer = { transactionId: Hash.encode(chain, id) }
    const numbered = yield* broadcasting.numberOf?.(raw) ?? Effect.undefined
    const known = yield* Effect.orDie(Broadcasts.find(chain, request.account, id))
    const isOnItsWay = known !== undefined && Broadcasts.isOnItsWay(known)
    if (isOnItsWay && !(yield* isForgotten(known, raw, broadcasting))) {
      yield* request.paying(begin(request, id, raw, head.height, numbered), () => 1)
      return answer
    }
    if (!isOnItsWay) yield* check(raw, known !== undefined, broadcasting)
    const row = yield* request.paying(begin(request, id, raw, head.height, numbered), () => 1)
    // Another process, or another request, may have sent it a moment ago. A node that is down keeps nothing from the others.
    if (yield* Effect.orElseSucceed(isThere(row.id, raw, broadcasting), () => false)) return answer
    const sent = yield* broadcasting.send(raw)
    if (sent.state === "taken") yield* record(row.id, { outcome: "sent" })
    else if (sent.state === "unanswered") {
      yield* Effect.logWarning(`A transaction was given to the nodes, and none has taken it: ${sent.message}`)
      // A node that is down would leave what the others refuse without an outcome: whoever broadcast it hears of that.
      if (sent.isRefused) yield* isThere(row.id, raw, broadcasting)
    } else if (!(yield* isThere(row.id, raw, broadcasting))) {
      const isRefused = yield* Effect.orDie(Broadcasts.refuse(chain, row.id, sent.message))
      if (isRefused || isOnItsWay) return yield* conflictingField(attribute, `the nodes refuse it: ${sent.message}`)
    }
    return answer
  })

  const broadcastOutcome: ChainOperations["broadcastOutcome"] = Effect.fn("Broadcast.outcome")(
    function* ({ account, transactionId }) {
      const row = yield* Effect.orDie(Broadcasts.find(chain, account, Hex.decode(transactionId)))
      if (row === undefined) {
        return yield* new ResourceNotFound({ message: "The account has not broadcast this transaction" })
      }
      const { hash, height } = row
      return {
        createdTimestamp: seconds(row.created),
        ...(row.error === null ? {} : { errorMessage: row.error }),
        ...(hash === null || height === null ? {} : { minedInBlock: { hash: Hash.encode(chain, hash), height } }),
        outcome: row.outcome,
        transactionId: Hash.encode(chain, row.transaction_id),
        updatedTimestamp: seconds(row.changed)
      }
    },
    Effect.provideService(Database, database)
  )

  return {
    broadcast: Effect.fn("Broadcast.broadcast")((request: Request) =>
      broadcast(request).pipe(
        freshness.orUnavailable,
        Effect.catchTag("BroadcastRefused", (refused) => Effect.fail(refusalOf(refused))),
        Effect.provideService(Database, database)
      )
    ),
    broadcastOutcome
  } satisfies Partial<ChainOperations>
})
