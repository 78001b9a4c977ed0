/** `headwater status`: how far each chain is, by the running daemon, else by the store. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as Proof from "@headwater/indexer/families/node/Proof"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import * as SkippedBlocks from "@headwater/indexer/store/chain/SkippedBlocks"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as ScanningWallets from "@headwater/indexer/store/wallets/ScanningWallets"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { Ready } from "../Health.ts"
import { table, time } from "../internal/Table.ts"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import * as WithSettings from "./WithSettings.ts"

/** No daemon runs, or the daemon is not ready. The reasons are printed already: only the exit code is left to set. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", { message: Schema.String }) {
  override readonly [Runtime.errorReported] = false
}

/** How long the daemon may take to answer. */
const timeout = "5 seconds"

/** The running daemon's answer; none where nobody answers at its address. */
const running = Effect.gen(function* () {
  const { http } = yield* Settings.Settings
  const host = ["0.0.0.0", "::"].includes(http.host) ? "127.0.0.1" : http.host
  const response = yield* HttpClient.get(`http://${host.includes(":") ? `[${host}]` : host}:${http.port}/ready`)
  return yield* HttpClientResponse.schemaBodyJson(Ready)(response)
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
      const gap = yield* MissingParts.missingInternal(chain)
      const skipped = yield* SkippedBlocks.of(chain)
      const sync = yield* SyncedAddresses.progress(chain)
      const wallets = yield* ScanningWallets.progress(chain)
      const partly = yield* NotUnderstood.count(chain)
      const newest = partly === undefined ? [] : yield* NotUnderstood.newest(chain, newestShown)
      const inDoubt = yield* UnresolvedEvents.count(chain)
      return {
        chain: nameOf(chain),
        firstHeight: first,
        height: last,
        blockTimestamp,
        replay: replay ?? null,
        addressSync: sync ?? null,
        walletSync: wallets === undefined ? null : { ...wallets, message: ScanningWallets.describe(wallets) },
        skipped: skipped.map((range) => ({ ...range, message: SkippedBlocks.describe(chain, range) })),
        withoutInternal: gap === undefined ? null : { ...gap, message: MissingParts.describe(chain, gap) },
        notUnderstood:
          partly === undefined ? null : { ...partly, newest, message: NotUnderstood.describe(chain, partly) },
        unresolved: inDoubt === undefined ? null : { ...inDoubt, message: UnresolvedEvents.describe(inDoubt) }
      }
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
    const chains = (yield* stored).map((of) => {
      const {
        catchingUp = null,
        head = null,
        message = null,
        networkDoubt = null,
        resting = [],
        state = null,
        unproven = [],
        verify = null
      } = daemon?.chains[of.chain] ?? {}
      return { ...of, state, message, head, catchingUp, networkDoubt, verify, unproven, resting }
    })
    const ready = daemon?.ready ?? false
    const reasons = daemon === undefined ? ["the daemon does not run"] : daemon.reasons
    yield* Console.log(
      json
        ? JSON.stringify({ running: daemon !== undefined, ready, reasons, chains })
        : table(
            ["CHAIN", "STATE", "FIRST", "HEIGHT", "HEAD", "BLOCK TIME"],
            chains.map(({ blockTimestamp, chain, firstHeight, head, height, state }) => [
              ...[chain, stateText(state), text(firstHeight), text(height), text(head)],
              blockTimestamp === null ? "-" : time(blockTimestamp * 1000)
            ])
          )
    )
    if (!json) {
      for (const one of chains) {
        const { addressSync, chain, networkDoubt, notUnderstood, replay, resting, skipped } = one
        const { unproven, unresolved, walletSync, withoutInternal } = one
        for (const { message } of skipped) yield* Console.error(`${chain}: ${message}`)
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
        if (withoutInternal !== null) yield* Console.error(`${chain}: ${withoutInternal.message}`)
        for (const { node, reason } of resting) yield* Console.error(`${chain}: ${node} is not asked: ${reason}`)
        for (const part of unproven) yield* Console.error(`${chain}: ${Proof.describe(part)}`)
        if (notUnderstood !== null) {
          yield* Console.error(`${chain}: ${notUnderstood.message}`)
          for (const { height, reason, transactionId } of notUnderstood.newest) {
            yield* Console.error(`${chain}:   block ${height}, transaction ${transactionId ?? "unknown"}: ${reason}`)
          }
        }
        if (unresolved !== null) yield* Console.error(`${chain}: ${unresolved.message}`)
      }
      for (const reason of reasons) yield* Console.error(`Not ready: ${reason}`)
    }
    if (!ready) return yield* new NotReady({ message: reasons.join("; ") })
  })
).pipe(
  Command.withDescription("Print how far each chain is. The exit code is 0 where the daemon runs and is ready, else 1"),
  Command.provide((input) => Store.layer.pipe(Layer.provideMerge(WithSettings.layer(input))))
)
