/** Random changes of recorded answers, such as a later fork, a broken node or a broken line might make. */

/** JSON of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: mutations reach into recorded answers of every form
export type Json = any

/** Numbers from 0 to 1, which does not come. */
export type Random = () => number

export const below = (next: Random, end: number): number => Math.floor(next() * end)
const pick = <A>(next: Random, all: ReadonlyArray<A>): A => all[below(next, all.length)]!

export const shuffled = <A>(next: Random, all: ReadonlyArray<A>): Array<A> => {
  const rest = [...all]
  return all.map(() => rest.splice(below(next, rest.length), 1)[0]!)
}

/** Values of other types, huge ones, negative ones, and names of kinds that nobody knows. */
const strange: ReadonlyArray<() => Json> = [
  ...[null, true, false, 0, 5, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 60), 1e300].map((value) => () => value),
  ...["", " ", "x", "0x", "-1", "0x-1", "-0x1", "1e9", "NaN", "Later", "0x7a", "0x5"].map((value) => () => value),
  ...["9".repeat(90), `0x${"f".repeat(64)}`, `0x1${"0".repeat(64)}`, `0x${"zz".repeat(20)}`, "f".repeat(2_000)].map(
    (value) => () => value
  ),
  () => [],
  () => [null],
  () => ({}),
  () => ({ later: { amount: "5" } }),
  () => [{ value: "0x5", amount: 5 }]
]

const isObject = (json: Json): boolean => typeof json === "object" && json !== null

/** Changes one place of `json`, which is the caller's own; gives what stands in its place. */
export const mutate = (next: Random, json: Json): Json => {
  if (!isObject(json) || next() < 0.03) return pick(next, strange)()
  let node = json
  for (;;) {
    const keys = Object.keys(node)
    if (keys.length === 0) {
      if (!Array.isArray(node)) node.later = pick(next, strange)()
      else node.push(pick(next, strange)())
      return json
    }
    const key = pick(next, keys)
    if (isObject(node[key]) && next() < 0.75) {
      node = node[key]
      continue
    }
    const kind = below(next, 10)
    if (Array.isArray(node)) {
      if (kind < 2) node.splice(Number(key), 1)
      else if (kind < 4) node.splice(0, node.length, ...shuffled(next, node))
      else if (kind < 5) node.push(structuredClone(node[Number(key)]))
      else if (kind < 6) node.splice(Number(key), 0, pick(next, strange)())
      else node[Number(key)] = pick(next, strange)()
    } else if (kind < 2) {
      delete node[key]
    } else if (kind < 4) {
      node[`${key}Later`] = node[key]
      delete node[key]
    } else if (kind < 5) {
      node[`later${below(next, 9)}`] = pick(next, strange)()
    } else if (kind < 6 && typeof node[key] === "string") {
      // A word of the same kind that nobody knows, a number with another sign, a text that was cut off.
      node[key] = pick(next, [`${node[key]}Later`, `-${node[key]}`, node[key].slice(0, -1)])
    } else {
      node[key] = pick(next, strange)()
    }
    return json
  }
}
