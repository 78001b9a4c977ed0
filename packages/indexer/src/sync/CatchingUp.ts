/** How far a chain is behind its node's head, how fast the chain catches up, and how long that will take. */
import * as Duration from "effect/Duration"
import type { Status } from "../families/node/ChainStatus.ts"

export interface CatchingUp {
  /** Blocks between the last committed one and the node's head. */
  readonly blocks: number
  /** Blocks committed a second; undefined where nothing was committed of late. */
  readonly perSecond: number | undefined
  /** Until the head is reached, which moves on meanwhile; undefined where the chain does not come nearer. */
  readonly secondsLeft: number | undefined
}

/** Blocks that a chain at its head may be behind, while one commit or two are under way. */
export const atHead = 2

/** Undefined for a chain that is at its head, or does not follow its node at present. */
export const of = ({ chain, head, height, perSecond, state }: Status): CatchingUp | undefined => {
  const blocks = head === undefined || height === undefined ? 0 : head - height
  if (state !== "syncing" || blocks <= atHead) return undefined
  const gained = (perSecond ?? 0) - 1 / chain.blockSeconds
  return { blocks, perSecond, secondsLeft: gained > 0 ? Math.ceil(blocks / gained) : undefined }
}

const duration = (seconds: number) =>
  Duration.format(Duration.seconds(seconds < 3_600 ? seconds : Math.ceil(seconds / 60) * 60))

/** In words, for people. */
export const describe = ({ blocks, perSecond, secondsLeft }: CatchingUp): string => {
  const behind = `${blocks} blocks behind`
  if (perSecond === undefined) return behind
  const rate = `${behind}, ${perSecond >= 10 ? perSecond.toFixed(0) : perSecond.toFixed(1)} blocks/s`
  return secondsLeft === undefined
    ? `${rate}, which is no faster than the chain`
    : `${rate}, ${duration(secondsLeft)} left`
}
