/** The subscriptions that a text may mean, the newest first; one of them where its reference is named. */
import { useAnswer } from "./daemon.js"
import { AccountsSearched, Answered, Field, Go, Heading, State, Table } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"
import { Subscription } from "./subscription.js"
import { counted, eventName, number, shortened } from "./words.js"

const hostOf = (url) => (URL.canParse(url) ? new URL(url).host : url)

const about = ({ address, chain, transactionId }) => {
  const text = transactionId ?? address
  if (text == null) return "–"
  const to = transactionId === undefined ? place.address(chain, text) : place.transaction(chain, text)
  return html`<a class="mono" title=${text} href=${to}>${shortened(text)}</a>`
}

/** There are no pages: a search shows what is not among the newest. */
const howMany = (count, hasMore, search) => {
  const found = search === "" ? "" : ` for “${search}”`
  if (!hasMore) return `${counted(count, "subscription")}${found}`
  return `The newest ${number(count)}${found}; ${search === "" ? "a search" : "a narrower search"} shows others`
}

const Subscriptions = ({ search }) => {
  const found = useAnswer(`/api/subscriptions?search=${encodeURIComponent(search)}`, 10_000)
  const submit = (event) => {
    event.preventDefault()
    location.hash = place.subscriptions(String(new FormData(event.currentTarget).get("search")).trim())
  }
  return html`
    <${Heading} title="Subscriptions" />
    <form class="row" onSubmit=${submit}>
      <${Field} label="Address, transaction, reference, account or host" name="search" type="search" value=${search} />
      <button type="submit">Find</button>
    </form>
    <${Answered} found=${found}>${({ accountsSearched, hasMore, items }) => html`
      <p class="soft" role="status">${howMany(items.length, hasMore, search)}</p>
      <${AccountsSearched} of=${accountsSearched} />
      <${Table} caption="Subscriptions" empty="No subscription is found."
        heads=${["Reference", "State", "Account", "Chain", "Event", "Address or transaction", "Callbacks go to", ">Sent"]}
        rows=${items.map((item) => [
          html`<${Go} code to=${place.subscription(item.referenceId)}>${item.referenceId.slice(0, 8)}<//>`,
          item.health === undefined
            ? html`<${State} of=${item.active ? "active" : "inactive"} />`
            : html`<${State} of=${item.health.state} since=${item.health.state === "healthy" ? null : item.health.failingSince} />`,
          ...[item.account, item.chain, eventName(item.event)],
          about(item),
          html`<span title=${item.callbackUrl}>${hostOf(item.callbackUrl)}</span>`,
          number(item.lastSequence)
        ])} />
    `}<//>
  `
}

export const SubscriptionsOrOne = ({ parts: [reference], query }) =>
  reference
    ? html`<${Subscription} reference=${reference} />`
    : html`<${Subscriptions} search=${query.get("search") ?? ""} />`
