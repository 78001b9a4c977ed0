/** A seed's story, played and judged; one that breaks a promise is made as short as it still does. */
import * as Chance from "./Chance.ts"
import * as Opening from "./Opening.ts"
import type { Broken } from "./promises.ts"
import { simulated } from "./SimulatedTime.ts"
import * as Playing from "./Playing.ts"
import { settingsFor } from "./Stage.ts"
import * as Families from "./Families.ts"
import type { StoreTemplate } from "./StoreTemplate.ts"
import * as Story from "./Story.ts"

export interface Outcome {
  readonly seed: number
  readonly store: StoreTemplate["name"]
  readonly broken: ReadonlyArray<Broken>
  readonly lines: ReadonlyArray<string>
}

export interface Simulation {
  readonly run: (seed: number) => Promise<Outcome>
  /** The shortest story of a seed that breaks one of the promises that the whole one breaks. */
  readonly shrink: (outcome: Outcome) => Promise<Outcome>
  /** Removes what is on disk. */
  readonly end: () => Promise<void>
}

/**
 * Modules that the program loads when it first needs them: that takes real time, while the time of a story goes on as it
 * may.
 */
const loadedLater = () =>
  Promise.all([
    import("@headwater/indexer/families/evm/EvmConnection"),
    import("@headwater/indexer/families/tron/TronConnection"),
    import("@headwater/indexer/families/utxo/UtxoConnection"),
    import("@headwater/indexer/families/xrp/XrpConnection"),
    import("ethers/abi"),
    import("ethers/transaction"),
    import("pg"),
    import("ripple-binary-codec"),
    import("ripple-keypairs"),
    import("tiny-secp256k1")
  ])

/** The clock of the process: a story has one of its own. */
const realTimers = { set: setTimeout, clear: clearTimeout }
/** How long a story takes, in real milliseconds, until its seed is told: it may have no end. */
const longMillis = 60_000

/** Stories that are tried for a shorter one. */
const mostTries = 120

export const make = async (template: StoreTemplate): Promise<Simulation> => {
  await loadedLater()
  const settings = settingsFor([{ chain: Families.all.evm.chain, nodes: ["http://127.0.0.1:8545"] }])
  const opening = await Opening.make(template, settings)

  const play = (seed: number, story: Story.Story): Promise<Outcome> => {
    const long = realTimers.set(() => console.log(`Seed ${seed} takes more than a minute`), longMillis)
    const played = simulated(Chance.make(seed ^ 0x7a57), async (time) => {
      const { broken, lines } = await Playing.play(opening, seed, story, time)
      return { seed, store: template.name, lines, broken }
    })
    return played
      .catch((error: unknown) => {
        throw new Error(`Seed ${seed} has a story that fails: ${error}`, { cause: error })
      })
      .finally(() => realTimers.clear(long))
  }

  const storyOf = (seed: number) => Story.make(Chance.make(seed))

  return {
    run: (seed) => play(seed, storyOf(seed)),
    shrink: async (outcome) => {
      const { seed } = outcome
      const meant = new Set(outcome.broken.map(({ promise }) => promise))
      let [story, shortest] = [storyOf(seed), outcome]
      let tries = 0
      for (let size = story.length >> 1; size >= 1 && tries < mostTries; ) {
        let isShorter = false
        for (let from = 0; from < story.length && tries < mostTries; ) {
          const shorter = [...story.slice(0, from), ...story.slice(from + size)]
          tries++
          const tried = await play(seed, shorter)
          if (tried.broken.some(({ promise }) => meant.has(promise))) {
            ;[story, shortest, isShorter] = [shorter, tried, true]
          } else from += size
        }
        if (!isShorter || size > 1) size = size === 1 ? 0 : size >> 1
      }
      return shortest
    },
    end: opening.remove
  }
}

/** What is said of a broken promise. */
export const describe = ({ broken, lines, seed, store }: Outcome): string =>
  [
    `Seed ${seed} breaks ${new Set(broken.map(({ promise }) => promise)).size} promises:`,
    ...broken.slice(0, 8).map(({ detail, promise }) => `  ${promise}\n    ${detail}`),
    ...(broken.length > 8 ? [`  … and ${broken.length - 8} more`] : []),
    "What happened, as short as it still does so:",
    ...lines,
    `Again: node_modules/.bin/node test/simulation/simulate.ts --store ${store} --seed ${seed}`
  ].join("\n")
