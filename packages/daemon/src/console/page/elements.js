/** The parts that views are made of. */
import { useEffect, useState } from "/hooks.js"
import { ask, askOrSay, may, pathOf, say } from "./daemon.js"
import { html } from "./html.js"
import { counted, localTime, number, states, utc } from "./words.js"

/** A view's heading, which names the page as well. */
export const Heading = ({ children, name, title }) => {
  useEffect(() => {
    document.title = `${name ?? title} · Headwater`
  }, [name, title])
  return html`<div class="heading"><h1>${title}</h1>${children}</div>`
}

/** What a question has found, by a function; words where there is no answer yet, none at all, or none any more. */
export const Answered = ({ children, found: { answer, at, error } }) => html`
  ${
    error !== undefined &&
    html`<p class="notice bad" role="alert">
    ${error.message}.${answer !== undefined && html` What is shown is of <${Time} at=${at} /> and may have changed.`}
  </p>`
  }
  ${answer === undefined ? error === undefined && html`<p class="soft" role="status">Loading …</p>` : children(answer)}
`

/** How many of a list are shown, where there are more. */
export const Shown = ({ count, hasMore, of }) =>
  hasMore && html`<p class="soft" role="status">Only the ${number(count)} ${of} are shown</p>`

/** In how many accounts a search looked for names and hosts, where there are more. */
export const AccountsSearched = ({ of }) =>
  of !== null && html`<p class="soft">Names and hosts were looked for in the ${number(of)} oldest accounts alone.</p>`

export const Time = ({ at }) =>
  at == null ? "–" : html`<time datetime=${new Date(at).toISOString()} title=${utc(at)}>${localTime(at)}</time>`

export const State = ({ of, since = undefined }) => {
  const [kind, word] = states[of] ?? ["wait", of]
  return html`<span class="state ${kind}">${word}</span>${
    since != null && html`<br /><span class="soft since">since <${Time} at=${since} /></span>`
  }`
}

/** Names and values; what is undefined or false is left out. */
export const Facts = ({ class: kind = "facts", facts }) => html`
  <dl class=${kind}>
    ${Object.entries(facts).map(
      ([name, value]) =>
        value !== undefined && value !== false && html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`
    )}
  </dl>
`

/** A table in a box that scrolls by itself where it is too wide. A head that begins with ">" is aligned to the right. */
export const Table = ({ caption, empty = "None.", heads, rows }) =>
  rows.length === 0
    ? html`<p class="soft">${empty}</p>`
    : html`
        <div class="table" tabindex="0" role="group" aria-label=${caption}>
          <table>
            <caption>${caption}</caption>
            <thead>
              <tr>${heads.map((head) => html`<th scope="col" class=${head[0] === ">" && "right"}>${head.replace(/^>/, "")}</th>`)}</tr>
            </thead>
            <tbody>
              ${rows.map(
                (cells, i) => html`<tr key=${cells.key ?? i}>
                  ${cells.map((cell, i) => html`<td class=${heads[i][0] === ">" && "right"}>${cell}</td>`)}
                </tr>`
              )}
            </tbody>
          </table>
        </div>
      `

/** A row that stays the same one while others come before it. */
export const row = (key, cells) => Object.assign(cells, { key })

/** A link that `j` and `k` go to. */
export const Go = ({ children, code = false, to }) =>
  html`<a href=${to} data-row class=${code && "mono"}>${children}</a>`

export const Copy = ({ label = "Copy", text }) => {
  const copy = async () => {
    // A page that came without TLS from another machine has no clipboard.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false
    )
    say(copied ? "Copied" : "The browser did not copy it: select the text")
  }
  return html`<button type="button" class="quiet" aria-label="${label}: ${text.slice(0, 24)}" onClick=${copy}>${label}</button>`
}

/** A long name in full, with a button that copies it. */
export const Name = ({ children: text }) => html`<code>${text}</code> <${Copy} text=${text} />`

/**
 * A button that asks the daemon to do something; nothing where the session may not. One that waits is not `disabled`, which
 * would take the keyboard's focus away.
 * @param {any} properties
 */
export const Act = ({
  body = {},
  danger = false,
  label,
  name = label,
  of = {},
  route,
  said,
  sure = "",
  then = () => {}
}) => {
  const [waits, setWaits] = useState(false)
  if (!may(route)) return null
  const act = async () => {
    if (waits || (sure !== "" && !confirm(sure))) return
    setWaits(true)
    const answer = await askOrSay(pathOf(route, of), body)
    setWaits(false)
    if (answer === undefined) return
    say(typeof said === "function" ? said(answer) : said)
    then()
  }
  return html`<button type="button" class=${danger ? "small danger" : "small"} aria-label=${name} aria-disabled=${waits} onClick=${act}>
    ${label}
  </button>`
}

export const Field = ({ label, ...input }) => html`
  <label><span class="label">${label}</span><input autocomplete="off" spellcheck=${false} ...${input} /></label>
`

/**
 * A form that asks the daemon to do something with its fields; nothing where the session may not.
 * @param {any} properties
 */
export const Form = ({ bodyOf = (fields) => fields, children, label, of = {}, route, said = "", then = (_) => {} }) => {
  const [error, setError] = useState("")
  const [waits, setWaits] = useState(false)
  if (!may(route)) return null
  const submit = async (event) => {
    event.preventDefault()
    if (waits) return
    const form = event.currentTarget
    // White space alone is nothing, as for the daemon.
    for (const field of form.querySelectorAll(":required")) if (field.value.trim() === "") field.value = ""
    if (!form.reportValidity()) return
    const filled = [...new FormData(form)].filter(([, value]) => String(value).trim() !== "")
    setError("")
    setWaits(true)
    try {
      const answer = await ask(
        pathOf(route, of),
        bodyOf(Object.fromEntries(filled.map(([name, value]) => [name, String(value).trim()])))
      )
      form.reset()
      const text = typeof said === "function" ? said(answer) : said
      if (text !== "") say(text)
      then(answer)
    } catch (error) {
      setError(/** @type {Error} */ (error).message)
    }
    setWaits(false)
  }
  return html`<form class="row" onSubmit=${submit}>
    ${children}
    <button type="submit" aria-disabled=${waits}>${label}</button>
    ${error !== "" && html`<p class="notice bad" role="alert">${error}</p>`}
  </form>`
}

/** Sends callbacks again in bulk, after a receiver has lost what it had. The time is of the browser's zone. */
export const SendAgain = ({ children = null, of = {}, route, then = () => {} }) => html`
  <${Form}
    route=${route} of=${of} label="Send all again" then=${then}
    bodyOf=${({ since, ...named }) => ({ ...named, ...(since && { since: new Date(since).getTime() }) })}
    said=${({ subscriptions = 1 }) =>
      subscriptions === 0
        ? "There is no such subscription: nothing is sent again"
        : `The callbacks of ${counted(subscriptions, "subscription")} are sent again`}
  >
    ${children}
    <${Field} label="Since (all, if none is named)" name="since" type="datetime-local" />
  <//>
`

export const Attempts = ({ attempts, next = null }) => html`
  <ol class="plain">
    ${attempts.map(
      ({ at, duration, error, status }) => html`<li key=${at}>
        <${Time} at=${at} /> · ${status ?? "no answer"} · ${number(duration)} ms${error !== undefined && ` · ${error}`}
      </li>`
    )}
  </ol>
  ${next !== null && html`<p class="soft">Next: <${Time} at=${next} /></p>`}
`

const indented = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export const Body = ({ children: text }) =>
  html`<pre tabindex="0" role="group" aria-label="Body">${indented(text)}</pre>`
