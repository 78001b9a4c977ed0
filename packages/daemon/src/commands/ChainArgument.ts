/** The argument that names a chain as the settings do, `ethereum/mainnet`, or in two words, `ethereum mainnet`. */
import * as Chain from "@headwater/core/chains/Chain"
import { suggest } from "@headwater/core/Suggestion"
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Settings from "../settings/Settings.ts"

/** No chain has this name, or the settings do not have the chain. */
export class ChainNotFound extends Schema.TaggedError<ChainNotFound>()("ChainNotFound", {
  message: Schema.String
}) {}

export const argument = Argument.String("chain").pipe(
  Argument.withDescription("A chain of the settings: ethereum/mainnet, bitcoin/testnet …")
)

const blockchains = new Set(Chain.all.map(({ blockchain }) => blockchain))
const names = Chain.all.map(Chain.nameOf)

/** Commands, or groups of them, that take a chain. */
const takers = new Set(["replay", "rewind", "skip", "audit", "subscriptions", "chains", "listen", "derive"])

/** The arguments of the command line with a chain in one word where two words name it. */
export const joined = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (!takers.has(args[0] ?? "")) return args
  const network = (word: string | undefined) =>
    word !== undefined && /^[a-z][a-z0-9-]*$/.test(word) && !blockchains.has(word)
  const at = args.findIndex((word, index) => index > 0 && blockchains.has(word) && network(args[index + 1]))
  return at === -1 ? args : [...args.slice(0, at), `${args[at]}/${args[at + 1]}`, ...args.slice(at + 2)]
}

/** A text that may be a secret in a wrong place is not repeated. */
const quoted = (text: string) => (text.length > 40 ? "This" : `"${text}"`)

/** The chain of this name, whether the settings have it or not. */
export const parse = (name: string): Effect.Effect<Chain.Chain, ChainNotFound> => {
  const chain = Chain.ofName(name)
  if (chain !== undefined) return Effect.succeed(chain)
  const [blockchain = ""] = name.split("/")
  const networks = Chain.all.filter((known) => known.blockchain === blockchain).map(Chain.nameOf)
  const near = suggest(name, names)
  const advice =
    networks.length > 0
      ? `use one of ${networks.join(", ")}`
      : near === undefined
        ? "write blockchain/network, as in ethereum/mainnet or bitcoin/testnet"
        : `did you mean ${near}?`
  return Effect.fail(new ChainNotFound({ message: `${quoted(name)} is no chain; ${advice}` }))
}

/** The chain of this name, with its settings. */
export const find = Effect.fnUntraced(function* (name: string) {
  const chains = Settings.chains(yield* Settings.Settings)
  const found = chains.find(({ chain }) => Chain.nameOf(chain) === name)
  if (found !== undefined) return found
  const wanted = Chain.nameOf(yield* parse(name))
  const configured = chains.map(({ chain }) => Chain.nameOf(chain)).join(", ")
  return yield* new ChainNotFound({
    message: `The settings have no chain ${wanted}, only ${configured}; a table [chains."${wanted}"] with nodes adds it`
  })
})
