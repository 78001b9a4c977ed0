/** The settings by which a chain is followed: of the daemon's file, and of a program that embeds the indexer. */
import type * as Chain from "@headwater/core/chains/Chain"
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Families from "../families/families.ts"
import * as BytesInFlight from "../families/node/BytesInFlight.ts"
import * as Proof from "../families/node/Proof.ts"
import * as Url from "../families/node/Url.ts"
import { between, text, withDefault } from "./SettingFields.ts"

/** The user of basic authentication, which ends at the first colon (RFC 7617). */
const user = text.check(Schema.isPattern(/^[^:]*$/, { message: "must not have a colon" }))

const height = between(0, Number.MAX_SAFE_INTEGER)

const internalEvents = [...eventsOfClass("internal")]

const hasInternalEvents = ({ events }: Chain.Chain) => internalEvents.some((event) => events.has(event))

/** About ten looks a block, from twice a second to every five seconds. */
const pollMillis = (blockSeconds: number) => Math.min(Math.max(Math.round(blockSeconds * 100), 500), 5_000)

// Made once: for each of all chains anew, these would be a twentieth of a command's start.
const start = Schema.Union([Schema.Literal("latest"), height])
  .annotate({ expected: '"latest" or a height' })
  .pipe(withDefault("latest"))
const credentials = { user: Schema.optionalKey(user), password: Schema.optionalKey(Schema.RedactedFromValue(text)) }
const bounds = {
  timeoutMillis: between(100, 600_000).pipe(withDefault(30_000)),
  parallel: between(1, 256).pipe(withDefault(8)),
  verify: Proof.Level.pipe(withDefault("roots")),
  bytesInFlight: between(1_048_576, 1_073_741_824).pipe(withDefault(BytesInFlight.defaultLimit)),
  quorum: between(1, 16).pipe(withDefault(1))
}
const gapLimit = between(1, 10_000).pipe(withDefault(20))

/** The fields, with the defaults of the chain. */
export const fields = (chain: Chain.Chain) => ({
  nodes: Schema.NonEmptyArray(Schema.RedactedFromValue(Url.ofSchemes(Families.of(chain).urlSchemes))),
  ...credentials,
  start,
  record: Schema.Literals(["all", "watched"]).pipe(
    withDefault(chain.networkKind === "development" ? "all" : "watched")
  ),
  internalTransactions: Schema.Boolean.pipe(withDefault(hasInternalEvents(chain))),
  pollMillis: between(50, 600_000).pipe(
    withDefault(chain.networkKind === "development" ? 500 : pollMillis(chain.blockSeconds))
  ),
  ...bounds,
  undoDepth: between(1, 1_000_000).pipe(withDefault(chain.undoDepth)),
  gapLimit,
  ...Families.settingsOf(chain)
})

/** Fields that are wrong together. */
export const fit = ({
  cookie,
  nodes,
  password,
  quorum,
  user
}: {
  readonly nodes: ReadonlyArray<Redacted.Redacted>
  readonly quorum: number
  readonly cookie?: unknown
  readonly user?: unknown
  readonly password?: unknown
}): string | true => {
  // A node that is named twice has one word.
  const different = new Set(nodes.map((node) => new URL(Redacted.value(node)).href)).size
  if (quorum > different) return "must have a quorum of at most as many nodes as it names"
  if ((user === undefined) !== (password === undefined)) return "must have user and password together"
  return cookie === undefined || user === undefined || "must have either a cookie or user and password, not both"
}

/** All of them. */
export const schema = (chain: Chain.Chain) => Schema.Struct(fields(chain)).check(Schema.makeFilter(fit))

export type ChainSettings = ReturnType<typeof schema>["Type"]
/** As they are written, before the defaults. */
export type Written = ReturnType<typeof schema>["Encoded"]
