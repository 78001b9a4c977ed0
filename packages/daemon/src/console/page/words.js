/** What the page calls the states and events of subscriptions and callbacks. */
import { make } from "./elements.js"

export const activity = (/** @type {boolean} */ active) =>
  make("span", { class: `state ${active ? "good" : "bad"}` }, active ? "● active" : "■ inactive")

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
