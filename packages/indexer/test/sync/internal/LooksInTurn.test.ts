import { assert, describe, it } from "@effect/vitest"
import { NodeInconsistent, NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import type { Database } from "@headwater/indexer/store/database/Database"
import type { Queue } from "@headwater/indexer/store/database/DueAccounts"
import * as LooksInTurn from "@headwater/indexer/sync/internal/LooksInTurn"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

/** A look of an account, whose number is its place. */
interface One {
  readonly account: number
  readonly id: number
}

const of = (account: number, count: number): ReadonlyArray<One> =>
  Array.from({ length: count }, (_, id) => ({ account, id }))
const accounts = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** What is due, in memory; `took`: the milliseconds that it takes to read the accounts. */
const make = (due: ReadonlyArray<One>, took = 0) => {
  const left = new Map([...Map.groupBy(due, ({ account }) => account)].map(([account, own]) => [account, [...own]]))
  const reads = { accounts: 0, pages: 0 }
  const asked: Array<number> = []
  const queue: Queue<One> = {
    accounts: Effect.andThen(
      Effect.sleep(took),
      Effect.sync(() => {
        reads.accounts++
        return [...left].filter(([, own]) => own.length > 0).map(([account]) => account)
      })
    ),
    behind: (places, most) =>
      Effect.sync(() => {
        reads.pages++
        return places.flatMap(({ account, id }) =>
          left
            .get(account)!
            .filter((one) => one.id > id)
            .slice(0, most)
        )
      }),
    placeOf: ({ account, id }) => ({ account, next: 0, id })
  }
  const atOnce: Array<number> = []
  const run = (look: (one: One) => Effect.Effect<boolean, NodeInconsistent | NodeUnreachable>) =>
    LooksInTurn.run<One, Database>(queue, (some) => {
      atOnce.push(some.length)
      return LooksInTurn.each(some, (one) =>
        Effect.tap(
          Effect.suspend(() => {
            asked.push(one.account)
            return look(one)
          }),
          (stays) =>
            Effect.sync(() => {
              if (!stays)
                left.set(
                  one.account,
                  left.get(one.account)!.filter(({ id }) => id !== one.id)
                )
            })
        )
      )
    }).pipe(Effect.provideService({} as never, {} as never)) as Effect.Effect<unknown>
  /** Until it ends, by the test's clock. */
  const ran = Effect.fnUntraced(function* (look: Parameters<typeof run>[0]) {
    const fiber = yield* Effect.forkChild(run(look))
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("50 millis")
    return yield* Fiber.join(fiber)
  })
  return { asked, atOnce, ran, reads }
}

const down = Effect.fail(new NodeUnreachable({ node: "node", method: "m", message: "down" }))
const confused = Effect.fail(new NodeInconsistent({ node: "node", method: "m", message: "nonsense" }))

describe("Looks in turn", () => {
  it.effect("are no more than fifty at a time, however many accounts have them", () =>
    Effect.gen(function* () {
      const { asked, atOnce, ran } = make(accounts(1, 40).flatMap((account) => of(account, 3)))
      yield* ran(() => Effect.succeed(false))
      assert.strictEqual(asked.length, 120)
      assert.isAtMost(Math.max(...atOnce), 50)
    })
  )

  it.effect("are fifty at a time also beside accounts whose looks all stay", () =>
    Effect.gen(function* () {
      const { asked, ran, reads } = make([...accounts(1, 200).flatMap((account) => of(account, 1)), ...of(201, 500)])
      yield* ran(({ account }) => (account === 201 ? Effect.succeed(false) : confused))
      assert.strictEqual(asked.length, 700)
      assert.isBelow(reads.pages, 40)
    })
  )

  it.effect("go on behind some that find nobody to ask each time, and end where all do", () =>
    Effect.gen(function* () {
      const { asked, ran } = make([...accounts(1, 8).flatMap((account) => of(account, 1)), ...of(9, 10)])
      const late = Effect.delay(down, "10 seconds")
      assert.isDefined(yield* ran(({ account }) => (account === 9 ? Effect.succeed(false) : late)))
      assert.strictEqual(asked.filter((account) => account === 9).length, 10)
      const all = make(accounts(1, 300).flatMap((account) => of(account, 1)))
      assert.isDefined(yield* all.ran(() => down))
      assert.strictEqual(all.asked.length, 50)
    })
  )

  for (const [count, millis] of [
    [9, 200],
    [51, 0]
  ] as const) {
    it.effect(`are as many of each of ${count} accounts, at a node that takes ${millis} ms`, () =>
      Effect.gen(function* () {
        const { asked, ran } = make(accounts(1, count).flatMap((account) => of(account, 20)))
        yield* ran(() => Effect.delay(Effect.succeed(false), millis))
        const half = Map.groupBy(asked.slice(0, 10 * count), (account) => account)
        assert.isAtMost(Math.max(...[...half.values()].map(({ length }) => length)), 12)
      })
    )
  }

  it.effect("read the accounts again seldom where that takes long", () =>
    Effect.gen(function* () {
      const { asked, ran, reads } = make(of(1, 5000), 150)
      yield* ran(() => Effect.delay(Effect.succeed(false), 1))
      assert.strictEqual(asked.length, 5000)
      assert.isBelow(reads.accounts, 12)
    })
  )
})
