/** How deliveries go: the last day, what fails and why, each host, and sending again in bulk. */
import { AttemptChart, LatencyChart } from "./chart.js"
import { may, useAnswer } from "./daemon.js"
import { Answered, Facts, Field, Heading, SendAgain } from "./elements.js"
import { FailureTable, HostTable } from "./endpoints.js"
import { html } from "./html.js"
import { counted, duration, number } from "./words.js"

/** The daemon tells a period's part that was accepted, of which the number follows. */
const withCounts = (periods) =>
  periods.map(({ attempts, successRate = 0, ...period }) => {
    const accepted = Math.round(attempts * successRate)
    return { ...period, attempts, accepted, failed: attempts - accepted }
  })

const oldest = (part, now) =>
  html`${number(part.count)}${part.oldest !== undefined && html` <small>oldest ${duration(now - part.oldest)}</small>`}`

export const Deliveries = () => {
  const found = useAnswer("/api/deliveries", 5_000)
  return html`
    <${Heading} title="Deliveries" />
    <${Answered} found=${found}>${({ backlog, failures, full, hosts, now, periods, recoveries }) => html`
      <${Facts} facts=${{
        "To be sent": oldest(backlog.waiting, now),
        "To be sent again": oldest(backlog.retrying, now),
        Parked: oldest(backlog.parked, now)
      }} />
      <div class="pair">
        <div class="card"><${AttemptChart} label="Attempts by ten minutes" periods=${withCounts(periods)} /></div>
        <div class="card"><${LatencyChart} label="Time until the answer" periods=${periods} /></div>
      </div>
      ${full.names.length > 0 && html`<p class="notice wait">As many callbacks wait as may (${number(full.waitingCallbacks)}): ${full.names.join(", ")}</p>`}
      ${failures !== undefined && html`<h2>Failures</h2><${FailureTable} failures=${failures} now=${now} />`}
      <h2>Hosts</h2>
      <${HostTable} hosts=${hosts} now=${now} />
      ${
        may("POST /api/recoveries") &&
        html`<h2>Send all again</h2>
          <p class="soft">For a receiver that has lost what it had. What was accepted before is sent again too, under its key.</p>
          <${SendAgain} route="POST /api/recoveries" then=${found.again}>
            <${Field} label="Account" name="account" required />
            <${Field} label="Host (all, if none is named)" name="host" placeholder="hooks.example.com" />
          <//>`
      }
      ${recoveries.map(
        ({ account, left, subscriptions }) => html`<p key=${account} class="notice wait">
          ${account}: ${counted(subscriptions, "subscription")}, ${counted(left, "callback")} to be looked at
        </p>`
      )}
    `}<//>
  `
}
