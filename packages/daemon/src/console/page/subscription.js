/** One subscription, what may be done with it, and its callbacks. */
import { useState } from "/hooks.js"
import { askOrSay, may, useAnswer } from "./daemon.js"
import { Act, Answered, Facts, Go, Heading, row, SendAgain, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"
import { eventName, number, percent } from "./words.js"

/** What a key may not read of the subscription is absent. */
const answers = ({ attempts, p50, p99, successRate }) =>
  attempts === 0
    ? "no attempt yet"
    : `${percent(successRate)} of the last ${number(attempts)} attempts accepted${
        p50 === undefined ? "" : `, half answered within ${number(p50)} ms, 99 % within ${number(p99)} ms`
      }`

const Details = ({ recovery, subscription: shown }) => html`
  <${Facts} class="card details" facts=${{
    State:
      shown.health &&
      html`<${State} of=${shown.health.state} since=${shown.health.state === "healthy" ? null : shown.health.failingSince} />`,
    "Last failure": shown.health?.error,
    Answers: shown.health && answers(shown.health),
    Deactivated:
      shown.deactivationReasons?.length > 0 &&
      shown.deactivationReasons.map(
        ({ reason, timestamp }) => html`<p>${reason}, <${Time} at=${timestamp * 1000} /></p>`
      ),
    Account: shown.account,
    Chain: shown.chain,
    Event: html`<code>${shown.event}</code>`,
    Address:
      shown.address != null &&
      html`<a class="mono" href=${place.address(shown.chain, shown.address)}>${shown.address}</a>`,
    Transaction:
      shown.transactionId != null &&
      html`<a class="mono" href=${place.transaction(shown.chain, shown.transactionId)}>${shown.transactionId}</a>`,
    "Callbacks go to": shown.callbackUrl && html`<code>${shown.callbackUrl}</code>`,
    Confirmations: shown.confirmations !== undefined && number(shown.confirmations),
    "Sent again":
      recovery !== undefined &&
      `${number(recovery.callbacks)} so far, up to number ${number(recovery.after)} of ${number(recovery.last)}`,
    Signed: shown.signed !== undefined && (shown.signed ? "yes" : "no: the subscription has no secret"),
    Created: shown.created !== undefined && html`<${Time} at=${shown.created * 1000} />`
  }} />
`

const route = (what) => `POST /api/subscriptions/:reference/${what}`

const Acts = ({ again, of, subscription }) => html`<div class="acts">
  ${
    subscription.active !== false &&
    html`
        <${Act} route=${route("test")} of=${of} label="Send a test" said="A test callback is sent" then=${again} />
        <${Act} route=${route("deactivate")} of=${of} label="Deactivate" said="Deactivated" then=${again}
          sure="Deactivate this subscription? What happens until it is activated again is not told to its receiver." />`
  }
  ${
    subscription.active !== true &&
    html`<${Act} route=${route("activate")} of=${of} label="Activate" said="Active again" then=${again} />`
  }
  <${Act} route=${route("delete")} of=${of} label="Delete" danger said="Deleted"
    sure="Delete this subscription and all its callbacks for good?" then=${() => (location.hash = "#/subscriptions")} />
</div>`

const callbackRow = (callback, of, again) => {
  const { attempts, created, event, idempotencyKey, nextAttempt, sequence, state } = callback
  return row(idempotencyKey, [
    number(sequence),
    html`<${State} of=${state} />`,
    html`<${Go} code to=${place.callback(idempotencyKey)}>${idempotencyKey}<//><br /><span class="soft">${eventName(event)}</span>`,
    html`<${Time} at=${created} />`,
    html`${number(attempts.length)}${nextAttempt !== null && html`<br /><span class="soft">next <${Time} at=${nextAttempt} /></span>`}`,
    html`<${Act} route=${route("callbacks/:key/redeliver")} of=${{ ...of, key: idempotencyKey }} label="Redeliver"
      name="Redeliver callback ${sequence ?? idempotencyKey}" said="Callback ${sequence ?? ""} is sent again" then=${again} />`
  ])
}

export const Subscription = ({ reference }) => {
  const path = `/api/subscriptions/${encodeURIComponent(reference)}`
  const found = useAnswer(path, 3_000)
  const [kept, setKept] = useState(/** @type {any} */ ({ callbacks: [] }))
  const showOlder = async (all) => {
    const page = await askOrSay(`${path}?before=${all.at(-1).sequence}`)
    if (page) setKept({ callbacks: [...all, ...page.callbacks], hasMore: page.hasMore })
  }
  const of = { reference }
  return html`
    <${Heading} name="Subscription ${reference.slice(0, 8)}" title=${html`Subscription <code>${reference}</code>`} />
    <${Answered} found=${found}>${({ callbacks, hasMore, recovery, subscription }) => {
      const known = new Set(kept.callbacks.map(({ idempotencyKey }) => idempotencyKey))
      // Where more new ones have come than are asked for at a time, those between are in neither.
      const isJoined = callbacks.some(({ idempotencyKey }) => known.has(idempotencyKey))
      const all = [
        ...new Map(
          [...(isJoined ? kept.callbacks : []), ...callbacks].map((callback) => [callback.idempotencyKey, callback])
        ).values()
      ].sort((a, b) => (b.sequence ?? Number.MAX_SAFE_INTEGER) - (a.sequence ?? Number.MAX_SAFE_INTEGER))
      return html`
        <${Acts} again=${found.again} of=${of} subscription=${subscription} />
        <${Details} recovery=${recovery} subscription=${subscription} />
        <h2>Callbacks</h2>
        ${may(route("recover")) && html`<${SendAgain} route=${route("recover")} of=${of} then=${found.again} />`}
        <${Table} caption="Callbacks" empty="No callbacks yet."
          heads=${[">No.", "State", "Key and event", "Created", ">Attempts", "Again"]}
          rows=${all.map((callback) => callbackRow(callback, of, found.again))} />
        ${(isJoined ? kept.hasMore : hasMore) && all.at(-1)?.sequence != null && html`<p><button type="button" class="small" onClick=${() => showOlder(all)}>Older callbacks</button></p>`}
      `
    }}<//>
  `
}
