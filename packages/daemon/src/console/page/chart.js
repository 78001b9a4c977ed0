/** Small charts, drawn as they are told and again when there is more. */
import { make, number, svg } from "./elements.js"

const width = 300
const height = 60

/**
 * An area under a line, from `from` to `to` on the axis of time.
 * @param {{ label: string, points: ReadonlyArray<readonly [at: number, value: number]>, from: number, to: number, fromZero: boolean }} chart
 */
export const line = ({ from, fromZero, label, points, to }) => {
  const values = points.map(([, value]) => value)
  const lowest = fromZero || values.length === 0 ? 0 : Math.min(...values)
  const highest = Math.max(lowest + 1, ...values)
  const places = points.map(([at, value]) => {
    const x = ((at - from) / Math.max(1, to - from)) * width
    const y = height - 2 - ((value - lowest) / (highest - lowest)) * (height - 6)
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  })
  const last = values.at(-1)
  const first = places[0]?.split(" ")[0] ?? "0"
  const end = places.at(-1)?.split(" ")[0] ?? "0"
  const text =
    last === undefined ? "no data yet" : `from ${number(Math.min(...values))} to ${number(Math.max(...values))}`
  return make(
    "figure",
    {},
    make("figcaption", {}, make("span", {}, label), make("span", {}, text)),
    svg(
      "svg",
      {
        ...{ class: "chart", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" },
        "aria-label": `${label} over the last ${Math.max(1, Math.round((to - from) / 60_000))} minutes: ${text}, now ${last === undefined ? "unknown" : number(last)}`
      },
      ...(places.length === 0
        ? []
        : [
            svg("path", { class: "area", d: `M${first} ${height} L${places.join(" L")} L${end} ${height} Z` }),
            svg("path", { class: "stroke", d: `M${places.join(" L")}` })
          ])
    )
  )
}

/**
 * Two bars a day: what was consumed, and what was granted.
 * @param {string} label
 * @param {ReadonlyArray<{ day: number, consumed: number, granted: number }>} days
 */
export const bars = (label, days) => {
  const highest = Math.max(1, ...days.flatMap(({ consumed, granted }) => [consumed, granted]))
  const step = width / Math.max(1, days.length)
  const bar = (/** @type {number} */ i, /** @type {number} */ value, /** @type {string} */ kind) => {
    const tall = (value / highest) * (height - 2)
    const x = i * step + (kind === "bar up" ? step * 0.5 : step * 0.1)
    return svg("rect", { class: kind, x, y: height - tall, width: step * 0.38, height: tall })
  }
  const total = days.reduce((sum, { consumed }) => sum + consumed, 0)
  return make(
    "figure",
    {},
    make("figcaption", {}, make("span", {}, label), make("span", {}, `highest: ${number(highest)}`)),
    svg(
      "svg",
      {
        ...{ class: "chart tall", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" },
        "aria-label": `${label}: ${number(total)} credits consumed in ${days.length} days`
      },
      ...days.flatMap(({ consumed, granted }, i) => [bar(i, consumed, "bar"), bar(i, granted, "bar up")])
    )
  )
}
