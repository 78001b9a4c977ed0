/** `headwater status`: how far each chain is, by the running daemon, else by the store. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as PastReading from "@headwater/indexer/store/addresses/PastReading"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as ScanningWallets from "@headwater/indexer/store/wallets/ScanningWallets"
import * as GapReport from "@headwater/indexer/sync/GapReport"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as FullAccounts from "../FullAccounts.ts"
import { Ready } from "../Health.ts"
import { table, time } from "../internal/Table.ts"
import * as Operator from "../Operator.ts"
import * as Settings from "../settings/Settings.ts"
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
  const host = ["0.0.0.0", "::"].includes(http.host) ? "127.0.0.1" : http.host
  const token = yield* Operator.token
  const response = yield* HttpClient.get(`http://${host.includes(":") ? `[${host}]` : host}:${http.port}/ready`, {
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

/** The state as people read it. */
const stateText = (state: string | null) => (state === "syncing" ? "catching up" : (state ?? "not running"))

const text = (value: number | string | null) => (value === null ? "-" : String(value))

export const status = Command.make(
  "status",
  { config: WithSettings.config, json: WithSettings.json },
  Effect.fnUntraced(function* ({ json }) {
    const daemon = Option.getOrUndefined(yield* running)
    const found = (yield* stored).map(({ gaps, shown }) => {
      const {
        catchingUp = null,
        head = null,
        message = null,
        networkDoubt = null,
        resting = [],
        state = null,
        unproven = [],
        verify = null
      } = (daemon !== undefined && "chains" in daemon ? daemon.chains[shown.chain] : undefined) ?? {}
      return { gaps, shown: { ...shown, state, message, head, catchingUp, networkDoubt, verify, unproven, resting } }
    })
    const chains = found.map(({ shown }) => shown)
    const full = yield* FullAccounts.read
    const ready = daemon?.ready ?? false
    const told = daemon !== undefined && "reasons" in daemon ? daemon.reasons : ready ? [] : [withoutToken]
    const reasons = daemon === undefined ? ["the daemon does not run; headwater serve starts it"] : told
    yield* Console.log(
      json
        ? JSON.stringify({ running: daemon !== undefined, ready, reasons, chains, fullAccounts: full.names })
        : table(
            ["CHAIN", "STATE", "FIRST", "HEIGHT", "HEAD", "BLOCK TIME"],
            chains.map(({ blockTimestamp, chain, firstHeight, head, height, state }) => [
              ...[chain, stateText(state), text(firstHeight), text(height), text(head)],
              blockTimestamp === null ? "-" : time(blockTimestamp * 1000)
            ])
          )
    )
    if (!json) {
      for (const { gaps, shown } of found) {
        const { addressSync, chain, networkDoubt, notUnderstood, replay, resting, unproven, walletSync } = shown
        if (networkDoubt !== null) yield* Console.error(`${chain}: the network is ${networkDoubt}`)
        if (addressSync !== null) {
          const { addresses, last, next } = addressSync
          yield* Console.error(
            `${chain}: the past of ${addresses} addresses is being read` +
              (next > last ? ": tokens are done" : `, tokens from block ${next} to ${last}`)
          )
        }
        if (walletSync !== null) yield* Console.error(`${chain}: ${walletSync.message}`)
        if (replay !== null) {
          yield* Console.error(`${chain}: a replay of blocks ${replay.from} to ${replay.to} is at block ${replay.next}`)
        }
        for (const { node, reason } of resting) yield* Console.error(`${chain}: ${node} is not asked: ${reason}`)
        for (const { message } of GapReport.list(gaps, unproven)) yield* Console.error(`${chain}: ${message}`)
        for (const { height, reason, transactionId } of notUnderstood?.newest ?? []) {
          yield* Console.error(
            `${chain}: not understood: block ${height}, transaction ${transactionId ?? "unknown"}: ${reason}`
          )
        }
      }
      for (const name of full.names) {
        yield* Console.error(
          `Account ${JSON.stringify(name)} has ${full.waitingCallbacks} callbacks that wait, as many as may: what happens at ` +
            "its busy addresses is kept, and told when they are fewer"
        )
      }
      for (const reason of reasons) yield* Console.error(`Not ready: ${reason}`)
    }
    if (!ready) return yield* new NotReady({ message: reasons.join("; ") })
  })
).pipe(
  Command.withDescription("Print how far each chain is. The exit code is 0 where the daemon runs and is ready, else 1"),
  Command.provide((input) => WithSettings.withStore(input))
)
