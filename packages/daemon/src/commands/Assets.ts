/** `headwater assets`: the catalogue of market data. */
import { Assets, type ListedAsset } from "@headwater/indexer/store/market/Assets"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Terminal from "effect/Terminal"
import { printRows, time } from "../internal/Table.ts"
import * as AssetFile from "../market/AssetFile.ts"
import * as Catalogue from "../market/Catalogue.ts"
import * as ConfiguredProviders from "../market/ConfiguredProviders.ts"
import * as MarketData from "../market/MarketData.ts"
import type { Summary } from "../market/Provider.ts"
import * as Progress from "../Progress.ts"
import * as PageFlags from "./PageFlags.ts"
import * as WithSettings from "./WithSettings.ts"

const { config, json } = WithSettings

/** Some entries of a file could not be taken. */
class ImportIncomplete extends Schema.TaggedError<ImportIncomplete>()("ImportIncomplete", { message: Schema.String }) {}

/** A provider did not give all that Headwater asked for. */
class RefreshIncomplete extends Schema.TaggedError<RefreshIncomplete>()("RefreshIncomplete", {
  message: Schema.String
}) {}

const layer = (input: WithSettings.Input) =>
  ConfiguredProviders.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Assets.layer, RecurringTasks.layer)),
    Layer.provideMerge(WithSettings.withStore(input))
  )

const inWords = ({ added, disbelieved, quotes, refused, updated }: Summary) =>
  `${added} assets added, ${updated} changed, ${refused} refused; ${quotes} rates kept, ${disbelieved} not believed`

/** Problems of an import that are printed one by one. */
const printed = 100

const load = Command.make(
  "import",
  {
    json,
    file: Argument.File("file", { mustExist: true }).pipe(
      Argument.withDescription("JSON Lines, or a JSON array, of assets in the form in which the interface answers them")
    )
  },
  Effect.fnUntraced(function* (input) {
    yield* Catalogue.seed
    const problems: Array<AssetFile.Problem> = []
    let refused = 0
    const { size } = yield* AssetFile.describe(input.file)
    const summary = yield* Progress.track("Bytes read", size, (advance) =>
      AssetFile.load(input.file, {
        advance,
        onProblem: (problem) =>
          Effect.sync(() => {
            if (refused++ < printed) problems.push(problem)
          })
      })
    )
    yield* Effect.forEach(problems, ({ line, message }) => Console.error(`line ${line}: ${message}`), { discard: true })
    if (refused > printed) yield* Console.error(`and ${refused - printed} more`)
    yield* Console.log(input.json ? JSON.stringify({ ...summary, problems }) : inWords(summary))
    if (refused > 0) {
      return yield* new ImportIncomplete({
        message: `${refused === 1 ? "1 entry" : `${refused} entries`} of ${input.file} could not be taken; the others were`
      })
    }
  })
).pipe(
  Command.withDescription("Import assets and their rates from a file"),
  Command.withExamples([{ command: "headwater assets import assets.jsonl", description: "One asset a line" }])
)

const rateOf = ({ latestRate }: ListedAsset): ReadonlyArray<string> =>
  latestRate === undefined
    ? ["-", "-"]
    : [
        `${latestRate.amount} ${latestRate.unit}`,
        latestRate.calculationTimestamp === undefined ? "always" : time(latestRate.calculationTimestamp * 1000)
      ]

const list = Command.make(
  "list",
  {
    json,
    ...{ limit: PageFlags.limit, offset: PageFlags.offset }
  },
  Effect.fnUntraced(function* ({ json, limit, offset }) {
    yield* Catalogue.seed
    const { items, total } = yield* (yield* Assets).list({ limit, offset })
    yield* printRows(
      json,
      { items, total },
      ["SYMBOL", "NAME", "SLUG", "ID", "RATE", "AS OF"],
      items.map((item) => [item.symbol, item.name, item.slug, item.referenceId, ...rateOf(item)])
    )
    yield* PageFlags.sayRest(json, items.length, total)
  })
).pipe(Command.withDescription("List the assets"))

const refresh = Command.make(
  "refresh",
  {
    json,
    provider: Argument.String("provider").pipe(
      Argument.withDescription("coingecko or file; without it, every configured provider"),
      Argument.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const context = yield* Effect.context<Terminal.Terminal>()
    const { failures, summary } = yield* MarketData.refresh(Option.getOrUndefined(input.provider), (title, work) =>
      Effect.provide(Progress.track(title, work.total, work.run), context)
    )
    yield* Console.log(input.json ? JSON.stringify(summary) : inWords(summary))
    if (failures.length > 0) {
      return yield* new RefreshIncomplete({ message: failures.map(({ message }) => message).join("\n  ") })
    }
  })
).pipe(Command.withDescription("Read market data from the configured providers now"))

export const assets = Command.make("assets").pipe(
  Command.withDescription("Market data: the catalogue of assets, and their rates"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([load, list, refresh]),
  Command.provide(layer)
)
