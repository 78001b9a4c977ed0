/** The servers of the daemon: each listens at its address of the settings, or says what an operator can do. */
import * as Server from "@headwater/http/server/Server"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as DaemonUrl from "./DaemonUrl.ts"

/** The server's address is taken, or not one of this machine. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  message: Schema.String,
  /** As `doctor` names what is wrong. */
  code: Schema.Literals(["port_in_use", "address_unusable"]),
  /** What the operator can do. */
  advice: Schema.String
}) {}

/** The part of the settings that has a server's address. */
type Section = "http" | "console"

const words = {
  http: { listens: "Listening", cannot: "Cannot" },
  console: { listens: "The console listens", cannot: "The console cannot" }
} as const satisfies Record<Section, unknown>

const refusal = (section: Section, address: Server.Options, cause: unknown) => {
  const { code, message } = cause as NodeJS.ErrnoException
  return new CannotListen({
    message: `${words[section].cannot} listen on ${DaemonUrl.place(address)}: ${message}`,
    ...(code === "EADDRINUSE"
      ? ({
          code: "port_in_use",
          advice: `another program has the port, perhaps a daemon that runs: end it, or set another ${section}.port`
        } as const)
      : ({
          code: "address_unusable",
          advice: `see whether ${section}.host is an address of this machine, and whether this user may use ${section}.port`
        } as const))
  })
}

/** Answers by these routes as long as the layer lives. */
export const layer = <R>(section: Section, routes: Layer.Layer<never, never, R>, options: Server.Options) =>
  Layer.effectDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
      Effect.logInfo(`${words[section].listens} on ${HttpServer.formatAddress(address)}`)
    )
  ).pipe(
    Layer.provide(Server.serve(routes, options)),
    Layer.catchTag("ServeError", ({ cause }) => Layer.effectDiscard(refusal(section, options, cause)))
  )
