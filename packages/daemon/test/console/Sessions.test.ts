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
        assert.strictEqual(yield* tagOf(sessions.open(guess, "a")), "WrongPassword", guess)
      }
      const [first, second] = [yield* sessions.open(password, "a"), yield* sessions.open(password, "a")]
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

  it.effect("listens to five wrong guesses a minute from one address, and to the password of another", () =>
    Effect.gen(function* () {
      const sessions = make()
      const guesses = yield* Effect.replicateEffect(tagOf(sessions.open("wrong", "a")), 8)
      assert.deepStrictEqual(guesses, [
        ...Array.from({ length: 5 }, () => "WrongPassword"),
        ...Array.from({ length: 3 }, () => "TooManyGuesses")
      ])
      assert.strictEqual(yield* tagOf(sessions.open(password, "a")), "TooManyGuesses", "not even the right one")
      assert.strictEqual(yield* tagOf(sessions.open(password, "b")), "open")
      yield* TestClock.adjust("59 seconds")
      const refused = yield* Effect.flip(sessions.open(password, "a"))
      assert.strictEqual(refused._tag === "TooManyGuesses" ? refused.retryAfter : undefined, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* tagOf(sessions.open(password, "a")), "open")
    })
  )

  it.effect("does not count right guesses, and listens to fifty wrong ones of all addresses together", () =>
    Effect.gen(function* () {
      const sessions = make()
      for (let i = 0; i < 100; i++) assert.strictEqual(yield* tagOf(sessions.open(password, "a")), "open")
      const guesses: Array<string> = []
      for (let i = 0; i < 60; i++) guesses.push(yield* tagOf(sessions.open("wrong", `address ${i}`)))
      assert.deepStrictEqual(guesses.indexOf("TooManyGuesses"), 50)
    })
  )
})
