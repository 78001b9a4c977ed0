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

/** As the operator. */
const open = (sessions: Sessions.Sessions, guess: string, browser: string | undefined) =>
  sessions.open("operator", guess, browser)

describe("Sessions", () => {
  it.effect("opens to the user's password alone, and to a token until it is closed or twelve hours old", () =>
    Effect.gen(function* () {
      const sessions = make()
      for (const guess of ["", "correct horse batter", `${password} `, other]) {
        assert.strictEqual(yield* tagOf(open(sessions, guess, undefined)), "WrongPassword", guess)
      }
      assert.strictEqual(yield* tagOf(sessions.open("anna", password, undefined)), "WrongPassword")
      assert.strictEqual(yield* tagOf(sessions.open("nobody", password, undefined)), "WrongPassword")
      const { token: first } = yield* open(sessions, password, undefined)
      const { token: second } = yield* sessions.open("anna", other, undefined)
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

  it.effect("makes strangers wait longer and longer, and never a browser that had the password, nor another user", () =>
    Effect.gen(function* () {
      const sessions = make()
      const { browser } = yield* open(sessions, password, undefined)
      for (let i = 0; i < 5; i++) assert.strictEqual(yield* tagOf(open(sessions, "wrong", undefined)), "WrongPassword")
      const waits: Array<number> = []
      for (let i = 0; i < 9; i++) {
        // Not even the right password is listened to, nor any number of guesses.
        const refused = yield* Effect.flip(open(sessions, password, undefined))
        for (let k = 0; k < 50; k++) yield* tagOf(open(sessions, "wrong", `${k}.forged`))
        waits.push(refused._tag === "TooManyGuesses" ? refused.retryAfter : -1)
        assert.isDefined((yield* open(sessions, password, browser)).token)
        assert.isDefined((yield* sessions.open("anna", other, undefined)).token)
        yield* TestClock.adjust(`${waits.at(-1)!} seconds`)
        assert.strictEqual(yield* tagOf(open(sessions, "wrong", `${browser}x`)), "WrongPassword")
      }
      assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])
      yield* TestClock.adjust("60 seconds")
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
        for (let i = 0; i < 5; i++) yield* tagOf(sessions.open(user, "wrong", undefined))
        assert.strictEqual(yield* tagOf(sessions.open(user, right, browser)), "TooManyGuesses")
      }
    })
  )

  it.effect("ends the oldest sessions of accounts where there are very many, and none of a user", () =>
    Effect.gen(function* () {
      const sessions = make()
      const { token } = yield* open(sessions, password, undefined)
      const key = Redacted.make("hw_key")
      const first = yield* sessions.admit({ role: "account", account: "acme", key })
      for (let i = 0; i < 1_000; i++) yield* sessions.admit({ role: "account", account: "acme", key })
      assert.isUndefined(yield* sessions.holderOf(first))
      assert.isDefined(yield* sessions.holderOf(token))
    })
  )
})
