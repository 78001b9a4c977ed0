/** Free ports of 127.0.0.1 for the parts of the demo. */
import { createServer } from "node:net"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** Listens for a moment; gives the port, or undefined where the port is taken. */
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

/** The preferred port where it is free, else any free port. */
export const free = (preferred: number): Effect.Effect<number> =>
  tryPort(preferred).pipe(Effect.filterOrElse(Predicate.isNotUndefined, () => Effect.map(tryPort(0), (any) => any!)))
