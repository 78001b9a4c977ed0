/**
 * What the endpoints ask of the data behind them. Operations on one chain are provided with the chain's entry in
 * `ConfiguredChains`, the others as services of their own. An operation that is not provided answers 501.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { InternalTransaction, TokenTransfer } from "../contract/Addresses.ts"
import type { UtxoBlock, XrpTransaction } from "../contract/Blocks.ts"
import {
  type AddressNotSynced,
  type BlockNotFound,
  type Conflict,
  type InsufficientCredits,
  type InvalidData,
  type InvalidXpub,
  type NodeUnavailable,
  type ResourceNotFound,
  type TransactionNotFound,
  Unimplemented,
  type XpubNotSynced,
  type XpubSyncInProgress
} from "../contract/Errors.ts"
import type { Balance, DerivedAddress, EvmAssets, WalletStatus } from "../contract/HdWallets.ts"
import type { Asset, ListedAsset } from "../contract/MarketData.ts"
import type { SortingOrder } from "../contract/Paging.ts"
import type { Payment } from "../contract/Price.ts"
import type { Log, NewTransaction, PreparedTransaction } from "../contract/Transactions.ts"

/** A page by offset. `total` counts the items of all pages. */
export interface OffsetPage<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
}

export interface OffsetRequest {
  readonly limit: number
  readonly offset: number
}

/**
 * Where an item stands in the order of a list, by which the next page begins after it: whole numbers that no insert and
 * no reorganisation gives to another item. Clients see an opaque form of the position.
 */
export type Position = ReadonlyArray<number>

/** A page by cursor; `next` is the position of its last item, where more follow. */
export interface CursorPage<A> {
  readonly items: ReadonlyArray<A>
  readonly next: Position | undefined
}

export interface CursorRequest {
  readonly limit: number
  readonly sortingOrder: SortingOrder
  readonly after: Position | undefined
}

type Answer<A, E = never> = Effect.Effect<A, E | InvalidData | Unimplemented | NodeUnavailable>

export interface WalletRequest {
  readonly account: number
  readonly extendedPublicKey: string
  readonly derivation: "account" | "bip32"
}

/** Operations on one chain. */
export interface ChainOperations {
  readonly latestBlock: Answer<typeof UtxoBlock.Type>
  readonly xrpTransactions: (
    request: OffsetRequest & { readonly blockHash: string }
  ) => Answer<OffsetPage<typeof XrpTransaction.Type>, BlockNotFound>
  readonly internalTransactions: (
    request: CursorRequest & { readonly account: number; readonly address: string }
  ) => Answer<CursorPage<typeof InternalTransaction.Type>>
  readonly tokensTransfers: (
    request: CursorRequest & { readonly account: number; readonly address: string }
  ) => Answer<CursorPage<typeof TokenTransfer.Type>, AddressNotSynced>
  readonly evmAssets: (request: WalletRequest) => Answer<typeof EvmAssets.Type, InvalidXpub | XpubNotSynced>
  readonly balance: (
    request: WalletRequest
  ) => Answer<typeof Balance.Type, InvalidXpub | XpubNotSynced | XpubSyncInProgress>
  readonly walletStatus: (request: WalletRequest) => Answer<typeof WalletStatus.Type, InvalidXpub | XpubNotSynced>
  /** Derives, and stores through `paying`, so that both the addresses and their price are written or neither is. */
  readonly deriveAndSync: (
    request: WalletRequest,
    paying: Payment["Service"]["paying"]
  ) => Answer<ReadonlyArray<typeof DerivedAddress.Type>, InvalidXpub | XpubSyncInProgress | InsufficientCredits>
  readonly logs: (
    request: OffsetRequest & { readonly transactionHash: string }
  ) => Answer<OffsetPage<typeof Log.Type>, TransactionNotFound>
  readonly prepare: (
    transaction: Schema.Struct.Type<typeof NewTransaction>
  ) => Answer<typeof PreparedTransaction.Type, Conflict>
}

const notProvided = new Unimplemented({ message: "This server does not support the operation" })

type OneAsset = (value: string) => Effect.Effect<typeof Asset.Type, ResourceNotFound | Unimplemented>

/** The market data of this server. */
export interface MarketOperations {
  readonly assetById: OneAsset
  readonly assetBySymbol: OneAsset
  readonly assetBySlug: OneAsset
  readonly assets: (page: OffsetRequest) => Effect.Effect<OffsetPage<typeof ListedAsset.Type>, Unimplemented>
}

export const MarketData = Context.Reference<MarketOperations>("@headwater/http/operations/Operations/MarketData", {
  defaultValue: () => {
    const missing = () => Effect.fail(notProvided)
    return { assetById: missing, assetBySymbol: missing, assetBySlug: missing, assets: missing }
  }
})
