/**
 * The settings of the daemon: what an operator can decide, with the default of everything that has one.
 *
 * {@link SettingsFile} reads them. Names are those of the file; `headwater.example.toml` explains each one.
 */

import { availableParallelism } from "node:os"
import { defaultRules } from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import { defaultMaximumFee } from "@headwater/indexer/families/Broadcasting"
import * as Url from "@headwater/indexer/families/node/Url"
import { defaultMaxima } from "@headwater/indexer/store/accounts/Limits"
import type { Location } from "@headwater/indexer/store/database/Database"
import * as PostgresUrl from "@headwater/indexer/store/database/PostgresUrl"
import * as SecretKeys from "@headwater/indexer/store/database/SecretKeys"
import * as ChainSettingsFields from "@headwater/indexer/sync/ChainSettings"
import { between, text, withDefault } from "@headwater/indexer/sync/SettingFields"
import * as Context from "effect/Context"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as MarketSettings from "../market/MarketSettings.ts"

/** Text that no log, message or console shows. */
const secret = <S extends Schema.Constraint>(schema: S) => Schema.RedactedFromValue(schema)

const origin = Schema.String.check(
  Schema.makeFilter(
    (value) =>
      value === "*" ||
      (/^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value) ||
      'must be an origin as browsers write it, such as https://wallet.example, or "*"'
  )
)

const Http = Schema.Struct({
  host: text.pipe(withDefault("127.0.0.1")),
  port: between(0, 65_535).pipe(withDefault(8080)),
  maxBodyBytes: between(1_024, 16_777_216).pipe(withDefault(65_536)),
  requestsAtOnce: between(1, 100_000).pipe(withDefault(256)),
  allowedOrigins: Schema.Array(origin).pipe(withDefault([]))
})

const secretKeys = Schema.String.check(
  Schema.makeFilter(
    (value) =>
      SecretKeys.parse(value) !== undefined ||
      "must be a key of 32 bytes, as base64 or 64 hexadecimal digits; or several, the one that encrypts first"
  )
)

const postgres = Schema.String.check(PostgresUrl.rules.abort(), Url.isOf(["postgres", "postgresql"], PostgresUrl.each))

const Store = Schema.Struct({
  sqlite: Schema.optionalKey(text),
  postgres: Schema.optionalKey(secret(postgres)),
  connections: between(1, 1_000).pipe(withDefault(10)),
  secretKey: Schema.optionalKey(secret(secretKeys)),
  synchronous: Schema.Literals(["full", "normal"]).pipe(withDefault("full")),
  cacheMegabytes: between(1, 65_536).pipe(withDefault(16))
}).check(
  Schema.makeFilter(
    ({ postgres, sqlite }) =>
      postgres === undefined || sqlite === undefined || "must name either a sqlite file or a postgres URL, not both"
  )
)

/** A host as a parsed URL has it. */
const host = Schema.String.pipe(
  Schema.decode(SchemaTransformation.toLowerCase()),
  Schema.check(
    Schema.makeFilter(
      (value) =>
        (URL.parse(`https://${value}`)?.hostname === value && !value.includes("*")) ||
        "must be a host alone, without scheme, port, path or wildcard, an IPv6 address in brackets"
    )
  )
)

const certificates = Schema.String.check(
  Schema.isPattern(/-----BEGIN CERTIFICATE-----/, { message: 'must be a PEM certificate, as in { file = "ca.pem" }' })
)

/** How the attempts of a callback are spaced; the figures are in `delivery`. */
export const RetryProfile = Schema.Literals(["hosted", "standard-webhooks"])

const Callbacks = Schema.Struct({
  retry: RetryProfile.pipe(withDefault("hosted")),
  timeoutMillis: between(100, 60_000).pipe(withDefault(5_000)),
  concurrency: between(1, 10_000).pipe(withDefault(256)),
  perHost: between(1, 1_000).pipe(withDefault(16)),
  allowHosts: Schema.Array(host).pipe(withDefault([])),
  extraCa: Schema.optionalKey(certificates),
  keepDays: between(1, 3_650).pipe(withDefault(30)),
  heldDays: between(1, 3_650).pipe(withDefault(7)),
  heldCount: between(0, 1_000_000).pipe(withDefault(10_000))
})

const amount = between(0, 1_000_000_000)

const Credits = Schema.Struct({
  enabled: Schema.Boolean.pipe(withDefault(false)),
  per: Schema.Literals(["result", "request"]).pipe(withDefault(defaultRules.per)),
  subscriptionDay: amount.pipe(withDefault(defaultRules.subscriptionDay)),
  addressDay: amount.pipe(withDefault(defaultRules.addressDay)),
  callback: amount.pipe(withDefault(defaultRules.callback)),
  perSecond: between(1, 1_000_000_000).pipe(withDefault(10_000)),
  burst: Schema.optionalKey(between(1, 1_000_000_000))
})

const limit = between(0, 1_000_000_000)

const Limits = Schema.Struct(Record.map(defaultMaxima, (maximum) => limit.pipe(withDefault(maximum))))

const password = secret(Schema.String.check(Schema.isMinLength(12, { message: "must have at least 12 characters" })))

/** What a user of the console may do; `console/Access` says what that is. */
export const ConsoleRole = Schema.Literals(["operator", "support", "read-only"])

/** The user whose password is `console.password`. */
export const consoleOperator = "operator"

const Console = Schema.Struct({
  host: text.pipe(withDefault("127.0.0.1")),
  port: between(0, 65_535).pipe(withDefault(8081)),
  password: Schema.optionalKey(password),
  users: Schema.Record(Schema.String, Schema.Struct({ password, role: ConsoleRole })).pipe(withDefault({}))
}).check(
  Schema.makeFilter(({ password, users }) => {
    const names = Object.keys(users)
    if (password === undefined && names.length === 0) {
      return { path: ["password"], issue: "is missing, and there is no table [console.users.NAME] either" }
    }
    if (password !== undefined && names.includes(consoleOperator)) {
      return {
        path: ["users", consoleOperator],
        issue: "is the user of console.password already: leave out one of both"
      }
    }
    const wrong = names.find((name) => !/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name))
    return wrong === undefined
      ? true
      : { path: ["users", wrong], issue: "must be a name of 1 to 64 letters, digits or . _ @ -" }
  })
)

const Log = Schema.Struct({
  format: Schema.Literals(["pretty", "json", "logfmt"]).pipe(withDefault("pretty")),
  level: Schema.Literals(["trace", "debug", "info", "warn", "error"]).pipe(withDefault("info"))
})

const Metrics = Schema.Struct({
  token: Schema.optionalKey(secret(text))
})

const Traces = Schema.Struct({
  otlp: Schema.optionalKey(Url.ofSchemes(["http", "https"]))
})

/** Made once, not for each chain: as in `ChainSettings`. */
const ofEveryChain = {
  maximumFee: Schema.Finite.check(
    Schema.isBetween({ minimum: 1, maximum: 1_000_000 }, { message: "must be from 1 to 1000000" })
  ).pipe(withDefault(defaultMaximumFee)),
  syncBlocks: between(0, Number.MAX_SAFE_INTEGER).pipe(withDefault(50_000_000)),
  reservationSeconds: between(1, 86_400).pipe(withDefault(600))
}

const chainSettings = (chain: Chain.Chain) =>
  Schema.Struct({
    ...ChainSettingsFields.fields(chain),
    ...ofEveryChain,
    silentSeconds: between(1, 604_800).pipe(withDefault(silentSeconds(chain)))
  }).check(Schema.makeFilter(ChainSettingsFields.fit))

/**
 * How long a chain may bring no block before it counts as silent: twenty block times, at least five minutes. A
 * development chain may rest for days.
 */
const silentSeconds = (chain: Chain.Chain) =>
  chain.networkKind === "development" ? 604_800 : Math.max(Math.round(chain.blockSeconds * 20), 300)

const Chains = Schema.Struct(
  Object.fromEntries(Chain.all.map((chain) => [Chain.nameOf(chain), Schema.optionalKey(chainSettings(chain))] as const))
).check(Schema.isMinProperties(1, { message: 'must name at least one chain, as in chains."ethereum/mainnet"' }))

/**
 * What a daemon does: it follows chains, sends callbacks and charges accounts, answers requests and shows the console, or
 * asks for rates.
 */
export const Role = Schema.Literals(["follow", "deliver", "api", "market"])
export type Role = typeof Role.Type

const Roles = Schema.NonEmptyArray(Role)

/** How the daemons of a store tell one from another. */
const daemonName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, {
    message: "must be a name of 1 to 64 letters, digits or . _ : -"
  })
)

/** Every setting, as it stands in the file. */
export const schema = Schema.Struct({
  name: Schema.optionalKey(daemonName),
  roles: Roles.pipe(withDefault(Role.literals)),
  threads: Schema.optionalKey(between(0, 64)),
  http: Http.pipe(withDefault({})),
  store: Store.pipe(withDefault({})),
  callbacks: Callbacks.pipe(withDefault({})),
  credits: Credits.pipe(withDefault({})),
  limits: Limits.pipe(withDefault({})),
  marketData: MarketSettings.schema.pipe(withDefault({})),
  console: Schema.optionalKey(Console),
  log: Log.pipe(withDefault({})),
  metrics: Metrics.pipe(withDefault({})),
  traces: Traces.pipe(withDefault({})),
  chains: Chains.pipe(withDefault({}))
}).check(
  Schema.makeFilter(({ roles, store }) =>
    store.postgres !== undefined || hasAllRoles({ roles })
      ? undefined
      : {
          path: ["roles"],
          issue: "must be all four with SQLite, which one daemon alone may open; store.postgres is for several daemons"
        }
  )
)

export type ChainSettings = ReturnType<typeof chainSettings>["Type"]

/** The settings of this process. */
export class Settings extends Context.Service<Settings, typeof schema.Type>()("@headwater/daemon/settings/Settings") {}

/** Whether this daemon does all that there is to do. */
export const hasAllRoles = ({ roles }: Pick<Settings["Service"], "roles">) =>
  Role.literals.every((role) => roles.includes(role))

/** The configured chains, in the order of the registry. */
export const chains = (
  settings: Settings["Service"]
): ReadonlyArray<{ readonly chain: Chain.Chain; readonly settings: ChainSettings }> =>
  Chain.all.flatMap((chain) => {
    const own = settings.chains[Chain.nameOf(chain)]
    return own === undefined ? [] : [{ chain, settings: own }]
  })

/** Threads that read blocks at most, where the settings do not say how many. */
const mostThreads = 4

/** How many threads read blocks long past: by default one less than there are cores. */
export const threads = ({ threads }: Pick<Settings["Service"], "threads">): number =>
  threads ?? Math.min(availableParallelism() - 1, mostThreads)

/** Where the store is; a SQLite file `headwater.db` in the working directory unless the settings say otherwise. */
export const storeLocation = ({ store }: Settings["Service"]): Location => {
  const { cacheMegabytes, connections, postgres, sqlite = "headwater.db", synchronous } = store
  const keys = store.secretKey === undefined ? {} : { secretKeys: store.secretKey }
  return postgres === undefined
    ? { kind: "sqlite", file: sqlite, synchronous, cacheMegabytes, ...keys }
    : { kind: "postgres", url: postgres, connections, ...keys }
}
