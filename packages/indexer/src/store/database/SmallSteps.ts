/** Work that takes long, in steps that are short: others come to the store between. */
import * as Effect from "effect/Effect"

/** Callbacks that one step changes: some ten milliseconds. */
export const callbacksAtOnce = 1_000

const pause = "1 millis"

/** Repeats a step, which says whether there is more to do. */
export const whileMore = <E, R>(step: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(step, (more) =>
    more
      ? Effect.andThen(
          Effect.sleep(pause),
          Effect.suspend(() => whileMore(step))
        )
      : Effect.void
  )

/** Rows of one page, between which others come to the store. */
export const page = 500

/** Goes through rows in the order of their ids, a page at a time: `read` gives up to {@link page} of them behind an id. */
export const eachRow = Effect.fnUntraced(function* <A extends { readonly id: number }, E, R, E2, R2>(
  read: (after: number) => Effect.Effect<ReadonlyArray<A>, E, R>,
  each: (row: A) => Effect.Effect<void, E2, R2>
) {
  for (let after = 0; ; ) {
    const found = yield* read(after)
    yield* Effect.forEach(found, each, { discard: true })
    const last = found.at(-1)
    if (last === undefined || found.length < page) return
    after = last.id
    yield* Effect.sleep("10 millis")
  }
})
