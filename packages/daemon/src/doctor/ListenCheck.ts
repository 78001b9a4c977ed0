/** Looks at the addresses on which the daemon listens: whether they are free, or a daemon of ours has them already. */
import { createServer } from "node:net"
import * as Effect from "effect/Effect"
import * as DaemonUrl from "../DaemonUrl.ts"
import * as Settings from "../settings/Settings.ts"
import type { Finding } from "./Finding.ts"

interface Address {
  readonly host: string
  readonly port: number
}

/** The system's code for why nothing can listen there; undefined where something can. */
const refusal = ({ host, port }: Address) =>
  Effect.callback<string | undefined>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? error.message)))
    server.listen(port, host, () => server.close(() => resume(Effect.undefined)))
  })

/** Whether a daemon answers, as each does without a key: `/health`, and the console its page. */
const isOurs = (address: Address, path: string) =>
  Effect.tryPromise(async () => {
    const response = await fetch(`${DaemonUrl.of(address)}${path}`, { signal: AbortSignal.timeout(2_000) })
    return response.ok && /headwater|"status"/i.test(await response.text())
  }).pipe(Effect.orElseSucceed(() => false))

const checkOne = Effect.fnUntraced(function* (subject: string, address: Address, path: string) {
  const place = DaemonUrl.place(address)
  const code = yield* refusal(address)
  if (code === undefined) return { subject, level: "ok", message: `${place} is free` } satisfies Finding
  if (code === "EADDRINUSE" && (yield* isOurs(address, path))) {
    return { subject, level: "ok", message: `a daemon answers on ${place}` } satisfies Finding
  }
  return {
    subject,
    level: "problem",
    code: code === "EADDRINUSE" ? "port_in_use" : "address_unusable",
    message: `cannot listen on ${place}: ${code}`,
    advice:
      code === "EADDRINUSE"
        ? `end the program that has the port, or set another ${subject}.port`
        : `see whether ${subject}.host is an address of this machine, and whether this user may use ${subject}.port`
  } satisfies Finding
})

/** Both of the daemon's addresses, of which the console's is only there where the settings have one. */
export const check = Effect.gen(function* () {
  const { console, http } = yield* Settings.Settings
  return yield* Effect.all([
    checkOne("http", http, "/health"),
    ...(console === undefined ? [] : [checkOne("console", console, "/")])
  ])
})
