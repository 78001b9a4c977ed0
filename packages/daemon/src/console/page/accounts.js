/** The accounts; one of them with its API keys, domains and limits where it is named, as far as the session may read these. */
import { useState } from "/hooks.js"
import { askOrSay, may, useAnswer } from "./daemon.js"
import { DomainTable } from "./domains.js"
import { Act, Answered, Copy, Facts, Field, Form, Go, Heading, row, Shown, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"
import { number } from "./words.js"

const Accounts = () => {
  const found = useAnswer("/api/accounts", 10_000)
  return html`
    <${Heading} title="Accounts" />
    <${Form} route="POST /api/accounts" label="Create" then=${({ name }) => (location.hash = place.account(name))} said=${({ name }) => `Account ${name} is created`}>
      <${Field} label="Name of a new account" name="name" maxlength="64" required />
    <//>
    <${Answered} found=${found}>${({ hasMore, items }) => html`
      <${Shown} count=${items.length} hasMore=${hasMore} of="oldest accounts" />
      <${Table} caption="Accounts" empty="There is no account yet." heads=${["Account", ">Credits left", "Retractions", "Created"]}
        rows=${items.map(({ balance, created, name, retractions }) => [
          html`<${Go} to=${place.account(name)}>${name}<//>`,
          number(balance),
          retractions ? "sent" : "not sent",
          html`<${Time} at=${created} />`
        ])} />
    `}<//>
  `
}

const NewKey = ({ account, then }) => {
  const [made, setMade] = useState("")
  const [operations, setOperations] = useState(/** @type {string[]} */ ([]))
  const open = async () => setOperations((await askOrSay("/api/operations"))?.operations ?? [])
  const bodyOf = ({ endpoints, expires, name, readOnly }) => ({
    name,
    ...(readOnly && { readOnly: true }),
    ...(expires && { expires: new Date(expires).getTime() }),
    ...(endpoints && { endpoints: endpoints.split(/[\s,]+/) })
  })
  if (!may("POST /api/accounts/:account/keys")) return null
  return html`
    ${
      made !== "" &&
      html`<div class="notice good" role="status">
        <p>The new key, shown this once: whoever has it acts for the account.</p>
        <p><code id="new-key">${made}</code></p>
        <p><${Copy} text=${made} label="Copy the key" /> <button type="button" class="quiet" onClick=${() => setMade("")}>Done</button></p>
      </div>`
    }
    <details class="card" onToggle=${(event) => event.currentTarget.open && operations.length === 0 && open()}>
      <summary>Create a key</summary>
      <${Form} route="POST /api/accounts/:account/keys" of=${{ account }} label="Create" bodyOf=${bodyOf}
        then=${({ key }) => {
          setMade(key)
          then()
        }}>
        <${Field} label="Name" name="name" maxlength="100" required />
        <${Field} label="Expires (never, if none is named)" name="expires" type="datetime-local" />
        <${Field} label="Operations (all, if none is named)" name="endpoints" list="operations" placeholder="subscriptions.list, callbacks.list" />
        <datalist id="operations">${operations.map((name) => html`<option value=${name} />`)}</datalist>
        <label class="check"><input type="checkbox" name="readOnly" /> Reads only</label>
      <//>
    </details>
  `
}

const Keys = ({ account, again, keys }) => {
  const now = Date.now()
  const stateOf = ({ expires, revoked }) =>
    revoked !== undefined ? "revoked" : expires !== undefined && expires <= now ? "expired" : "active"
  const revocable = may("POST /api/accounts/:account/keys/:id/revoke")
  return html`
    <h2>API keys</h2>
    <${NewKey} account=${account} then=${again} />
    <${Table} caption="API keys" empty="The account has no key yet."
      heads=${["Name", "State", "May", "Created", "Expires", "Last used", ...(revocable ? ["Revoke"] : [])]}
      rows=${keys.map((key) =>
        row(key.id, [
          html`${key.name}<br /><code>${key.id}</code>`,
          html`<${State} of=${stateOf(key)} />`,
          html`${key.endpoints?.join(", ") ?? "all operations"}${key.readOnly && ", reading only"}`,
          html`<${Time} at=${key.created} />`,
          key.expires === undefined ? "never" : html`<${Time} at=${key.expires} />`,
          key.lastUsed === undefined ? "never" : html`<${Time} at=${key.lastUsed} />`,
          ...(revocable
            ? [
                stateOf(key) === "active" &&
                  html`<${Act} route="POST /api/accounts/:account/keys/:id/revoke" of=${{ account, id: key.id }} label="Revoke" name="Revoke ${key.name}"
                    danger sure="Revoke the key ${key.name}? Whoever uses it is refused from now on." said="Key ${key.name} is revoked" then=${again} />`
              ]
            : [])
        ])
      )} />
  `
}

const Account = ({ name }) => {
  const found = useAnswer(`/api/accounts/${encodeURIComponent(name)}`, 10_000)
  return html`
    <${Heading} name="Account ${name}" title="Account ${name}" />
    <${Answered} found=${found}>${({ account, balance, domains, keys, limits, subscriptions }) => html`
      <${Facts} facts=${{
        "Credits left":
          balance !== undefined && may("GET /api/credits")
            ? html`<a href="#/credits?account=${encodeURIComponent(name)}">${number(balance)}</a>`
            : balance !== undefined && number(balance),
        Subscriptions:
          subscriptions !== undefined &&
          html`<a href=${place.subscriptions(name)}>${number(subscriptions.reduce((sum, { total }) => sum + total, 0))}</a>`,
        Retractions: account.retractions ? "sent" : "not sent",
        Created: html`<${Time} at=${account.created} />`
      }} />
      ${keys !== undefined && html`<${Keys} account=${name} again=${found.again} keys=${keys} />`}
      ${domains !== undefined && html`<h2>Domains</h2><${DomainTable} account=${name} again=${found.again} domains=${domains} />`}
      <div class="pair">
        <div><h2>Limits</h2>
          <${Table} caption="Limits" heads=${["What", ">In use", ">At most"]} rows=${limits.map(({ most, name, used }) => [name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), number(used), number(most)])} /></div>
        ${
          subscriptions !== undefined &&
          html`<div><h2>Subscriptions by chain</h2>
            <${Table} caption="Subscriptions by chain" empty="None yet." heads=${["Chain", ">Subscriptions"]} rows=${subscriptions.map(({ chain, total }) => [chain, number(total)])} /></div>`
        }
      </div>
    `}<//>
  `
}

export const AccountsOrOne = ({ parts: [name] }) => (name ? html`<${Account} name=${name} />` : html`<${Accounts} />`)
