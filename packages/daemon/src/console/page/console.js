/** The page: logging in, which view is shown, keys, and asking again. */
import { chains } from "./chains.js"
import { credits } from "./credits.js"
import { deliveries } from "./deliveries.js"
import { domains } from "./domains.js"
import { make } from "./elements.js"
import { progress } from "./progress.js"
import { subscription } from "./subscription.js"
import { subscriptions } from "./subscriptions.js"

/**
 * A view fills an element, and says how often and how it wants to be filled again.
 *
 * @typedef {(path: string, body?: unknown) => Promise<any>} Ask asks the daemon; throws an Error with the daemon's words
 * @typedef {(text: string) => void} Say shows a message for some seconds
 * @typedef {{ title: string, everyMillis?: number, fill: (main: HTMLElement) => Promise<void>, again?: () => Promise<void> }} View
 */

const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
const main = find("main")
const bar = find("bar")
const live = find("live")
const message = find("message")
const help = /** @type {HTMLDialogElement} */ (find("help"))

class LoggedOut extends Error {}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let silence
const say = (/** @type {string} */ text) => {
  clearTimeout(silence)
  message.textContent = text
  silence = setTimeout(() => message.replaceChildren(), 6_000)
}

/** @type {Ask} */
const ask = async (path, body) => {
  const response = await fetch(path, {
    credentials: "same-origin",
    ...(body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  })
  const answer = await response.json().catch(() => ({}))
  if (response.status === 401 && path !== "/api/login") throw new LoggedOut()
  if (!response.ok) throw new Error(answer.error ?? `The daemon answered ${response.status}`)
  return answer
}

const showLogin = () => {
  bar.hidden = true
  document.title = "Headwater"
  const password = /** @type {HTMLInputElement} */ (
    make("input", { id: "password", type: "password", autocomplete: "current-password", required: true })
  )
  const problem = make("p", { class: "problem", role: "alert" })
  const form = make(
    "form",
    {
      submit: async (event) => {
        event.preventDefault()
        problem.replaceChildren()
        try {
          await ask("/api/login", { password: password.value })
          await show()
        } catch (error) {
          problem.textContent = /** @type {Error} */ (error).message
          password.select()
        }
      }
    },
    make("label", {}, make("span", { class: "label" }, "Password of the console"), password),
    make("button", { type: "submit" }, "Log in"),
    problem
  )
  const icon = make("img", { src: "/icon.svg", alt: "", width: 26, height: 26 })
  main.replaceChildren(make("div", { class: "login card" }, make("h1", {}, icon, "Headwater"), form))
  password.focus()
}

/** @returns {readonly [name: string, view: View]} */
const viewOf = (/** @type {string} */ hash) => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?")
  const [name, reference] = path.split("/")
  const search = new URLSearchParams(query)
  if (name === "subscriptions" && reference) return [name, subscription(ask, say, decodeURIComponent(reference))]
  if (name === "deliveries") return [name, deliveries(ask, say)]
  if (name === "subscriptions") return [name, subscriptions(ask, search.get("search") ?? "")]
  if (name === "credits") return [name, credits(ask, search.get("account"))]
  if (name === "domains") return [name, domains(ask)]
  if (name === "progress") return [name, progress(ask)]
  return ["chains", chains(ask)]
}

/** Counts the views that were shown: an answer that an earlier view was waiting for is not shown any more. */
let turn = 0

const setLive = (/** @type {boolean} */ on) => {
  live.className = on ? "live on" : "live off"
  live.textContent = on ? "live" : "no answer"
}

const keepFresh = (/** @type {View} */ view, /** @type {number} */ mine) => {
  const { again, everyMillis } = view
  if (again === undefined || everyMillis === undefined) return
  setTimeout(async () => {
    if (mine !== turn) return
    try {
      if (!document.hidden) await again()
      setLive(true)
    } catch (error) {
      if (mine !== turn) return
      if (error instanceof LoggedOut) return showLogin()
      setLive(false)
    }
    if (mine === turn) keepFresh(view, mine)
  }, everyMillis)
}

const show = async () => {
  const mine = ++turn
  const [name, view] = viewOf(location.hash)
  try {
    await view.fill(main)
    if (mine !== turn) return
    setLive(true)
    bar.hidden = false
    document.title = `${view.title} · Headwater`
    for (const link of bar.querySelectorAll("nav a")) {
      if (link.getAttribute("data-view") === name) link.setAttribute("aria-current", "page")
      else link.removeAttribute("aria-current")
    }
    keepFresh(view, mine)
  } catch (error) {
    if (mine !== turn) return
    if (error instanceof LoggedOut) return showLogin()
    bar.hidden = false
    setLive(false)
    main.append(make("p", { class: "problem", role: "alert" }, /** @type {Error} */ (error).message))
    keepFresh({ ...view, everyMillis: 3_000, again: show }, mine)
  }
}

const themes = ["", "light", "dark"]
const setTheme = (/** @type {string} */ theme) => {
  if (theme === "") delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  localStorage.setItem("theme", theme)
}
const nextTheme = () => {
  const theme = themes[(themes.indexOf(localStorage.getItem("theme") ?? "") + 1) % themes.length] ?? ""
  setTheme(theme)
  say(theme === "" ? "Colours: those of the system" : `Colours: ${theme}`)
}
setTheme(localStorage.getItem("theme") ?? "")

const move = (/** @type {number} */ by) => {
  const rows = /** @type {Array<HTMLElement>} */ ([...main.querySelectorAll("[data-row]")])
  const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement))
  rows[at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus()
}

const goTo = async (/** @type {string} */ hash) => {
  location.hash = hash
}

/** @type {Record<string, () => unknown>} */
const keys = {
  1: () => goTo("#/chains"),
  2: () => goTo("#/deliveries"),
  3: () => goTo("#/subscriptions"),
  4: () => goTo("#/credits"),
  5: () => goTo("#/domains"),
  6: () => goTo("#/progress"),
  "/": () => {
    const search = document.getElementById("search")
    if (search !== null) return search.focus()
    addEventListener("shown", () => document.getElementById("search")?.focus(), { once: true })
    return goTo("#/subscriptions")
  },
  j: () => move(1),
  k: () => move(-1),
  t: nextTheme,
  "?": () => help.showModal()
}
addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea")
  if (typing || bar.hidden || help.open || event.ctrlKey || event.metaKey || event.altKey) return
  const key = keys[event.key]
  if (key === undefined) return
  event.preventDefault()
  key()
})

find("theme").addEventListener("click", nextTheme)
find("keys").addEventListener("click", () => help.showModal())
find("logout").addEventListener("click", async () => {
  turn++
  await ask("/api/logout", {}).catch(() => undefined)
  showLogin()
})
addEventListener("hashchange", async () => {
  await show()
  dispatchEvent(new Event("shown"))
  if (document.activeElement === document.body) main.focus()
})
await show()
