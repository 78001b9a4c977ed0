/**
 * Answers the endpoints on one chain's data by the operation of the same name in the chain's entry in
 * `ConfiguredChains`.
 */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Layer from "effect/Layer"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import { AddressHistoryGroup } from "../contract/AddressHistory.ts"
import { AddressesGroup } from "../contract/Addresses.ts"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { BalancesGroup } from "../contract/Balances.ts"
import { BlocksGroup } from "../contract/Blocks.ts"
import { BroadcastsGroup } from "../contract/Broadcasts.ts"
import { invalidField, Unimplemented } from "../contract/Errors.ts"
import { FeesGroup } from "../contract/Fees.ts"
import { HdWalletDetailsGroup } from "../contract/HdWalletDetails.ts"
import { HdWalletListsGroup } from "../contract/HdWalletLists.ts"
import { HdWalletsGroup } from "../contract/HdWallets.ts"
import { NextNonceGroup } from "../contract/NextNonce.ts"
import { DefaultLimit, Listing, PositionLength } from "../contract/Paging.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import { RawTransactionsGroup } from "../contract/RawTransactions.ts"
import { SimulationGroup } from "../contract/Simulation.ts"
import { TokenPreparationGroup } from "../contract/TokenPreparation.ts"
import { TransactionsGroup } from "../contract/Transactions.ts"
import { XrpPreparationGroup } from "../contract/XrpPreparation.ts"
import { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import * as Pages from "../server/Pages.ts"
import type { RecordedList } from "../operations/Operations.ts"
import { ConfiguredChains } from "../server/RequestedChain.ts"

/** A request to any of the endpoints, with the parts that some endpoint has. */
interface AnyRequest {
  readonly endpoint: HttpApiEndpoint.Top
  readonly params: Readonly<Record<string, string | number>>
  readonly query: Pages.OffsetQuery & Pages.CursorQuery & { readonly context?: string }
  readonly payload?: { readonly data?: { readonly item?: object } } | null
}

/** An operation of any name. `ChainOperations` checks requests, answers and errors where the operation is made. */
type AnyOperation = (request: object) => Effect.Effect<never>

type AnyHandler = (request: AnyRequest) => Effect.Effect<never, never, CurrentAccount | CurrentChain | Payment>

/** An address in the form in which answers have it, whatever its form in the path; what is no address as it is. */
const canonical = (chain: Chain.Chain, text: string): string =>
  Result.match(Address.decodeWithTag(chain, text), {
    onFailure: () => text,
    onSuccess: (address) => Address.encode(chain, address) ?? text
  })

/** Parts of a path that say which list is meant. */
const namesOf = (chain: Chain.Chain, own: AnyRequest["params"]) =>
  Object.entries(own).map(([name, value]) => (name === "address" ? canonical(chain, String(value)) : value))

/** The handler of all endpoints: the name of an endpoint is the operation's, and the annotation {@link Listing} says how to page. */
const handler = Effect.map(ConfiguredChains, (configured) => {
  const operationOf = Effect.fnUntraced(function* (chain: Chain.Chain, name: string) {
    const operations: Readonly<Record<string, unknown>> = configured.get(Chain.nameOf(chain))?.operations ?? {}
    return (
      (operations[name] as AnyOperation | undefined) ??
      (yield* new Unimplemented({ message: `This server does not support the operation on ${chain.blockchain}` }))
    )
  })

  const handle = Effect.fnUntraced(function* ({ endpoint, params, payload, query }: AnyRequest) {
    const chain = yield* CurrentChain
    const { id: account } = yield* CurrentAccount
    const { paying } = yield* Payment
    const operation = yield* operationOf(chain, endpoint.identifier)
    const { blockchain, network, ...own } = params
    const request = { ...own, ...query, ...payload?.data?.item, account, paying }
    const defaultLimit = Context.get(endpoint.annotations, DefaultLimit)
    switch (Context.get(endpoint.annotations, Listing)) {
      case "offset":
        return yield* Pages.byOffset(query, defaultLimit, (page) => operation({ ...request, ...page }))
      case "cursor": {
        const list = [endpoint.identifier, account, Chain.nameOf(chain), ...namesOf(chain, own)]
        const numbers = Context.get(endpoint.annotations, PositionLength)
        return yield* Pages.byCursor(list, numbers, { limit: defaultLimit, ...query }, (page) =>
          operation({ ...request, ...page })
        )
      }
      case "whole": {
        const { items, ...rest }: RecordedList<unknown> = yield* operation(request)
        return { limit: items.length, offset: 0, total: items.length, ...rest, items }
      }
      case undefined:
        return { item: yield* operation(request) }
    }
  })
  return handle as AnyHandler
})

/** The handlers of a group, by the names of the endpoints. */
const handlersOf = <Name extends string>(group: { readonly endpoints: Readonly<Record<Name, unknown>> }) =>
  Effect.map(handler, (handler) => Record.map(group.endpoints, () => handler))

/** Answers all endpoints of a group. */
const answering =
  <Name extends string>(group: { readonly endpoints: Readonly<Record<Name, unknown>> }) =>
  <Handled>(handlers: { readonly handleAll: (all: Readonly<Record<Name, AnyHandler>>) => Handled }) =>
    Effect.map(handlersOf(group), (all) => handlers.handleAll(all))

/** A URL for callbacks keeps the rules of a subscription's. */
const checkUrl = (policy: CallbackUrlPolicy, { callbackUrl }: { readonly callbackUrl?: string }) =>
  callbackUrl === undefined
    ? Effect.void
    : Effect.mapError(policy.check(callbackUrl), ({ rule }) => invalidField("callbackUrl", rule))

export const layer = Layer.mergeAll(
  HttpApiBuilder.group(Api, "addresses", answering(AddressesGroup)),
  HttpApiBuilder.group(Api, "addressHistory", answering(AddressHistoryGroup)),
  HttpApiBuilder.group(Api, "balances", answering(BalancesGroup)),
  HttpApiBuilder.group(Api, "blocks", answering(BlocksGroup)),
  HttpApiBuilder.group(Api, "broadcasts", (group) =>
    Effect.map(Effect.all([handlersOf(BroadcastsGroup), CallbackUrlPolicy]), ([all, policy]) =>
      group.handleAll({
        ...all,
        broadcast: (request) => Effect.andThen(checkUrl(policy, request.payload.data.item), all.broadcast(request))
      })
    )
  ),
  HttpApiBuilder.group(Api, "hdWallets", answering(HdWalletsGroup)),
  HttpApiBuilder.group(Api, "hdWalletLists", answering(HdWalletListsGroup)),
  HttpApiBuilder.group(Api, "hdWalletDetails", answering(HdWalletDetailsGroup)),
  HttpApiBuilder.group(Api, "transactions", answering(TransactionsGroup)),
  HttpApiBuilder.group(Api, "tokenPreparation", answering(TokenPreparationGroup)),
  HttpApiBuilder.group(Api, "xrpPreparation", answering(XrpPreparationGroup)),
  HttpApiBuilder.group(Api, "simulation", answering(SimulationGroup)),
  HttpApiBuilder.group(Api, "fees", answering(FeesGroup)),
  HttpApiBuilder.group(Api, "nextNonce", answering(NextNonceGroup)),
  HttpApiBuilder.group(Api, "rawTransactions", answering(RawTransactionsGroup))
)
