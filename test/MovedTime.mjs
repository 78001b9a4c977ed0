/**
 * Preloaded by Node: each SIGUSR2 moves the process's clock forward by twenty minutes, or by MOVED_MINUTES. Timers stay as
 * they are; with MOVED_TIMERS those of ten minutes and more end with the moved clock, as retention's do.
 */
const minutes = Number(process.env.MOVED_MINUTES ?? 20)
const longMillis = process.env.MOVED_TIMERS === undefined ? Number.POSITIVE_INFINITY : 600_000
let moved = 0
const now = Date.now.bind(Date)
const { clearTimeout, setTimeout } = globalThis
const waiting = new Map()

Date.now = () => now() + moved
globalThis.setTimeout = (run, millis, ...rest) => {
  if (!(millis >= longMillis)) return setTimeout(run, millis, ...rest)
  const end = () => {
    clearTimeout(timer)
    if (waiting.delete(timer)) run(...rest)
  }
  const timer = setTimeout(end, millis)
  waiting.set(timer, { at: Date.now() + millis, end })
  return timer
}
globalThis.clearTimeout = (timer) => {
  waiting.delete(timer)
  clearTimeout(timer)
}
process.on("SIGUSR2", () => {
  moved += minutes * 60_000
  for (const { at, end } of [...waiting.values()]) if (at <= Date.now()) end()
})
