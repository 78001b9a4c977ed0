/**
 * Assets of the market-data catalogue: coins, tokens and fiat currencies (interface section 2.4), as providers describe
 * them and as the service answers.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Address from "../address/Address.ts"
import * as Chain from "../chains/Chain.ts"
import { Decimal, unit } from "./Rate.ts"

/** Text that a person may read: no control characters, no halves of characters, no spaces around it. */
const text = (maximum: number) =>
  Schema.String.check(
    Schema.makeFilter(
      (value) =>
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
        (/^[^\u0000-\u001f\u007f\ud800-\udfff]+$/u.test(value) && value.length <= maximum && value.trim() === value) ||
        `must be 1 to ${maximum} characters, without control characters and spaces around it`
    )
  )

const orElse =
  <S extends Schema.Top>(value: S["Encoded"]) =>
  (schema: S) =>
    schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

export const Slug = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,199}$/, {
    message: "must be 1 to 200 of a-z, 0-9, '.', '_' and '-', and begin with a letter or digit"
  })
)

const ReferenceId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/, { message: "must be 1 to 64 letters, digits, '_' or '-'" })
)

/** The `standard` of a chain's own coin, which has no contract. */
export const native = "NATIVE"

const contractFields = {
  blockchain: Schema.String,
  network: Schema.String,
  identifier: text(200),
  standard: text(50),
  fungibleValues: Schema.optionalKey(
    Schema.Struct({
      decimals: Schema.optionalKey(
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }, { message: "must be 0 to 255" }))
      )
    })
  )
}

/** The place of an asset on a chain. */
export type Contract = Schema.Struct.Type<typeof contractFields>

/** The canonical text of a token's identifier on its chain: an address in canonical form. */
export const identifierOn = (
  chain: Chain.Chain,
  contract: Pick<Contract, "identifier" | "standard">
): Result.Result<string, Address.InvalidAddress> =>
  chain.tokenStandards === undefined || contract.standard === native
    ? Result.succeed(contract.identifier)
    : Result.map(
        Address.decode(chain, contract.identifier),
        (bytes) => Address.encode(chain, bytes) ?? contract.identifier
      )

const contractProblem = (contract: Contract) => {
  const chain = Chain.find(contract.blockchain, contract.network)
  if (Result.isFailure(chain)) {
    const path = [chain.failure._tag === "UnknownBlockchain" ? "blockchain" : "network"]
    return { path, issue: "is not one that Headwater knows" }
  }
  const identifier = identifierOn(chain.success, contract)
  return Result.isFailure(identifier) ? { path: ["identifier"], issue: identifier.failure.message } : undefined
}

const canonical = (contract: Contract): Contract => ({
  ...contract,
  identifier: Chain.find(contract.blockchain, contract.network).pipe(
    Result.flatMap((chain) => identifierOn(chain, contract)),
    Result.getOrThrow
  )
})

/** A contract on a known chain. The contract's address may be in any valid form and becomes the canonical text. */
export const Contract = Schema.Struct(contractFields)
  .check(Schema.makeFilter(contractProblem))
  .pipe(
    Schema.decodeTo(
      Schema.toType(Schema.Struct(contractFields)),
      SchemaTransformation.transform({ decode: canonical, encode: (contract: Contract) => contract })
    )
  )

const maxLogoBytes = 262_144

/** Types of image that a browser shows. */
const imageTypes = ["image/svg+xml", "image/png", "image/jpeg", "image/webp", "image/gif"] as const

/** An image in base64, at most 256 KiB. */
export const Logo = Schema.Struct({
  encoding: Schema.Literal("base64"),
  imageData: Schema.String.check(
    Schema.makeFilter(
      (data) => (data.length / 4) * 3 - (/=*$/.exec(data)?.[0].length ?? 0) <= maxLogoBytes || "must be at most 256 KiB"
    ),
    Schema.isPattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, { message: "must be base64" }),
    Schema.isNonEmpty({ message: "must not be empty" })
  ),
  mimeType: Schema.Literals(imageTypes)
})

const figure = Schema.optionalKey(Schema.Union([Schema.Literal(""), Decimal]))

/** The figures of a listing under the names of the interface; empty text where a figure is not known. */
const SpecificData = Schema.Struct({
  "1HourPriceChangeInPercentage": figure,
  "1WeekPriceChangeInPercentage": figure,
  "24HoursPriceChangeInPercentage": figure,
  "24HoursTradingVolume": figure,
  circulatingSupply: figure,
  marketCapInUSD: figure,
  maxSupply: figure,
  type: Schema.optionalKey(Schema.Literals(["COIN", "TOKEN"]))
})

const LatestRate = Schema.Struct({
  amount: Decimal,
  unit: Schema.Literal(unit).pipe(orElse(unit)),
  calculationTimestamp: Schema.optionalKey(Schema.Int)
})

/**
 * An asset as a provider describes it, in the interface's own shape, so that an answer of the service is also an entry.
 * `providers` holds the asset's ids at providers: `{ coingecko: "bitcoin" }`.
 */
export const Entry = Schema.Struct({
  slug: Slug,
  name: text(200),
  originalSymbol: text(100),
  symbol: Schema.optionalKey(text(100)),
  referenceId: Schema.optionalKey(ReferenceId),
  assetType: Schema.Literals(["crypto", "fiat"]).pipe(orElse("crypto")),
  contracts: Schema.Array(Contract)
    .check(Schema.isMaxLength(1_000, { message: "must be at most 1000" }))
    .pipe(orElse([])),
  logo: Schema.optionalKey(Logo),
  latestRate: Schema.optionalKey(LatestRate),
  specificData: Schema.optionalKey(SpecificData),
  providers: Schema.optionalKey(Schema.Struct({ coingecko: Schema.optionalKey(text(200)) }))
})

export type Entry = typeof Entry.Type

/** The entry of an asset that is listed already: its rate without the description. */
export const RateEntry = Schema.Struct({
  slug: Slug,
  latestRate: LatestRate,
  specificData: Schema.optionalKey(SpecificData)
})

export type RateEntry = typeof RateEntry.Type

/** An asset as the service answers: `data.item` of interface section 2.4. Figures that are not known are empty text. */
export interface Asset {
  readonly contracts: ReadonlyArray<Contract>
  readonly latestRate: { readonly amount: string; readonly unit: string; readonly calculationTimestamp?: number }
  readonly logo: { readonly encoding: string; readonly imageData: string; readonly mimeType: string }
  readonly name: string
  readonly originalSymbol: string
  readonly referenceId: string
  readonly slug: string
  readonly symbol: string
  readonly type: "crypto" | "fiat"
  readonly specificData: {
    readonly "1HourPriceChangeInPercentage": string
    readonly "1WeekPriceChangeInPercentage": string
    readonly "24HoursPriceChangeInPercentage": string
    readonly "24HoursTradingVolume": string
    readonly circulatingSupply: string
    readonly marketCapInUSD: string
    readonly maxSupply: string
    readonly type: string
  }
}
