/** The settings of an embedded indexer. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { Database, Location } from "../store/database/Database.ts"
import * as PostgresUrl from "../store/database/PostgresUrl.ts"
import * as ChainSettings from "../sync/ChainSettings.ts"
import { between } from "../sync/SettingFields.ts"

/** The settings cannot be used: each problem with its path, and never with its value. */
export class InvalidIndexerSettings extends Schema.TaggedError<InvalidIndexerSettings>()("InvalidIndexerSettings", {
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The settings of the indexer are not right: ${this.problems.join("; ")}`
  }
}

/** Settings as a program writes them. */
export interface IndexerSettings<E = never> {
  /**
   * The chains by `blockchain/network`, each with the URLs of its nodes; the other fields, and their defaults, are those of
   * the daemon's settings.
   */
  readonly chains: Readonly<Record<string, ChainSettings.Written>>
  /** A SQLite file, which one program has for itself, or a PostgreSQL URL, which may name a primary and its standbys. */
  readonly store: { readonly sqlite: string } | { readonly postgres: string; readonly connections?: number }
  /**
   * Addresses, each of every configured chain that has such addresses, or all of all chains. An effect reads them off the
   * program's own tables in the store, before any block is committed.
   */
  readonly addresses: ReadonlyArray<string> | "all" | Effect.Effect<ReadonlyArray<string>, E, Database>
  /** How many blocks following may be ahead of what an open consumer has acknowledged; 1,000 by default. */
  readonly ahead?: number
  /** How many blocks are kept for consumers at least; all of them by default. */
  readonly keepBlocks?: number
  /** How many worker threads read blocks long past; none by default. */
  readonly threads?: number
}

export interface ConfiguredChain {
  readonly chain: Chain.Chain
  readonly settings: ChainSettings.ChainSettings
}

/** Settings that were read. */
export interface ReadSettings<E = never> {
  readonly chains: ReadonlyArray<ConfiguredChain>
  /** The addresses of each chain. */
  readonly addresses: Effect.Effect<
    ReadonlyMap<Chain.Chain, ReadonlyArray<AddressBytes> | "all">,
    InvalidIndexerSettings | E,
    Database
  >
  readonly location: Location
  readonly ahead: number
  readonly keepBlocks: number | undefined
  readonly threads: number
}

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { message: "must be a whole number of at least 1" }))

const named = Schema.String.check(Schema.isMinLength(1, { message: "must not be empty" }))

/** No union: each form would tell what the other one has as its own fault. */
const Store = Schema.Struct({
  sqlite: Schema.optionalKey(named),
  postgres: Schema.optionalKey(named.check(PostgresUrl.rules)),
  connections: Schema.optionalKey(count)
}).check(
  Schema.makeFilter(
    ({ postgres, sqlite }) =>
      (postgres === undefined) !== (sqlite === undefined) || "must name a sqlite file or a postgres URL, and not both"
  ),
  Schema.makeFilter(
    ({ connections, sqlite }) =>
      connections === undefined || sqlite === undefined || "has connections with a postgres URL alone"
  )
)

const Written = Schema.Struct({
  chains: Schema.Struct(
    Object.fromEntries(
      Chain.all.map((chain) => [Chain.nameOf(chain), Schema.optionalKey(ChainSettings.schema(chain))] as const)
    )
  ).check(Schema.isMinProperties(1, { message: 'must name at least one chain, as "ethereum/mainnet"' })),
  store: Store,
  addresses: Schema.Union([Schema.Literal("all"), Schema.Array(Schema.String)]),
  ahead: Schema.optionalKey(count),
  keepBlocks: Schema.optionalKey(count),
  threads: Schema.optionalKey(between(0, 64))
})

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey"
      ? "is not a setting"
      : issue._tag === "MissingKey"
        ? "is missing"
        : SchemaIssue.defaultLeafHook(issue)
})

/** Each problem with its path, and never with its value. */
export const problemsOf = (issue: SchemaIssue.Issue) =>
  format(issue).issues.map(({ message, path = [] }) => `${path.map(String).join(".")} ${message}`.trim())

/** The text of each address in bytes, of each chain that has such addresses: every one has to be of some chain. */
export const addressesOf = (
  chains: ReadonlyArray<Chain.Chain>,
  addresses: ReadonlyArray<string>
): Result.Result<ReadonlyMap<Chain.Chain, ReadonlyArray<AddressBytes>>, InvalidIndexerSettings> => {
  const found = new Map<Chain.Chain, Array<AddressBytes>>(chains.map((chain) => [chain, []]))
  const problems: Array<string> = []
  addresses.forEach((text, index) => {
    let isOfOne = false
    for (const [chain, own] of found) {
      const decoded = Address.decodeWithTag(chain, text)
      if (Result.isFailure(decoded)) continue
      own.push(decoded.success)
      isOfOne = true
    }
    if (!isOfOne) problems.push(`addresses.${index} is no address of a configured chain`)
  })
  return problems.length === 0
    ? Result.succeed(found)
    : Result.fail(new InvalidIndexerSettings({ problems: problems.slice(0, 20) }))
}

/** Reads settings, with the defaults of what they leave out. */
export const read = Effect.fn("IndexerSettings.read")(function* <E>({ addresses, ...written }: IndexerSettings<E>) {
  const settings = yield* Schema.decodeUnknownEffect(Written)(
    // A program without types may have left the addresses out.
    addresses === undefined ? written : { ...written, addresses: Effect.isEffect(addresses) ? [] : addresses },
    { errors: "all", onExcessProperty: "error" }
  ).pipe(Effect.mapError(({ issue }) => new InvalidIndexerSettings({ problems: problemsOf(issue) })))
  const configured = Chain.all.flatMap((chain) => {
    const own = settings.chains[Chain.nameOf(chain)]
    return own === undefined ? [] : [{ chain, settings: own }]
  })
  const chains = configured.map(({ chain }) => chain)
  const decode = (texts: ReadonlyArray<string>) => Effect.fromResult(addressesOf(chains, texts))
  // Those that are written are refused before anything is opened.
  const given =
    settings.addresses === "all"
      ? new Map(chains.map((chain) => [chain, "all" as const]))
      : yield* decode(settings.addresses)
  const { connections = 10, postgres, sqlite } = settings.store
  return {
    chains: configured,
    addresses: Effect.isEffect(addresses) ? Effect.flatMap(addresses, decode) : Effect.succeed(given),
    location:
      sqlite === undefined
        ? { kind: "postgres", url: Redacted.make(postgres!), connections }
        : { kind: "sqlite", file: sqlite },
    ahead: settings.ahead ?? 1_000,
    keepBlocks: settings.keepBlocks,
    threads: settings.threads ?? 0
  } satisfies ReadSettings<E> as ReadSettings<E>
})
