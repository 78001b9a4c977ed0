/** From the items of requests to subscriptions that can be made: the rules beyond the contract's schemas. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { eventKinds } from "@headwater/core/events/EventKinds"
import type { EventType } from "@headwater/core/events/EventType"
import * as EventAbi from "@headwater/core/evm/EventAbi"
import type { NewSubscription } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CurrentAccount } from "../contract/Authentication.ts"
import { AlreadyExists, CallbacksLimitReached, invalidField, Unimplemented } from "../contract/Errors.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import type { NewItem } from "../contract/SubscriptionItems.ts"
import type { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import { ConfiguredChains } from "../server/RequestedChain.ts"
import { invalidData } from "../server/Validation.ts"

/** The confirmation that a new subscription asks for; 0 for an event of the mempool, which has no confirmations. */
const confirmationsOf = (event: EventType, { confirmationsCount, receiveCallbackOn }: NewItem) =>
  eventKinds[event].seenIn === "mempool" ? 0 : (confirmationsCount ?? receiveCallbackOn ?? 1)

/** The filter that is named, whose rules are kept: contract and ABI in the one form in which items are compared with them. */
export const filterOf = (chain: Chain.Chain, { filter }: NewItem) => {
  if (filter === undefined) return undefined
  const { abi, contractAddress: contract } = filter
  const address = contract && Address.encode(chain, Result.getOrThrow(Address.decode(chain, contract)))
  return {
    ...filter,
    ...(address === undefined ? {} : { contractAddress: address }),
    ...(abi === undefined ? {} : { abi: Result.getOrThrow(EventAbi.parse(abi)) })
  }
}

/** The bytes of a transaction's id, whose text the contract has read. */
export const transactionOf = ({ transactionId }: NewItem) =>
  transactionId === undefined ? undefined : new Uint8Array(Buffer.from(transactionId.slice(-64), "hex"))

/** Refuses fields that break a rule, all of them at once; the address and the filter that are named. */
const check = Effect.fnUntraced(function* (policy: CallbackUrlPolicy, chain: Chain.Chain, item: NewItem) {
  const url = yield* Effect.result(policy.check(item.callbackUrl))
  const address = item.address === undefined ? undefined : Address.decodeWithTag(chain, item.address)
  const contract = item.filter?.contractAddress
  const token = contract === undefined ? undefined : Address.decode(chain, contract)
  const abi = item.filter?.abi === undefined ? undefined : EventAbi.parse(item.filter.abi)
  const details = [
    ...(Result.isFailure(url) ? [{ attribute: "callbackUrl", message: url.failure.rule }] : []),
    ...(address !== undefined && Result.isFailure(address)
      ? [{ attribute: "address", message: address.failure.message }]
      : []),
    ...(token !== undefined && Result.isFailure(token)
      ? [{ attribute: "filter.contractAddress", message: token.failure.message }]
      : []),
    ...(abi !== undefined && Result.isFailure(abi) ? [{ attribute: "filter.abi", message: abi.failure.message }] : [])
  ]
  if (details.length > 0) return yield* invalidData(details)
  return { address: address === undefined ? undefined : Result.getOrThrow(address), filter: filterOf(chain, item) }
})

/** Refuses an event that the chain does not serve. */
export const checkEvent = Effect.fnUntraced(function* (event: EventType) {
  const chain = yield* CurrentChain
  const { serves } = (yield* ConfiguredChains).get(Chain.nameOf(chain))!
  if (!chain.events.has(event)) {
    return yield* new Unimplemented({ message: `${chain.blockchain} has no event ${event}` })
  }
  if (serves !== undefined) yield* serves(event)
})

/** The subscription of the present account that an item asks for. */
export const read = Effect.fnUntraced(function* (policy: CallbackUrlPolicy, event: EventType, item: NewItem) {
  const chain = yield* CurrentChain
  const { id: account } = yield* CurrentAccount
  return {
    ...{ account, chain, event, ...(yield* check(policy, chain, item)) },
    transactionId: transactionOf(item),
    callbackUrl: item.callbackUrl,
    secret: item.callbackSecretKey,
    confirmations: confirmationsOf(event, item),
    allowDuplicates: item.allowDuplicates ?? false
  } satisfies NewSubscription
})

/** A request for a subscription on many addresses. */
type NewList = Omit<NewItem, "address"> & { readonly eventType: EventType }

/** The subscription on many addresses that an item asks for. */
export const readList = Effect.fnUntraced(function* (
  policy: CallbackUrlPolicy,
  { confirmationsCount, eventType, receiveCallbackOn, ...rest }: NewList
) {
  const isEach = eventKinds[eventType].confirmations === "confirmationsCount"
  if (isEach && confirmationsCount === undefined) return yield* invalidField("confirmationsCount", "is required")
  if (eventKinds[eventType].class !== "token" && rest.filter?.contractAddress !== undefined) {
    return yield* invalidField("filter.contractAddress", "is for token events alone")
  }
  const confirmation = isEach
    ? { confirmationsCount: confirmationsCount! }
    : { receiveCallbackOn: receiveCallbackOn ?? 1 }
  yield* checkEvent(eventType)
  return yield* read(policy, eventType, { ...rest, ...confirmation })
})

/** What the store refuses, in the words of the interface. */
export const refusals = {
  DuplicateSubscription: ({ referenceId }: { readonly referenceId: string }) =>
    new AlreadyExists({
      message: `The account has the same subscription already: ${referenceId}`,
      details: [{ attribute: "referenceId", message: referenceId }]
    }),
  LimitReached: ({ message }: { readonly message: string }) => new CallbacksLimitReached({ message })
}
