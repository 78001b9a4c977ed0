/** Ports of 127.0.0.1 for what the demo runs. */
import { createServer } from "node:net"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** Listens for a moment; the port that it got, or undefined where that one is taken. */
const tryPort = (port: number) =>
  Effect.callback<number | undefined>((resume) => {
    const server = createServer()
    server.once("error", () => resume(Effect.undefined))
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address()
      server.close(() => resume(Effect.succeed(typeof address === "object" ? address?.port : undefined)))
    })
    return Effect.sync(() => server.close())
  })

/** `preferred` where it is free, else any port that is. */
export const free = (preferred: number): Effect.Effect<number> =>
  tryPort(preferred).pipe(Effect.filterOrElse(Predicate.isNotUndefined, () => Effect.map(tryPort(0), (any) => any!)))
