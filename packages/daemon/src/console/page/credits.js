/** The credits of an account, day by day, and the balances of all accounts. */
import { Chart } from "./chart.js"
import { session, useAnswer } from "./daemon.js"
import { Answered, Go, Heading, Shown, Table } from "./elements.js"
import { html } from "./html.js"
import { number } from "./words.js"

const Days = ({ account }) => {
  const found = useAnswer(`/api/credits?account=${encodeURIComponent(account)}`, 30_000)
  return html`<${Answered} found=${found}>${({ complete, days }) => {
    const chart = (label, name, colour) => {
      const values = days.map((day) => day[name])
      const said = `${number(values.reduce((sum, value) => sum + value, 0))} in 30 days (UTC)`
      return html`<div class="card"><${Chart} label=${label} said=${said} bars=${true} height=${190} unit=""
        times=${days.map(({ day }) => day)} series=${[{ label: "Credits", colour, values }]} /></div>`
    }
    return html`<div class="pair">${chart(`Consumed by ${account}`, "consumed", "accent")}${chart(`Granted to ${account}`, "granted", "good")}</div>
      ${!complete && html`<p class="soft">Only the newest 20,000 entries are counted.</p>`}`
  }}<//>`
}

const OfAccounts = ({ chosen }) => {
  const found = useAnswer("/api/accounts", 30_000)
  return html`<${Answered} found=${found}>${({ hasMore, items }) => {
    const account = chosen ?? items[0]?.name
    return html`
      ${account !== undefined && html`<${Days} account=${account} />`}
      <h2>Balances</h2>
      <${Shown} count=${items.length} hasMore=${hasMore} of="oldest accounts" />
      <${Table} caption="Balances" empty="There is no account yet." heads=${["Account", ">Credits left"]}
        rows=${items.map(({ balance, name }) => [html`<${Go} to="#/credits?account=${encodeURIComponent(name)}">${name}<//>`, number(balance)])} />
    `
  }}<//>`
}

export const Credits = ({ query }) => html`
  <${Heading} title="Credits" />
  ${session.account !== null ? html`<${Days} account=${session.account} />` : html`<${OfAccounts} chosen=${query.get("account")} />`}
`
