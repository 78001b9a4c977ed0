/** Syncs under way, and movements of coins in doubt. */
import { useAnswer } from "./daemon.js"
import { Answered, Heading, Table } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"
import { number } from "./words.js"

const blocksLeft = ({ last, next }) => (next === null || next > last ? "–" : number(last - next + 1))

export const Progress = () => html`
  <${Heading} title="Progress" />
  <${Answered} found=${useAnswer("/api/progress", 5_000)}>${({ remedy, syncs, unresolved }) => html`
    <h2>Syncs</h2>
    <${Table} caption="Syncs" empty="Nothing is being looked for." heads=${["Chain", "Account", "Wallet or address", "State", ">Blocks left"]}
      rows=${syncs.map((sync) => [sync.chain, sync.account, html`<code>${sync.subject}</code>`, sync.state, blocksLeft(sync)])} />
    <h2>Movements in doubt</h2>
    ${unresolved.length > 0 && html`<p>${remedy}.</p>`}
    <${Table} caption="Movements in doubt" empty="No movement of coins is in doubt." heads=${["Chain", ">Block", "Transaction", "Address", "Reason"]}
      rows=${unresolved.map(({ address, chain, height, reason, transactionId }) => [
        chain,
        number(height),
        html`<a class="mono" data-row href=${place.transaction(chain, transactionId)}>${transactionId}</a>`,
        html`<a class="mono" href=${place.address(chain, address)}>${address}</a>`,
        reason
      ])} />
  `}<//>
`
