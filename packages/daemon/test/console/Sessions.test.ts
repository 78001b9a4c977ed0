import { assert, describe, it } from "@effect/vitest"
import * as Sessions from "@headwater/daemon/console/Sessions"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"

const password = "correct horse battery"
const other = "another long password"
const users: ReadonlyArray<Sessions.User> = [
  { name: "operator", role: "operator", password: Redacted.make(password) },
  { name: "anna", role: "support", password: Redacted.make(other) }
]
const make = (of = users) => Sessions.make(of)
const tagOf = <A, E extends { readonly _tag: string }>(self: Effect.Effect<A, E>) =>
  Effect.match(self, { onSuccess: () => "open", onFailure: ({ _tag }) => _tag })

const here = "192.0.2.1"

/** As the operator. */
const open = (sessions: Sessions.Sessions, guess: string, browser: string | undefined, address = here) =>
  sessions.open("operator", guess, browser, address)

describe("Sessions", () => {
  it.effect("opens to the user's password alone, and to a token until it is closed or twelve hours old", () =>
    Effect.gen(function* () {
      const sessions = make()
      for (const guess of ["", "correct horse batter", `${password} `, other]) {
        assert.strictEqual(yield* tagOf(open(sessions, guess, undefined)), "WrongPassword", guess)
      }
      assert.strictEqual(yield* tagOf(sessions.open("anna", password, undefined, here)), "WrongPassword")
      assert.strictEqual(yield* tagOf(sessions.open("nobody", password, undefined, here)), "WrongPassword")
      const { token: first } = yield* open(sessions, password, undefined)
      const { token: second } = yield* sessions.open("anna", other, undefined, here)
      assert.notStrictEqual(first, second)
      assert.deepStrictEqual(yield* sessions.holderOf(first), { role: "operator", user: "operator" })
      assert.deepStrictEqual(yield* sessions.holderOf(second), { role: "support", user: "anna" })
      for (const token of [undefined, "", `${first}A`, first.slice(0, -1)]) {
        assert.isUndefined(yield* sessions.holderOf(token))
      }
      yield* sessions.close(first)
      assert.isUndefined(yield* sessions.holderOf(first))
      yield* TestClock.adjust(Sessions.sessionMillis - 1)
      assert.isDefined(yield* sessions.holderOf(second))
      yield* TestClock.adjust(1)
      assert.isUndefined(yield* sessions.holderOf(second))
    })
  )

  it.effect(
    "makes an address wait longer and longer, and never a browser that had the password, another address or user",
    () =>
      Effect.gen(function* () {
        const sessions = make()
        const { browser } = yield* open(sessions, password, undefined)
        for (let i = 0; i < 5; i++)
          assert.strictEqual(yield* tagOf(open(sessions, "wrong", undefined)), "WrongPassword")
        const waits: Array<number> = []
        for (let i = 0; i < 9; i++) {
          // Not even the right password is listened to, nor any number of guesses.
          const refused = yield* Effect.flip(open(sessions, password, undefined))
          for (let k = 0; k < 50; k++) yield* tagOf(open(sessions, "wrong", `${k}.forged`))
          waits.push(refused._tag === "TooManyGuesses" ? refused.retryAfter : -1)
          assert.isDefined((yield* open(sessions, password, browser)).token)
          assert.isDefined((yield* open(sessions, password, undefined, "192.0.2.2")).token)
          assert.isDefined((yield* sessions.open("anna", other, undefined, here)).token)
          yield* TestClock.adjust(`${waits.at(-1)!} seconds`)
          assert.strictEqual(yield* tagOf(open(sessions, "wrong", `${browser}x`)), "WrongPassword")
        }
        assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256])
        yield* TestClock.adjust("512 seconds")
        assert.strictEqual(yield* tagOf(open(sessions, password, undefined)), "open")
        assert.strictEqual(yield* tagOf(open(sessions, "wrong", undefined)), "WrongPassword", "counted from the start")
        assert.strictEqual(yield* tagOf(open(sessions, password, undefined)), "open")
      })
  )

  it.effect("makes a browser wait for its own guesses, up to a quarter of an hour, also after a restart", () =>
    Effect.gen(function* () {
      const { browser } = yield* open(make(), password, undefined)
      const sessions = make()
      let waited = 0
      for (let i = 0; i < 40; i++) {
        const refused = yield* Effect.flip(open(sessions, "wrong", browser))
        if (refused._tag !== "TooManyGuesses") continue
        waited = refused.retryAfter
        yield* TestClock.adjust(`${waited} seconds`)
      }
      assert.strictEqual(waited, 900)
      assert.strictEqual(yield* tagOf(open(sessions, password, undefined)), "open", "others are listened to")
    })
  )

  it.effect("takes one user's browser for a stranger at another user's name, and after a change of the password", () =>
    Effect.gen(function* () {
      const { browser } = yield* open(make(), password, undefined)
      const changed = make([{ ...users[0]!, password: Redacted.make(other) }, users[1]!])
      for (const [sessions, user, right] of [
        [make(), "anna", other],
        [changed, "operator", other]
      ] as const) {
        for (let i = 0; i < 5; i++) yield* tagOf(sessions.open(user, "wrong", undefined, here))
        assert.strictEqual(yield* tagOf(sessions.open(user, right, browser, here)), "TooManyGuesses")
      }
    })
  )

  it.effect("listens to a new browser while one address guesses for hours", () =>
    Effect.gen(function* () {
      const sessions = make()
      let listened = 0
      for (let second = 0; second < 4 * 3_600; second += 10) {
        if ((yield* tagOf(open(sessions, "wrong", undefined))) === "WrongPassword") listened++
        yield* TestClock.adjust("10 seconds")
      }
      assert.isBelow(listened, 40)
      assert.strictEqual(yield* tagOf(open(sessions, password, undefined, "192.0.2.2")), "open")
    })
  )

  it.effect("makes all strangers wait a minute at most where very many addresses guess at one name, for an hour", () =>
    Effect.gen(function* () {
      const sessions = make()
      const { browser } = yield* open(sessions, password, undefined)
      const guess = (i: number) => open(sessions, "wrong", undefined, `198.51.${i >> 8}.${i & 255}`)
      let i = 0
      while ((yield* tagOf(guess(i))) === "WrongPassword") i++
      assert.strictEqual(i, 500)
      for (let k = 0; k < 12; k++) {
        const refused = yield* Effect.flip(guess(i++))
        assert.strictEqual(refused._tag, "TooManyGuesses")
        const { retryAfter } = refused as Sessions.TooManyGuesses
        assert.isAtMost(retryAfter, 60)
        assert.strictEqual(yield* tagOf(open(sessions, password, undefined)), "TooManyGuesses")
        assert.strictEqual(yield* tagOf(open(sessions, password, browser)), "open")
        assert.strictEqual(yield* tagOf(sessions.open("anna", other, undefined, here)), "open")
        yield* TestClock.adjust(`${retryAfter} seconds`)
        assert.strictEqual(yield* tagOf(guess(i++)), "WrongPassword")
      }
      yield* TestClock.adjust("1 hour")
      for (let k = 0; k < 20; k++) assert.strictEqual(yield* tagOf(guess(i++)), "WrongPassword")
    })
  )

  it.effect("ends an owner's own oldest sessions where the owner has many, and nobody else's", () =>
    Effect.gen(function* () {
      const sessions = make()
      const key = Redacted.make("hw_key")
      const { token: annas } = yield* sessions.open("anna", other, undefined, here)
      const acme = { role: "account", id: 1, account: "acme", key } as const
      const theirs = yield* sessions.admit({ ...acme, id: 2 })
      const open20 = Effect.forEach(Array.from({ length: Sessions.sessionLimit }), () => sessions.admit(acme))
      const first = yield* open20
      for (const token of first) assert.isDefined(yield* sessions.holderOf(token))
      const last = yield* sessions.admit(acme)
      assert.isUndefined(yield* sessions.holderOf(first[0]))
      for (const token of [first[1], last, annas, theirs]) assert.isDefined(yield* sessions.holderOf(token))
      for (let i = 0; i < 60; i++) yield* open20
      for (const token of [annas, theirs]) assert.isDefined(yield* sessions.holderOf(token))
      let annasLast = annas
      for (let i = 0; i < Sessions.sessionLimit; i++) {
        annasLast = (yield* sessions.open("anna", other, undefined, here)).token
      }
      assert.isUndefined(yield* sessions.holderOf(annas))
      for (const token of [annasLast, theirs]) assert.isDefined(yield* sessions.holderOf(token))
    })
  )
})
