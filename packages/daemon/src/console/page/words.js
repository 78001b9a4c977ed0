/** What the page calls the states and events of subscriptions and callbacks. */
import { make, time } from "./elements.js"

/** @type {Record<string, readonly [kind: string, word: string]>} */
export const receiverStates = {
  healthy: ["good", "● healthy"],
  recovering: ["wait", "▲ recovering"],
  failing: ["bad", "✕ failing"],
  paused: ["bad", "✕ failing, paused"],
  unverified: ["wait", "○ not verified"],
  inactive: ["bad", "■ inactive"]
}

/** How a receiver does, and since when it fails. */
export const receiverState = (/** @type {any} */ { failingSince, state }) => {
  const [kind, word] = receiverStates[state] ?? ["wait", state]
  const since =
    failingSince == null || kind !== "bad" ? null : make("span", { class: "soft" }, "since ", time(failingSince))
  return make("span", {}, make("span", { class: `state ${kind}` }, word), since === null ? null : make("br"), since)
}

/** Never rounded up to all: 99.97 % is "99.9 %". */
export const percent = (/** @type {number} */ part) => `${(Math.floor(part * 1000) / 10).toLocaleString("en")} %`

/** "coins confirmed" for ADDRESS_COINS_TRANSACTION_CONFIRMED. */
export const eventName = (/** @type {string} */ event) =>
  event
    .replace(/^ADDRESS_/, "")
    .replaceAll("_TRANSACTION", "")
    .replaceAll("_", " ")
    .toLowerCase()

/** @type {Record<string, readonly [kind: string, word: string]>} */
export const callbackStates = {
  delivered: ["good", "● delivered"],
  due: ["wait", "▲ due"],
  held: ["wait", "○ parked"],
  orphaned: ["bad", "✕ its block left the chain"],
  expired: ["bad", "✕ expired"],
  retracted: ["bad", "✕ retracted"]
}
