/** `headwater status`: how far each chain is, by the running daemon, else by the store. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as PastReading from "@headwater/indexer/store/addresses/PastReading"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as ScanningWallets from "@headwater/indexer/store/wallets/ScanningWallets"
import * as CatchingUp from "@headwater/indexer/sync/CatchingUp"
import * as GapReport from "@headwater/indexer/sync/GapReport"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Terminal from "effect/Terminal"
import { commandName } from "../CommandName.ts"
import * as DaemonUrl from "../DaemonUrl.ts"
import * as FullAccounts from "../FullAccounts.ts"
import { Ready } from "../Health.ts"
import * as Screen from "../internal/Screen.ts"
import { type Cell, table, time } from "../internal/Table.ts"
import * as Operator from "../Operator.ts"
import * as Settings from "../settings/Settings.ts"
import { stopsCleanly } from "./Serve.ts"
import * as WithSettings from "./WithSettings.ts"

/** No daemon runs, or the daemon is not ready. The reasons are printed already: only the exit code is left to set. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", { message: Schema.String }) {
  override readonly [Runtime.errorReported] = false
}

/** What the daemon says where its token is not known here. */
const ReadyForOthers = Schema.Struct({ ready: Schema.Boolean })
const withoutToken =
  "the daemon tells its reasons to who has metrics.token, or may read the key of callback secrets, alone"

/** How long the daemon may take to answer. */
const timeout = "5 seconds"

/** The running daemon's answer; none where nobody answers at its address. */
const running = Effect.gen(function* () {
  const { http } = yield* Settings.Settings
  const token = yield* Operator.token
  const response = yield* HttpClient.get(`${DaemonUrl.of(http)}/ready`, {
    headers: token === undefined ? {} : Operator.header(token)
  })
  return yield* HttpClientResponse.schemaBodyJson(Schema.Union([Ready, ReadyForOthers]))(response)
}).pipe(Effect.timeout(timeout), Effect.option, Effect.provide(FetchHttpClient.layer))

/** Transactions that were not understood, with their raw form. */
const newestShown = 5

/** What the store has of each configured chain. */
const stored = Effect.gen(function* () {
  const chains = Settings.chains(yield* Settings.Settings)
  return yield* Effect.forEach(chains, ({ chain }) =>
    Effect.gen(function* () {
      const { first = null, last = null, time: blockTimestamp = null } = yield* StoredBlocks.of(chain)
      const replay = yield* Replay.interrupted(chain)
      const gaps = yield* GapReport.of(chain)
      const sync = yield* PastReading.progress(chain)
      const wallets = yield* ScanningWallets.progress(chain)
      const { missing = null, notUnderstood, skipped, unresolved = null } = gaps
      const newest = notUnderstood === undefined ? [] : yield* NotUnderstood.newest(chain, newestShown)
      const shown = {
        chain: nameOf(chain),
        firstHeight: first,
        height: last,
        blockTimestamp,
        replay: replay ?? null,
        addressSync: sync ?? null,
        walletSync: wallets === undefined ? null : { ...wallets, message: ScanningWallets.describe(wallets) },
        skipped,
        withoutInternal: missing,
        notUnderstood: notUnderstood === undefined ? null : { ...notUnderstood, newest },
        unresolved
      }
      return { gaps, shown }
    })
  )
})

/** The state as people read it; a daemon that does not know its caller tells none. */
const stateCell = (state: string | null, isTold: boolean): Cell => {
  switch (state) {
    case null:
      return { text: isTold ? "not running" : "not told", colour: "dim" }
    case "following":
      return { text: state, colour: "green" }
    case "syncing":
      return { text: "catching up", colour: "yellow" }
    case "starting":
      return { text: state, colour: "yellow" }
    default:
      return { text: state, colour: "red" }
  }
}

const text = (value: number | string | null) => (value === null ? "-" : String(value))

/** What the daemon and the store say together. */
const look = Effect.gen(function* () {
  const daemon = Option.getOrUndefined(yield* running)
  const details = daemon !== undefined && "chains" in daemon ? daemon : undefined
  const found = (yield* stored).map(({ gaps, shown }) => {
    const {
      catchingUp = null,
      head = null,
      message = null,
      networkDoubt = null,
      resting = [],
      state = null,
      // Absent where another daemon follows the chain.
      unproven,
      verify = null
    } = details?.chains[shown.chain] ?? {}
    return { gaps, shown: { ...shown, state, message, head, catchingUp, networkDoubt, verify, unproven, resting } }
  })
  const full = yield* FullAccounts.read
  const ready = daemon?.ready ?? false
  const told = details?.reasons ?? (ready ? [] : [withoutToken])
  const reasons = daemon === undefined ? [`the daemon does not run; ${commandName} serve starts it`] : told
  const isTold = daemon === undefined || details !== undefined
  const { daemons } = Placements.shown(yield* Placements.read)
  return { found, full, daemons, isRunning: daemon !== undefined, isTold, ready, reasons }
})

type Look = Effect.Success<typeof look>

const asJson = ({ daemons, found, full, isRunning, ready, reasons }: Look) =>
  JSON.stringify({
    ...{ running: isRunning, ready, reasons },
    chains: found.map(({ shown }) => shown),
    fullAccounts: full.names,
    daemons
  })

const chainTable = ({ found, isTold }: Look) =>
  table(
    ["CHAIN", "STATE", "FIRST", "HEIGHT", "HEAD", "BLOCK TIME"],
    found.map(({ shown: { blockTimestamp, chain, firstHeight, head, height, state } }) => [
      ...[chain, stateCell(state, isTold), text(firstHeight), text(height), text(head)],
      blockTimestamp === null ? "-" : time(blockTimestamp * 1000)
    ])
  )

/** The daemons of a store that several may share. */
const daemonTable = ({ daemons }: Look) =>
  table(
    ["DAEMON", "VERSION", "SINCE", "HEARTBEAT", "ROLES", "FOLLOWS"],
    daemons.map(({ follows, name, roles, silentSeconds, started, version }) => [
      ...[name, version, time(started)],
      silentSeconds === 0 ? "now" : ({ text: `${silentSeconds} s ago`, colour: "yellow" } as const),
      ...[roles.join(","), follows.join(" ") || "-"]
    ])
  )

const asTable = Effect.fnUntraced(function* (look: Look) {
  const chains = yield* chainTable(look)
  return look.daemons.length === 0 ? chains : `${chains}\n\n${yield* daemonTable(look)}`
})

/** What the table has no column for. */
const notes = ({ found, full, isTold, ready, reasons }: Look): ReadonlyArray<string> => [
  ...found.flatMap(({ gaps, shown }) => {
    const { addressSync, catchingUp, networkDoubt, notUnderstood, replay, resting, unproven, walletSync } = shown
    return [
      ...(catchingUp === null || reasons.some((reason) => reason.startsWith(`${shown.chain} catching up`))
        ? []
        : [
            CatchingUp.describe({
              blocks: catchingUp.blocks,
              perSecond: catchingUp.perSecond ?? undefined,
              secondsLeft: catchingUp.secondsLeft ?? undefined
            })
          ]),
      ...(networkDoubt === null ? [] : [`the network is ${networkDoubt}`]),
      ...(addressSync === null
        ? []
        : [
            `the past of ${addressSync.addresses} addresses is being read` +
              (addressSync.next > addressSync.last
                ? ": tokens are done"
                : `, tokens from block ${addressSync.next} to ${addressSync.last}`)
          ]),
      ...(walletSync === null ? [] : [walletSync.message]),
      ...(replay === null ? [] : [`a replay of blocks ${replay.from} to ${replay.to} is at block ${replay.next}`]),
      ...resting.map(({ node, reason }) => `${node} is not asked: ${reason}`),
      ...GapReport.list(gaps, unproven).map(({ message }) => message),
      ...(notUnderstood?.newest ?? []).map(
        ({ height, reason, transactionId }) =>
          `not understood: block ${height}, transaction ${transactionId ?? "unknown"}: ${reason}`
      )
    ].map((note) => `${shown.chain}: ${note}`)
  }),
  ...full.names.map(
    (name) =>
      `Account ${JSON.stringify(name)} has ${full.waitingCallbacks} callbacks that wait, as many as may: what happens at ` +
      "its busy addresses is kept, and told when they are fewer"
  ),
  ...(ready && !isTold ? [`Ready; ${withoutToken}`] : []),
  ...reasons.map((reason) => `Not ready: ${reason}`)
]

/** As a terminal shows it: `lines` of it at most, which end where the terminal's own do. */
const fitted = (shown: string, width: number | undefined, lines: number) => {
  const all = shown.split("\n").flatMap((line) => Screen.wrap(line, width).split("\n"))
  return all.length <= lines ? all : [...all.slice(0, lines - 1), `… and ${all.length - lines + 1} lines more`]
}

/** Shows the status over and over: drawn in place on a terminal, elsewhere printed whenever it has changed. */
const watch = Effect.fnUntraced(function* (json: boolean, seconds: number) {
  const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
  const terminal = yield* Terminal.Terminal
  let before = ""
  return yield* Effect.forever(
    Effect.gen(function* () {
      const found = yield* look
      const { dim, width } = yield* Screen.output
      const shown = json ? asJson(found) : [yield* asTable(found), ...notes(found)].join("\n")
      if (canAnimate && !json) {
        const title = dim(`${time(yield* Clock.currentTimeMillis)} UTC, every ${seconds} s; Ctrl-C ends it`)
        const lines = fitted(`${title}\n\n${shown}`, width, Math.max(2, (yield* terminal.rows) - 1))
        // Each line is cleared behind its text, and the screen below the last: nothing flickers.
        const clear = before === "" ? "\x1b[2J" : ""
        yield* Effect.ignore(terminal.display(`${clear}\x1b[H${lines.map((line) => `${line}\x1b[K\n`).join("")}\x1b[J`))
      } else if (shown !== before) yield* Console.log(before === "" || json ? shown : `\n${shown}`)
      before = shown
      yield* Effect.sleep(`${seconds} seconds`)
    })
  )
})

export const status = Command.make(
  "status",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    watch: Flag.Boolean("watch").pipe(
      Flag.withAlias("w"),
      Flag.withDescription("Go on until Ctrl-C: drawn anew on a terminal, else printed whenever something has changed"),
      Flag.withDefault(false)
    ),
    interval: Flag.Int("interval").pipe(
      Flag.withSchema(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_600 }, { message: "a number from 1 to 3600" }))
      ),
      Flag.withDescription("With --watch: seconds from one look to the next"),
      Flag.withDefault(2)
    )
  },
  Effect.fnUntraced(function* (input) {
    if (input.watch) return yield* stopsCleanly(watch(input.json, input.interval))
    const found = yield* look
    yield* Console.log(input.json ? asJson(found) : yield* asTable(found))
    if (!input.json) {
      const { width } = yield* Screen.errors
      for (const note of notes(found)) yield* Console.error(Screen.wrap(note, width))
    }
    if (!found.ready) return yield* new NotReady({ message: found.reasons.join("; ") })
  })
).pipe(
  Command.withDescription("Print how far each chain is. The exit code is 0 where the daemon runs and is ready, else 1"),
  Command.withExamples([
    { command: "headwater status", description: "Once, with an exit code for scripts" },
    { command: "headwater status --watch", description: "Every two seconds, until Ctrl-C" }
  ]),
  Command.provide((input) => WithSettings.withStore(input))
)
