/** The rows of market data. */
import type { Generated } from "kysely"

export interface MarketTables {
  asset: AssetTable
  asset_logo: AssetLogoTable
  asset_provider: AssetProviderTable
  asset_quote: AssetQuoteTable
  asset_rate: AssetRateTable
  market_task: MarketTaskTable
}

/**
 * Who described an asset. What the operator's file says is not changed by others, and what ships with the package not
 * by providers.
 */
export type AssetOrigin = "coingecko" | "bundled" | "file"

/** A coin, a token or a fiat currency of the market-data catalogue. */
export interface AssetTable {
  id: Generated<number>
  reference_id: string
  slug: string
  /** Upper case; no two assets have the same. */
  symbol: string
  original_symbol: string
  name: string
  asset_type: "crypto" | "fiat"
  subtype: "COIN" | "TOKEN"
  /** JSON array of contracts, in the interface's shape. */
  contracts: string
  origin: AssetOrigin
}

export interface AssetLogoTable {
  asset: number
  mime_type: string
  data: Uint8Array
}

/** What a provider calls an asset. */
export interface AssetProviderTable {
  provider: string
  provider_id: string
  asset: number
  /** When the provider last described the asset, in milliseconds since the Unix epoch; 0 for never. */
  described: number
}

/** The latest quote of an asset. Amounts are decimal text; null is not known. */
export interface AssetQuoteTable {
  asset: number
  amount: string
  /** When it was so, in seconds since the Unix epoch. */
  at: number
  change_1h: string | null
  change_24h: string | null
  change_1w: string | null
  volume_24h: string | null
  market_cap: string | null
  circulating_supply: string | null
  max_supply: string | null
}

/** The rates of 30 days, fewer the older they are. */
export interface AssetRateTable {
  asset: number
  /** Seconds since the Unix epoch. */
  at: number
  amount: string
}

/** Recurring work, on market data at first, that one daemon claims and does. */
export interface MarketTaskTable {
  name: string
  /** Milliseconds since the Unix epoch. */
  due: number
}
