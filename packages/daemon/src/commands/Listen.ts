/**
 * `headwater listen`: callbacks for a developer whose machine cannot be reached, behind a firewall or on a laptop. The
 * callbacks are read from the feed of the account and passed on to a local port, signed as in production.
 */
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import * as DaemonUrl from "../DaemonUrl.ts"
import * as Settings from "../settings/Settings.ts"
import * as SettingsFile from "../settings/SettingsFile.ts"
import * as ChainArgument from "./ChainArgument.ts"
import { stopsCleanly } from "./Serve.ts"
import { json } from "./WithSettings.ts"

const url = Schema.String.check(
  Schema.makeFilter(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? "") || "must be a URL that begins with http:// or https://"
  )
)

/** A subscription is named without its chain. */
export class NoChain extends Schema.TaggedError<NoChain>()("NoChain", { message: Schema.String }) {}

/** No API key is given. */
export class NoKey extends Schema.TaggedError<NoKey>()("NoKey", { message: Schema.String }) {}

/** The variable that holds the API key where no flag does: flags show in the list of processes. */
const keyVariable = "HEADWATER_API_KEY"

const defaultService = "http://127.0.0.1:8080"

/** The daemon of the settings, where there are any: who listens need not be where the service runs, nor may read its secrets. */
const serviceHere = Effect.map(Settings.Settings, ({ http }) => DaemonUrl.of(http)).pipe(
  Effect.provide(SettingsFile.layer(undefined)),
  Effect.orElseSucceed(() => defaultService)
)

const callbacksOf = (name: string, referenceId: string | undefined) =>
  Effect.map(ChainArgument.parse(name), ({ blockchain, network }) => ({
    chain: { blockchain, network },
    ...(referenceId === undefined ? {} : { referenceId })
  }))

export const listen = Command.make(
  "listen",
  {
    json,
    chain: Argument.String("chain").pipe(
      Argument.withDescription("Callbacks of one chain alone: ethereum/mainnet …; without it, of all chains"),
      Argument.optional
    ),
    forward: Flag.String("forward").pipe(
      Flag.withSchema(url),
      Flag.withDescription("Where callbacks go: http://localhost:3000/hook")
    ),
    service: Flag.String("service").pipe(
      Flag.withSchema(url),
      Flag.withDescription(
        "Address of the running service; by default where the settings here have it, else port 8080"
      ),
      Flag.optional
    ),
    key: Flag.Redacted("key").pipe(
      Flag.withDescription(`API key of the account; else the variable ${keyVariable}`),
      Flag.optional
    ),
    subscription: Flag.String("subscription").pipe(
      Flag.withDescription(
        "Reference id of one subscription, on the chain that is named; without it, all of the account"
      ),
      Flag.optional
    ),
    state: Flag.String("state").pipe(
      Flag.withDescription(
        "A file that keeps the position in the feed: callbacks that come while listen does not run are passed on later"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const name = Option.getOrUndefined(input.chain)
    const referenceId = Option.getOrUndefined(input.subscription)
    if (name === undefined && referenceId !== undefined) {
      return yield* new NoChain({
        message: `--subscription names a subscription of a chain: name the chain too, as in ${commandName} listen ethereum/mainnet`
      })
    }
    const of = name === undefined ? undefined : yield* callbacksOf(name, referenceId)
    const apiKey = Option.getOrElse(input.key, () => process.env[keyVariable] ?? "")
    if (apiKey === "")
      return yield* new NoKey({
        message: `Give an API key by ${keyVariable} or --key. ${commandName} keys create <account> makes one where the service runs`
      })
    // Loaded here only: the contract takes longer to load than the other commands take to run.
    const { Client, CallbackFeed } = yield* Effect.promise(async () => ({
      Client: await import("@headwater/http/contract/Client"),
      CallbackFeed: await import("../CallbackFeed.ts")
    }))
    const service = Option.isSome(input.service) ? input.service.value : yield* serviceHere
    const client = yield* Client.makeFetch({ baseUrl: service, apiKey })
    const whose = name ?? "all chains"
    yield* Console.error(`Looking for callbacks of ${whose} at ${service}`)
    return yield* CallbackFeed.forward(client, {
      of,
      to: input.forward,
      state: Option.getOrUndefined(input.state),
      onBegun: Console.error(`Passing callbacks of ${whose} on to ${input.forward}; stop with Ctrl-C`),
      onForwarded: (forwarded) =>
        Console.log(
          input.json
            ? JSON.stringify(forwarded)
            : `${forwarded.status} ${forwarded.event} ${forwarded.referenceId} #${forwarded.sequence}`
        )
    })
  }, stopsCleanly)
).pipe(
  Command.withDescription(
    "Pass an account's callbacks on to a local port, from the feed of the running service, signed as in production"
  ),
  Command.withExamples([
    {
      command: "headwater listen --forward http://localhost:3000/hook",
      description: "All callbacks of the account, from now on"
    }
  ])
)
