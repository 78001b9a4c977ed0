/**
 * The file in which a node of the Bitcoin family leaves `user:password` at each start (`.cookie`), so that whoever may
 * read its folder may call it.
 */
import { readFile } from "node:fs/promises"
import * as Effect from "effect/Effect"

/** Why there are no credentials. */
interface NoCookie {
  readonly reason: string
}

export interface CookieFile {
  /** `user:password`, read when it is first needed. */
  readonly credentials: Effect.Effect<string, NoCookie>
  /** The credentials that have taken the place of the refused ones; undefined where the file still has these. */
  readonly instead: (refused: string) => Effect.Effect<string | undefined, NoCookie>
  /** Credentials that were read: none of them may be shown. */
  readonly known: () => ReadonlyArray<string>
}

/** Credentials that are kept, so that an answer which is late hides them as well. */
const kept = 4

export const make = (file: string): CookieFile => {
  let known: ReadonlyArray<string> = []

  const read = Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (error): NoCookie => ({
      reason: `the cookie file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}): the node writes it when it starts`
    })
  }).pipe(
    Effect.map((text) => text.trim()),
    Effect.filterOrFail(
      (text) => text.includes(":"),
      (): NoCookie => ({ reason: `the cookie file ${file} does not hold user:password` })
    ),
    Effect.tap((credentials) =>
      Effect.sync(() => {
        known = [credentials, ...known.filter((other) => other !== credentials)].slice(0, kept)
      })
    )
  )

  return {
    credentials: Effect.suspend(() => (known[0] === undefined ? read : Effect.succeed(known[0]))),
    instead: (refused) => Effect.map(read, (credentials) => (credentials === refused ? undefined : credentials)),
    known: () => known
  }
}
