/**
 * The operator's own file of assets: JSON Lines, or a JSON array, of entries in the interface's shape.
 *
 * A line without a name is what a listed asset costs, by its slug. An answer of the service is an entry, too, whose `type`
 * says whether the asset is a currency.
 *
 * The file is read in chunks, so that memory does not grow with the file. A bad entry is reported by its line and field,
 * and every other entry is taken.
 */
import { isUtf8 } from "node:buffer"
import { Entry, RateEntry } from "@headwater/core/market/Asset"
import type { Quote } from "@headwater/core/market/Rate"
import * as DecimalText from "@headwater/indexer/families/node/DecimalText"
import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import { Assets } from "@headwater/indexer/store/market/Assets"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Stream from "effect/Stream"
import * as Ingest from "./Ingest.ts"
import { type JsonElement, JsonElements } from "./internal/JsonElements.ts"
import { nothing, ProviderError, plus, type Summary } from "./Provider.ts"

/** The file's name as a provider, in metrics and in the log. */
export const provider = "file"

/** Why an entry could not be taken: its line, its field and the rule. */
export interface Problem {
  readonly line: number
  readonly message: string
}

const formatter = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "MissingKey" ? "is missing" : SchemaIssue.defaultLeafHook(issue))
})
const decodeEntry = Schema.decodeUnknownResult(Entry, { errors: "all" })
const decodeRate = Schema.decodeUnknownResult(RateEntry, { errors: "all" })

const decode = (json: unknown): Result.Result<Entry | RateEntry, { readonly issue: SchemaIssue.Issue }> => {
  if (!Predicate.isReadonlyObject(json)) return decodeEntry(json)
  const { assetType, latestRate, name, originalSymbol, type } = json
  if (name === undefined && originalSymbol === undefined && latestRate !== undefined) return decodeRate(json)
  const isAnswer = assetType === undefined && (type === "crypto" || type === "fiat")
  return decodeEntry(isAnswer ? { ...json, assetType: type } : json)
}

const read = (text: Buffer): Result.Result<Entry | RateEntry, string> =>
  Result.try({
    try: (): unknown => DecimalText.parse(text),
    catch: (cause) => `is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`
  }).pipe(
    Result.filterOrFail(
      () => isUtf8(text),
      () => "is not UTF-8"
    ),
    Result.flatMap((json) =>
      Result.mapError(decode(json), ({ issue }) =>
        formatter(issue)
          .issues.map(({ message, path = [] }) => `${path.join(".") || "the entry"} ${message}`)
          .join("; ")
      )
    )
  )

const known = (figure: string | undefined) => (figure === "" ? undefined : figure)

/** The quote of an entry; one without a time of its own was true when the file was written, in seconds. */
const quoteOf = (
  { latestRate, specificData }: Pick<Entry, "latestRate" | "specificData">,
  written: number
): Quote | undefined =>
  latestRate === undefined
    ? undefined
    : {
        amount: latestRate.amount,
        at: latestRate.calculationTimestamp ?? written,
        change1h: known(specificData?.["1HourPriceChangeInPercentage"]),
        change24h: known(specificData?.["24HoursPriceChangeInPercentage"]),
        change1w: known(specificData?.["1WeekPriceChangeInPercentage"]),
        volume24h: known(specificData?.["24HoursTradingVolume"]),
        marketCap: known(specificData?.marketCapInUSD),
        circulatingSupply: known(specificData?.circulatingSupply),
        maxSupply: known(specificData?.maxSupply)
      }

/** Entries that share a transaction: their number, and their bytes. */
const batchEntries = 500
const batchBytes = 4_194_304

/** Bytes that are read at once. */
const chunkSize = 65_536

interface Numbered {
  readonly line: number
  readonly entry: Entry | RateEntry
}

const isDescribed = (entry: Entry | RateEntry): entry is Entry => "name" in entry

/** A file as it is now: its size in bytes, and when it was written, in milliseconds since the Unix epoch. */
export const describe = Effect.fn("AssetFile.describe")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const { mtime, size } = yield* Effect.mapError(
    fs.stat(path),
    (error) => new ProviderError({ provider, message: `${path} cannot be read: ${error.message}` })
  )
  const now = yield* Clock.currentTimeMillis
  return { size: Number(size), written: Option.match(mtime, { onNone: () => now, onSome: (date) => date.getTime() }) }
})

export interface Options {
  /** Called with the number of bytes read. */
  readonly advance: (bytes: number) => Effect.Effect<void>
  /** Called for each problem; within a batch of entries in the order of lines. */
  readonly onProblem: (problem: Problem) => Effect.Effect<void>
}

/** Lists every valid entry of the file, and keeps its rates. */
export const load = Effect.fn("AssetFile.load")(function* (
  path: string,
  { advance, onProblem }: Options
): Effect.fn.Return<Summary, ProviderError | DatabaseError, Assets | FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const assets = yield* Assets
  const { written } = yield* describe(path)
  const elements = new JsonElements()
  let summary = nothing
  let batch: Array<Numbered> = []
  let bytes = 0

  const flush = Effect.gen(function* () {
    const some = batch
    batch = []
    bytes = 0
    if (some.length === 0) return
    const described = some.map(({ entry }) => entry).filter(isDescribed)
    const { outcomes, summary: taken } = yield* Ingest.entries(described, "file")
    const outcomeOf = new Map(described.map((entry, i) => [entry as Entry | RateEntry, outcomes[i]!]))
    // Behind the entries: a line may have listed the asset just now.
    const rates = some.map(({ entry }) => entry).filter((entry) => !isDescribed(entry))
    const listed = yield* assets.idsOf(rates.map(({ slug }) => slug))
    const quotes: Array<Ingest.ProviderQuote> = []
    let unlisted = 0
    for (const { entry, line } of some) {
      const outcome = outcomeOf.get(entry)
      if (outcome?.kind === "refused") {
        yield* onProblem({ line, message: `${outcome.field} ${outcome.message}` })
        continue
      }
      const asset = outcome?.asset ?? listed.get(entry.slug)
      if (asset === undefined) {
        unlisted++
        yield* onProblem({ line, message: "slug is that of no listed asset: name and originalSymbol would list it" })
        continue
      }
      const quote = quoteOf(entry, Math.floor(written / 1000))
      if (quote !== undefined) quotes.push({ name: `line ${line}`, asset, quote })
    }
    const refused = { ...nothing, refused: unlisted }
    summary = plus(summary, plus(refused, plus(taken, yield* Ingest.quotes(provider, quotes))))
  })

  const take = Effect.fnUntraced(function* (element: JsonElement) {
    const entry = "problem" in element ? Result.fail(element.problem) : read(element.text)
    if (Result.isFailure(entry)) {
      summary = plus(summary, { ...nothing, refused: 1 })
      return yield* onProblem({ line: element.line, message: entry.failure })
    }
    batch.push({ line: element.line, entry: entry.success })
    bytes += "text" in element ? element.text.length : 0
    if (batch.length >= batchEntries || bytes >= batchBytes) yield* flush
  })

  yield* fs.stream(path, { chunkSize }).pipe(
    Stream.mapError((error) => new ProviderError({ provider, message: `${path} cannot be read: ${error.message}` })),
    Stream.runForEach((chunk) =>
      Effect.andThen(Effect.forEach(elements.push(chunk), take, { discard: true }), advance(chunk.length))
    )
  )
  yield* Effect.forEach(elements.end(), take, { discard: true })
  yield* flush
  return summary
})
