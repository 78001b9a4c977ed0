/** How deliveries go: what is to be sent, the last day, each host, and what fails and why. */
import { sendAgain } from "./again.js"
import { bars, stacked } from "./chart.js"
import { duration, make, number, table, time } from "./elements.js"
import { percent, receiverState, receiverStates } from "./words.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").Say} Say
 * @typedef {import("./console.js").View} View
 */

const fact = (/** @type {string} */ name, /** @type {string} */ value, kind = "") =>
  make("div", {}, make("dt", {}, name), make("dd", kind === "" ? {} : { class: `state ${kind}` }, value))

const millis = (/** @type {number} */ value) => `${number(value)} ms`

/** @type {(answer: any) => HTMLElement} */
const backlogCard = ({ backlog, counts, now }) => {
  const part = (/** @type {string} */ name, /** @type {any} */ { count, oldest }) =>
    make(
      "div",
      {},
      make("dt", {}, name),
      make("dd", {}, number(count)),
      oldest === undefined ? null : make("dd", { class: "note" }, `oldest ${duration(now - oldest)}`)
    )
  return make(
    "article",
    { class: "card", "data-card": "backlog" },
    make("h2", {}, "To be sent"),
    make(
      "dl",
      { class: "facts" },
      ...[part("For the first time", backlog.waiting), part("Again", backlog.retrying), part("Parked", backlog.parked)]
    ),
    make("h2", {}, "Hosts"),
    make(
      "dl",
      { class: "facts" },
      ...Object.entries(receiverStates).map(([state, [kind, word]]) =>
        fact(word, number(counts[state] ?? 0), (counts[state] ?? 0) === 0 ? "none" : kind)
      )
    )
  )
}

/** @type {(answer: any) => HTMLElement} */
const dayCard = ({ periods }) => {
  /** @type {Array<readonly [number, number, number]>} */
  const attempted = periods.map((/** @type {any} */ { at, attempts, successRate = 0 }) => {
    const accepted = Math.round(attempts * successRate)
    return [at, accepted, attempts - accepted]
  })
  const slowest = Math.max(0, ...periods.map((/** @type {any} */ { p99 = 0 }) => p99))
  return make(
    "article",
    { class: "card wide", "data-card": "day" },
    make("h2", {}, "The last 24 hours"),
    stacked({ label: "Attempts, by ten minutes", good: "accepted", bad: "not accepted", bars: attempted }),
    bars({
      ...{
        label: "99 % of answers within",
        kind: "bar",
        text: slowest === 0 ? "no answer" : `${millis(slowest)} at most`
      },
      days: periods.map((/** @type {any} */ { at, p99 = 0 }) => [at, p99])
    }),
    make("figcaption", {}, make("span", {}, time(periods[0].at), " UTC"), make("span", {}, "now"))
  )
}

/** Which of a host's subscriptions do not do well. */
const some = (/** @type {any} */ { failingSubscriptions, inactiveSubscriptions }) =>
  [
    ...(failingSubscriptions === 0 ? [] : [`${number(failingSubscriptions)} failing`]),
    ...(inactiveSubscriptions === 0 ? [] : [`${number(inactiveSubscriptions)} inactive`])
  ].join(", ") || "–"

/** @type {(answer: any) => HTMLElement} */
const hostTable = ({ hosts, now }) =>
  table(
    "Hosts",
    [
      "Host",
      "State",
      ">Accepted, last hour",
      "To be sent",
      "Next attempt",
      ">Half / 99 % within",
      "Subscriptions",
      "Account"
    ],
    hosts.map((/** @type {any} */ host) => [
      make("a", { href: `#/subscriptions?search=${encodeURIComponent(host.host)}`, "data-row": true }, host.host),
      receiverState(host),
      host.attempts === 0 ? "–" : `${percent(host.successRate)} of ${number(host.attempts)}`,
      host.oldest === undefined
        ? "–"
        : `${number(host.waiting + host.retrying)}, oldest ${duration(now - host.oldest)}`,
      host.nextAttempt === undefined ? "–" : host.nextAttempt <= now ? "now" : `in ${duration(host.nextAttempt - now)}`,
      host.p50 === undefined ? "–" : `${number(host.p50)} / ${millis(host.p99)}`,
      ...[some(host), host.account]
    ])
  )

/** @type {(answer: any) => HTMLElement} */
const failureTable = ({ failures, now }) =>
  table(
    "Failures",
    ["Subscription", "Reason", "Fails for", "Host", "Last attempt (UTC)", "Account"],
    failures.map((/** @type {any} */ failure) => [
      make(
        "a",
        { href: `#/subscriptions/${failure.referenceId}`, "data-row": true, class: "mono" },
        failure.referenceId.slice(0, 8)
      ),
      make(
        "span",
        {},
        failure.error,
        failure.active
          ? failure.noticed !== undefined &&
              make("span", { class: "state bad" }, " ■ deactivated soon: half of the retries failed")
          : " (inactive by now)"
      ),
      ...[duration(now - failure.since), failure.host, time(failure.last), failure.account]
    ])
  )

/** @type {(answer: any) => Array<HTMLElement>} */
const recoveryRows = ({ recoveries }) =>
  recoveries.map((/** @type {any} */ { account, left, subscriptions }) =>
    make(
      "p",
      { class: "state wait" },
      `▲ ${account}: ${number(subscriptions)} ${subscriptions === 1 ? "subscription" : "subscriptions"}, ` +
        `${number(left)} callbacks to be looked at`
    )
  )

/** @type {(answer: any) => Array<HTMLElement>} */
const fullRows = ({ full: { names, waitingCallbacks } }) =>
  names.map((/** @type {string} */ account) =>
    make(
      "p",
      { class: "state wait" },
      `▲ ${account}: ${number(waitingCallbacks)} callbacks wait, as many as may; what happens at its busy addresses is kept`
    )
  )

/** @type {(ask: Ask, say: Say) => View} */
export const deliveries = (ask, say) => {
  const cards = make("div", { class: "cards" })
  const hosts = make("div")
  const failures = make("div")
  const recoveries = make("div", { "aria-live": "polite" })
  const soft = (/** @type {string} */ text) => make("p", { class: "soft" }, text)

  const again = async () => {
    const answer = await ask("/api/deliveries")
    cards.replaceChildren(backlogCard(answer), dayCard(answer))
    recoveries.replaceChildren(...fullRows(answer), ...recoveryRows(answer))
    failures.replaceChildren(
      answer.failures.length === 0 ? soft("The last attempt of every subscription was accepted.") : failureTable(answer)
    )
    hosts.replaceChildren(answer.hosts.length === 0 ? soft("No subscription has been made yet.") : hostTable(answer))
  }

  return {
    title: "Deliveries",
    everyMillis: 2_000,
    again,
    fill: async (main) => {
      main.replaceChildren(
        ...[make("h1", {}, "Deliveries"), cards, make("h2", {}, "Failures"), failures],
        ...[make("h2", {}, "Hosts"), hosts],
        ...[make("h2", {}, "Send all again"), sendAgain(ask, say, "/api/recoveries", true), recoveries]
      )
      await again()
    }
  }
}
