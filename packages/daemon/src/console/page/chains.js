/** The chains, live: where each one is, how far that was in the last ten minutes, and the last reorganisations. */
import { useEffect, useRef, useState } from "/hooks.js"
import { Chart } from "./chart.js"
import { ask, session, useAnswer } from "./daemon.js"
import { Answered, Facts, Go, Heading, State, Table, Time } from "./elements.js"
import { html } from "./html.js"
import { place } from "./places.js"
import { counted, duration, number, shortened } from "./words.js"

const windowMillis = 600_000

/** The chains' answers with all samples of the last ten minutes: only new ones are asked for. */
const useChains = () => {
  const [found, set] = useState(/** @type {any} */ ({}))
  const samples = useRef(new Map())
  useEffect(() => {
    let timer = 0
    let after = 0
    let over = false
    const step = async () => {
      try {
        const answer = document.hidden && after > 0 ? undefined : await ask(`/api/chains?after=${after}`)
        if (over) return
        for (const { name, samples: more } of answer?.chains ?? []) {
          const kept = (samples.current.get(name) ?? []).filter(([at]) => at > answer.now - windowMillis)
          samples.current.set(name, [...kept, ...more])
          after = Math.max(after, ...more.map(([at]) => at))
        }
        if (answer) set({ answer, at: Date.now() })
      } catch (error) {
        if (!over) set((before) => ({ ...before, error }))
      }
      if (!over) timer = setTimeout(step, 2_000)
    }
    step()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [])
  return { found, samplesOf: (name) => samples.current.get(name) ?? [] }
}

const Chain = ({ chain, now, samples }) => {
  const { catchingUp, committedAt, gaps, head, height, name, networkDoubt, problem, state } = chain
  const behind = head === null || height === null ? null : Math.max(0, head - height)
  return html`<article class="card" data-chain=${name}>
    <div class="heading"><h2>${name}</h2><${State} of=${state} /></div>
    <${Facts} facts=${{
      Height: height === null ? "–" : html`<${Go} to=${place.block(name, String(height))}>${number(height)}<//>`,
      Behind: number(behind),
      "Last block": committedAt === null ? "–" : `${duration(now - committedAt)} ago`
    }} />
    ${
      catchingUp !== null &&
      html`<p>${catchingUp.perSecond === null ? "Rate not known yet" : `${number(catchingUp.perSecond)} blocks a second`}${
        catchingUp.secondsLeft !== null && `, ${duration(catchingUp.secondsLeft * 1000)} left`
      }</p>`
    }
    ${behind !== null && behind > 2 && html`<progress max=${head} value=${height} aria-label="${name}: synced"></progress>`}
    ${networkDoubt !== null && html`<p class="soft">Network ${networkDoubt}</p>`}
    ${problem !== null && html`<p class="notice bad">${problem}</p>`}
    ${gaps.map(({ kind, message }) => html`<p key=${kind} class=${kind === "notUnderstood" ? "notice bad" : "soft"}>${message}</p>`)}
    ${
      samples.length > 1 &&
      html`<${Chart} figures=${false} label="Height" bars=${false} height=${110} unit=""
        said="${counted(samples.at(-1)[1] - samples[0][1], "block")} in ${duration(samples.at(-1)[0] - samples[0][0])}, ${number(samples.at(-1)[2] - samples.at(-1)[1])} behind"
        times=${samples.map(([at]) => at)}
        series=${[
          { label: "Node", colour: "soft", values: samples.map(([, , head]) => head) },
          { label: "Headwater", colour: "accent", values: samples.map(([, height]) => height) }
        ]} />`
    }
  </article>`
}

export const Chains = () => {
  const { found, samplesOf } = useChains()
  const reorganisations = useAnswer("/api/reorganisations", 5_000)
  return html`
    <${Heading} title="Chains" />
    <${Answered} found=${found}>${({ chains, now, outages }) => html`
      ${outages.map(({ error, message, since }) => html`<p key=${message} class="notice bad" role="alert">${message}: ${error} (since <${Time} at=${since} />)</p>`)}
      ${chains.length === 0 && html`<p class="soft">The settings name no chain yet: <code>${session.command} init</code> writes some.</p>`}
      <div class="cards">${chains.map((chain) => html`<${Chain} key=${chain.name} chain=${chain} now=${now} samples=${samplesOf(chain.name)} />`)}</div>
    `}<//>
    <h2>Reorganisations</h2>
    <${Answered} found=${reorganisations}>${({ items }) => html`
      <${Table} caption="Reorganisations" empty="No reorganisation has been seen."
        heads=${["When", "Chain", ">Blocks undone", ">Last common block", "Block that left"]}
        rows=${items.map(({ at, chain, depth, forkHeight, oldHash }) => [
          html`<${Time} at=${at} />`,
          ...[chain, number(depth)],
          html`<${Go} to=${place.block(chain, String(forkHeight))}>${number(forkHeight)}<//>`,
          html`<a class="mono" title=${oldHash} href=${place.block(chain, oldHash)}>${shortened(oldHash)}</a>`
        ])} />
    `}<//>
  `
}
