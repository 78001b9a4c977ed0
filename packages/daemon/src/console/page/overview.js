/** What needs somebody now, how deliveries go, which endpoints fail, and where the chains are. */
import { useState } from "/hooks.js"
import { AttemptChart, LatencyChart } from "./chart.js"
import { may, session, useAnswer } from "./daemon.js"
import { FailureTable, HostTable } from "./endpoints.js"
import { Answered, Facts, Form, Go, Heading, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { placeOf } from "./places.js"
import { counted, duration, millis, number, percent } from "./words.js"

const Need = ({ code, command, remedy, severity, to, what }) => {
  const help = [
    remedy,
    command !== null && html`<code>${command}</code>`,
    code !== null && html`<code>${session.command} explain ${code}</code>`,
    to !== null &&
      !(to.view === "chains" && session.account !== null) &&
      html`<a href=${placeOf(to)}>Show<span class="hidden">: ${what}</span></a>`
  ].filter((part) => part)
  return html`<li class=${severity}>
    <p><${State} of=${severity} /> ${what}</p>
    ${help.length > 0 && html`<p class="soft">${help.map((part, i) => html`${i > 0 && " · "}${part}`)}</p>`}
  </li>`
}

/** What is urgent; notes are folded, as there may be many. */
const Needs = ({ needs }) => {
  const list = (some) =>
    html`<ul class="needs">${some.map((need) => html`<${Need} key=${need.what} ...${need} />`)}</ul>`
  const urgent = needs.filter(({ severity }) => severity !== "note")
  const notes = needs.filter(({ severity }) => severity === "note")
  return html`
    <section aria-labelledby="needs">
      <h2 id="needs">Needs you now</h2>
      <div role="status">${
        urgent.length === 0
          ? html`<p class="notice good">Nothing needs you now.</p>`
          : html`<span class="hidden">${counted(urgent.length, "matter")} to look at</span>`
      }</div>
      ${list(urgent)}
      ${notes.length > 0 && html`<details><summary>${counted(notes.length, "note")}</summary>${list(notes)}</details>`}
    </section>
  `
}

const Deliveries = ({ backlog, deliveries, now }) => {
  const [isMonth, setIsMonth] = useState(false)
  const { attempts, failed, p50, p95, p99, successRate } = isMonth ? deliveries.last30d : deliveries.last24h
  const periods = isMonth ? deliveries.month : deliveries.day
  const part = ({ count, oldest }) =>
    html`${number(count)}${oldest !== undefined && html` <small>oldest ${duration(now - oldest)}</small>`}`
  const choice = (month, text) =>
    html`<button type="button" class="choice" aria-pressed=${isMonth === month} onClick=${() => setIsMonth(month)}>${text}</button>`
  return html`<section aria-labelledby="deliveries">
    <div class="heading"><h2 id="deliveries">Deliveries</h2><div class="choices">${choice(false, "24 hours")}${choice(true, "30 days")}</div></div>
    <${Facts} facts=${{
      Accepted: percent(successRate),
      Attempts: number(attempts),
      Failed: html`<span class=${failed > 0 && "bad"}>${number(failed)}</span>`,
      "Half within": millis(p50),
      "95 % within": millis(p95),
      "99 % within": millis(p99)
    }} />
    <${Facts} facts=${{
      "To be sent": part(backlog.waiting),
      "To be sent again": part(backlog.retrying),
      Parked: part(backlog.parked)
    }} />
    <div class="pair" key=${isMonth}>
      <div class="card"><${AttemptChart} label=${isMonth ? "Attempts by day (UTC)" : "Attempts by ten minutes"} periods=${periods} /></div>
      <div class="card"><${LatencyChart} label="Time until the answer" periods=${periods} /></div>
    </div>
    ${
      isMonth &&
      (deliveries.monthSince === null
        ? html`<p class="soft">Nothing has been counted yet.</p>`
        : html`<p class="soft">Days are counted since <${Time} at=${deliveries.monthSince} />.</p>`)
    }
  </section>`
}

const Chains = ({ chains, now }) => {
  const ofOperator = session.account === null
  const link = may("GET /api/chains")
  return html`<section aria-labelledby="chains">
    <h2 id="chains">Chains</h2>
    <${Table} caption="Chains" empty="The settings name no chain yet."
      heads=${["Chain", ...(ofOperator ? ["State"] : []), ">Height", ">Behind", ">Last block", ...(ofOperator ? ["Missing"] : [])]}
      rows=${chains.map(({ catchingUp, committedAt, height, lag, missing, name, problem, state }) => [
        link ? html`<${Go} to="#/chains">${name}<//>` : name,
        ...(ofOperator
          ? [
              html`<${State} of=${state} />${problem !== null && html`<br /><span class="bad">${problem}</span>`}${
                catchingUp?.secondsLeft != null &&
                html`<br /><span class="soft">${duration(catchingUp.secondsLeft * 1000)} left</span>`
              }`
            ]
          : []),
        number(height),
        number(lag),
        committedAt === null ? "–" : `${duration(now - committedAt)} ago`,
        ...(ofOperator
          ? [
              missing.length === 0
                ? "–"
                : html`<ul class="plain">${missing.map(({ message }) => html`<li>${message}</li>`)}</ul>`
            ]
          : [])
      ])} />
  </section>`
}

/** The daemons that share the store; a daemon that is alone is not among them. */
const Daemons = ({ again, daemons }) =>
  daemons.length > 0 &&
  html`<section aria-labelledby="daemons">
    <h2 id="daemons">Daemons</h2>
    <${Table} caption="Daemons" empty=""
      heads=${["Daemon", "Version", "Roles", "Follows", ">Since", ">Heartbeat"]}
      rows=${daemons.map(({ follows, name, roles, silentSeconds, started, version }) => [
        ...[name, version, roles.join(", ")],
        follows.length === 0 ? "–" : follows.join(", "),
        html`<${Time} at=${started} />`,
        silentSeconds === 0 ? "now" : `${duration(silentSeconds * 1000)} ago`
      ])} />
    <${Form} route="POST /api/chains/move" label="Move" said="On its way" then=${again}>
      <label><span class="label">Chain</span><select name="chain" required>
        ${daemons.flatMap(({ follows }) => follows).map((chain) => html`<option key=${chain}>${chain}</option>`)}
      </select></label>
      <label><span class="label">Daemon</span><select name="daemon">
        <option value="">as the daemons decide</option>
        ${daemons.filter(({ roles }) => roles.includes("follow")).map(({ name }) => html`<option key=${name}>${name}</option>`)}
      </select></label>
    <//>
  </section>`

export const Overview = () => {
  const found = useAnswer("/api/overview", 5_000)
  return html`
    <${Heading} title="Overview">${found.answer && html`<p class="soft">As of <${Time} at=${found.answer.now} /></p>`}<//>
    <${Answered} found=${found}>${(overview) => html`
      ${overview.outages.map(({ lack, message, since }) => html`<p key=${lack} class="notice bad" role="alert">${message} (since <${Time} at=${since} />)</p>`)}
      <${Needs} ...${overview} />
      ${overview.full.names.length > 0 && html`<p class="notice wait">As many callbacks wait as may (${number(overview.full.waitingCallbacks)}): ${overview.full.names.join(", ")}</p>`}
      <${Deliveries} ...${overview} />
      <section aria-labelledby="hosts">
        <h2 id="hosts">Endpoints</h2>
        <p>${Object.entries(overview.hosts.counts)
          .filter(([, count]) => count > 0)
          .map(
            ([state, count]) =>
              html`<span key=${state} class="count"><${State} of=${state} /> ${counted(count, "host")}</span>`
          )}</p>
        <${HostTable} hosts=${overview.hosts.worst.filter(({ state }) => state !== "healthy")} now=${overview.now} caption="Failing endpoints" empty="No endpoint fails." />
        ${overview.failures?.length > 0 && html`<h3>Failing subscriptions</h3><${FailureTable} failures=${overview.failures} now=${overview.now} />`}
      </section>
      <${Chains} ...${overview} />
      <${Daemons} ...${overview} again=${found.again} />
    `}<//>
  `
}
