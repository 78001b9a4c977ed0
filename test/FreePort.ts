import { createServer } from "node:net"
import * as Effect from "effect/Effect"

/**
 * Below those that the kernel gives to servers that take any (`ip_local_port_range`): until the port is used, no server of
 * another test gets the same one.
 */
const [first, count] = [12_000, 20_000]

/** A port of 127.0.0.1 that was free a moment ago. */
export const freePort: Effect.Effect<number> = Effect.callback((resume) => {
  const look = () => {
    const port = first + Math.floor(Math.random() * count)
    const server = createServer()
    server.once("error", look)
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
  }
  look()
})
