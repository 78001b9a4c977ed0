/** Preloaded by Node: each SIGUSR2 moves the process's clock forward by twenty minutes, where timers stay as they are. */
let moved = 0
const now = Date.now.bind(Date)
Date.now = () => now() + moved
process.on("SIGUSR2", () => {
  moved += 20 * 60_000
})
