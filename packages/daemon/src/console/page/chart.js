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
 * A bar a day, or a period of other length, of which `text` then tells.
 * @param {{ label: string, days: ReadonlyArray<readonly [day: number, value: number]>, kind: "bar" | "bar up", text?: string }} chart
 */
export const bars = ({ days, kind, label, text: told }) => {
  const values = days.map(([, value]) => value)
  const highest = Math.max(1, ...values)
  const total = values.reduce((sum, value) => sum + value, 0)
  const step = width / Math.max(1, days.length)
  const text = told ?? (total === 0 ? "none" : `${number(total)} in all, ${number(highest)} on the highest day`)
  return make(
    "figure",
    {},
    make("figcaption", {}, make("span", {}, label), make("span", {}, text)),
    svg(
      "svg",
      {
        ...{ class: kind === "bar" && told === undefined ? "chart tall" : "chart", viewBox: `0 0 ${width} ${height}` },
        ...{
          preserveAspectRatio: "none",
          role: "img",
          "aria-label": `${label}${told === undefined ? `, ${days.length} days` : ""}: ${text}`
        }
      },
      ...values.map((value, i) => {
        const tall = (value / highest) * (height - 2)
        return svg("rect", {
          class: kind,
          x: i * step + step * 0.12,
          y: height - tall,
          width: step * 0.76,
          height: tall
        })
      })
    )
  )
}

/**
 * A bar a period, of what went well with what did not above it.
 * @param {{ label: string, good: string, bad: string, bars: ReadonlyArray<readonly [at: number, good: number, bad: number]> }} chart
 */
export const stacked = ({ bad, bars, good, label }) => {
  const highest = Math.max(1, ...bars.map(([, well, ill]) => well + ill))
  const sum = (/** @type {1 | 2} */ part) => bars.reduce((total, bar) => total + bar[part], 0)
  const step = width / Math.max(1, bars.length)
  const text = `${number(sum(1))} ${good}, ${number(sum(2))} ${bad}`
  const tall = (/** @type {number} */ value) => (value === 0 ? 0 : Math.max(1.5, (value / highest) * (height - 2)))
  return make(
    "figure",
    {},
    make("figcaption", {}, make("span", {}, label), make("span", {}, text)),
    svg(
      "svg",
      {
        ...{ class: "chart middle", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" },
        "aria-label": `${label}: ${text}`
      },
      ...bars.flatMap(([, well, ill], i) => {
        const place = { x: i * step + step * 0.06, width: step * 0.88 }
        const [low, high] = [tall(well), tall(ill)]
        return [
          ...(well === 0 ? [] : [svg("rect", { ...place, class: "bar up", y: height - low, height: low })]),
          ...(ill === 0
            ? []
            : [svg("rect", { ...place, class: "bar down", y: Math.max(0, height - low - high), height: high })])
        ]
      })
    )
  )
}
