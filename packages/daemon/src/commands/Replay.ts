/** `headwater replay`: enters a range of committed blocks again. */
import { nameOf } from "@headwater/core/chains/Chain"
import * as Capability from "@headwater/indexer/families/Capability"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as InternalRetention from "@headwater/indexer/store/chain/InternalRetention"
import * as GapReport from "@headwater/indexer/sync/GapReport"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import * as Progress from "../Progress.ts"
import * as ChainArgument from "./ChainArgument.ts"
import * as ChainNodes from "./ChainNodes.ts"
import * as HeightFlag from "./HeightFlag.ts"
import * as WithSettings from "./WithSettings.ts"

/** Neither a flag nor an interrupted replay says which blocks. */
export class NoRange extends Schema.TaggedError<NoRange>()("NoRange", { message: Schema.String }) {}

export const replay = Command.make(
  "replay",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    chain: ChainArgument.argument,
    from: HeightFlag.flag("from", "The first block; without it, a replay that was interrupted goes on"),
    to: HeightFlag.flag("to", "The last block; without it, the last one that is stored"),
    callbacks: Flag.Boolean("callbacks").pipe(
      Flag.withDescription(
        "Also add the callbacks that active subscriptions should have had since they were created; callbacks that exist " +
          "stay as they are, and idempotency keys do not change, so that receivers can drop what they have"
      ),
      Flag.withDefault(false)
    ),
    forgotten: Flag.Boolean("forgotten").pipe(
      Flag.withDescription(
        "With --callbacks: also for blocks so old that the record of their delivered callbacks is gone"
      ),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    const { chain, settings } = yield* ChainArgument.find(input.chain)
    const name = nameOf(chain)
    const before = yield* Replay.interrupted(chain)
    if (Option.isNone(input.from) && before === undefined) {
      return yield* new NoRange({ message: `Name the first block: ${commandName} replay ${name} --from <height>` })
    }
    const { sideSources, source: atHead } = yield* ChainNodes.open(chain, settings)
    const source = { ...atHead, blockAt: sideSources.wholeBlockAt ?? atHead.blockAt }
    const store = yield* ChainStore.open(chain, settings)
    const range: Replay.Range = Option.match(input.from, {
      onNone: () => before!,
      onSome: (from) => ({
        from,
        to: Option.getOrElse(input.to, () =>
          before?.from === from && before.callbacks === input.callbacks ? before.to : Number.MAX_SAFE_INTEGER
        ),
        callbacks: input.callbacks
      })
    })
    const tip = (yield* store.cursor)?.height ?? 0
    const whole = { ...range, to: range.to === Number.MAX_SAFE_INTEGER ? tip : range.to }
    const next = yield* Replay.begin(chain, whole)
    if (next > whole.from) yield* Console.error(`Going on at block ${next} of ${whole.from} to ${whole.to}`)
    // Without traces the node shows no internal transactions, and those on record stay as they are.
    const traced = (yield* source.capabilities).some(
      ({ available, name }) => name === Capability.internalTransactions && available
    )
    const horizon = yield* InternalRetention.horizon(yield* ChainReader.make(chain), settings)
    const internalFrom = traced ? horizon : undefined
    const done = yield* Progress.track(`Replaying ${name}`, whole.to - next + 1, (advance) =>
      Replay.run(source, store, whole, next, {
        concurrency: settings.parallel,
        internalFrom,
        forgotten: input.forgotten,
        minedOutputs: sideSources.minedOutputs,
        onReplayed: () => advance(1)
      })
    )
    const blocks = whole.to - next + 1
    yield* Console.log(
      input.json
        ? JSON.stringify({ chain: name, from: whole.from, to: whole.to, blocks, ...done })
        : `${blocks} blocks replayed${whole.callbacks ? `; ${done.callbacks} callbacks added` : ""}`
    )
    if (done.blocksWithoutCallbacks > 0) {
      yield* Console.error(
        `For ${done.blocksWithoutCallbacks} blocks no callbacks were added: the record of what was delivered for blocks ` +
          "so old is gone. With --forgotten they are added, and receivers may see some of them a second time"
      )
    }
    for (const { message } of GapReport.list(yield* GapReport.of(chain))) {
      yield* Console.error(`${name}: ${message}`)
    }
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Read a range of stored blocks from the node again, and record them as if they came now. A replay that is interrupted " +
      "goes on where it was, and may run beside the daemon. On UTXO chains the UTXO set stays as it is; `rewind` rebuilds it"
  ),
  Command.withShortDescription("Rebuild the record of a range of blocks, and add callbacks that were missed"),
  Command.withExamples([
    { command: "headwater replay ethereum/mainnet --from 19000000 --callbacks", description: "Up to the last block" },
    { command: "headwater replay ethereum/mainnet", description: "Go on with an interrupted replay" }
  ]),
  Command.provide((input) => WithSettings.withStore(input))
)
