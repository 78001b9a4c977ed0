/**
 * Preloaded by Node: each SIGUSR2 moves the process's clock forward by twenty minutes, or by MOVED_MINUTES, where timers
 * stay as they are.
 */
const minutes = Number(process.env.MOVED_MINUTES ?? 20)
let moved = 0
const now = Date.now.bind(Date)
Date.now = () => now() + moved
process.on("SIGUSR2", () => {
  moved += minutes * 60_000
})
