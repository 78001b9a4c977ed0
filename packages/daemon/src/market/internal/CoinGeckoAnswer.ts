/** CoinGecko's answers, checked field by field, and turned into entries and quotes. */

import * as Chain from "@headwater/core/chains/Chain"
import * as Asset from "@headwater/core/market/Asset"
import * as Rate from "@headwater/core/market/Rate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const figure = maybe(Rate.Decimal)

/** An asset of `/coins/markets`, in US dollars. */
const Market = Schema.Struct({
  id: Schema.String,
  current_price: figure,
  market_cap: figure,
  total_volume: figure,
  circulating_supply: figure,
  max_supply: figure,
  price_change_percentage_24h: figure,
  price_change_percentage_1h_in_currency: figure,
  price_change_percentage_24h_in_currency: figure,
  price_change_percentage_7d_in_currency: figure,
  last_updated: maybe(Schema.String)
})

const inDollars = maybe(Schema.Struct({ usd: figure }))

/** `/coins/{id}`, which is also what `/coins/{platform}/contract/{address}` answers. */
const Coin = Schema.Struct({
  id: Schema.String,
  symbol: Schema.String,
  name: Schema.String,
  asset_platform_id: maybe(Schema.String),
  platforms: maybe(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  detail_platforms: maybe(
    Schema.Record(
      Schema.String,
      Schema.Struct({ decimal_place: maybe(Schema.Int), contract_address: maybe(Schema.String) })
    )
  ),
  image: maybe(Schema.Unknown),
  market_data: maybe(
    Schema.Struct({
      current_price: inDollars,
      market_cap: inDollars,
      total_volume: inDollars,
      circulating_supply: figure,
      max_supply: figure,
      price_change_percentage_24h: figure,
      price_change_percentage_1h_in_currency: inDollars,
      price_change_percentage_24h_in_currency: inDollars,
      price_change_percentage_7d_in_currency: inDollars,
      last_updated: maybe(Schema.String)
    })
  )
})

/** `/exchange_rates`: units of each currency for one bitcoin, each of which is read by itself. */
const ExchangeRates = Schema.Struct({ rates: Schema.Record(Schema.String, Schema.Unknown) })
const ExchangeRate = Schema.Struct({ value: Rate.Decimal })

type Market = typeof Market.Type
type Coin = typeof Coin.Type

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const decoder = <S extends Schema.Decoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (json: unknown): Result.Result<S["Type"], string> =>
    Result.mapError(decode(json), ({ issue }) => {
      const [first] = format(issue).issues
      return `${(first?.path ?? []).join(".") || "the answer"}: ${first?.message ?? "is not what it should be"}`
    })
}

const decodeMarket = decoder(Market)
export const decodeCoin = decoder(Coin)
export const decodeExchangeRates = decoder(ExchangeRates)
export const decodeExchangeRate = decoder(ExchangeRate)
const decodeList = decoder(Schema.Array(Schema.Unknown))
const decodeId = decoder(Schema.Struct({ id: Schema.String }))

/** Seconds since the Unix epoch of a time in ISO 8601. */
const secondsOf = (text: string | null | undefined): number | undefined => {
  const millis = text === null || text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(millis) ? undefined : Math.floor(millis / 1000)
}

type QuoteOrProblem = Rate.Quote | { readonly problem: string }

/** Undefined where there is no price, which is no fault: nobody trades the asset. */
const quote = (
  amount: string | null | undefined,
  updated: string | null | undefined,
  figures: Record<Exclude<keyof Rate.Quote, "amount" | "at">, string | null | undefined>
): QuoteOrProblem | undefined => {
  if (amount === null || amount === undefined) return undefined
  const at = secondsOf(updated)
  if (at === undefined) return { problem: "last_updated: is not a time" }
  const present = Object.entries(figures).filter((entry): entry is [string, string] => typeof entry[1] === "string")
  return { amount, at, ...Object.fromEntries(present) }
}

const quoteOfMarket = (market: Market) =>
  quote(market.current_price, market.last_updated, {
    change1h: market.price_change_percentage_1h_in_currency,
    change24h: market.price_change_percentage_24h_in_currency ?? market.price_change_percentage_24h,
    change1w: market.price_change_percentage_7d_in_currency,
    volume24h: market.total_volume,
    marketCap: market.market_cap,
    circulatingSupply: market.circulating_supply,
    maxSupply: market.max_supply
  })

/** The rows of a page of markets, each with its quote, or why it has none. A broken row spoils no other row. */
export const quotesOfMarkets = (
  json: unknown
): Result.Result<ReadonlyArray<{ readonly id: string; readonly quote: QuoteOrProblem | undefined }>, string> =>
  Result.map(decodeList(json), (rows) =>
    rows.flatMap((row) => {
      const id = decodeId(row)
      if (Result.isFailure(id)) return []
      const quote = Result.match(decodeMarket(row), {
        onSuccess: quoteOfMarket,
        onFailure: (problem) => ({ problem })
      })
      return { id: id.success.id, quote }
    })
  )

export const quoteOfCoin = ({ market_data: data }: Coin): QuoteOrProblem | undefined =>
  data === null || data === undefined
    ? undefined
    : quote(data.current_price?.usd, data.last_updated, {
        change1h: data.price_change_percentage_1h_in_currency?.usd,
        change24h: data.price_change_percentage_24h_in_currency?.usd ?? data.price_change_percentage_24h,
        change1w: data.price_change_percentage_7d_in_currency?.usd,
        volume24h: data.total_volume?.usd,
        marketCap: data.market_cap?.usd,
        circulatingSupply: data.circulating_supply,
        maxSupply: data.max_supply
      })

/** The live chains that have tokens, by CoinGecko's name of the platform. */
const chainOfPlatform: ReadonlyMap<string, Chain.Chain> = new Map(
  Chain.live.flatMap((chain) => (chain.coinGeckoPlatform === undefined ? [] : [[chain.coinGeckoPlatform, chain]]))
)

/** The contracts of a coin on the chains of the registry; those whose address is none are left out. */
const contractsOf = (coin: Coin): ReadonlyArray<Asset.Contract> => {
  const plain = Object.entries(coin.platforms ?? {}).map(([platform, address]) => [platform, address, null] as const)
  const detailed = Object.entries(coin.detail_platforms ?? {}).map(
    ([platform, { contract_address, decimal_place }]) => [platform, contract_address, decimal_place] as const
  )
  const byPlatform = new Map([...plain, ...detailed].map((entry) => [entry[0], entry]))
  return [...byPlatform.values()].flatMap(([platform, identifier, decimals]) => {
    const chain = chainOfPlatform.get(platform)
    if (chain === undefined || !identifier) return []
    const standard = chain.tokenStandards?.fungible ?? ""
    return Result.match(Asset.identifierOn(chain, { identifier, standard }), {
      onFailure: () => [],
      onSuccess: (identifier) => [
        {
          ...{ blockchain: chain.blockchain, network: chain.network, identifier, standard },
          ...(typeof decimals === "number" ? { fungibleValues: { decimals } } : {})
        }
      ]
    })
  })
}

/** Tickers come in lower case, but for those that have capitals of their own. */
const symbolOf = (symbol: string) => (symbol === symbol.toLowerCase() ? symbol.toUpperCase() : symbol).trim()

const decodeEntry = decoder(Asset.Entry)

/** The catalogue's entry of a coin, checked as every entry is. */
export const entryOfCoin = (coin: Coin, logo: Asset.Entry["logo"]): Result.Result<Asset.Entry, string> => {
  const contracts = contractsOf(coin)
  const platform = coin.asset_platform_id
  const isToken = platform === undefined ? contracts.length > 0 : platform !== null && platform !== ""
  return decodeEntry({
    slug: coin.id.toLowerCase(),
    name: coin.name.trim(),
    originalSymbol: symbolOf(coin.symbol),
    contracts,
    specificData: { type: isToken ? "TOKEN" : "COIN" },
    providers: { coingecko: coin.id },
    ...(logo === undefined ? {} : { logo })
  })
}

const decodeImages = decoder(Schema.Struct({ small: maybe(Schema.String), thumb: maybe(Schema.String) }))

/** Where a coin's logo is; where there is none, CoinGecko gives the name of a file instead of images. */
export const imageOfCoin = ({ image }: Coin): string | undefined =>
  Result.match(decodeImages(image), {
    onFailure: () => undefined,
    onSuccess: ({ small, thumb }) => small ?? thumb ?? undefined
  })

const signatures = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46]]
] as const

/** A logo from the bytes of an image, whose type is read from the bytes themselves; undefined where they are none. */
export const logoOf = (bytes: Buffer): Asset.Entry["logo"] => {
  const [type] = signatures.find(([, signature]) => signature.every((byte, i) => bytes[i] === byte)) ?? []
  return type === undefined ? undefined : { encoding: "base64", imageData: bytes.toString("base64"), mimeType: type }
}
