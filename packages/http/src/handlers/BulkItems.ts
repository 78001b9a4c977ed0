/** The items of requests for many subscriptions: how they are read, and what is answered of each. */
import { createHash } from "node:crypto"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { EventType } from "@headwater/core/events/EventType"
import * as Hash from "@headwater/core/Hash"
import type * as BulkRequests from "@headwater/indexer/store/subscriptions/BulkRequests"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { InvalidData } from "../contract/Errors.ts"
import { type NewItem, requestOf } from "../contract/SubscriptionItems.ts"
import { detailsOf, invalidData } from "../server/Validation.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"

/** An error of one item. */
export interface Refused {
  readonly _tag: string
  readonly message: string
  readonly details?: ReadonlyArray<{ readonly attribute: string; readonly message: string }>
}

/** An item that was refused. */
export const outcomeOf = ({ _tag, details, message }: Refused): Exclude<BulkRequests.Outcome, null> => ({
  error: { code: _tag, message, ...(details === undefined ? {} : { details }) }
})

/** An item that its schema reads. */
export interface Asked {
  readonly event: EventType
  readonly item: NewItem
}

/** An item by the schema of its event. */
export const decoded = (item: unknown): Result.Result<Asked, InvalidData> => {
  const event = Predicate.isObject(item) && "eventType" in item ? item.eventType : undefined
  if (!Schema.is(EventType)(event)) {
    const message = `must be one of ${EventType.literals.join(", ")}`
    return Result.fail(invalidData([{ attribute: "eventType", message }]))
  }
  return Result.mapBoth(Schema.decodeUnknownResult(requestOf(event), { errors: "all" })(item), {
    onFailure: ({ issue }) => invalidData(detailsOf(issue)),
    onSuccess: (item) => ({ event, item })
  })
}

/** What a request asks for. Whether a secret is meant counts, and not which: what is stored of it could be guessed. */
export const digestOf = (chain: Chain.Chain, items: ReadonlyArray<unknown>) =>
  createHash("sha256")
    .update(JSON.stringify([Chain.nameOf(chain), items], (key, value) => (key === "callbackSecretKey" ? true : value)))
    .digest()

/** A subscription that was made, from what was asked for. */
export const created = (
  chain: Chain.Chain,
  { event, item }: Asked,
  { created, referenceId }: Exclude<BulkRequests.Outcome, null | { readonly error: unknown }>
) => {
  const { confirmations: name } = eventKinds[event]
  const filter = NewSubscriptions.filterOf(chain, item)
  const address = item.address === undefined ? undefined : Address.decodeWithTag(chain, item.address)
  const transactionId = NewSubscriptions.transactionOf(item)
  return {
    ...(address === undefined ? {} : { address: Address.encode(chain, Result.getOrThrow(address))! }),
    ...(filter === undefined ? {} : { filter }),
    ...(transactionId === undefined ? {} : { transactionId: Hash.encode(chain, transactionId) }),
    ...(name === "none" ? {} : { [name]: item.confirmationsCount ?? item.receiveCallbackOn ?? 1 }),
    ...{ callbackUrl: item.callbackUrl, createdTimestamp: created, eventType: event, isActive: true, referenceId }
  }
}
