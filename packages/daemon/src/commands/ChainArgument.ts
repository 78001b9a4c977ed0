/** The argument that names a configured chain by its name in the settings: `ethereum/mainnet`. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Settings from "../settings/Settings.ts"

/** The settings name no such chain. */
export class ChainNotConfigured extends Schema.TaggedError<ChainNotConfigured>()("ChainNotConfigured", {
  message: Schema.String
}) {}

export const argument = Argument.String("chain").pipe(
  Argument.withDescription("A chain of the settings: ethereum/mainnet, bitcoin/testnet …")
)

/** The chain of this name, with its settings. */
export const find = Effect.fnUntraced(function* (name: string) {
  const chains = Settings.chains(yield* Settings.Settings)
  const found = chains.find(({ chain }) => Chain.nameOf(chain) === name)
  if (found !== undefined) return found
  const names = chains.map(({ chain }) => Chain.nameOf(chain)).join(", ")
  return yield* new ChainNotConfigured({ message: `The settings have no chain "${name}", only ${names}` })
})
