/** How the page writes numbers, times and durations, and what it calls states and events. */

/** Digits in groups; nothing is abbreviated. */
export const number = (value) => (value == null ? "–" : value.toLocaleString("en"))

/** "1 callback", "2 callbacks". */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`

/** Never rounded up to all: 99.97 % is "99.9 %". */
export const percent = (part) => (part == null ? "–" : `${(Math.floor(part * 1000) / 10).toLocaleString("en")} %`)

export const millis = (value) => (value == null ? "–" : `${number(value)} ms`)

export const duration = (span) => {
  const seconds = Math.max(0, Math.round(span / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${number(Math.floor(seconds / 86_400))} d ${Math.floor((seconds % 86_400) / 3600)} h`
}

const inZone = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })
/** In the zone of the browser. */
export const localTime = (at) => inZone.format(at)
export const utc = (at) => `${new Date(at).toISOString().replace("T", " ").replace("Z", "")} UTC`

export const shortened = (text) => (text.length > 24 ? `${text.slice(0, 12)}…${text.slice(-8)}` : text)

/** "coins confirmed" for ADDRESS_COINS_TRANSACTION_CONFIRMED. */
export const eventName = (event) =>
  event
    .replace(/^ADDRESS_/, "")
    .replaceAll("_TRANSACTION", "")
    .replaceAll("_", " ")
    .toLowerCase()

/** State → kind and word. A mark beside the word, so that no state is told by colour alone. */
export const states = {
  following: ["good", "● following"],
  syncing: ["wait", "▲ catching up"],
  starting: ["wait", "○ starting"],
  stopped: ["bad", "■ stopped"],
  healthy: ["good", "● healthy"],
  recovering: ["wait", "▲ recovering"],
  failing: ["bad", "✕ failing"],
  paused: ["bad", "✕ failing, paused"],
  unverified: ["wait", "○ not verified"],
  inactive: ["bad", "■ inactive"],
  delivered: ["good", "● delivered"],
  due: ["wait", "▲ due"],
  held: ["wait", "○ parked"],
  orphaned: ["bad", "✕ its block left the chain"],
  expired: ["bad", "✕ expired"],
  retracted: ["bad", "✕ retracted"],
  received: ["good", "● received"],
  "given up": ["bad", "✕ given up"],
  "to be sent": ["wait", "▲ to be sent"],
  parked: ["wait", "○ parked"],
  "not sent": ["wait", "○ not sent"],
  verified: ["good", "● verified"],
  active: ["good", "● active"],
  revoked: ["bad", "■ revoked"],
  done: ["good", "● done"],
  refused: ["wait", "○ refused"],
  failed: ["bad", "✕ failed"],
  critical: ["bad", "✕ critical"],
  warning: ["wait", "▲ warning"],
  note: ["none", "○ note"]
}
