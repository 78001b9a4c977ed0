import { assert, describe, it } from "@effect/vitest"
import * as Failover from "@headwater/indexer/families/node/Failover"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
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
})
