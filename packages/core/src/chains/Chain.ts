/**
 * Chains: one blockchain on one network each. The facts are data, a file for each blockchain beside this one; nothing
 * else names a chain.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type EventType, eventsOf } from "../events/EventType.ts"
import type { Family } from "../families/Family.ts"
import { type FamilyFacts, type FamilyName, families } from "../families/families.ts"
import type { CommonFacts, Network } from "./Blockchain.ts"
import { blockchains } from "./blockchains.ts"

/** One blockchain on one network. */
export interface Chain extends Omit<CommonFacts, "name">, Network<never>, Partial<FamilyFacts> {
  readonly family: FamilyName
  readonly blockchain: string
  readonly network: string
  /** Registered coin type (SLIP-44); 1 on test networks of families whose wallets have keys of their own there. */
  readonly slip44: number
  /** How the family holds coins. */
  readonly ledger: Family<unknown>["ledger"]
  readonly events: ReadonlySet<EventType>
}

/** No blockchain has this name. */
export class UnknownBlockchain extends Schema.TaggedError<UnknownBlockchain>()("UnknownBlockchain", {
  blockchain: Schema.String
}) {
  override get message() {
    return `"${this.blockchain}" is not a blockchain: use one of ${blockchains.map(({ name }) => name).join(", ")}`
  }
}

/** The blockchain has no network of this name. */
export class UnknownNetwork extends Schema.TaggedError<UnknownNetwork>()("UnknownNetwork", {
  blockchain: Schema.String,
  network: Schema.String
}) {
  override get message() {
    const known = all.filter(({ blockchain }) => blockchain === this.blockchain).map(({ network }) => network)
    return `"${this.network}" is not a network of ${this.blockchain}: use one of ${known.join(", ")}`
  }
}

/** Every blockchain on every network, in the order of the list. */
export const all: ReadonlyArray<Chain> = blockchains.flatMap(({ name, networks, ...facts }) =>
  Object.entries(networks).map(([network, own]) => ({
    ...facts,
    ...own,
    blockchain: name,
    network,
    slip44: families[facts.family].hasTestKeys && own.networkKind !== "live" ? 1 : facts.slip44,
    ledger: families[facts.family].ledger,
    events: eventsOf(facts.family)
  }))
)

/** The chains on which coins have a value: one of each blockchain. */
export const live: ReadonlyArray<Chain> = all.filter(({ networkKind }) => networkKind === "live")

/**
 * The name under which a chain is stored, logged and configured: `blockchain/network`.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 *
 * Chain.nameOf(Chain.all[0]!) // => "bitcoin/mainnet"
 * ```
 */
export const nameOf = (chain: Chain): string => `${chain.blockchain}/${chain.network}`

const byName = new Map(all.map((chain) => [nameOf(chain), chain]))

/**
 * The chain of a name, as {@link nameOf} writes names; undefined where there is none.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 *
 * Chain.ofName("dogecoin/mainnet")?.unit // => "DOGE"
 * ```
 */
export const ofName = (name: string): Chain | undefined => byName.get(name)

const names = new Set(blockchains.map(({ name }) => name))

/** A name as errors repeat it: a text longer than any name may be a key in the wrong place, and is left out. */
const shown = (name: string): string => (name.length > 24 ? "…" : name)

/**
 * Looks a chain up by the names that the interface uses.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Result from "effect/Result"
 *
 * Result.getOrThrow(Chain.find("dogecoin", "mainnet")).unit // => "DOGE"
 * Result.isFailure(Chain.find("dogecoin", "sepolia")) // => true
 * ```
 */
export const find = (blockchain: string, network: string): Result.Result<Chain, UnknownBlockchain | UnknownNetwork> => {
  const chain = byName.get(`${blockchain}/${network}`)
  if (chain !== undefined) return Result.succeed(chain)
  return Result.fail(
    names.has(blockchain)
      ? new UnknownNetwork({ blockchain, network: shown(network) })
      : new UnknownBlockchain({ blockchain: shown(blockchain) })
  )
}
