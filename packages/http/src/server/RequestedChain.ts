/** Looks up the chain that a request names, once for all operations on chains. */
import * as Chain from "@headwater/core/chains/Chain"
import { type FamilyName, families as known } from "@headwater/core/families/families"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { InvalidBlockchain, InvalidNetwork } from "../contract/Errors.ts"
import { CurrentChain, Families, RequestedChain } from "../contract/RequestedChain.ts"
import type { ConfiguredChain } from "../operations/Operations.ts"

/** The chains of this server, by name (`blockchain/network`). */
export class ConfiguredChains extends Context.Service<ConfiguredChains, ReadonlyMap<string, ConfiguredChain>>()(
  "@headwater/http/server/RequestedChain/ConfiguredChains"
) {}

const wrong = (attribute: string, message: string) => ({ message, details: [{ attribute, message }] })

/** The message has the known names, and not the wrong one: an extended key stands there in a path of the wrong order. */
const oneOf = (known: ReadonlyArray<string>) => `must be one of ${[...new Set(known)].join(", ")}`

const titlesOf = (families: ReadonlyArray<FamilyName>) =>
  new Intl.ListFormat("en-GB").format(families.map((family) => known[family].title))

/** The blockchain of an operation whose path names none, since its family has one alone. */
const onlyBlockchainOf = (families: ReadonlyArray<FamilyName> | undefined): string =>
  Chain.all.find(({ family }) => family === families?.[0])?.blockchain ?? ""

/** Finds a chain that this server serves and the operation is for. */
const find = (
  configured: ConfiguredChains["Service"],
  families: ReadonlyArray<FamilyName> | undefined,
  blockchain: string,
  network: string
): Effect.Effect<Chain.Chain, InvalidBlockchain | InvalidNetwork> => {
  const found = Chain.find(blockchain, network)
  if (Result.isFailure(found)) {
    if (found.failure._tag === "UnknownBlockchain") {
      return new InvalidBlockchain(wrong("blockchain", oneOf(Chain.all.map(({ blockchain }) => blockchain))))
    }
    const networks = Chain.all.filter((chain) => chain.blockchain === blockchain).map(({ network }) => network)
    return new InvalidNetwork(wrong("network", oneOf(networks)))
  }
  const chain = found.success
  if (families !== undefined && !families.includes(chain.family)) {
    return new InvalidBlockchain(
      wrong("blockchain", `The operation is for ${titlesOf(families)} blockchains, which ${blockchain} is not`)
    )
  }
  const served = configured.get(Chain.nameOf(chain))
  return served === undefined
    ? new InvalidNetwork(
        wrong("network", `${blockchain} ${network} is known, but this server is not configured for it`)
      )
    : Effect.succeed(served.chain)
}

export const layer = Layer.effect(
  RequestedChain,
  Effect.gen(function* () {
    const configured = yield* ConfiguredChains
    return RequestedChain.of((handled, { endpoint }) => {
      const families = Context.get(endpoint.annotations, Families)
      const only = onlyBlockchainOf(families)
      return Effect.flatMap(HttpRouter.RouteContext, ({ params: { blockchain = only, network = "" } }) =>
        Effect.flatMap(find(configured, families, blockchain, network), (chain) =>
          Effect.provideService(handled, CurrentChain, chain)
        )
      )
    })
  })
)
