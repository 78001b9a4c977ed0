/** Who did what, by the console and the command line, the newest first. */
import { useState } from "/hooks.js"
import { askOrSay, useAnswer } from "./daemon.js"
import { Answered, Field, Heading, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { number } from "./words.js"

export const Audit = ({ query }) => {
  const path = `/api/audit?${query}`
  const found = useAnswer(path)
  const [older, setOlder] = useState(/** @type {any} */ ({ items: [] }))
  const more = async (before) => {
    const page = await askOrSay(`${path}&before=${before}`)
    if (page) setOlder({ items: [...older.items, ...page.items], next: page.next })
  }
  const submit = (event) => {
    event.preventDefault()
    const filled = [...new FormData(event.currentTarget)].filter(([, value]) => value !== "")
    location.hash = `#/audit?${new URLSearchParams(/** @type {any} */ (filled))}`
  }
  return html`
    <${Heading} title="Audit log" />
    <form class="row" onSubmit=${submit}>
      <${Field} label="User" name="user" value=${query.get("user") ?? ""} />
      <${Field} label="Account" name="account" value=${query.get("account") ?? ""} />
      <button type="submit">Find</button>
    </form>
    <${Answered} found=${found}>${({ items, next }) => {
      const last = older.next === undefined ? next : older.next
      return html`
        <${Table} caption="Audit log" empty="Nothing is logged." heads=${["When", "User", "From", "Action", "Subject", "Account", "Outcome"]}
          rows=${[...items, ...older.items].map((entry) => [
            html`<${Time} at=${entry.at} />`,
            html`${entry.user}<br /><span class="soft">${entry.role}</span>`,
            entry.from,
            html`<code>${entry.action}</code>${entry.count > 1 && ` ${number(entry.count)} times`}`,
            entry.subject === "" ? "–" : html`<code>${entry.subject}</code>`,
            entry.account ?? "–",
            html`<${State} of=${entry.outcome} />${entry.detail !== null && html`<br /><span class="soft">${entry.detail}</span>`}`
          ])} />
        ${last != null && html`<p><button type="button" class="small" onClick=${() => more(last)}>Older entries</button></p>`}
      `
    }}<//>
  `
}
