/** What a text may mean, over everything that the store knows. */
import { useAnswer } from "./daemon.js"
import { AccountsSearched, Answered, Go, Heading, Table } from "./elements.js"
import { html } from "./html.js"
import { placeOf } from "./places.js"
import { counted, number } from "./words.js"

export const Search = ({ query }) => {
  const text = query.get("q") ?? ""
  const found = useAnswer(`/api/search?q=${encodeURIComponent(text)}`)
  return html`
    <${Heading} title="Search" />
    <${Answered} found=${found}>${({ accountsSearched, hasMore, items }) => html`
      <p class="soft" role="status">${hasMore ? `The first ${number(items.length)} results` : counted(items.length, "result")} for “${text}”</p>
      <${AccountsSearched} of=${accountsSearched} />
      <${Table} caption="Results" heads=${["Kind", "Name"]}
        empty="Nothing is found. A search wants the beginning of a reference, a whole idempotency key, address, transaction or block hash, a height, or the name of an account, a host or a domain."
        rows=${items.map(({ detail, kind, title, to }) => [kind, html`<${Go} to=${placeOf(to)}>${title}<//><br /><span class="soft breaks">${detail}</span>`])} />
    `}<//>
  `
}
