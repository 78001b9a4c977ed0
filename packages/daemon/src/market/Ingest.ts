/** Puts the entries and quotes of a provider into the store, counts them, and logs the quotes that are not believed. */
import type { Entry } from "@headwater/core/market/Asset"
import type { Disbelief, Quote } from "@headwater/core/market/Rate"
import type { AssetOrigin } from "@headwater/indexer/store/database/tables/MarketTables"
import { type AssetQuote, Assets, type ListingResult } from "@headwater/indexer/store/market/Assets"
import * as Effect from "effect/Effect"
import * as MarketMetrics from "./MarketMetrics.ts"
import { nothing, type Summary } from "./Provider.ts"

/** A provider's quote of an asset, or why the answer has no readable one. */
export interface ProviderQuote {
  /** What the provider calls the asset, for the log. */
  readonly name: string
  readonly asset: number
  readonly quote: Quote | { readonly problem: string }
}

/** Names that a line of the log gives in full. */
const examples = 5

const listed = (names: ReadonlyArray<string>) =>
  names.length <= examples
    ? names.join(", ")
    : `${names.slice(0, examples).join(", ")} and ${names.length - examples} more`

/** Keeps the quotes that are believed. */
export const quotes = Effect.fn("Ingest.quotes")(function* (provider: string, quotes: ReadonlyArray<ProviderQuote>) {
  const assets = yield* Assets
  const readable = quotes.flatMap(
    ({ asset, name, quote }): ReadonlyArray<{ name: string; quote: AssetQuote }> =>
      "problem" in quote ? [] : [{ name, quote: { ...quote, asset } }]
  )
  const verdicts = yield* assets.record(readable.map(({ quote }) => quote))
  const doubts = new Map<Disbelief | "unreadable", Array<string>>()
  const doubt = (reason: Disbelief | "unreadable", name: string) => {
    const names = doubts.get(reason)
    if (names === undefined) doubts.set(reason, [name])
    else names.push(name)
  }
  for (const { name, quote } of quotes) if ("problem" in quote) doubt("unreadable", `${name}: ${quote.problem}`)
  verdicts.forEach((reason, i) => {
    if (reason !== undefined) doubt(reason, readable[i]!.name)
  })
  for (const [reason, names] of doubts) {
    yield* MarketMetrics.quoted(provider, reason, names.length)
    if (reason === "unchanged") continue
    yield* Effect.logWarning(
      `Quotes of ${provider} not believed (${reason}), the last good ones stay: ${listed(names)}`
    )
  }
  const kept = verdicts.filter((reason) => reason === undefined).length
  if (kept > 0) yield* MarketMetrics.quoted(provider, "kept", kept)
  const unchanged = doubts.get("unchanged")?.length ?? 0
  return { ...nothing, quotes: kept, disbelieved: quotes.length - kept - unchanged } satisfies Summary
})

/** Puts entries into the catalogue; what became of each entry, and the sum. */
export const entries = Effect.fn("Ingest.entries")(function* (entries: ReadonlyArray<Entry>, origin: AssetOrigin) {
  const assets = yield* Assets
  const outcomes = yield* assets.put(entries, origin)
  const count = (kind: ListingResult["kind"]) => outcomes.filter((outcome) => outcome.kind === kind).length
  const summary: Summary = { ...nothing, added: count("added"), updated: count("updated"), refused: count("refused") }
  return { outcomes, summary }
})
