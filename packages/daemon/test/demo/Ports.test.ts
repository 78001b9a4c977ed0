import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ports from "../../src/demo/Ports.ts"

const listen = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer()
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )

describe("Ports", () => {
  it.live("takes the preferred port where it is free and another one where it is not", () =>
    Effect.gen(function* () {
      const preferred = yield* Ports.free(0)
      assert.strictEqual(yield* Ports.free(preferred), preferred)
      yield* listen(preferred)
      const other = yield* Ports.free(preferred)
      assert.notStrictEqual(other, preferred)
      yield* listen(other)
    }).pipe(Effect.scoped)
  )
})
