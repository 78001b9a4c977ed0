/**
 * How well one of several nodes is. One that fails rests for a while, longer each time, and so does one whose block fails its
 * proof, and one that stands still.
 */

const firstRestMillis = 1_000
const longestRestMillis = 60_000
/**
 * A node that was waited for in vain, as one that hangs, rests so many times as long as that took: each attempt at it holds
 * up the chain for as long again.
 */
const restsPerWait = 10
/** Of a node that lied or stands still, and the longest of one that was waited for. */
const refusedMillis = 600_000

export interface NodeHealth {
  failuresInARow: number
  /** Not asked before this time while another node is well. */
  restsUntil: number
  /** The node was waited for in vain, and has not answered since. */
  isDoubted: boolean
  /** A question that nobody waits for is on its way. */
  isProbed: boolean
  /** Why the node rests, where that is not for a passing failure. */
  reason: string | undefined
}

export const make = (): NodeHealth => ({
  failuresInARow: 0,
  restsUntil: 0,
  isDoubted: false,
  isProbed: false,
  reason: undefined
})

export const isWell = ({ restsUntil }: NodeHealth, now: number) => restsUntil <= now

/** Why the node rests; undefined where it does not, or for a passing failure. */
export const reasonAt = (health: NodeHealth, now: number) => (isWell(health, now) ? undefined : health.reason)

/** Of two that rest, one that lied or stands still is not preferred, nor is one that failed more often, or rests for longer. */
export const compare = (a: NodeHealth, b: NodeHealth) =>
  Number(a.reason !== undefined) - Number(b.reason !== undefined) ||
  a.failuresInARow - b.failuresInARow ||
  a.restsUntil - b.restsUntil

export const wake = (health: NodeHealth) => {
  health.restsUntil = 0
  health.reason = undefined
}

export const succeed = (health: NodeHealth, now: number) => {
  // An answer that was on its way when the node was put to rest does not end that rest.
  if (reasonAt(health, now) !== undefined) return
  health.failuresInARow = 0
  wake(health)
}

/** Notes a failure of a question that began at `since`, after which the node asked to be left alone for `waitMillis`. */
export const fail = (health: NodeHealth, since: number, now: number, waitMillis: number) => {
  const rest = Math.min(firstRestMillis * 2 ** health.failuresInARow++, longestRestMillis)
  const waited = now - since < firstRestMillis ? 0 : Math.min(restsPerWait * (now - since), refusedMillis)
  health.restsUntil = Math.max(health.restsUntil, now + Math.max(rest, waited, waitMillis))
}

/** Lets a node rest that lied or stands still. */
export const rest = (health: NodeHealth, reason: string, now: number) => {
  health.reason = reason
  health.restsUntil = now + refusedMillis
}
