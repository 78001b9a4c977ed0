/** `headwater rewind`: undoes every block above a height, so that the chain is followed from there again. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Families from "@headwater/indexer/families/families"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as InternalRetention from "@headwater/indexer/store/chain/InternalRetention"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Settings from "../settings/Settings.ts"
import * as ChainArgument from "./ChainArgument.ts"
import * as UnfollowedChain from "./UnfollowedChain.ts"
import * as WithSettings from "./WithSettings.ts"

/** The chain cannot be rewound to this height. */
export class CannotRewind extends Schema.TaggedError<CannotRewind>()("CannotRewind", { message: Schema.String }) {}

/** What is lost by rewinding so low, in words; undefined where following the chain again brings everything back. */
const lossOf = Effect.fnUntraced(function* (
  chain: Chain,
  settings: Settings.ChainSettings,
  height: number,
  tip: number
) {
  const restorable = tip - settings.undoDepth
  const loss = Families.of(chain).lossByRewind?.(height, restorable)
  if (loss !== undefined) return loss
  const horizon = yield* InternalRetention.horizon(yield* ChainReader.make(chain), settings)
  if (settings.internalTransactions && height + 1 < horizon) {
    return `internal transactions below block ${horizon} have been summed up: a wallet's totals will count them twice`
  }
  return undefined
})

export const rewind = Command.make(
  "rewind",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    chain: ChainArgument.argument,
    height: Argument.Int("height").pipe(
      Argument.withSchema(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
      Argument.withDescription("The last block to keep")
    ),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Rewind although following the chain again does not bring back all that is lost"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    const { chain, name, settings, store } = yield* UnfollowedChain.open(input.chain)
    const cursor = yield* store.cursor
    if (cursor === undefined || cursor.height <= input.height) {
      const message =
        cursor === undefined
          ? `No block of ${name} is stored: there is none to undo`
          : `${name} is at block ${cursor.height}: there is no block to undo`
      return yield* new CannotRewind({ message })
    }
    const loss = yield* lossOf(chain, settings, input.height, cursor.height)
    if (loss !== undefined && !input.force) {
      return yield* new CannotRewind({ message: `Not rewound: ${loss}. --force rewinds all the same` })
    }
    yield* store.rewind(input.height)
    const left = cursor.height - input.height
    yield* Console.log(
      input.json
        ? JSON.stringify({ chain: name, height: input.height, left })
        : `${name} is at block ${input.height}; ${left} blocks are undone. The chain is followed from there again.`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Undo every block of a chain above a height, with its records and the callbacks that have not been sent. The remedy " +
      "where a chain has stopped because its node left a final branch"
  ),
  Command.withShortDescription("Undo every block above a height, and follow the chain from there again"),
  Command.withExamples([{ command: "headwater rewind ethereum/mainnet 19000000", description: "Keep block 19000000" }]),
  Command.provide((input) => WithSettings.withStore(input))
)
