/** `headwater chains`: which daemon follows each chain, of several on one PostgreSQL, and moving a chain by hand. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { type Cell, printRows, time } from "../internal/Table.ts"
import * as ChainArgument from "./ChainArgument.ts"
import * as WithSettings from "./WithSettings.ts"

const { config, json } = WithSettings

const daemonCell = ({ daemon, successor }: Placements.ShownChain): Cell => {
  if (daemon === null) return { text: "none", colour: "red" }
  return successor === null ? daemon : { text: `${daemon}, going to ${successor}`, colour: "yellow" }
}

const print = Effect.fnUntraced(function* (asJson: boolean) {
  const { chains } = Placements.shown(yield* Placements.read)
  yield* printRows(
    asJson,
    chains,
    ["CHAIN", "DAEMON", "SINCE", "MOVED TO"],
    chains.map((row) => [row.chain, daemonCell(row), row.since === null ? "-" : time(row.since), row.pinned ?? "-"])
  )
})

const change = Effect.fnUntraced(function* (chain: string, daemon: string | undefined, asJson: boolean) {
  const name = nameOf(yield* ChainArgument.parse(chain))
  const deed = { action: daemon === undefined ? "chain.free" : "chain.move", subject: name }
  yield* AuditLog.during(
    AuditLog.commandLine,
    daemon === undefined ? deed : { ...deed, detail: daemon },
    Placements.pin(name, daemon)
  )
  yield* print(asJson)
})

const list = Command.make("list", { json }, ({ json }) => print(json)).pipe(
  Command.withDescription("List the chains of the store, each with the daemon that follows it")
)

const move = Command.make(
  "move",
  {
    json,
    chain: ChainArgument.argument,
    daemon: Argument.String("daemon").pipe(Argument.withDescription("The name of a daemon, as headwater status has it"))
  },
  ({ chain, daemon, json }) => change(chain, daemon, json)
).pipe(
  Command.withDescription(
    "Let a daemon follow a chain, within a second or two. The chain stays there while the daemon runs, also where others have less to do"
  ),
  Command.withShortDescription("Let a daemon follow a chain")
)

const free = Command.make("free", { json, chain: ChainArgument.argument }, ({ chain, json }) =>
  change(chain, undefined, json)
).pipe(Command.withDescription("Let the daemons decide again which of them follows a chain that was moved"))

export const chains = Command.make("chains").pipe(
  Command.withSharedFlags({ config }),
  Command.withSubcommands([list, move, free]),
  Command.withDescription("Which daemon follows each chain, of several on one PostgreSQL store"),
  Command.withShortDescription("Daemons that follow chains, and moving a chain by hand"),
  Command.withExamples([
    { command: "headwater chains list", description: "Who follows what" },
    { command: "headwater chains move ethereum/mainnet north", description: "Let the daemon north follow Ethereum" }
  ]),
  Command.provide((input) => WithSettings.withStore(input))
)
