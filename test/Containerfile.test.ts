/** The Containerfile by the rules of a linter, and by those that keep its image small and without rights. */
import { readFileSync } from "node:fs"
import { validate } from "dockerfile-utils"
import { assert, it } from "vitest"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")
const text = read("deploy/Containerfile")
const instructions = text
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => /^(\w+) (.*)$/.exec(line)!.slice(1) as [string, string])
const of = (name: string) => instructions.filter(([instruction]) => instruction === name).map(([, words]) => words)

it("the Containerfile has no fault that a linter knows", () => {
  assert.deepStrictEqual(validate(text), [])
})

it("the Containerfile pins what it builds on, runs nothing as root and nothing by a shell", () => {
  const { optionalDependencies, scripts } = JSON.parse(read("package.json"))
  const versions = Object.values(optionalDependencies)
  const base = /^BASE=docker\.io\/library\/node:([\d.]+)-bookworm-slim$/.exec(of("ARG")[0]!)
  assert.deepStrictEqual([...new Set(versions)], [base?.[1]])
  const pnpm = /pnpm@[\d.]+/
  assert.deepStrictEqual(pnpm.exec(text), pnpm.exec(scripts.pretest))
  // What the image is made of comes last, and from nothing.
  assert.deepStrictEqual(of("FROM").at(-1), "scratch")
  assert.match(of("USER").at(-1)!, /^[1-9]\d*:[1-9]\d*$/)
  for (const words of [...of("RUN"), ...of("CMD"), ...of("ENTRYPOINT")]) assert.isArray(JSON.parse(words))
  assert.match(of("HEALTHCHECK").join(), /CMD \["node", "\/app\/health\.mjs"\]$/)
  assert.isEmpty(of("ADD"))
})
