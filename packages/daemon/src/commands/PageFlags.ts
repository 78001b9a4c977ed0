/** Flags that name a part of a long list. */
import * as Console from "effect/Console"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

export const limit = Flag.Int("limit").pipe(
  Flag.withDescription("Entries to print"),
  Flag.withDefault(50),
  Flag.map((limit) => Math.max(0, limit))
)

export const offset = Flag.Int("offset").pipe(
  Flag.withDescription("Entries to skip"),
  Flag.withDefault(0),
  Flag.map((offset) => Math.max(0, offset))
)

/** Says to people that there are more entries than were printed. */
export const sayRest = (isJson: boolean, printed: number, total: number): Effect.Effect<void> =>
  isJson || printed >= total ? Effect.void : Console.error(`${printed} of ${total}: --limit, --offset`)
