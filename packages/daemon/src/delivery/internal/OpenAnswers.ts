/**
 * Answers whose attempts have ended with their status while their bodies still come. Receivers may end them as they like, and
 * keep their connections; but a bounded number of each origin, and for a while.
 */

/**
 * `most`: answers of an origin, of which the oldest is cut for another one; `millis`: how long each may take. What the function
 * returns is to be called where an answer has ended.
 */
export const make = (most: number, millis: number) => {
  const ofOrigins = new Map<string, Set<() => void>>()
  return (origin: string, cut: () => void): (() => void) => {
    const [oldest, ...others] = ofOrigins.get(origin) ?? []
    if (others.length + 1 >= most) oldest?.()
    // With the last one its set has gone.
    const open = ofOrigins.get(origin) ?? new Set()
    ofOrigins.set(origin, open)
    const timer = setTimeout(cut, millis)
    open.add(cut)
    return () => {
      clearTimeout(timer)
      open.delete(cut)
      if (open.size === 0) ofOrigins.delete(origin)
    }
  }
}
