/**
 * Who has logged in to the console. Passwords are compared in constant time. After five wrong guesses in a row at a user's
 * name each next one has to wait, longer every time, a quarter of an hour at most: a browser that once had the user's password
 * for its own guesses alone, any other for those from its address. One address thus keeps out nobody elsewhere. Many addresses
 * together may guess 500 times an hour at a name: then all browsers that never had the password wait, a minute at most, and
 * among them the user's new one. An API key cannot be guessed, and nobody waits for others' wrong ones. Sessions are in memory:
 * a restart, with it any change of the users, ends them. Each user and each account has 20 at most.
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
  | { readonly role: "account"; readonly id: number; readonly account: string; readonly key: Redacted.Redacted }

/** What a browser keeps: the session's token, and the proof that the browser once had the user's password. */
export interface Opened {
  readonly token: string
  readonly browser: string
  readonly holder: Holder
}

export interface Sessions {
  /** Whether a user has this name. */
  readonly isUser: (name: string) => boolean
  /** Opens a session where `password` is the user's. `browser`: the proof that the caller brings, if any; `address`: the caller's. */
  readonly open: (
    user: string,
    password: string,
    browser: string | undefined,
    address: string
  ) => Effect.Effect<Opened, WrongPassword | TooManyGuesses>
  /** Opens a session for a holder who has proved to be one; the session's token. The holder's own oldest ends for it. */
  readonly admit: (holder: Holder) => Effect.Effect<string>
  /** Who has the session; undefined where none is open. */
  readonly holderOf: (token: string | undefined) => Effect.Effect<Holder | undefined>
  readonly close: (token: string | undefined) => Effect.Effect<void>
}

/** How long a session lasts. */
export const sessionMillis = 12 * 3_600_000

/** Wrong guesses in a row that nobody waits for, and the longest wait after more. */
const ofOne = { free: 5, longestMillis: 15 * 60_000 }
/** The same of all strangers at a name together in an hour: of a hundred addresses or so, and short for the user among them. */
const ofStrangers = { free: 500, longestMillis: 60_000 }
const firstWaitMillis = 1_000
/** Guesses in a row are forgotten after so long without another one, those of all strangers at a name after so long. */
const forgetMillis = 3_600_000
/** The sessions of one user or one account. */
export const sessionLimit = 20

const hash = (text: string) => createHash("sha256").update(text).digest()

interface Counter {
  readonly name: string
  readonly of: typeof ofOne
}

interface Guesses {
  wrong: number
  /** When the next guess is listened to, and when all are forgotten, in milliseconds since the Unix epoch. */
  until: number
  forgotten: number
}

interface Session {
  readonly holder: Holder
  readonly owner: string
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
  const sessions = new Map<string, Session>()
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
  const countersOf = (name: string, id: string | undefined, address: string): ReadonlyArray<Counter> => {
    if (id !== undefined) return [{ name: `browser ${name}\0${id}`, of: ofOne }]
    const bucket = hash(name)[0]
    return [
      { name: `address ${bucket} ${address}`, of: ofOne },
      { name: `strangers ${bucket}`, of: ofStrangers }
    ]
  }

  const forget = (now: number) => {
    for (const [name, { forgotten }] of guesses) if (now >= forgotten) guesses.delete(name)
    for (const [key, { ends }] of sessions) if (now >= ends) sessions.delete(key)
  }

  /** Counts a guess as wrong before it is compared; the seconds to wait where it is not listened to. */
  const take = (counters: ReadonlyArray<Counter>, now: number): number | undefined => {
    const until = Math.max(...counters.map(({ name }) => guesses.get(name)?.until ?? now))
    if (now < until) return Math.ceil((until - now) / 1000)
    for (const { name, of } of counters) {
      const before = guesses.get(name)
      const wrong = (before?.wrong ?? 0) + 1
      const wait = wrong < of.free ? 0 : Math.min(of.longestMillis, firstWaitMillis * 2 ** (wrong - of.free))
      const isInRow = of === ofOne || before === undefined
      guesses.set(name, {
        ...{ wrong, until: now + wait },
        forgotten: isInRow ? now + wait + forgetMillis : before.forgotten
      })
    }
    return undefined
  }

  const admit: Sessions["admit"] = Effect.fn("Sessions.admit")(function* (holder) {
    const now = yield* Clock.currentTimeMillis
    forget(now)
    const token = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
    const owner = holder.role === "account" ? `account ${holder.id}` : `user ${holder.user}`
    // Insertion order is age.
    const own = [...sessions].filter(([, session]) => session.owner === owner)
    for (const [key] of own.slice(0, Math.max(0, own.length + 1 - sessionLimit))) sessions.delete(key)
    sessions.set(keyOf(token), { holder, owner, ends: now + sessionMillis })
    return token
  })

  return {
    isUser: (name) => known.has(name),
    admit,
    open: Effect.fn("Sessions.open")(function* (name, guess, browser, address) {
      const now = yield* Clock.currentTimeMillis
      forget(now)
      const id = browserOf(name, browser)
      const counters = countersOf(name, id, address)
      const retryAfter = take(counters, now)
      if (retryAfter !== undefined) return yield* new TooManyGuesses({ retryAfter })
      const { expected, role } = userOf(name)
      if (!timingSafeEqual(hash(guess), expected)) return yield* new WrongPassword()
      for (const counter of counters) guesses.delete(counter.name)
      const holder = { role, user: name }
      const token = yield* admit(holder)
      const own = id ?? (yield* Effect.sync(() => randomBytes(12).toString("base64url")))
      return { token, browser: `${own}.${proofOf(name, own)}`, holder }
    }),
    holderOf: Effect.fnUntraced(function* (token) {
      if (token === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      const session = sessions.get(keyOf(token))
      return session === undefined || now >= session.ends ? undefined : session.holder
    }),
    close: (token) =>
      Effect.sync(() => {
        if (token !== undefined) sessions.delete(keyOf(token))
      })
  }
}
