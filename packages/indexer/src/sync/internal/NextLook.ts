/**
 * When to look for a new block again: after an interval, and as soon as one is announced. While blocks come announced, nodes are
 * asked less often beside: an announcement that gets lost is rare, and the block that is then found without one brings the usual
 * interval back.
 */
import * as Bytes from "@headwater/core/Bytes"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Head, Source } from "../../families/Source.ts"

/** A wait for the block behind one that was announced: so many intervals, and at most so long where these are short. */
const announcedIntervals = 4
const longestAnnounced = Duration.seconds(10)

/** For so long blocks are entered as they are announced, in milliseconds, before a node is asked for its newest one. */
export const longestUnlooked = Duration.toMillis(longestAnnounced)

/** The waits between the looks of one follower: each is given the newest block that was seen. */
export const make = (
  pollInterval: Duration.Duration,
  announced: Source["announced"]
): ((newest: Pick<Head, "hash"> | undefined) => Effect.Effect<void>) => {
  if (announced === undefined) return () => Effect.sleep(pollInterval)
  const longInterval = Duration.max(
    pollInterval,
    Duration.min(Duration.times(pollInterval, announcedIntervals), longestAnnounced)
  )
  let last: Pick<Head, "hash"> | undefined
  let lastWasAnnounced = false
  let endedByAnnouncement = false
  const heard = Effect.map(announced, () => {
    endedByAnnouncement = true
  })
  return (newest) =>
    Effect.suspend(() => {
      const isNew = newest !== undefined && (last === undefined || !Bytes.equal(newest.hash, last.hash))
      if (isNew) lastWasAnnounced = endedByAnnouncement
      // The node that is asked may be behind the one that announces: its block comes without another word.
      const isBehind = endedByAnnouncement && !isNew
      last = newest
      endedByAnnouncement = false
      const duration = lastWasAnnounced && !isBehind ? longInterval : pollInterval
      return Effect.timeoutOrElse(heard, { duration, orElse: () => Effect.void })
    })
}
