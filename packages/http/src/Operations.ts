/**
 * What the endpoints ask of the data behind them. Whoever has the data provides it: operations on one chain with the
 * chain's entry in `ConfiguredChains`, the others as services of their own. What nobody provides answers 501.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { InternalTransaction, TokenTransfer } from "./contract/Addresses.ts"
import type { UtxoBlock, XrpTransaction } from "./contract/Blocks.ts"
import type { Balance, DerivedAddress, EvmAssets } from "./contract/HdWallets.ts"
import type { Asset } from "./contract/MarketData.ts"
import type { Log, NewTransaction, PreparedTransaction } from "./contract/Transactions.ts"
import {
  type AddressNotSynced,
  type BlockNotFound,
  type InvalidData,
  type InvalidPagination,
  type InvalidXpub,
  type NodeUnavailable,
  type ResourceNotFound,
  type TransactionNotFound,
  Unimplemented,
  type XpubNotSynced,
  type XpubSyncInProgress
} from "./Errors.ts"
import type { SortingOrder } from "./Paging.ts"

/** A page by offset. `total` counts the items of all pages. */
export interface OffsetPage<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
}

export interface OffsetRequest {
  readonly limit: number
  readonly offset: number
}

/** A page by cursor; `next` is there where more items follow. */
export interface CursorPage<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | undefined
}

export interface CursorRequest {
  readonly limit: number
  readonly sortingOrder: SortingOrder
  readonly startingAfter: string | undefined
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
  ) => Answer<CursorPage<typeof InternalTransaction.Type>, InvalidPagination>
  readonly tokensTransfers: (
    request: CursorRequest & { readonly account: number; readonly address: string }
  ) => Answer<CursorPage<typeof TokenTransfer.Type>, InvalidPagination | AddressNotSynced>
  readonly evmAssets: (request: WalletRequest) => Answer<typeof EvmAssets.Type, InvalidXpub | XpubNotSynced>
  readonly balance: (request: WalletRequest) => Answer<typeof Balance.Type, InvalidXpub | XpubNotSynced>
  /** Derives, stores and pays in one transaction: `pay` is to be run with the number of addresses inside it. */
  readonly deriveAndSync: (
    request: WalletRequest
  ) => Answer<ReadonlyArray<typeof DerivedAddress.Type>, InvalidXpub | XpubSyncInProgress>
  readonly logs: (
    request: OffsetRequest & { readonly transactionHash: string }
  ) => Answer<OffsetPage<typeof Log.Type>, TransactionNotFound>
  readonly prepare: (transaction: Schema.Struct.Type<typeof NewTransaction>) => Answer<typeof PreparedTransaction.Type>
}

const notProvided = new Unimplemented({ message: "This server does not support the operation" })

/** The market data of this server. */
export const MarketData = Context.Reference<{
  readonly assetById: (id: string) => Effect.Effect<typeof Asset.Type, ResourceNotFound | Unimplemented>
}>("@headwater/http/Operations/MarketData", { defaultValue: () => ({ assetById: () => Effect.fail(notProvided) }) })
