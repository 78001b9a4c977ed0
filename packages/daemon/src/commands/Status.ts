/** `headwater status`: how far each chain is, as the running daemon says it, else as the store does. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
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

/** Nothing runs, or what runs is not ready: told already, and worth an exit code. */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", { message: Schema.String }) {
  override readonly [Runtime.errorReported] = false
}

/** How long the daemon may take to answer. */
const timeout = "5 seconds"

/** What the running daemon says of itself; none where nothing answers at its address. */
const running = Effect.gen(function* () {
  const { http } = yield* Settings.Settings
  const host = ["0.0.0.0", "::"].includes(http.host) ? "127.0.0.1" : http.host
  const response = yield* HttpClient.get(`http://${host.includes(":") ? `[${host}]` : host}:${http.port}/ready`)
  return yield* HttpClientResponse.schemaBodyJson(Ready)(response)
}).pipe(Effect.timeout(timeout), Effect.option, Effect.provide(FetchHttpClient.layer))

/** What the store has of each configured chain. */
const stored = Effect.gen(function* () {
  const chains = Settings.chains(yield* Settings.Settings)
  return yield* Effect.forEach(chains, ({ chain }) =>
    Effect.gen(function* () {
      const { first = null, last = null, time: blockTimestamp = null } = yield* StoredBlocks.of(chain)
      const replay = yield* Replay.interrupted(chain)
      const gap = yield* MissingParts.gap(chain)
      return {
        chain: nameOf(chain),
        firstHeight: first,
        height: last,
        blockTimestamp,
        replay: replay ?? null,
        withoutInternal: gap === undefined ? null : { ...gap, message: MissingParts.tell(chain, gap) }
      }
    })
  )
})

const text = (value: number | string | null) => (value === null ? "-" : String(value))

export const status = Command.make(
  "status",
  { config: WithSettings.config, json: WithSettings.json },
  Effect.fnUntraced(function* ({ json }) {
    const daemon = Option.getOrUndefined(yield* running)
    const chains = (yield* stored).map((of) => {
      const { head = null, message = null, state = null } = daemon?.chains[of.chain] ?? {}
      return { ...of, state, message, head }
    })
    const ready = daemon?.ready ?? false
    const reasons = daemon === undefined ? ["the daemon does not run"] : daemon.reasons
    yield* Console.log(
      json
        ? JSON.stringify({ running: daemon !== undefined, ready, reasons, chains })
        : table(
            ["CHAIN", "STATE", "FIRST", "HEIGHT", "HEAD", "BLOCK TIME"],
            chains.map(({ blockTimestamp, chain, firstHeight, head, height, state }) => [
              ...[chain, state ?? "not running", text(firstHeight), text(height), text(head)],
              blockTimestamp === null ? "-" : time(blockTimestamp * 1000)
            ])
          )
    )
    if (!json) {
      for (const { chain, replay, withoutInternal } of chains) {
        if (replay !== null) {
          yield* Console.error(`${chain}: a replay of blocks ${replay.from} to ${replay.to} is at block ${replay.next}`)
        }
        if (withoutInternal !== null) yield* Console.error(`${chain}: ${withoutInternal.message}`)
      }
      for (const reason of reasons) yield* Console.error(`Not ready: ${reason}`)
    }
    if (!ready) return yield* new NotReady({ message: reasons.join("; ") })
  })
).pipe(
  Command.withDescription("Say how far each chain is. Exit code 0: the daemon runs and is ready; else 1"),
  Command.provide((input) => Store.layer.pipe(Layer.provideMerge(WithSettings.layer(input))))
)
