/**
 * Who has logged in to the console. Passwords are compared in constant time. After five wrong guesses in a row each next
 * one has to wait, longer every time: a browser that once had the right password for its own guesses alone, all others for
 * the guesses of all of them, so that no stranger keeps the operator out. Sessions are in memory: a restart ends them.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"
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

/** What a browser keeps: the session's token, and the proof that the browser once had the password. */
export interface Opened {
  readonly token: string
  readonly browser: string
}

export interface Sessions {
  /** Opens a session where `password` is the right one. `browser`: the proof that the caller brings, if any. */
  readonly open: (
    password: string,
    browser: string | undefined
  ) => Effect.Effect<Opened, WrongPassword | TooManyGuesses>
  readonly isOpen: (token: string | undefined) => Effect.Effect<boolean>
  readonly close: (token: string | undefined) => Effect.Effect<void>
}

/** How long a session lasts. */
export const sessionMillis = 12 * 3_600_000

const freeGuesses = 5
const firstWaitMillis = 1_000
/** The longest wait. Strangers have a short one, since the operator may be among them. */
const longestMillis = { browser: 15 * 60_000, strangers: 60_000 }
/** Guesses in a row are forgotten after so long without another one. */
const forgetMillis = 3_600_000
const sessionLimit = 1_000

const hash = (text: string) => createHash("sha256").update(text).digest()

interface Guesses {
  wrong: number
  /** When the next guess is listened to, in milliseconds since the Unix epoch. */
  until: number
}

/** The sessions that `password` opens. */
export const make = (password: Redacted.Redacted): Sessions => {
  const expected = hash(Redacted.value(password))
  const browserKey = createHmac("sha256", expected).update("headwater console browser").digest()
  /** The hash of a session's token → when the session ends. The time of looking up a hash says nothing of the token. */
  const ends = new Map<string, number>()
  /** By the browser's id; those of all strangers under none. */
  const guesses = new Map<string, Guesses>()
  const keyOf = (token: string) => hash(token).toString("hex")
  const proofOf = (id: string) => createHmac("sha256", browserKey).update(id).digest("base64url")

  /** The id of a browser that once had the password; undefined for a stranger's. */
  const browserOf = (browser: string | undefined): string | undefined => {
    const [id = "", proof = ""] = (browser ?? "").split(".")
    return timingSafeEqual(hash(proof), hash(proofOf(id))) ? id : undefined
  }

  const forget = (now: number) => {
    for (const [id, { until }] of guesses) if (now >= until + forgetMillis) guesses.delete(id)
    for (const [key, end] of ends) if (now >= end) ends.delete(key)
    // Insertion order is age.
    for (const [key] of ends) if (ends.size >= sessionLimit) ends.delete(key)
  }

  /** Counts a guess as wrong before it is compared; the seconds to wait where it is not listened to. */
  const take = (id: string | undefined, now: number): number | undefined => {
    const own = guesses.get(id ?? "") ?? { wrong: 0, until: now }
    if (now < own.until) return Math.ceil((own.until - now) / 1000)
    const longest = id === undefined ? longestMillis.strangers : longestMillis.browser
    const wrong = own.wrong + 1
    const wait = wrong < freeGuesses ? 0 : Math.min(longest, firstWaitMillis * 2 ** (wrong - freeGuesses))
    guesses.set(id ?? "", { wrong, until: now + wait })
    return undefined
  }

  return {
    open: Effect.fn("Sessions.open")(function* (guess, browser) {
      const now = yield* Clock.currentTimeMillis
      forget(now)
      const known = browserOf(browser)
      const retryAfter = take(known, now)
      if (retryAfter !== undefined) return yield* new TooManyGuesses({ retryAfter })
      if (!timingSafeEqual(hash(guess), expected)) return yield* new WrongPassword()
      guesses.delete(known ?? "")
      const token = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
      ends.set(keyOf(token), now + sessionMillis)
      const id = known ?? (yield* Effect.sync(() => randomBytes(12).toString("base64url")))
      return { token, browser: `${id}.${proofOf(id)}` }
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
