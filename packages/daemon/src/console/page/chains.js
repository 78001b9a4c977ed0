/** The chains, live: where each one is, how far that was in the last ten minutes, and the last reorganisations. */
import { line } from "./chart.js"
import { duration, make, number, table, time } from "./elements.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").View} View
 */

/** @type {Record<string, readonly [kind: string, word: string]>} */
const states = {
  following: ["good", "● following"],
  syncing: ["wait", "▲ catching up"],
  starting: ["wait", "○ starting"],
  failing: ["bad", "✕ failing"],
  stopped: ["bad", "■ stopped"]
}

const windowMillis = 600_000

const catchingUp = (/** @type {any} */ { perSecond, secondsLeft }) =>
  [
    perSecond === null ? "Rate not known yet" : `${number(perSecond)} blocks a second`,
    ...(secondsLeft === null ? [] : [`${duration(secondsLeft * 1000)} left`])
  ].join(", ")

/** @type {(ask: Ask) => View} */
export const chains = (ask) => {
  /** @type {Map<string, Array<readonly [number, number, number]>>} */
  const samples = new Map()
  const outages = make("div", { role: "alert" })
  const cards = make("div", { class: "cards" })
  const reorganisations = make("div")
  let after = 0
  let reorganisationsDue = 0

  const card = (/** @type {any} */ chain, /** @type {number} */ now) => {
    const own = [...(samples.get(chain.name) ?? []), ...chain.samples].filter(([at]) => at > now - windowMillis)
    samples.set(chain.name, own)
    const [kind, word] = states[chain.state] ?? ["wait", chain.state]
    const behind = chain.head === null || chain.height === null ? null : Math.max(0, chain.head - chain.height)
    // Time before the first sample is not drawn, once there is a minute of samples.
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
      chain.catchingUp === null ? null : make("p", {}, catchingUp(chain.catchingUp)),
      behind !== null && behind > 2
        ? make("progress", { max: chain.head, value: chain.height, "aria-label": `${chain.name}: synced` })
        : null,
      chain.networkDoubt === null ? null : make("p", { class: "soft" }, `Network ${chain.networkDoubt}`),
      chain.problem === null ? null : make("p", { class: "problem" }, chain.problem),
      ...chain.gaps.map((/** @type {any} */ { kind, message }) =>
        make("p", { class: kind === "notUnderstood" ? "problem" : "soft" }, message)
      ),
      line({ ...shown, label: "Height", fromZero: false, points: own.map(([at, height]) => [at, height]) }),
      line({
        ...{ ...shown, label: "Blocks behind", fromZero: true },
        points: own.map(([at, height, head]) => [at, head - height])
      })
    )
  }

  const again = async () => {
    const { chains, now, outages: lasting } = await ask(`/api/chains?after=${after}`)
    const said = lasting.map(
      (/** @type {any} */ { error, message, since }) => `${message}: ${error} (since ${time(since)} UTC)`
    )
    // What is read aloud is not said again each second.
    if (said.join("") !== outages.textContent) {
      outages.replaceChildren(...said.map((/** @type {string} */ text) => make("p", { class: "problem" }, text)))
    }
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
        ? make("p", { class: "soft" }, "No reorganisation has been seen.")
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
      main.replaceChildren(make("h1", {}, "Chains"), outages, cards, make("h2", {}, "Reorganisations"), reorganisations)
      await again()
    }
  }
}
