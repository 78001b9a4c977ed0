/** What the page shows. A view fills an element, says how often it wants to be asked again, and how. */
import { bars, line } from "./chart.js"
import { duration, make, number, table, time } from "./elements.js"

/**
 * @typedef {(path: string, body?: unknown) => Promise<any>} Ask asks the daemon; throws an Error with its words
 * @typedef {(text: string) => void} Say tells something in passing
 * @typedef {{ title: string, everyMillis?: number, fill: (main: HTMLElement) => Promise<void>, again?: () => Promise<void> }} View
 */

/** @type {Record<string, readonly [kind: string, word: string]>} */
const states = {
  following: ["good", "● following"],
  syncing: ["wait", "▲ syncing"],
  starting: ["wait", "○ starting"],
  failing: ["bad", "✕ failing"],
  stopped: ["bad", "■ stopped"]
}

const windowMillis = 600_000

/** @type {(ask: Ask) => View} */
export const chains = (ask) => {
  /** @type {Map<string, Array<readonly [number, number, number]>>} */
  const samples = new Map()
  const cards = make("div", { class: "cards" })
  const reorganisations = make("div")
  let after = 0
  let reorganisationsDue = 0

  const card = (/** @type {any} */ chain, /** @type {number} */ now) => {
    const own = [...(samples.get(chain.name) ?? []), ...chain.samples].filter(([at]) => at > now - windowMillis)
    samples.set(chain.name, own)
    const [kind, word] = states[chain.state] ?? ["wait", chain.state]
    const behind = chain.head === null || chain.height === null ? null : Math.max(0, chain.head - chain.height)
    // What was not seen yet is not drawn as a gap, once there is a minute of it.
    const shown = { from: Math.max(now - windowMillis, Math.min(own[0]?.[0] ?? now, now - 60_000)), to: now }
    const fact = (/** @type {string} */ name, /** @type {string} */ value) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value))
    return make(
      "article",
      { class: "card", "data-chain": chain.name },
      make("h2", {}, chain.name, make("span", { class: `state ${kind}` }, word)),
      make(
        "dl",
        { class: "facts" },
        fact("Height", chain.height === null ? "–" : number(chain.height)),
        fact("Behind", behind === null ? "–" : `${number(behind)}`),
        fact("Last block", chain.committedAt === null ? "–" : duration(now - chain.committedAt))
      ),
      behind !== null && behind > 2
        ? make("progress", { max: chain.head, value: chain.height, "aria-label": `${chain.name}: synced` })
        : null,
      chain.problem === null ? null : make("p", { class: "problem" }, chain.problem),
      line({ ...shown, label: "Height", fromZero: false, points: own.map(([at, height]) => [at, height]) }),
      line({
        ...{ ...shown, label: "Blocks behind", fromZero: true },
        points: own.map(([at, height, head]) => [at, head - height])
      })
    )
  }

  const again = async () => {
    const { chains, now } = await ask(`/api/chains?after=${after}`)
    after = Math.max(
      after,
      ...chains.flatMap((/** @type {any} */ { samples }) => samples.map((/** @type {[number]} */ [at]) => at))
    )
    cards.replaceChildren(...chains.map((/** @type {any} */ chain) => card(chain, now)))
    if (now < reorganisationsDue) return
    reorganisationsDue = now + 5_000
    const { items } = await ask("/api/reorganisations")
    reorganisations.replaceChildren(
      items.length === 0
        ? make("p", { class: "soft" }, "None was seen.")
        : table(
            "Reorganisations",
            ["When (UTC)", "Chain", ">Blocks undone", ">Last common block", "Block that left"],
            items.map((/** @type {any} */ { at, chain, depth, forkHeight, oldHash }) => [
              ...[time(at), chain, number(depth), number(forkHeight)],
              make("code", {}, oldHash)
            ])
          )
    )
  }

  return {
    title: "Chains",
    everyMillis: 1_000,
    again,
    fill: async (main) => {
      main.replaceChildren(make("h1", {}, "Chains"), cards, make("h2", {}, "Reorganisations"), reorganisations)
      await again()
    }
  }
}

const activity = (/** @type {boolean} */ active) =>
  make("span", { class: `state ${active ? "good" : "bad"}` }, active ? "● active" : "■ inactive")

/** @type {(ask: Ask, search: string) => View} */
export const subscriptions = (ask, search) => ({
  title: "Subscriptions",
  fill: async (main) => {
    const input = make("input", {
      ...{ id: "search", type: "search", name: "search", value: search, autocomplete: "off", spellcheck: "false" },
      placeholder: "0x…, a reference, an account, a host"
    })
    const found = make("div", { "aria-live": "polite" })
    const form = make(
      "form",
      {
        class: "search",
        role: "search",
        submit: (event) => {
          event.preventDefault()
          const text = /** @type {HTMLInputElement} */ (input).value.trim()
          location.hash = text === "" ? "#/subscriptions" : `#/subscriptions?search=${encodeURIComponent(text)}`
        }
      },
      make("label", {}, make("span", { class: "label" }, "Address, reference, account or host"), input),
      make("button", { type: "submit" }, "Search")
    )
    main.replaceChildren(make("h1", {}, "Subscriptions"), form, found)
    const { hasMore, items } = await ask(`/api/subscriptions?search=${encodeURIComponent(search)}`)
    const count = hasMore ? `The newest ${items.length}` : `${items.length}`
    found.replaceChildren(
      make("p", { class: "soft" }, search === "" ? `${count}, of all accounts` : `${count} for “${search}”`),
      items.length === 0
        ? ""
        : table(
            "Subscriptions",
            ["Reference", "State", "Account", "Chain", "Event", "Address", "Callbacks go to", ">Sent"],
            items.map((/** @type {any} */ item) => [
              make(
                "a",
                { href: `#/subscriptions/${item.referenceId}`, "data-row": true, class: "mono" },
                item.referenceId.slice(0, 8)
              ),
              ...[activity(item.active), item.account, item.chain, eventName(item.event)],
              make("span", { class: "mono", title: item.address ?? "" }, shortened(item.address)),
              make("span", { title: item.callbackUrl }, new URL(item.callbackUrl).host),
              number(item.lastSequence)
            ])
          )
    )
  }
})

const shortened = (/** @type {string | null} */ address) =>
  address === null ? "–" : address.length > 24 ? `${address.slice(0, 12)}…${address.slice(-8)}` : address

const eventName = (/** @type {string} */ event) =>
  event
    .replace(/^ADDRESS_/, "")
    .replaceAll("_TRANSACTION", "")
    .replaceAll("_", " ")
    .toLowerCase()

/** @type {Record<string, readonly [kind: string, word: string]>} */
const callbackStates = {
  delivered: ["good", "● delivered"],
  due: ["wait", "▲ due"],
  held: ["wait", "○ held back"],
  orphaned: ["bad", "✕ its block left the chain"],
  expired: ["bad", "✕ expired"],
  retracted: ["bad", "✕ retracted"]
}

/** @type {(ask: Ask, say: Say, reference: string) => View} */
export const subscription = (ask, say, reference) => {
  const path = `/api/subscriptions/${encodeURIComponent(reference)}`
  const details = make("div", { class: "card" })
  const list = make("div")
  /** @type {Array<any>} */
  let older = []
  let shown = ""

  const attempt = (/** @type {any} */ { at, duration: took, error, status }) =>
    make(
      "li",
      {},
      time(at),
      ` · ${status ?? "no answer"} · ${number(took)} ms`,
      error === undefined ? null : ` · ${error}`
    )

  const row = (/** @type {any} */ callback) => {
    const [kind, word] = callbackStates[callback.state] ?? ["wait", callback.state]
    const redeliver = make(
      "button",
      {
        ...{ type: "button", class: "small", "data-row": true },
        "aria-label": `Redeliver callback ${callback.sequence ?? callback.idempotencyKey}`,
        click: async () => {
          try {
            await ask(`${path}/callbacks/${encodeURIComponent(callback.idempotencyKey)}/redeliver`, {})
            say(`Callback ${callback.sequence ?? ""} is sent again`)
          } catch (error) {
            say(/** @type {Error} */ (error).message)
          }
          await again()
        }
      },
      "Redeliver"
    )
    return [
      callback.sequence === null ? "–" : number(callback.sequence),
      make("span", { class: `state ${kind}` }, word),
      make("span", {}, eventName(callback.event), make("br"), make("code", {}, callback.idempotencyKey)),
      time(callback.created),
      redeliver,
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

  const again = async () => {
    const { callbacks, hasMore, subscription: of } = await ask(path)
    const all = [...callbacks, ...older]
    const text = JSON.stringify([of, all, hasMore])
    // What somebody is reading, or has the focus on, stays where it is until there is something new.
    if (text === shown) return
    shown = text
    const open = new Set([...list.querySelectorAll("tr:has(details[open]) code")].map((code) => code.textContent))
    const focused = document.activeElement?.getAttribute("aria-label")
    const fact = (/** @type {string} */ name, /** @type {string | Node} */ value) => [
      make("dt", {}, name),
      make("dd", {}, value)
    ]
    details.replaceChildren(
      make(
        "dl",
        { class: "details" },
        ...fact("State", activity(of.active)),
        ...of.deactivationReasons.flatMap((/** @type {any} */ { reason, timestamp }) =>
          fact("Deactivated", make("span", {}, `${reason}, `, time(timestamp * 1000)))
        ),
        ...fact("Account", of.account),
        ...fact("Chain", of.chain),
        ...fact("Event", make("code", {}, of.event)),
        ...(of.address === null ? [] : fact("Address", make("code", {}, of.address))),
        ...fact("Callbacks go to", make("code", {}, of.callbackUrl)),
        ...fact("Confirmations", String(of.confirmations)),
        ...fact("Signed", of.signed ? "yes" : "no: it has no secret"),
        ...fact("Made (UTC)", time(of.created * 1000))
      )
    )
    const lowest = all.at(-1)?.sequence
    list.replaceChildren(
      all.length === 0
        ? make("p", { class: "soft" }, "None yet.")
        : table(
            "Callbacks",
            [">No.", "State", "Event and key", "Made (UTC)", "Again", "Attempts and body"],
            all.map(row)
          ),
      (older.length === 0 ? hasMore : moreOlder) && lowest !== null
        ? make("button", { type: "button", click: () => more(lowest) }, "Older ones")
        : ""
    )
    for (const code of list.querySelectorAll("td > span > code")) {
      if (open.has(code.textContent)) code.closest("tr")?.querySelector("details")?.setAttribute("open", "")
    }
    if (typeof focused === "string") {
      const found = list.querySelector(`[aria-label=${JSON.stringify(focused)}]`)
      if (found instanceof HTMLElement) found.focus()
    }
  }

  let moreOlder = false
  const more = async (/** @type {number} */ before) => {
    const page = await ask(`${path}?before=${before}`)
    const known = new Set(older.map(({ idempotencyKey }) => idempotencyKey))
    older = [...older, ...page.callbacks.filter((/** @type {any} */ item) => !known.has(item.idempotencyKey))]
    moreOlder = page.hasMore
    await again()
  }

  return {
    title: `Subscription ${reference.slice(0, 8)}`,
    everyMillis: 2_000,
    again,
    fill: async (main) => {
      main.replaceChildren(
        make("h1", {}, "Subscription ", make("code", {}, reference)),
        details,
        make("h2", {}, "Callbacks"),
        list
      )
      await again()
    }
  }
}

const indented = (/** @type {string} */ body) => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

/** @type {(ask: Ask, account: string | null) => View} */
export const credits = (ask, account) => ({
  title: "Credits",
  everyMillis: 10_000,
  fill: async (main) => {
    const { items } = await ask("/api/accounts")
    const chosen = account ?? items[0]?.name
    const select = make(
      "select",
      {
        id: "account",
        change: (event) => {
          location.hash = `#/credits?account=${encodeURIComponent(/** @type {HTMLSelectElement} */ (event.target).value)}`
        }
      },
      ...items.map((/** @type {any} */ { name }) => make("option", { value: name, selected: name === chosen }, name))
    )
    const chart = make("div", { class: "card" })
    main.replaceChildren(
      make("h1", {}, "Credits"),
      ...(chosen === undefined
        ? [make("p", { class: "soft" }, "There is no account yet: headwater accounts create")]
        : [
            make("p", {}, make("label", {}, make("span", { class: "label" }, "Account "), select)),
            chart,
            make("h2", {}, "Balances"),
            table(
              "Balances",
              ["Account", ">Credits left"],
              items.map((/** @type {any} */ { balance, name }) => [
                make("a", { href: `#/credits?account=${encodeURIComponent(name)}`, "data-row": true }, name),
                number(balance)
              ])
            )
          ])
    )
    if (chosen === undefined) return
    const { complete, days } = await ask(`/api/credits?account=${encodeURIComponent(chosen)}`)
    chart.replaceChildren(
      bars({
        ...{ label: `Consumed by ${chosen}, each of the last 30 days`, kind: "bar" },
        days: days.map((/** @type {any} */ { consumed, day }) => [day, consumed])
      }),
      bars({
        ...{ label: "Granted", kind: "bar up" },
        days: days.map((/** @type {any} */ { day, granted }) => [day, granted])
      }),
      make(
        "figcaption",
        {},
        make("span", {}, new Date(days[0].day).toISOString().slice(0, 10)),
        make("span", {}, complete ? "today" : "today; only the newest 20,000 entries are counted")
      )
    )
  }
})

/** @type {(ask: Ask) => View} */
export const domains = (ask) => ({
  title: "Domains",
  fill: async (main) => {
    const { items } = await ask("/api/domains")
    main.replaceChildren(
      make("h1", {}, "Domains"),
      items.length === 0
        ? make("p", { class: "soft" }, "No account has asked for one yet.")
        : table(
            "Domains",
            ["Domain", "Account", "State", "Added (UTC)", "Verified (UTC)"],
            items.map((/** @type {any} */ { account, created, name, verified }) => [
              ...[name, account],
              make(
                "span",
                { class: `state ${verified === null ? "wait" : "good"}` },
                verified === null ? "○ not verified" : "● verified"
              ),
              time(created),
              verified === null ? "–" : time(verified)
            ])
          )
    )
  }
})
