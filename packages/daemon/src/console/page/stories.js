/** Stories: what happened to a block, a callback, a transaction or an address, each on one page. */
import { useAnswer } from "./daemon.js"
import { Act, Answered, Attempts, Body, Facts, Go, Heading, Name, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"
import { duration, eventName, number, states } from "./words.js"

const Timeline = ({ moments }) => html`
  <h2>What happened</h2>
  ${moments.length === 0 && html`<p class="soft">Nothing that is kept.</p>`}
  <ol class="timeline">
    ${moments.map(({ at, detail, kind, what }, i) => {
      const before = moments[i - 1]?.at
      return html`<li key=${i} class=${kind}>
        <p class="when">${at === null ? html`<span class="soft">time not kept</span>` : html`<${Time} at=${at} />`}${
          at !== null &&
          before != null &&
          at - before >= 1000 &&
          html` <span class="soft">+ ${duration(at - before)}</span>`
        }</p>
        <p>${what}</p>
        ${detail !== null && html`<p class="soft">${detail}</p>`}
      </li>`
    })}
  </ol>
`

const Notes = ({ notes, title }) =>
  notes.length > 0 &&
  html`<h2>${title}</h2><ul class="notes">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`

const NotKept = ({ notKept }) => html`<${Notes} title="Not kept" notes=${notKept} />`

const CallbackTable = ({ callbacks, empty = "None is kept." }) => html`
  <${Table} caption="Callbacks" empty=${empty}
    heads=${["Key", "State", "Event", "Subscription", "Account", ">Height", "Created", ">Attempts"]}
    rows=${callbacks.map((callback) => [
      html`<${Go} code to=${place.callback(callback.idempotencyKey)}>${callback.idempotencyKey}<//>`,
      html`<${State} of=${callback.state} />`,
      eventName(callback.event),
      html`<a class="mono" href=${place.subscription(callback.referenceId)}>${callback.referenceId.slice(0, 8)}</a>`,
      callback.account,
      number(callback.height),
      html`<${Time} at=${callback.created} />`,
      number(callback.attempts)
    ])} />
`

/** A story by the question that it answers: names of its parameters, and their values. */
const Story = ({ children, everyMillis = 5_000, heading, kind, of }) => {
  const found = useAnswer(`/api/stories/${kind}?${new URLSearchParams(of)}`, everyMillis)
  return html`<${Heading} ...${heading} /><${Answered} found=${found}>${(story) => children(story, found.again)}<//>`
}

const blockLink = (chain, height) => html`<a href=${place.block(chain, String(height))}>${number(height)}</a>`

export const CallbackStory = ({ parts: [key = ""] }) => html`
  <${Story} kind="callback" of=${{ key }} everyMillis=${3_000}
    heading=${{ name: `Callback ${key.slice(0, 12)}`, title: html`Callback <code>${key}</code>` }}>
    ${(story, again) => {
      const { block, callback, copies, outcome, retraction, retracts, subscription, transactionId, why } = story
      const link = (other) =>
        other !== null && html`<a class="mono" href=${place.callback(other.idempotencyKey)}>${other.idempotencyKey}</a>`
      return html`
        <p class="lead"><${State} of=${outcome} /> ${why}</p>
        <div class="acts"><${Act} route="POST /api/subscriptions/:reference/callbacks/:key/redeliver" label="Redeliver"
          of=${{ reference: subscription.referenceId, key }} said="The callback is sent again" then=${again} /></div>
        <div class="pair">
          <div><${Timeline} moments=${story.moments} /><${NotKept} notKept=${story.notKept} /></div>
          <div>
            <h2>Facts</h2>
            <${Facts} class="card details" facts=${{
              Subscription: html`<a class="mono" href=${place.subscription(subscription.referenceId)}>${subscription.referenceId}</a>`,
              Account: subscription.account,
              Event: html`<code>${callback.event}</code>`,
              Chain: subscription.chain,
              Address:
                subscription.address != null &&
                html`<a class="mono" href=${place.address(subscription.chain, subscription.address)}>${subscription.address}</a>`,
              Block: block !== null && blockLink(block.chain, block.height),
              Transaction:
                transactionId !== null &&
                html`<a class="mono" href=${place.transaction(subscription.chain, transactionId)}>${transactionId}</a>`,
              Confirmations: subscription.confirmations !== undefined && number(subscription.confirmations),
              "Goes to": subscription.callbackUrl !== undefined && html`<code>${subscription.callbackUrl}</code>`,
              "Number in its subscription": number(callback.sequence),
              "Retracted by": link(retraction),
              Retracts: link(retracts)
            }} />
            <h2>Attempts</h2>
            ${callback.attempts.length === 0 ? html`<p class="soft">None yet.</p>` : html`<${Attempts} attempts=${callback.attempts} next=${callback.nextAttempt} />`}
            ${
              copies.length > 0 &&
              html`<h2>Copies</h2><${Table} caption="Copies to other receivers" heads=${["Goes to", "State", "Error"]}
                rows=${copies.map(({ callbackUrl, error, sent, stopped }) => [
                  html`<code>${callbackUrl}</code>`,
                  html`<${State} of=${sent ? "received" : stopped ? "given up" : "to be sent"} />`,
                  error ?? "–"
                ])} />`
            }
          </div>
        </div>
        <h2>Body</h2>
        <${Body}>${callback.body}<//>
      `
    }}
  <//>
`

export const BlockStory = ({ parts: [blockchain = "", network = "", block = ""] }) => {
  const chain = `${blockchain}/${network}`
  return html`<${Story} kind="block" of=${{ chain, block }}
    heading=${{ name: `Block ${block.slice(0, 12)}`, title: html`Block <code>${/^\d+$/.test(block) ? number(Number(block)) : block}</code>` }}>
    ${(story) => html`
      <p class="lead">${
        story.committed
          ? html`<span class="state ${story.final ? "good" : "wait"}">${story.final ? "● final" : "▲ committed, not final yet"}</span>`
          : html`<span class="state wait">○ not committed</span>`
      }</p>
      <div class="pair">
        <div><${Timeline} moments=${story.moments} /><${Notes} title="Missing in the record" notes=${story.missing} /><${NotKept} notKept=${story.notKept} /></div>
        <div>
          <h2>Facts</h2>
          <${Facts} class="card details" facts=${{
            Chain: chain,
            Height: number(story.height),
            Hash: story.hash === null ? "not stored" : html`<${Name}>${story.hash}<//>`,
            Time: html`<${Time} at=${story.time} />`,
            Confirmations: number(story.confirmations),
            "Newest block": story.tip === null ? "–" : blockLink(chain, story.tip),
            "Subscriptions matched": number(story.subscriptionsMatched),
            "Callbacks still written": story.unwritten > 0 && number(story.unwritten),
            "Callbacks that wait for confirmations": story.pending > 0 && number(story.pending),
            ...Object.fromEntries(
              story.callbacks.map(({ count, state }) => [
                `Callbacks: ${states[state]?.[1].slice(2) ?? state}`,
                `${number(count)}${story.counted ? "" : " or more"}`
              ])
            )
          }} />
        </div>
      </div>
      ${
        story.reorganisations.length > 0 &&
        html`<h2>Reorganisations</h2><${Table} caption="Reorganisations that undid this height" heads=${["When", ">Blocks undone", ">Last common block", "Block that left"]}
          rows=${story.reorganisations.map(({ at, depth, forkHeight, oldHash }) => [html`<${Time} at=${at} />`, number(depth), number(forkHeight), html`<code>${oldHash}</code>`])} />`
      }
      <h2>Callbacks</h2>
      <${CallbackTable} callbacks=${story.latest} empty="No callback of this block is kept." />
    `}
  <//>`
}

export const TransactionStory = ({ parts: [blockchain = "", network = "", id = ""] }) => {
  const chain = `${blockchain}/${network}`
  const sources = { store: "Headwater's store", node: "the node" }
  return html`<${Story} kind="transaction" of=${{ chain, id }} heading=${{ name: `Transaction ${id.slice(0, 12)}`, title: html`Transaction <code>${id}</code>` }}>
    ${(story) => html`
      ${!story.found && html`<p class="notice wait">Neither the store nor the node knows this transaction.</p>`}
      <div class="pair">
        <div><${Timeline} moments=${story.moments} /><${Notes} title="In doubt" notes=${story.doubts} /><${NotKept} notKept=${story.notKept} /></div>
        <div><h2>Facts</h2><${Facts} class="card details" facts=${{
          Chain: chain,
          Block: story.height === null ? "in none" : blockLink(chain, story.height),
          "Known by": story.source !== null && sources[story.source]
        }} /></div>
      </div>
      ${
        story.outputs.length > 0 &&
        html`<h2>Outputs</h2><${Table} caption="Recorded outputs" heads=${[">Number", "Address", ">Amount", "State"]}
          rows=${story.outputs.map((output) => [
            number(output.number),
            output.address === null
              ? "–"
              : html`<a class="mono" href=${place.address(chain, output.address)}>${output.address}</a>`,
            output.amount,
            output.spent ? "spent" : "unspent"
          ])} />`
      }
      ${
        story.broadcasts.length > 0 &&
        html`<h2>Broadcasts</h2><${Table} caption="Broadcasts" heads=${["When", "Account", "Outcome", "Error", ">Block"]}
          rows=${story.broadcasts.map(({ account, created, error, height, outcome }) => [html`<${Time} at=${created} />`, account, outcome, error ?? "–", number(height)])} />`
      }
      <h2>Callbacks</h2>
      ${!story.complete && html`<p class="soft">There may be more than are shown.</p>`}
      <${CallbackTable} callbacks=${story.callbacks} empty="No callback of this transaction is kept." />
    `}
  <//>`
}

const activity = (active) => (active ? "active" : "inactive")

export const AddressStory = ({ parts: [blockchain = "", network = "", address = ""] }) => {
  const chain = `${blockchain}/${network}`
  const from = (height) => (height === null ? "not recorded" : `from block ${number(height)}`)
  return html`<${Story} kind="address" of=${{ chain, address }} heading=${{ name: `Address ${address.slice(0, 12)}`, title: html`Address <code>${address}</code>` }}>
    ${({ callbacks, hasMore, notKept, subscriptions, synced = [], wallets = [], watchedFrom }) => html`
      <${Facts} class="card details" facts=${{
        Chain: chain,
        Watched: watchedFrom === null && "no",
        Coins: watchedFrom !== null && from(watchedFrom.coins),
        Tokens: watchedFrom !== null && from(watchedFrom.tokens),
        History: watchedFrom !== null && from(watchedFrom.history),
        Transactions: watchedFrom !== null && from(watchedFrom.transactions)
      }} />
      ${
        subscriptions !== undefined &&
        html`<h2>Subscriptions</h2><${Table} caption="Subscriptions of the address" empty="No subscription names this address." heads=${["Reference", "State", "Account", "Event", "Callbacks go to", "Created", "Address"]}
        rows=${subscriptions.map((item) => [
          html`<${Go} code to=${place.subscription(item.referenceId)}>${item.referenceId.slice(0, 8)}<//>`,
          html`<${State} of=${activity(item.active)} />`,
          ...[item.account, eventName(item.event)],
          html`<code>${item.callbackUrl}</code>`,
          html`<${Time} at=${item.created * 1000} />`,
          item.byList ? "by an address list" : "by itself"
        ])} />`
      }
      ${
        synced.length + wallets.length > 0 &&
        html`<h2>Syncs and wallets</h2><${Table} caption="Syncs and wallets" heads=${["Account", "As", "State", ">Next block", ">Last block"]}
          rows=${[
            ...synced.map((item) => [
              item.account,
              item.wallet ? "address of a wallet" : "address",
              `${item.state}${item.active ? "" : ", inactive"}`,
              number(item.nextHeight),
              number(item.lastHeight)
            ]),
            ...wallets.map((item) => [
              item.account,
              html`<code>${item.publicKey}</code> ${item.branch}/${item.index}`,
              `${item.state}${item.active ? "" : ", inactive"}`,
              "–",
              "–"
            ])
          ]} />`
      }
      <h2>Callbacks</h2>
      <${CallbackTable} callbacks=${callbacks} empty="No callback of its subscriptions is kept." />
      ${hasMore && html`<p class="soft">There are more than are shown: each subscription lists its own.</p>`}
      <${NotKept} notKept=${notKept} />
    `}
  <//>`
}
