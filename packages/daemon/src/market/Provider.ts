/**
 * Sources of market data behind one interface: each has tasks of its own with a schedule of its own, and writes what it
 * learns to the store. Nobody who asks for an asset ever waits for a provider.
 */
import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A provider could not say what it was asked. The message holds no secret. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  provider: Schema.String,
  message: Schema.String,
  /** Milliseconds after which the provider wants to be asked again, where it has said so. */
  retryAfter: Schema.optionalKey(Schema.Int)
}) {}

/** What came of a piece of work. */
export interface Summary {
  /** Assets that are new in the catalogue, that changed, and that could not be listed. */
  readonly added: number
  readonly updated: number
  readonly refused: number
  /** Quotes that were kept, and that were not believed. */
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
  /** Does it, and reports each piece of the total as it is done. */
  readonly run: (
    advance: (pieces: number) => Effect.Effect<void>
  ) => Effect.Effect<Summary, ProviderError | DatabaseError>
}

/** What a provider does again and again. */
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
