// The image's health check: 0 while the daemon beside it answers /health.
const { HEADWATER_HTTP_PORT: port = "8080" } = process.env
const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(5_000) }).catch(
  () => undefined
)
process.exitCode = response?.ok === true ? 0 : 1
