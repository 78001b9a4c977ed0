/** The options of a consumer, as a program writes them. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { From } from "../store/consumers/Consumers.ts"
import { InvalidIndexerSettings, problemsOf } from "./IndexerSettings.ts"

export interface ConsumerOptions {
  /**
   * Where a consumer that is new begins, on each chain: at a height, behind the last block, or with the first block that is
   * kept, which is the default.
   */
  readonly from?: From
  /** By `blockchain/network`; all by default. What a consumer is told of one chain ends where another one is stopped. */
  readonly chains?: ReadonlyArray<string>
}

const Written = Schema.Struct({
  consumer: Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" })),
  options: Schema.Struct({
    from: Schema.optionalKey(
      Schema.Union([
        Schema.Literals(["latest", "first"]),
        Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be a height" }))
      ])
    ),
    chains: Schema.optionalKey(Schema.NonEmptyArray(Schema.String))
  })
})

/** Checks a consumer's name and options; of `all` chains, those that are asked for, and where the consumer begins. */
export const read = Effect.fnUntraced(function* <A extends { readonly chain: Chain.Chain }>(
  all: ReadonlyArray<A>,
  consumer: string,
  options: ConsumerOptions
) {
  const { chains, from = "first" } = yield* Schema.decodeUnknownEffect(Written)(
    { consumer, options },
    { errors: "all", onExcessProperty: "error" }
  ).pipe(
    Effect.map(({ options }) => options),
    Effect.mapError(({ issue }) => new InvalidIndexerSettings({ problems: problemsOf(issue) }))
  )
  const found = all.filter(({ chain }) => chains?.includes(Chain.nameOf(chain)) ?? true)
  if (chains !== undefined && found.length !== chains.length) {
    return yield* new InvalidIndexerSettings({
      problems: [`the consumer asks for ${chains.join(", ")}, which are not all among the chains, each once`]
    })
  }
  return { chains: found, from }
})
