import { assert, describe, it } from "@effect/vitest"
import * as Sessions from "@headwater/daemon/console/Sessions"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"

const password = "correct horse battery"
const make = () => Sessions.make(Redacted.make(password))
const tagOf = <A, E extends { readonly _tag: string }>(self: Effect.Effect<A, E>) =>
  Effect.match(self, { onSuccess: () => "open", onFailure: ({ _tag }) => _tag })

describe("Sessions", () => {
  it.effect("opens to the password alone, and to a token until it is closed or twelve hours old", () =>
    Effect.gen(function* () {
      const sessions = make()
      for (const guess of ["", "correct horse batter", `${password} `, password.toUpperCase()]) {
        assert.strictEqual(yield* tagOf(sessions.open(guess, undefined)), "WrongPassword", guess)
      }
      const { token: first } = yield* sessions.open(password, undefined)
      const { token: second } = yield* sessions.open(password, undefined)
      assert.notStrictEqual(first, second)
      assert.isTrue(yield* sessions.isOpen(first))
      for (const token of [undefined, "", `${first}A`, first.slice(0, -1)]) {
        assert.isFalse(yield* sessions.isOpen(token))
      }
      yield* sessions.close(first)
      assert.isFalse(yield* sessions.isOpen(first))
      yield* TestClock.adjust(Sessions.sessionMillis - 1)
      assert.isTrue(yield* sessions.isOpen(second))
      yield* TestClock.adjust(1)
      assert.isFalse(yield* sessions.isOpen(second))
    })
  )

  it.effect("makes strangers wait longer and longer, and never a browser that had the password", () =>
    Effect.gen(function* () {
      const sessions = make()
      const { browser } = yield* sessions.open(password, undefined)
      for (let i = 0; i < 5; i++) assert.strictEqual(yield* tagOf(sessions.open("wrong", undefined)), "WrongPassword")
      const waits: Array<number> = []
      for (let i = 0; i < 9; i++) {
        // Not even the right password is listened to, nor any number of guesses.
        const refused = yield* Effect.flip(sessions.open(password, undefined))
        for (let k = 0; k < 50; k++) yield* tagOf(sessions.open("wrong", `${k}.forged`))
        waits.push(refused._tag === "TooManyGuesses" ? refused.retryAfter : -1)
        assert.isDefined((yield* sessions.open(password, browser)).token)
        yield* TestClock.adjust(`${waits.at(-1)!} seconds`)
        assert.strictEqual(yield* tagOf(sessions.open("wrong", `${browser}x`)), "WrongPassword")
      }
      assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* tagOf(sessions.open(password, undefined)), "open")
      assert.strictEqual(yield* tagOf(sessions.open("wrong", undefined)), "WrongPassword", "counted from the start")
      assert.strictEqual(yield* tagOf(sessions.open(password, undefined)), "open")
    })
  )

  it.effect("makes a browser wait for its own guesses, up to a quarter of an hour, also after a restart", () =>
    Effect.gen(function* () {
      const { browser } = yield* make().open(password, undefined)
      const sessions = make()
      let waited = 0
      for (let i = 0; i < 40; i++) {
        const refused = yield* Effect.flip(sessions.open("wrong", browser))
        if (refused._tag !== "TooManyGuesses") continue
        waited = refused.retryAfter
        yield* TestClock.adjust(`${waited} seconds`)
      }
      assert.strictEqual(waited, 900)
      assert.strictEqual(yield* tagOf(sessions.open(password, undefined)), "open", "others are listened to")
    })
  )
})
