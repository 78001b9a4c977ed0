/**
 * The form of a chain's file: all facts of one blockchain, as data. A file beside this one holds one such value, and
 * `blockchains.ts` lists them.
 */
import type { FamilyFacts, FamilyName, Format } from "../families/families.ts"

/** Version bytes of extended public keys that wallets of one blockchain alone write, beside xpub, tpub and SLIP-132's. */
export interface ExtendedKeyVersion {
  readonly name: string
  readonly bytes: number
  /** Version bytes of the private key that belongs to such a public one, so that it is known and refused. */
  readonly privateBytes?: number
  /** For the test networks instead of the live one. */
  readonly test: boolean
  /** The address format that the version decides. */
  readonly format?: Format
}

/** The kind of a token contract: one amount per holder, one holder per id, or amounts per holder and id. */
export type TokenKind = "fungible" | "non-fungible" | "multi"

/** Operations whose tables in interface section 8 give listed chains prices of their own. */
export type ListedOperation =
  | "prepare"
  | "internal-transactions"
  | "evm-assets"
  | "evm-logs"
  | "utxo-last-block"
  | "utxo-derive"
  | "utxo-assets"
  | "utxo-prepare"

/** The native coin as the catalogue of market data lists it. Chains that share a coin share this value. */
export interface NativeAsset {
  /** Unique name in the listing. */
  readonly slug: string
  readonly name: string
  /** The coin's id at CoinGecko. */
  readonly coinGecko: string
  /** Place in the list of coins, which began by market capitalisation; a new coin takes the next number. */
  readonly rank: number
  /** A coloured coin with a sign on it: a stroke on a field of 32 by 32, as an SVG path. */
  readonly logo: { readonly colour: string; readonly path: string }
}

/** Facts that differ between the networks of a blockchain; those that its family asks for stand under the family's name. */
export type Network<Name extends FamilyName> = {
  /** `live`: coins have a value; `test`: a public network without; `development`: a network of one's own. */
  readonly networkKind: "live" | "test" | "development"
} & { readonly [Own in Name]: FamilyFacts[Own] }

/** Facts of one blockchain that every family has. */
export interface CommonFacts {
  /** Name in paths and settings. */
  readonly name: string
  /** Ticker of the native coin. */
  readonly unit: string
  /** Digits after the point of one coin. */
  readonly decimals: number
  /** Registered coin type (SLIP-44). */
  readonly slip44: number
  readonly asset: NativeAsset
  /** CoinGecko's id of the chain as a platform of tokens; absent where the chain has none. */
  readonly coinGeckoPlatform?: string
  /** The standard of each kind of token, as the chain's users call it; absent where the chain has no contracts. */
  readonly tokenStandards?: Readonly<Record<TokenKind, string>>
  readonly extendedKeyVersions?: ReadonlyArray<ExtendedKeyVersion>
  /** Blocks of history kept so that a reorganisation can be undone. */
  readonly undoDepth: number
  /** Seconds between blocks, as a rule. */
  readonly blockSeconds: number
  /** Transactions a second on the live network, roughly: what following the chain costs beside following others. */
  readonly transactionsPerSecond: number
  /** Factor of the daily charges, and of the prices of {@link listedPrices}. */
  readonly creditMultiplier: number
  /** Operations whose price tables list the chain; the others cost the Default here. */
  readonly listedPrices: ReadonlyArray<ListedOperation>
  /** URL at which a node of the live network usually answers on the same machine. */
  readonly exampleNode: string
}

interface OfFamily<Name extends FamilyName> extends CommonFacts {
  readonly family: Name
  readonly networks: Readonly<Record<string, Network<Name>>>
}

/** All facts of one blockchain. */
export type Blockchain = { [Name in FamilyName]: OfFamily<Name> }[FamilyName]
