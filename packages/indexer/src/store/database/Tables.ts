/** The rows of the store. Hashes and addresses are bytes, amounts decimal text; flags are 0 or 1 on both dialects. */
import type { Selectable } from "kysely"
import type { AccountTables } from "./tables/AccountTables.ts"
import type { BroadcastTables } from "./tables/BroadcastTables.ts"
import type { CallbackTables } from "./tables/CallbackTables.ts"
import type { ChainTables } from "./tables/ChainTables.ts"
import type { ConsumerTables } from "./tables/ConsumerTables.ts"
import type { MarketTables } from "./tables/MarketTables.ts"
import type { PlacementTables } from "./tables/PlacementTables.ts"
import type { StoreTables } from "./tables/StoreTables.ts"
import type { SubscriptionTables } from "./tables/SubscriptionTables.ts"
import type { SyncedAddressTables } from "./tables/SyncedAddressTables.ts"
import type { TransferTables } from "./tables/TransferTables.ts"
import type { WalletTables } from "./tables/WalletTables.ts"

export interface Tables
  extends AccountTables,
    BroadcastTables,
    CallbackTables,
    ChainTables,
    ConsumerTables,
    MarketTables,
    PlacementTables,
    StoreTables,
    SubscriptionTables,
    SyncedAddressTables,
    TransferTables,
    WalletTables {}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
