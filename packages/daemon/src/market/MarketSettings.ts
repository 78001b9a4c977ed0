/** What an operator can decide of market data: the part `marketData` of the settings. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const withDefault =
  <S extends Schema.Top>(value: S["Encoded"]) =>
  (schema: S) =>
    schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum, maximum }, { message: `must be a whole number from ${minimum} to ${maximum}` })
  )

const text = Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" }))

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
  /** Of the account at CoinGecko; without one the public API is asked, which allows less. */
  key: Schema.optionalKey(Schema.RedactedFromValue(text)),
  plan: Schema.Literals(["demo", "pro"]).pipe(withDefault("demo")),
  /** Where the API is, if not at the plan's own place. */
  url: Schema.optionalKey(url),
  /** What the plan allows, if it is not the plan's usual figure. */
  requestsPerMinute: Schema.optionalKey(between(1, 100_000)),
  /** So many assets by market capitalisation are listed. */
  top: between(0, 10_000).pipe(withDefault(200)),
  /** Assets to list in any case: ids of CoinGecko's, and tokens by their contracts. */
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
  /** How often it is looked whether the file has changed. */
  everySeconds: between(1, 604_800).pipe(withDefault(60))
})

export const schema = Schema.Struct({
  coingecko: Schema.optionalKey(CoinGecko),
  file: Schema.optionalKey(File)
})

export type CoinGeckoSettings = typeof CoinGecko.Type
export type FileSettings = typeof File.Type
