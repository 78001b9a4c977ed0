/** Charts over time, drawn by uPlot. */
import { useEffect, useRef } from "/hooks.js"
import { Table, Time } from "./elements.js"
import { html } from "./html.js"
import { number } from "./words.js"

/** @type {() => Promise<any>} */
const load = () => import("/uplot.js").then(({ default: uPlot }) => uPlot)

const dark = matchMedia("(prefers-color-scheme: dark)")

/** A colour of the page's styles, as a canvas reads it: the value of a variable alone is not computed yet. */
const colourOf = (box, name) => {
  box.style.color = `var(--${name})`
  const { color } = getComputedStyle(box)
  box.style.removeProperty("color")
  return color
}

const dayMillis = 86_400_000

/** Days are those of UTC, as the daemon counts them. */
const [day, minute, second] = [
  { day: "numeric", month: "short", timeZone: "UTC" },
  { hour: "2-digit", minute: "2-digit" },
  { hour: "2-digit", minute: "2-digit", second: "2-digit" }
].map((parts) => new Intl.DateTimeFormat("en-GB", /** @type {any} */ (parts)))

const areDays = ([first, next]) => next - first >= dayMillis

/** How a point in time is written under an axis, by how far apart the marks are. */
const mark = (at, apart) => (apart >= dayMillis ? day : apart >= 60_000 ? minute : second)?.format(at)

/**
 * Lines, or bars of which each later one is drawn over the former.
 * `series` have a label, a colour, and `values` beside `times`; `shown` tells the value of a bar that holds others.
 * What is read later than now is read of `latest`, since the figures change and the chart stays.
 */
const optionsOf = (uPlot, box, latest) => {
  const { bars, height, series, times, unit } = latest.current
  const colour = (name) => colourOf(box, name)
  const text = (value) => (value == null ? "–" : `${number(value)}${unit}`)
  const axis = { stroke: colour("soft"), font: "12px system-ui", grid: { stroke: colour("line"), width: 1 } }
  const period = Math.round((times.at(-1) - times[0]) / times.length)
  const whole = areDays(times)
  return {
    ...(whole && { tzDate: (at) => uPlot.tzDate(new Date(at), "Etc/UTC") }),
    width: box.clientWidth,
    height,
    ms: 1,
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !bars } },
    scales: {
      x: bars ? { range: (_, from, to) => [from - period, to + period] } : {},
      y: { range: (_, from, to) => (bars || unit !== "" ? [0, Math.max(1, to * 1.1)] : [from - 1, to + 1]) }
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        values: (_, splits) => splits.map((at) => mark(at, splits[1] - splits[0]))
      },
      {
        ...axis,
        size: (_, values) => 24 + 7 * Math.max(2, ...(values ?? []).map((value) => value?.length ?? 0)),
        // Nothing that is counted comes in parts.
        filter: (_, splits) => splits.map((value) => (Number.isInteger(value) ? value : null)),
        values: (_, splits) => splits.map((value) => (value === null ? "" : number(value)))
      }
    ],
    series: [
      { label: "Time", value: (_, at) => (at == null ? "–" : whole ? day?.format(at) : minute?.format(at)) },
      ...series.map(({ colour: name, label }, n) => ({
        label,
        stroke: colour(name),
        width: 1.5,
        points: { show: !bars, size: 4, fill: colour(name), filter: () => alone(latest.current.series[n].values) },
        spanGaps: false,
        ...(bars ? { fill: colour(name), paths: uPlot.paths.bars({ size: [0.8, 40] }), width: 0 } : {}),
        value: (_plot, _value, _series, i) => {
          const { shown, values } = latest.current.series[n]
          return text(i == null ? null : (shown ?? values)[i])
        }
      }))
    ]
  }
}

/** Which values stand between none: no line would show them. */
const alone = (values) =>
  values.flatMap((value, i) => (value != null && values[i - 1] == null && values[i + 1] == null ? [i] : []))

const dataOf = ({ series, times }) => [times, ...series.map(({ values }) => values)]

/**
 * A chart with a sentence that tells the same, and its figures as a table.
 * @param {any} properties
 */
export const Chart = ({ figures = true, label, said, ...chart }) => {
  const box = useRef(/** @type {any} */ (null))
  const plot = useRef(/** @type {any} */ (null))
  const latest = useRef(chart)
  latest.current = chart
  useEffect(() => {
    let over = false
    /** @type {Array<() => void>} */
    const ends = []
    const start = async () => {
      // Without the library the sentence and the figures tell as much.
      const uPlot = await load().catch(() => undefined)
      // A chart that is just being removed has no box any more.
      if (over || uPlot === undefined || box.current === null) return
      const draw = () => {
        // The colours may change while the chart is just being removed.
        if (box.current === null) return
        plot.current?.destroy()
        plot.current = new uPlot(optionsOf(uPlot, box.current, latest), dataOf(latest.current), box.current)
      }
      draw()
      const sizes = new ResizeObserver(() => {
        // The last size is none, of a chart that is just being removed.
        if (box.current !== null)
          plot.current.setSize({ width: box.current.clientWidth, height: latest.current.height })
      })
      sizes.observe(box.current)
      dark.addEventListener("change", draw)
      ends.push(
        () => sizes.disconnect(),
        () => dark.removeEventListener("change", draw),
        () => plot.current.destroy()
      )
    }
    start()
    return () => {
      over = true
      for (const end of ends) end()
    }
  }, [])
  useEffect(() => {
    plot.current?.setData(dataOf(chart))
  })
  const { series, times, unit } = chart
  const whole = areDays(times)
  const rows = times
    .map((at, i) => [
      whole ? day?.format(at) : html`<${Time} at=${at} />`,
      ...series.map(({ shown, values }) => (shown ?? values)[i])
    ])
    .filter(([, ...values]) => values.some((value) => value))
  return html`<figure>
    <figcaption><span>${label}</span><span class="soft">${said}</span></figcaption>
    <div ref=${box} class="chart" role="img" aria-label="${label}: ${said}" style=${{ minHeight: `${chart.height}px` }}></div>
    ${
      figures &&
      rows.length > 0 &&
      html`<details><summary>Figures</summary>
        <${Table} caption=${label} heads=${[whole ? "Day (UTC)" : "Time", ...series.map(({ label }) => `>${label}`)]}
          rows=${rows.reverse().map(([at, ...values]) => [at, ...values.map((value) => (value == null ? "–" : `${number(value)}${unit}`))])} />
      </details>`
    }
  </figure>`
}

/** Attempts by period, of which those that failed stand above those that were accepted. */
export const AttemptChart = ({ label, periods }) => {
  const sum = (name) => periods.reduce((sum, period) => sum + period[name], 0)
  const failed = {
    label: "Failed",
    colour: "bad",
    values: periods.map(({ attempts }) => attempts),
    shown: periods.map(({ failed }) => failed)
  }
  const accepted = { label: "Accepted", colour: "good", values: periods.map(({ accepted }) => accepted) }
  return html`<${Chart} label=${label} said="${number(sum("accepted"))} accepted, ${number(sum("failed"))} failed"
    bars=${true} height=${190} unit="" times=${periods.map(({ at }) => at)} series=${[failed, accepted]} />`
}

/** How fast receivers answer, by period: half, 95 and 99 of 100 attempts. */
export const LatencyChart = ({ label, periods }) => {
  const slowest = Math.max(0, ...periods.map(({ p99 = 0 }) => p99))
  const line = (label, colour, name) => ({ label, colour, values: periods.map((period) => period[name] ?? null) })
  return html`<${Chart} label=${label} said=${slowest === 0 ? "no answer yet" : `99 % within ${number(slowest)} ms or less`}
    bars=${false} height=${190} unit=" ms" times=${periods.map(({ at }) => at)}
    series=${[line("Half", "good", "p50"), line("95 %", "accent", "p95"), line("99 %", "wait", "p99")]} />`
}
