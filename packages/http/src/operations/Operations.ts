/**
 * The operations behind the endpoints on data. Operations on one chain are provided with the chain's entry in
 * `ConfiguredChains`, the others by services of their own. An operation that is not provided answers 501.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import type { Derivation, Format } from "@headwater/core/keys/Derivation"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type { AddressHistoryGroup } from "../contract/AddressHistory.ts"
import type { AddressesGroup } from "../contract/Addresses.ts"
import type { BalancesGroup } from "../contract/Balances.ts"
import type { BlocksGroup } from "../contract/Blocks.ts"
import type { BroadcastsGroup } from "../contract/Broadcasts.ts"
import type { chainParams, context } from "../contract/Common.ts"
import {
  type InsufficientCredits,
  type PairNotAvailable,
  type ResourceNotFound,
  Unimplemented
} from "../contract/Errors.ts"
import type { FeesGroup } from "../contract/Fees.ts"
import type { HdWalletDetailsGroup } from "../contract/HdWalletDetails.ts"
import type { HdWalletListsGroup } from "../contract/HdWalletLists.ts"
import type { HdWalletsGroup } from "../contract/HdWallets.ts"
import type { Asset, ExchangeRate, ListedAsset, SupportedAsset } from "../contract/MarketData.ts"
import type { NextNonceGroup } from "../contract/NextNonce.ts"
import type { AnsweredFrom, cursorQuery, SortingOrder } from "../contract/Paging.ts"
import type { Payment } from "../contract/Price.ts"
import type { RawTransactionsGroup } from "../contract/RawTransactions.ts"
import type { SimulationGroup } from "../contract/Simulation.ts"
import type { TokenPreparationGroup } from "../contract/TokenPreparation.ts"
import type { TransactionsGroup } from "../contract/Transactions.ts"
import type { XrpPreparationGroup } from "../contract/XrpPreparation.ts"

/** What an answer rests on, where it says so. */
export interface Grounds {
  /** The block from which on the list is whole; absent where that is the beginning. */
  readonly completeFrom?: number | undefined
  readonly answeredFrom?: typeof AnsweredFrom.Type
}

/** A page by offset. `total` counts the items of all pages. */
export interface OffsetPage<A> extends Grounds {
  readonly items: ReadonlyArray<A>
  readonly total: number
}

export interface OffsetRequest {
  readonly limit: number
  readonly offset: number
}

/**
 * The place of an item in the order of a list, after which the next page begins: whole numbers that no insert and no
 * reorganisation gives to another item. Clients see an opaque cursor.
 */
export type Position = ReadonlyArray<number>

/** A page by cursor; `next` is the position of the last item, where more items follow. */
export interface CursorPage<A> extends Grounds {
  readonly items: ReadonlyArray<A>
  readonly next: Position | undefined
}

/** A whole list that rests on the record; `completeFrom` as in {@link CursorPage}. */
export interface RecordedList<A> {
  readonly items: ReadonlyArray<A>
  readonly completeFrom?: number
}

export interface CursorRequest {
  readonly limit: number
  readonly sortingOrder: SortingOrder
  readonly after: Position | undefined
}

/** The caller of an operation, and how a change of the store is paid for. */
export interface Caller {
  readonly account: number
  readonly paying: Payment["Service"]["paying"]
}

/** The fields of a request that name a wallet. */
export interface WalletRequest extends Pick<Caller, "account"> {
  readonly extendedPublicKey: string
  /** `account` if not given. */
  readonly derivation?: Derivation
  /** What the key's version says, else the chain's usual one, if not given. */
  readonly format?: Format
}

type Endpoint = HttpApiGroup.Endpoints<
  | typeof AddressHistoryGroup
  | typeof BalancesGroup
  | typeof BlocksGroup
  | typeof BroadcastsGroup
  | typeof TransactionsGroup
  | typeof TokenPreparationGroup
  | typeof XrpPreparationGroup
  | typeof SimulationGroup
  | typeof FeesGroup
  | typeof NextNonceGroup
  | typeof RawTransactionsGroup
  | typeof AddressesGroup
  | typeof HdWalletsGroup
  | typeof HdWalletDetailsGroup
  | typeof HdWalletListsGroup
>

/** Where the whole body may be absent, so may every field. */
type ItemOf<Payload> = [Payload] extends [{ readonly data: { readonly item: infer Item } }]
  ? Item
  : [NonNullable<Payload>] extends [{ readonly data?: { readonly item?: infer Item } }]
    ? Partial<NonNullable<Item>>
    : unknown

/** The fields of a request in the path, the query and the item of the body, without chain, `context` and paging. */
type FieldsOf<E extends Endpoint> = Omit<E["~Params"]["Type"], keyof typeof chainParams> &
  Omit<E["~Query"]["Type"], keyof typeof context | keyof OffsetRequest | keyof typeof cursorQuery> &
  ([E["~Payload"]] extends [never] ? unknown : ItemOf<E["~Payload"]["Type"]>)

type Answering<E extends Endpoint, Request, Answer> = (
  request: FieldsOf<E> & Caller & Request
) => Effect.Effect<Answer, E["~Error"]["Type"] | InsufficientCredits>

/** An item is answered as such; a list as a page of the kind that the query asks for, or whole. */
type Operation<E extends Endpoint, Success, Query> = Success extends { readonly item: infer Item }
  ? Answering<E, unknown, Item>
  : Success extends { readonly items: ReadonlyArray<infer Item> }
    ? "startingAfter" extends keyof Query
      ? Answering<E, CursorRequest, CursorPage<Item>>
      : "offset" extends keyof Query
        ? Answering<E, OffsetRequest, OffsetPage<Item>>
        : Answering<E, unknown, RecordedList<Item>>
    : never

/** The operations on one chain, by the names of their endpoints. */
export type ChainOperations = {
  readonly [E in Endpoint as E["identifier"]]: Operation<E, E["~Success"]["Type"], E["~Query"]["Type"]>
}

/** A chain that the operator has configured a node for, with the operations and events that this server provides. */
export interface ConfiguredChain {
  readonly chain: Chain
  /** An operation that is absent answers 501. */
  readonly operations?: Partial<ChainOperations>
  /** Fails where the chain's node cannot serve an event that chains of its family have. */
  readonly serves?: (event: EventType) => Effect.Effect<void, Unimplemented>
}

const notProvided = new Unimplemented({ message: "This server does not support the operation" })

type OneAsset = (value: string) => Effect.Effect<typeof Asset.Type, ResourceNotFound | Unimplemented>

type OneRate = (pair: {
  readonly from: string
  readonly to: string
  readonly at?: number | undefined
}) => Effect.Effect<typeof ExchangeRate.Type, ResourceNotFound | PairNotAvailable | Unimplemented>

/** The market data of this server. */
export interface MarketOperations {
  readonly assetById: OneAsset
  readonly assetBySymbol: OneAsset
  readonly assetBySlug: OneAsset
  readonly assets: (page: OffsetRequest) => Effect.Effect<OffsetPage<typeof ListedAsset.Type>, Unimplemented>
  readonly supportedAssets: (
    page: OffsetRequest & { readonly type?: "crypto" | "fiat" }
  ) => Effect.Effect<OffsetPage<typeof SupportedAsset.Type>, Unimplemented>
  readonly rateById: OneRate
  readonly rateBySymbol: OneRate
}

export const MarketData = Context.Reference<MarketOperations>("@headwater/http/operations/Operations/MarketData", {
  defaultValue: () => {
    const missing = () => Effect.fail(notProvided)
    return {
      ...{ assetById: missing, assetBySymbol: missing, assetBySlug: missing, assets: missing },
      ...{ supportedAssets: missing, rateById: missing, rateBySymbol: missing }
    }
  }
})
