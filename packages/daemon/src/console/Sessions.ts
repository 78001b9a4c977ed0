/**
 * Who has logged in to the console. Passwords are compared in constant time. After five wrong guesses in a row each next
 * one has to wait, longer every time: a browser that once had the user's password for its own guesses alone, all others for
 * the guesses of all of them at the user's name, so that no stranger keeps a user out. An API key cannot be guessed, and
 * nobody waits for others' wrong ones. Sessions are in memory: a restart, with it any change of the users, ends them.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Access from "./Access.ts"

/** The password is wrong, or there is no such user. */
export class WrongPassword extends Schema.TaggedError<WrongPassword>()("WrongPassword", {}) {}

/** Too many wrong guesses of late. */
export class TooManyGuesses extends Schema.TaggedError<TooManyGuesses>()("TooManyGuesses", {
  /** Seconds until the next attempt is accepted. */
  retryAfter: Schema.Int
}) {}

/** Somebody who may log in by a password. */
export interface User {
  readonly name: string
  readonly role: Access.StaffRole
  readonly password: Redacted.Redacted
}

/** Who has a session: a user, or the holder of an account's API key. */
export type Holder =
  | { readonly role: Access.StaffRole; readonly user: string }
  | { readonly role: "account"; readonly account: string; readonly key: Redacted.Redacted }

/** What a browser keeps: the session's token, and the proof that the browser once had the user's password. */
export interface Opened {
  readonly token: string
  readonly browser: string
  readonly holder: Holder
}

export interface Sessions {
  /** Whether a user has this name. */
  readonly isUser: (name: string) => boolean
  /** Opens a session where `password` is the user's. `browser`: the proof that the caller brings, if any. */
  readonly open: (
    user: string,
    password: string,
    browser: string | undefined
  ) => Effect.Effect<Opened, WrongPassword | TooManyGuesses>
  /** Opens a session for a holder who has proved to be one; the session's token. */
  readonly admit: (holder: Holder) => Effect.Effect<string>
  /** Who has the session; undefined where none is open. */
  readonly holderOf: (token: string | undefined) => Effect.Effect<Holder | undefined>
  readonly close: (token: string | undefined) => Effect.Effect<void>
}

/** How long a session lasts. */
export const sessionMillis = 12 * 3_600_000

const freeGuesses = 5
const firstWaitMillis = 1_000
/** The longest wait. Strangers have a short one, since the user may be among them. */
const longestMillis = { browser: 15 * 60_000, strangers: 60_000 }
/** Guesses in a row are forgotten after so long without another one. */
const forgetMillis = 3_600_000
/** The oldest sessions end where there are more: those of users, and those of accounts apart, so that none ends the others'. */
const sessionLimit = 1_000

const hash = (text: string) => createHash("sha256").update(text).digest()

interface Guesses {
  wrong: number
  /** When the next guess is listened to, in milliseconds since the Unix epoch. */
  until: number
}

interface Session {
  readonly holder: Holder
  /** Milliseconds since the Unix epoch. */
  readonly ends: number
}

/** The sessions that the passwords of `users` open. */
export const make = (users: ReadonlyArray<User>): Sessions => {
  /** Names that nobody has are compared with a password that nobody knows. */
  const nobody = { role: "read-only" as const, expected: randomBytes(32) }
  const known = new Map(
    users.map(({ name, password, role }) => [name, { role, expected: hash(Redacted.value(password)) }])
  )
  const userOf = (name: string) => known.get(name) ?? nobody
  /** By the hash of a session's token: the time of looking up a hash says nothing of the token. */
  const sessions = { users: new Map<string, Session>(), accounts: new Map<string, Session>() }
  const all = Object.values(sessions)
  const guesses = new Map<string, Guesses>()
  const keyOf = (token: string) => hash(token).toString("hex")
  const proofOf = (name: string, id: string) =>
    createHmac("sha256", userOf(name).expected).update(`headwater console browser\0${name}\0${id}`).digest("base64url")

  /** The id of a browser that once had the user's password; undefined for a stranger's. */
  const browserOf = (name: string, browser: string | undefined): string | undefined => {
    const [id = "", proof = ""] = (browser ?? "").split(".")
    return timingSafeEqual(hash(proof), hash(proofOf(name, id))) ? id : undefined
  }

  /** Whose guesses are counted together. A stranger's name, which may be anything, is one of 256: no wait tells of users. */
  const counterOf = (name: string, id: string | undefined) => (id === undefined ? `${hash(name)[0]}` : `${name}\0${id}`)

  const forget = (now: number) => {
    for (const [id, { until }] of guesses) if (now >= until + forgetMillis) guesses.delete(id)
    for (const open of all) {
      for (const [key, { ends }] of open) if (now >= ends) open.delete(key)
      // Insertion order is age.
      for (const [key] of open) if (open.size >= sessionLimit) open.delete(key)
    }
  }

  /** Counts a guess as wrong before it is compared; the seconds to wait where it is not listened to. */
  const take = (counter: string, longest: number, now: number): number | undefined => {
    const own = guesses.get(counter) ?? { wrong: 0, until: now }
    if (now < own.until) return Math.ceil((own.until - now) / 1000)
    const wrong = own.wrong + 1
    const wait = wrong < freeGuesses ? 0 : Math.min(longest, firstWaitMillis * 2 ** (wrong - freeGuesses))
    guesses.set(counter, { wrong, until: now + wait })
    return undefined
  }

  const admit: Sessions["admit"] = Effect.fn("Sessions.admit")(function* (holder) {
    const now = yield* Clock.currentTimeMillis
    forget(now)
    const token = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
    const open = holder.role === "account" ? sessions.accounts : sessions.users
    open.set(keyOf(token), { holder, ends: now + sessionMillis })
    return token
  })

  return {
    isUser: (name) => known.has(name),
    admit,
    open: Effect.fn("Sessions.open")(function* (name, guess, browser) {
      const now = yield* Clock.currentTimeMillis
      forget(now)
      const id = browserOf(name, browser)
      const counter = counterOf(name, id)
      const retryAfter = take(counter, id === undefined ? longestMillis.strangers : longestMillis.browser, now)
      if (retryAfter !== undefined) return yield* new TooManyGuesses({ retryAfter })
      const { expected, role } = userOf(name)
      if (!timingSafeEqual(hash(guess), expected)) return yield* new WrongPassword()
      guesses.delete(counter)
      const holder = { role, user: name }
      const token = yield* admit(holder)
      const own = id ?? (yield* Effect.sync(() => randomBytes(12).toString("base64url")))
      return { token, browser: `${own}.${proofOf(name, own)}`, holder }
    }),
    holderOf: Effect.fnUntraced(function* (token) {
      if (token === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      const key = keyOf(token)
      const session = sessions.users.get(key) ?? sessions.accounts.get(key)
      return session === undefined || now >= session.ends ? undefined : session.holder
    }),
    close: (token) =>
      Effect.sync(() => {
        if (token !== undefined) for (const open of all) open.delete(keyOf(token))
      })
  }
}
