/** The part `marketData` of the settings. */
import * as Chain from "@headwater/core/chains/Chain"
import { between, text, withDefault } from "@headwater/indexer/sync/SettingFields"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const url = Schema.String.check(
  Schema.makeFilter(
    (value) =>
      Result.match(
        Result.try(() => new URL(value)),
        { onFailure: () => false, onSuccess: ({ protocol }) => protocol === "https:" || protocol === "http:" }
      ) || "must be a URL that begins with http:// or https://"
  )
)

const contract = Schema.String.check(
  Schema.makeFilter((value) => {
    const [blockchain = "", network = "", address = "", ...rest] = value.split("/")
    return (
      (rest.length === 0 && address !== "" && Result.isSuccess(Chain.find(blockchain, network))) ||
      "must be blockchain/network/address, as in ethereum/mainnet/0x…"
    )
  })
)

const CoinGecko = Schema.Struct({
  /** Of the account at CoinGecko; without a key the public API is asked, which allows fewer requests. */
  key: Schema.optionalKey(Schema.RedactedFromValue(text)),
  plan: Schema.Literals(["demo", "pro"]).pipe(withDefault("demo")),
  /** The URL of the API, if not that of the plan. */
  url: Schema.optionalKey(url),
  /** Requests that the plan allows, if not the plan's usual number. */
  requestsPerMinute: Schema.optionalKey(between(1, 100_000)),
  /** How many assets are listed by market capitalisation. */
  top: between(0, 10_000).pipe(withDefault(200)),
  /** Assets to list in any case: CoinGecko's ids, and tokens by their contracts. */
  ids: Schema.Array(text).pipe(withDefault([])),
  contracts: Schema.Array(contract).pipe(withDefault([])),
  ratesMinutes: between(1, 10_080).pipe(withDefault(5)),
  currenciesMinutes: between(1, 10_080).pipe(withDefault(60)),
  /** How often names, contracts and logos are read again. */
  describeDays: between(1, 365).pipe(withDefault(30)),
  logos: Schema.Boolean.pipe(withDefault(true))
}).check(
  Schema.makeFilter(({ key, plan }) =>
    plan === "pro" && key === undefined ? { path: ["key"], issue: "is needed for the plan pro" } : undefined
  )
)

const File = Schema.Struct({
  path: text,
  /** How often the file is checked for a change. */
  everySeconds: between(1, 604_800).pipe(withDefault(60))
})

export const schema = Schema.Struct({
  coingecko: Schema.optionalKey(CoinGecko),
  file: Schema.optionalKey(File)
})

export type CoinGeckoSettings = typeof CoinGecko.Type
export type FileSettings = typeof File.Type
