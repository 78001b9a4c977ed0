import { createServer } from "node:net"
import * as Effect from "effect/Effect"

/** A port of 127.0.0.1 that was free a moment ago. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
