import { assert, describe, it } from "@effect/vitest"
import * as Failover from "@headwater/indexer/families/node/Failover"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

const failing = ({ name: node }: { readonly name: string }) =>
  Effect.fail({
    ...{ error: new NodeUnreachable({ node, method: "m", message: "the connection was closed" }), retry: true },
    waitMillis: 0
  })

describe("Failover", () => {
  it.effect(
    "lets a node rest by how long the question took that failed, not the work that the question was part of",
    () =>
      Effect.gen(function* () {
        const failover = Failover.make([{ name: "first" }, { name: "second" }])
        const asked = failover.ask(({ name }) => Effect.succeed(name))
        /** Work of so many seconds, at whose end the first node fails after so many more. */
        const afterWork = Effect.fnUntraced(function* (seconds: number, waited: number) {
          const work = yield* Effect.forkChild(
            failover.withOne((one) =>
              Effect.andThen(
                one.ask(() => Effect.sleep(`${seconds} seconds`)),
                one.ask((node) =>
                  node.name === "first"
                    ? Effect.andThen(Effect.sleep(`${waited} seconds`), failing(node))
                    : Effect.succeed(node.name)
                )
              )
            )
          )
          yield* TestClock.adjust(`${2 * seconds + waited} seconds`)
          assert.strictEqual(yield* Fiber.join(work), "second")
        })
        yield* afterWork(20, 0)
        assert.strictEqual(yield* asked, "first")
        yield* afterWork(1, 20)
        assert.strictEqual(yield* asked, "second")
        yield* TestClock.adjust("198 seconds")
        assert.strictEqual(yield* asked, "second")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* asked, "first")
      })
  )

  it.effect(
    "waits for a node that hangs once, and for a second whenever it is asked again, until it has answered",
    () =>
      Effect.gen(function* () {
        const failover = Failover.make([{ name: "first" }, { name: "second" }])
        let takes = 1e9
        const answer = (node: { readonly name: string }) =>
          node.name === "second"
            ? Effect.succeed(node.name)
            : Effect.andThen(
                Effect.sleep(Math.min(takes, 30_000)),
                takes > 30_000 ? failing(node) : Effect.succeed(node.name)
              )
        const ways = [failover.ask(answer), failover.withOne((one) => one.ask(answer))]
        /** Who answers in the end, and after how long. */
        const asked = Effect.fnUntraced(function* (way: Effect.Effect<string, unknown>) {
          const since = yield* Clock.currentTimeMillis
          const fiber = yield* Effect.forkChild(
            Effect.flatMap(way, (name) => Effect.map(Clock.currentTimeMillis, (now) => [name, now - since]))
          )
          yield* TestClock.adjust("11 minutes")
          return yield* Fiber.join(fiber)
        })
        for (const way of ways) {
          takes = 1e9
          assert.deepStrictEqual(yield* asked(way), ["second", 30_000])
          for (let i = 0; i < 3; i++) assert.deepStrictEqual(yield* asked(way), ["second", 1_000])
          takes = 500
          assert.deepStrictEqual(yield* asked(way), ["first", 500])
          takes = 20_000
          assert.deepStrictEqual(yield* asked(way), ["first", 20_000])
        }
        // So is one that is asked by itself, as for a quorum.
        takes = 1e9
        const first = Effect.orElseSucceed(failover.only(failover.nodes[0]!).ask(answer), () => "none")
        for (const millis of [30_000, 1_000, 1_000]) assert.deepStrictEqual(yield* asked(first), ["none", millis])
        takes = 500
        assert.deepStrictEqual(yield* asked(first), ["first", 500])
        takes = 20_000
        assert.deepStrictEqual(yield* asked(first), ["first", 20_000])
        // A node that has no other beside it is waited for.
        takes = 1e9
        const alone = Failover.make([{ name: "first" }])
        yield* asked(Effect.ignore(alone.ask(answer)).pipe(Effect.as("")))
        takes = 20_000
        assert.deepStrictEqual(yield* asked(alone.ask(answer)), ["first", 20_000])
      })
  )

  it.effect(
    "waits again for a node that is slow, and that a quorum needs, once it has answered with nobody waiting",
    () =>
      Effect.gen(function* () {
        const failover = Failover.make([{ name: "first" }, { name: "second" }])
        let takes = 1e9
        let asked = 0
        const first = failover.only(failover.nodes[0]!).ask((node) =>
          Effect.suspend(() => {
            asked++
            const outcome = takes > 30_000 ? failing(node) : Effect.succeed(node.name)
            return Effect.andThen(Effect.sleep(Math.min(takes, 30_000)), outcome)
          })
        )
        const within = Effect.fnUntraced(function* (millis: number) {
          const fiber = yield* Effect.forkChild(Effect.orElseSucceed(first, () => "none"))
          yield* TestClock.adjust(millis)
          return yield* Fiber.join(fiber)
        })
        assert.strictEqual(yield* within(30_000), "none")
        takes = 2_000
        assert.strictEqual(yield* within(1_000), "none")
        assert.strictEqual(yield* within(1_000), "none")
        assert.strictEqual(asked, 4, "one question at a time that nobody waits for")
        yield* TestClock.adjust(1_000)
        assert.strictEqual(yield* within(2_000), "first")
        assert.strictEqual(yield* within(2_000), "first")
      })
  )

  it.effect("goes back to a node that was waited for in vain where the other one does not answer at all", () =>
    Effect.gen(function* () {
      const failover = Failover.make([{ name: "first" }, { name: "second" }])
      let hangs = true
      const asked = Effect.fnUntraced(function* (forSeconds: number) {
        const question = failover.ask((node) => {
          if (node.name === "second") return failing(node)
          return hangs ? Effect.andThen(Effect.sleep("30 seconds"), failing(node)) : Effect.succeed(node.name)
        })
        const fiber = yield* Effect.forkChild(Effect.orElseSucceed(question, () => "none"))
        yield* TestClock.adjust(`${forSeconds} seconds`)
        return yield* Fiber.join(fiber)
      })
      yield* asked(130)
      hangs = false
      assert.strictEqual(yield* asked(10), "first")
    })
  )
})
