/**
 * Who has logged in to the console. Passwords are compared in constant time. An address has five wrong guesses a minute,
 * all addresses together have fifty. Sessions are in memory: a restart ends them.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** The password is wrong. */
export class WrongPassword extends Schema.TaggedError<WrongPassword>()("WrongPassword", {}) {}

/** Too many wrong guesses of late. */
export class TooManyGuesses extends Schema.TaggedError<TooManyGuesses>()("TooManyGuesses", {
  /** Seconds until the next attempt is accepted. */
  retryAfter: Schema.Int
}) {}

export interface Sessions {
  /** Opens a session where `password` is the right one; the session's token. `address` is the caller's. */
  readonly open: (password: string, address: string) => Effect.Effect<string, WrongPassword | TooManyGuesses>
  readonly isOpen: (token: string | undefined) => Effect.Effect<boolean>
  readonly close: (token: string | undefined) => Effect.Effect<void>
}

/** How long a session lasts. */
export const sessionMillis = 12 * 3_600_000

const windowMillis = 60_000
const guessesOfOne = 5
const guessesOfAll = 50
const sessionLimit = 1_000

const hash = (text: string) => createHash("sha256").update(text).digest()

/** Counts guesses in windows of a minute; gives the seconds to wait where there were too many. */
const makeCounter = (limit: number) => {
  let count = 0
  let end = 0
  return {
    /** A guess is counted before it is compared, so that no guess slips past the limit beside others under way. */
    take: (now: number): number | undefined => {
      if (now >= end) {
        count = 0
        end = now + windowMillis
      }
      count++
      return count > limit ? Math.ceil((end - now) / 1000) : undefined
    },
    /** The right password is not counted. */
    giveBack: () => {
      count--
    },
    isOver: (now: number) => now >= end
  }
}

/** The sessions that `password` opens. */
export const make = (password: Redacted.Redacted): Sessions => {
  const expected = hash(Redacted.value(password))
  /** The hash of a session's token → when the session ends. The time of looking up a hash says nothing of the token. */
  const ends = new Map<string, number>()
  const all = makeCounter(guessesOfAll)
  const byAddress = new Map<string, ReturnType<typeof makeCounter>>()
  const keyOf = (token: string) => hash(token).toString("hex")

  const forget = (now: number) => {
    for (const [address, counter] of byAddress) if (counter.isOver(now)) byAddress.delete(address)
    for (const [key, end] of ends) if (now >= end) ends.delete(key)
    // Insertion order is age.
    for (const [key] of ends) if (ends.size >= sessionLimit) ends.delete(key)
  }

  return {
    open: Effect.fn("Sessions.open")(function* (guess, address) {
      const now = yield* Clock.currentTimeMillis
      forget(now)
      const one = byAddress.get(address) ?? makeCounter(guessesOfOne)
      byAddress.set(address, one)
      const retryAfter = one.take(now) ?? all.take(now)
      if (retryAfter !== undefined) return yield* new TooManyGuesses({ retryAfter })
      if (!timingSafeEqual(hash(guess), expected)) return yield* new WrongPassword()
      one.giveBack()
      all.giveBack()
      const token = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
      ends.set(keyOf(token), now + sessionMillis)
      return token
    }),
    isOpen: (token) =>
      token === undefined
        ? Effect.succeed(false)
        : Effect.map(Clock.currentTimeMillis, (now) => now < (ends.get(keyOf(token)) ?? 0)),
    close: (token) =>
      Effect.sync(() => {
        if (token !== undefined) ends.delete(keyOf(token))
      })
  }
}
