/** One subscription, and its callbacks with every attempt to deliver each one. */
import { sendAgain } from "./again.js"
import { make, number, table, time } from "./elements.js"
import { callbackStates, eventName, percent, receiverState } from "./words.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").Say} Say
 * @typedef {import("./console.js").View} View
 */

const indented = (/** @type {string} */ body) => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

/** @type {(attempt: any) => HTMLElement} */
const attempt = ({ at, duration, error, status }) =>
  make(
    "li",
    {},
    time(at),
    ` · ${status ?? "no answer"} · ${number(duration)} ms`,
    error === undefined ? null : ` · ${error}`
  )

const answers = (/** @type {any} */ { attempts, p50, p99, successRate }) =>
  attempts === 0
    ? "no attempt yet"
    : [
        `${percent(successRate)} of the last ${number(attempts)} attempts accepted`,
        ...(p50 === undefined ? [] : [`half answered within ${number(p50)} ms, 99 % within ${number(p99)} ms`])
      ].join(", ")

/** @type {(subscription: any, recovery: any) => HTMLElement} */
const details = (subscription, recovery) => {
  const fact = (/** @type {string} */ name, /** @type {string | Node} */ value) => [
    make("dt", {}, name),
    make("dd", {}, value)
  ]
  return make(
    "dl",
    { class: "details" },
    ...fact("State", receiverState(subscription.health)),
    ...(subscription.health.error === undefined ? [] : fact("Last failure", subscription.health.error)),
    ...fact("Answers", answers(subscription.health)),
    ...subscription.deactivationReasons.flatMap((/** @type {any} */ { reason, timestamp }) =>
      fact("Deactivated", make("span", {}, `${reason}, `, time(timestamp * 1000)))
    ),
    ...fact("Account", subscription.account),
    ...fact("Chain", subscription.chain),
    ...fact("Event", make("code", {}, subscription.event)),
    ...(subscription.address === null ? [] : fact("Address", make("code", {}, subscription.address))),
    ...fact("Callbacks go to", make("code", {}, subscription.callbackUrl)),
    ...fact("Confirmations", String(subscription.confirmations)),
    ...(recovery === undefined
      ? []
      : fact(
          "Sent again",
          `${number(recovery.callbacks)} so far, up to number ${number(recovery.after)} of ${number(recovery.last)}`
        )),
    ...fact("Signed", subscription.signed ? "yes" : "no: the subscription has no secret"),
    ...fact("Created (UTC)", time(subscription.created * 1000))
  )
}

/** @type {(callback: any, redeliver: (callback: any) => Promise<void>) => Array<string | Node>} */
const row = (callback, redeliver) => {
  const [kind, word] = callbackStates[callback.state] ?? ["wait", callback.state]
  return [
    callback.sequence === null ? "–" : number(callback.sequence),
    make("span", { class: `state ${kind}` }, word),
    make("span", {}, eventName(callback.event), make("br"), make("code", {}, callback.idempotencyKey)),
    time(callback.created),
    make(
      "button",
      {
        ...{ type: "button", class: "small", "data-row": true },
        "aria-label": `Redeliver callback ${callback.sequence ?? callback.idempotencyKey}`,
        click: () => redeliver(callback)
      },
      "Redeliver"
    ),
    make(
      "details",
      {},
      make("summary", {}, `${callback.attempts.length} ${callback.attempts.length === 1 ? "attempt" : "attempts"}`),
      make("ul", { class: "attempts" }, ...callback.attempts.map(attempt)),
      callback.nextAttempt === null ? null : make("p", { class: "soft" }, "Next: ", time(callback.nextAttempt)),
      make("pre", { tabindex: 0, role: "region", "aria-label": "Body" }, indented(callback.body))
    )
  ]
}

/**
 * Replaces what a list shows, but for what the reader does with the list: rows that are open stay open, and the button
 * that has the focus keeps it.
 * @type {(list: HTMLElement, ...children: Array<string | Node>) => void}
 */
const replaceKeeping = (list, ...children) => {
  const open = new Set([...list.querySelectorAll("tr:has(details[open]) code")].map((code) => code.textContent))
  const focused = document.activeElement?.getAttribute("aria-label")
  list.replaceChildren(...children)
  for (const code of list.querySelectorAll("td > span > code")) {
    if (open.has(code.textContent)) code.closest("tr")?.querySelector("details")?.setAttribute("open", "")
  }
  if (typeof focused === "string") {
    const found = list.querySelector(`[aria-label=${JSON.stringify(focused)}]`)
    if (found instanceof HTMLElement) found.focus()
  }
}

/** @type {(ask: Ask, say: Say, reference: string) => View} */
export const subscription = (ask, say, reference) => {
  const path = `/api/subscriptions/${encodeURIComponent(reference)}`
  const card = make("div", { class: "card" })
  const list = make("div")
  /** @type {Array<any>} */
  let older = []
  let moreOlder = false
  let shown = ""

  const redeliver = async (/** @type {any} */ callback) => {
    try {
      await ask(`${path}/callbacks/${encodeURIComponent(callback.idempotencyKey)}/redeliver`, {})
      say(`Callback ${callback.sequence ?? ""} is sent again`)
    } catch (error) {
      say(/** @type {Error} */ (error).message)
    }
    await again()
  }

  const showOlder = async (/** @type {number} */ before) => {
    const page = await ask(`${path}?before=${before}`)
    const known = new Set(older.map(({ idempotencyKey }) => idempotencyKey))
    older = [...older, ...page.callbacks.filter((/** @type {any} */ item) => !known.has(item.idempotencyKey))]
    moreOlder = page.hasMore
    await again()
  }

  const again = async () => {
    const { callbacks, hasMore, recovery, subscription } = await ask(path)
    const all = [...callbacks, ...older]
    const text = JSON.stringify([subscription, recovery, all, hasMore])
    // A page that somebody reads stays as it is until there is something new.
    if (text === shown) return
    shown = text
    card.replaceChildren(details(subscription, recovery))
    const lowest = all.at(-1)?.sequence
    replaceKeeping(
      list,
      all.length === 0
        ? make("p", { class: "soft" }, "No callbacks yet.")
        : table(
            "Callbacks",
            [">No.", "State", "Event and key", "Created (UTC)", "Again", "Attempts and body"],
            all.map((callback) => row(callback, redeliver))
          ),
      (older.length === 0 ? hasMore : moreOlder) && lowest !== null
        ? make("button", { type: "button", click: () => showOlder(lowest) }, "Older callbacks")
        : ""
    )
  }

  return {
    title: `Subscription ${reference.slice(0, 8)}`,
    everyMillis: 2_000,
    again,
    fill: async (main) => {
      main.replaceChildren(
        make("h1", {}, "Subscription ", make("code", {}, reference)),
        card,
        make("h2", {}, "Callbacks"),
        sendAgain(ask, say, `${path}/recover`, false),
        list
      )
      await again()
    }
  }
}
