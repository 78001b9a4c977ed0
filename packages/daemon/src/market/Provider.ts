/**
 * Providers of market data behind one interface: each provider has tasks, each task a schedule, and the results go to the
 * store. A request for an asset never waits for a provider.
 */
import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A provider gave no usable answer. The message holds no secret. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  provider: Schema.String,
  message: Schema.String,
  /** Milliseconds after which the provider may be asked again, where the provider has named a time. */
  retryAfter: Schema.optionalKey(Schema.Int)
}) {}

/** The results of a piece of work. */
export interface Summary {
  /** Assets that are new in the catalogue, that changed, and that could not be listed. */
  readonly added: number
  readonly updated: number
  readonly refused: number
  /** Quotes that were kept, and quotes that were not believed. */
  readonly quotes: number
  readonly disbelieved: number
}

export const nothing: Summary = { added: 0, updated: 0, refused: 0, quotes: 0, disbelieved: 0 }

export const plus = (one: Summary, other: Summary): Summary => ({
  added: one.added + other.added,
  updated: one.updated + other.updated,
  refused: one.refused + other.refused,
  quotes: one.quotes + other.quotes,
  disbelieved: one.disbelieved + other.disbelieved
})

/** Work whose size is known. */
export interface Work {
  readonly total: number
  /** Does the work, and reports each finished piece of the total. */
  readonly run: (
    advance: (pieces: number) => Effect.Effect<void>
  ) => Effect.Effect<Summary, ProviderError | DatabaseError>
}

/** Recurring work of a provider. */
export interface Task {
  readonly name: string
  readonly everyMillis: number
  readonly work: Effect.Effect<Work, ProviderError | DatabaseError>
}

export interface Provider {
  readonly name: string
  readonly tasks: ReadonlyArray<Task>
}

/** The configured providers, in the order in which a refresh asks them. */
export class Providers extends Context.Service<Providers, ReadonlyArray<Provider>>()(
  "@headwater/daemon/market/Provider/Providers"
) {}
