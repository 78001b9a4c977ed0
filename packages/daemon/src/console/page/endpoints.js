/** Hosts that callbacks go to, and subscriptions whose callbacks fail. */
import { Go, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"
import { duration, number, percent } from "./words.js"

/** Which of a host's subscriptions do not do well. */
const some = ({ failingSubscriptions, inactiveSubscriptions }) =>
  [
    ...(failingSubscriptions === 0 ? [] : [`${number(failingSubscriptions)} failing`]),
    ...(inactiveSubscriptions === 0 ? [] : [`${number(inactiveSubscriptions)} inactive`])
  ].join(", ") || "–"

export const HostTable = ({ caption = "Hosts", empty = "No subscription has been made yet.", hosts, now }) => html`
  <${Table} caption=${caption} empty=${empty}
    heads=${["Host", "State", ">Accepted, last hour", ">To be sent", ">Next attempt", ">Half / 99 % within", "Subscriptions"]}
    rows=${hosts.map((host) => [
      html`<${Go} to=${place.subscriptions(host.host)}>${host.host}<//><br /><span class="soft">${host.account}</span>`,
      html`<${State} of=${host.state} since=${host.state === "healthy" ? null : host.failingSince} />${host.error !== undefined && html`<br /><span class="soft">${host.error}</span>`}`,
      host.attempts === 0 ? "–" : `${percent(host.successRate)} of ${number(host.attempts)}`,
      host.oldest === undefined
        ? "–"
        : `${number(host.waiting + host.retrying)}, oldest ${duration(now - host.oldest)}`,
      host.nextAttempt === undefined ? "–" : host.nextAttempt <= now ? "now" : `in ${duration(host.nextAttempt - now)}`,
      host.p50 === undefined ? "–" : `${number(host.p50)} / ${number(host.p99)} ms`,
      some(host)
    ])} />
`

export const FailureTable = ({ failures, now }) => html`
  <${Table} caption="Failures" empty="The last attempt of every subscription was accepted."
    heads=${["Subscription", "Reason", "Fails for", "Host", "Last attempt", "Account"]}
    rows=${failures.map((failure) => [
      html`<${Go} code to=${place.subscription(failure.referenceId)}>${failure.referenceId.slice(0, 8)}<//>`,
      html`${failure.error}${
        !failure.active
          ? " (inactive by now)"
          : failure.noticed !== undefined &&
            html`<br /><span class="state bad">■ deactivated soon: half of the retries failed</span>`
      }`,
      ...[duration(now - failure.since), failure.host, html`<${Time} at=${failure.last} />`, failure.account]
    ])} />
`
