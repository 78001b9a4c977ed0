/** The page: logging in, which view is shown, and what stands around each one. */
import { useEffect, useRef, useState } from "/hooks.js"
import { render } from "/preact.js"
import { ask, askOrSay, may, say, session } from "./daemon.js"
import { Answered, Field } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"

/** View → where it comes from, and what it shows by the parts and the query of its address. */
const views = {
  overview: () => import("./overview.js").then(({ Overview }) => Overview),
  chains: () => import("./chains.js").then(({ Chains }) => Chains),
  deliveries: () => import("./deliveries.js").then(({ Deliveries }) => Deliveries),
  subscriptions: () => import("./subscriptions.js").then(({ SubscriptionsOrOne }) => SubscriptionsOrOne),
  accounts: () => import("./accounts.js").then(({ AccountsOrOne }) => AccountsOrOne),
  domains: () => import("./domains.js").then(({ Domains }) => Domains),
  credits: () => import("./credits.js").then(({ Credits }) => Credits),
  progress: () => import("./progress.js").then(({ Progress }) => Progress),
  audit: () => import("./audit.js").then(({ Audit }) => Audit),
  search: () => import("./search.js").then(({ Search }) => Search),
  callbacks: () => import("./stories.js").then(({ CallbackStory }) => CallbackStory),
  blocks: () => import("./stories.js").then(({ BlockStory }) => BlockStory),
  transactions: () => import("./stories.js").then(({ TransactionStory }) => TransactionStory),
  addresses: () => import("./stories.js").then(({ AddressStory }) => AddressStory)
}

const menu = [
  ["overview", "Overview", "GET /api/overview"],
  ["chains", "Chains", "GET /api/chains"],
  ["deliveries", "Deliveries", "GET /api/deliveries"],
  ["subscriptions", "Subscriptions", "GET /api/subscriptions"],
  ["accounts", "Accounts", "GET /api/accounts"],
  ["domains", "Domains", "GET /api/domains"],
  ["credits", "Credits", "GET /api/credits"],
  ["progress", "Progress", "GET /api/progress"],
  ["audit", "Audit log", "GET /api/audit"]
]

/** The view that an address names, with the parts of the address after that name, and its query. */
const viewOf = (hash) => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?")
  const [name = "", ...parts] = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  })
  return { name: Object.hasOwn(views, name) ? name : "overview", parts, query: new URLSearchParams(query) }
}

/** All pages of a browser have one session: when somebody enters or leaves in one of them, the others begin anew. */
const pages = new BroadcastChannel("session")
pages.onmessage = () => location.reload()

const Messages = () => {
  const [text, setText] = useState("")
  useEffect(() => {
    let silence = 0
    const said = ({ detail }) => {
      clearTimeout(silence)
      setText(detail)
      silence = setTimeout(() => setText(""), 6_000)
    }
    addEventListener("said", /** @type {any} */ (said))
    return () => removeEventListener("said", /** @type {any} */ (said))
  }, [])
  return html`<p id="message" role="status">${text}</p>`
}

const Login = ({ enter, hasEnded }) => {
  const [byKey, setByKey] = useState(false)
  const [error, setError] = useState("")
  const first = useRef(/** @type {any} */ (null))
  useEffect(() => {
    document.title = "Log in · Headwater"
    first.current.querySelector("input[type=password]").focus()
  }, [byKey])
  const submit = async (event) => {
    event.preventDefault()
    setError("")
    try {
      const { key, ...user } = Object.fromEntries(new FormData(event.currentTarget))
      // A key is copied, often with white space around it; a password may have some.
      await ask("/api/login", key === undefined ? user : { key: String(key).trim() })
      pages.postMessage("entered")
      await enter()
    } catch (error) {
      setError(/** @type {Error} */ (error).message)
      first.current?.querySelector("input[type=password]").select()
    }
  }
  return html`<main class="login">
    <h1><img src="/icon.svg" alt="" width="26" height="26" />Headwater</h1>
    ${hasEnded && html`<p class="notice" role="status">The session has ended: log in again.</p>`}
    <form ref=${first} onSubmit=${submit} key=${byKey}>
      ${
        byKey
          ? html`<${Field} label="API key of an account" name="key" type="password" required />`
          : html`<${Field} label="User" name="user" value="operator" autocomplete="username" required />
              <${Field} label="Password" name="password" type="password" autocomplete="current-password" required />`
      }
      <button type="submit">Log in</button>
      ${error !== "" && html`<p class="notice bad" role="alert">${error}</p>`}
    </form>
    <button type="button" class="quiet" onClick=${() => setByKey(!byKey)}>
      ${byKey ? "Log in as a user" : "Log in with an API key"}
    </button>
  </main>`
}

const SearchBox = ({ text = "" }) => {
  const submit = (event) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get("q")).trim()
    if (text !== "") location.hash = place.search(text)
  }
  return html`<form role="search" class="search" onSubmit=${submit}>
    <input id="search" name="q" type="search" value=${text} maxlength="200" autocomplete="off" spellcheck=${false}
      aria-label="Search" aria-keyshortcuts="/" placeholder="Address, transaction, key, reference, host …" />
    <kbd aria-hidden="true">/</kbd>
  </form>`
}

const Shell = ({ leave }) => {
  const [hash, setHash] = useState(location.hash)
  const [open, setOpen] = useState(false)
  const main = useRef(/** @type {any} */ (null))
  useEffect(() => {
    const change = () => {
      setHash(location.hash)
      setOpen(false)
      scrollTo(0, 0)
      main.current.focus({ preventScroll: true })
    }
    addEventListener("hashchange", change)
    return () => removeEventListener("hashchange", change)
  }, [])
  const { name, parts, query } = viewOf(hash)
  const own = session.account
  const entries = [
    ...menu.filter(([, , route]) => may(route)).map(([view, title]) => [view, title, `#/${view}`]),
    ...(own !== null && may("GET /api/accounts/:account") ? [["accounts", "Account", place.account(own)]] : [])
  ]
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault()
      main.current.focus()
    }}>Skip to content</a>
    <header>
      <a class="brand" href="#/overview"><img src="/icon.svg" alt="" width="22" height="22" />Headwater</a>
      <${SearchBox} key=${hash} text=${name === "search" ? query.get("q") : ""} />
      <button type="button" class="quiet menu" aria-expanded=${open} aria-controls="views" onClick=${() => setOpen(!open)}>Menu</button>
    </header>
    <nav class="side ${open && "open"}" id="views" aria-label="Views">
      <div class="links">
        ${entries.map(
          ([view, title, to]) => html`<a href=${to} aria-current=${view === name ? "page" : undefined}>${title}</a>`
        )}
      </div>
      <p class="who"><span>${session.user}</span>
        ${session.role !== session.user && html`<span class="soft">${session.role === "account" ? "account key" : session.role}</span>`}
        <button type="button" class="quiet" onClick=${leave}>Log out</button></p>
    </nav>
    <main id="main" tabindex="-1" ref=${main}>
      <${Lazy} key=${hash} name=${name} parts=${parts} query=${query} />
    </main>
  `
}

/** A view, once its module is there. */
const Lazy = ({ name, ...where }) => {
  const [found, set] = useState(/** @type {any} */ ({}))
  useEffect(() => {
    views[name]().then(
      (View) => set({ answer: View }),
      () => set({ error: new Error("The page is not complete: load it again") })
    )
  }, [])
  return html`<${Answered} found=${found}>${(View) => html`<${View} ...${where} />`}<//>`
}

const Console = () => {
  const [state, setState] = useState("asks")
  const [problem, setProblem] = useState("")
  const enter = async () => {
    Object.assign(session, await ask("/api/session"))
    setState("in")
  }
  const look = () =>
    enter().catch(({ message, status }) => {
      // Who is refused has been told by the event.
      if (status === 401) return
      setProblem(message)
      setTimeout(look, 3_000)
    })
  useEffect(() => {
    addEventListener("loggedout", () => setState((before) => (before === "in" || before === "ended" ? "ended" : "out")))
    look()
  }, [])
  const leave = async () => {
    // Who is told of an end that did not come leaves the session to whoever has the browser next.
    if ((await askOrSay("/api/logout", {})) === undefined) return
    pages.postMessage("left")
    history.replaceState(null, "", "/")
    setState("out")
    say("Logged out")
  }
  return html`
    ${state === "in" && html`<${Shell} leave=${leave} />`}
    ${(state === "out" || state === "ended") && html`<${Login} enter=${enter} hasEnded=${state === "ended"} />`}
    ${
      state === "asks" &&
      html`<main><h1>Headwater</h1>
      ${problem === "" ? html`<p role="status">Loading …</p>` : html`<p class="notice bad" role="alert">${problem}.</p>`}</main>`
    }
    <${Messages} />
  `
}

addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea")
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === "/") {
    event.preventDefault()
    document.getElementById("search")?.focus()
  } else if (event.key === "j" || event.key === "k") {
    const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-row]")])
    const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    rows[event.key === "j" ? Math.min(at + 1, rows.length - 1) : Math.max(at - 1, 0)]?.focus()
  }
})

render(html`<${Console} />`, document.body)
