/** The domains that callbacks may go to, and which of them are verified. */
import { may, session, useAnswer } from "./daemon.js"
import { Act, Answered, Copy, Field, Form, Heading, row, Shown, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"

const route = (what) => `POST /api/accounts/:account/domains/:domain/${what}`

/** What is to be published, and where, so that a domain is verified. */
const Proof = ({ domain: { record, token, url } }) =>
  token !== undefined &&
  html`<details><summary>How to verify</summary>
    <p>Publish either a TXT record at <code>${record}</code> or a file at <code>${url}</code> with the token</p>
    <p><code>${token}</code> <${Copy} text=${token} label="Copy the token" /></p>
  </details>`

/** The domains of an account, and what may be done with each one. */
export const DomainTable = ({ account, again, domains }) => html`
  <${Form} route="POST /api/accounts/:account/domains" of=${{ account }} label="Add" then=${again} said=${({ name }) => `${name} is added: now verify it`}>
    <${Field} label="Domain of a receiver" name="name" placeholder="hooks.example.com" required />
  <//>
  <${Table} caption="Domains" empty="The account has added no domain yet." heads=${["Domain", "State", "Added", "Verified", "Actions"]}
    rows=${domains.map((domain) => {
      const { created, name, verified } = domain
      const of = { account, domain: name }
      return row(name, [
        name,
        html`<${State} of=${verified === null ? "unverified" : "verified"} />${verified === null && html`<${Proof} domain=${domain} />`}`,
        html`<${Time} at=${created} />`,
        html`<${Time} at=${verified} />`,
        html`<div class="acts">
          ${
            verified === null &&
            html`<${Act} route=${route("verify")} of=${of} label="Verify" name="Verify ${name}" said="${name} is verified" then=${again} />
              <${Act} route=${route("approve")} of=${of} label="Approve" name="Approve ${name}" said="${name} is approved" then=${again}
                sure="Approve ${name} without the proof that it is the account's?" />`
          }
        </div>`
      ])
    })} />
`

export const Domains = () => {
  const found = useAnswer("/api/domains", 10_000)
  const own = session.account
  return html`
    <${Heading} title="Domains" />
    <${Answered} found=${found}>${({ hasMore, items }) => html`
      <${Shown} count=${items.length} hasMore=${hasMore} of="newest domains" />
      ${
        own !== null
          ? html`<${DomainTable} account=${own} again=${found.again} domains=${items} />`
          : html`<${Table} caption="Domains" empty="No account has added a domain yet." heads=${["Domain", "Account", "State", "Added", "Verified"]}
            rows=${items.map(({ account, created, name, verified }) => [
              name,
              may("GET /api/accounts/:account")
                ? html`<a href=${place.account(account)} data-row>${account}</a>`
                : account,
              html`<${State} of=${verified === null ? "unverified" : "verified"} />`,
              html`<${Time} at=${created} />`,
              html`<${Time} at=${verified} />`
            ])} />`
      }`}<//>
  `
}
