/** Market data: assets with their logos, their latest quotes, the series of their rates, and when sources are due. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

export const up = ({ blob, serial, clustered }: ColumnTypes): ReadonlyArray<string> => [
  `create table asset (
    id ${serial},
    reference_id text not null unique,
    slug text not null unique,
    symbol text not null unique,
    original_symbol text not null,
    name text not null,
    asset_type text not null,
    subtype text not null,
    contracts text not null,
    origin text not null
  )`,
  `create table asset_logo (
    asset bigint not null primary key,
    mime_type text not null,
    data ${blob} not null
  )`,
  `create table asset_provider (
    provider text not null,
    provider_id text not null,
    asset bigint not null,
    described bigint not null,
    primary key (provider, provider_id)
  ) ${clustered}`,
  `create index asset_provider_asset on asset_provider (asset)`,
  `create table asset_quote (
    asset bigint not null primary key,
    amount text not null,
    at bigint not null,
    change_1h text,
    change_24h text,
    change_1w text,
    volume_24h text,
    market_cap text,
    circulating_supply text,
    max_supply text
  )`,
  `create table asset_rate (
    asset bigint not null,
    at bigint not null,
    amount text not null,
    primary key (asset, at)
  ) ${clustered}`,
  `create table market_task (
    name text not null primary key,
    due bigint not null
  )`
]
