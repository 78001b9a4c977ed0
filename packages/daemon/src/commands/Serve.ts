/** `headwater serve`: the daemon. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as LiveLine from "../LiveLine.ts"
import * as Settings from "../settings/Settings.ts"
import * as WithSettings from "./WithSettings.ts"

/** A service that stops because of a signal has not failed. */
export const stopsCleanly = Effect.onInterrupt(() =>
  Effect.sync(() => {
    process.exitCode = 0
  })
)

export const serve = Command.make(
  "serve",
  {
    config: WithSettings.config,
    roles: Flag.String("roles").pipe(
      Flag.withDescription(
        "What this daemon does, of several that share a PostgreSQL store: follow,deliver,api,market; all by default"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(
    function* () {
      const settings = yield* Settings.Settings
      const chains = Settings.chains(settings).map(({ chain }) => Chain.nameOf(chain))
      const parts = Settings.hasAllRoles(settings) ? "" : `, with the roles ${settings.roles.join(", ")}`
      yield* Effect.logInfo(`Starting for ${chains.join(", ")}${parts}`)
      // Loaded here only: the other commands need not wait until all of the daemon is loaded.
      const { run } = yield* Effect.promise(() => import("../Serve.ts"))
      return yield* Effect.provide(run, LiveLine.layer)
    },
    Effect.onInterrupt(() => Effect.logInfo("Stopped")),
    stopsCleanly
  )
).pipe(
  Command.withDescription("Follow the configured chains, answer requests and deliver callbacks, until stopped"),
  Command.withExamples([
    { command: "headwater serve --config headwater.toml", description: "With the settings of a file" },
    { command: "headwater serve --roles api", description: "Answers requests, beside daemons with the other roles" },
    {
      command: "HEADWATER_CHAINS_ETHEREUM_MAINNET_NODES=http://127.0.0.1:8545 headwater serve",
      description: "With environment variables alone"
    }
  ]),
  Command.provide(({ roles, ...input }) => WithSettings.layer(input, { HEADWATER_ROLES: Option.getOrUndefined(roles) }))
)
