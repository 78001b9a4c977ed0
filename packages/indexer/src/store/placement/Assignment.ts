/**
 * Which daemon follows which chain: as a plain function of the daemons that run and of where the chains are, so that every
 * daemon comes to the same answer.
 */
import * as Chain from "@headwater/core/chains/Chain"

interface AbleDaemon {
  readonly id: number
  readonly name: string
  /** Names of the chains that the daemon may follow. */
  readonly chains: ReadonlyArray<string>
}

export interface PlacedChain {
  /** `blockchain/network`. */
  readonly chain: string
  /** The id of the daemon that follows the chain; null where none does. */
  readonly daemon: number | null
  /** The name of the daemon that an operator wants to follow the chain; it counts while such a daemon runs. */
  readonly pinned: string | null
}

/** A move that evens out less than this is one of rounding. */
const least = 1e-6

/** What a chain costs its daemon beside others: by its transactions, and one for the work that every chain makes. */
export const weightOf = (name: string): number => {
  const chain = Chain.ofName(name)
  return 1 + (chain?.networkKind === "live" ? chain.transactionsPerSecond : 0)
}

/**
 * The id of the daemon that each chain belongs to, by the chain's name; without chains that no daemon may follow. A chain
 * stays where it is, unless the heavier of two daemons gets lighter, by giving the chain away, than the other one then is
 * with it; of several such moves the one that evens the weights out most comes first. So a daemon that joins gets a part,
 * and two heavy chains are not beside one another where light ones can be.
 */
export const assign = (
  daemons: ReadonlyArray<AbleDaemon>,
  placed: ReadonlyArray<PlacedChain>
): ReadonlyMap<string, number> => {
  const loads = new Map(daemons.map(({ id }) => [id, 0]))
  const assigned = new Map<string, number>()
  const give = (chain: string, id: number) => {
    const before = assigned.get(chain)
    if (before !== undefined) loads.set(before, loads.get(before)! - weightOf(chain))
    assigned.set(chain, id)
    loads.set(id, loads.get(id)! + weightOf(chain))
  }
  const ableOf = (chain: string) => daemons.filter(({ chains }) => chains.includes(chain))
  const lightest = (chain: string) =>
    ableOf(chain).reduce<number | undefined>(
      (least, { id }) => (least === undefined || loads.get(id)! < loads.get(least)! ? id : least),
      undefined
    )

  const pinned = new Set<string>()
  const open: Array<string> = []
  for (const { chain, daemon, pinned: name } of placed) {
    const able = ableOf(chain)
    const wanted = able.find((one) => one.name === name)
    if (wanted !== undefined) pinned.add(chain)
    const stays = wanted?.id ?? able.find(({ id }) => id === daemon)?.id
    if (stays === undefined) open.push(chain)
    else give(chain, stays)
  }
  for (const chain of open.sort((a, b) => weightOf(b) - weightOf(a) || (a < b ? -1 : 1))) {
    const id = lightest(chain)
    if (id !== undefined) give(chain, id)
  }

  const free = [...assigned.keys()].filter((chain) => !pinned.has(chain)).sort()
  const bestMove = () => {
    let best: { readonly chain: string; readonly to: number; readonly gain: number } | undefined
    for (const chain of free) {
      const from = assigned.get(chain)!
      const to = lightest(chain)!
      const weight = weightOf(chain)
      const gain = weight * (loads.get(from)! - loads.get(to)! - weight)
      if (gain > least && (best === undefined || gain > best.gain)) best = { chain, to, gain }
    }
    return best
  }
  // Each move makes the sum of the squares of the weights smaller: there is a last one.
  for (let move = bestMove(); move !== undefined; move = bestMove()) give(move.chain, move.to)
  return assigned
}
