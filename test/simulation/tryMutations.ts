/**
 * The proof of the simulation itself: mistakes that somebody could make in the program, each of which has to be caught.
 *
 *     node test/simulation/tryMutations.ts [--seeds 100] [--only part of a name] [--part 1/2]
 *
 * Each mistake is a replacement of text in a copy of the tree, in which stories are played until a promise is broken; the
 * seeds that took are printed.
 */
import { spawn } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { mutations } from "./mutations.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Links to what is installed, with the packages of the copy in place of those of the tree. */
const link = (from: string, to: string, copy: string) => {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name !== "@headwater") symlinkSync(join(from, name), join(to, name))
    else {
      mkdirSync(join(to, name))
      for (const own of readdirSync(join(from, name))) symlinkSync(join(copy, "packages", own), join(to, name, own))
    }
  }
}

/** A copy of the tree that runs by itself. */
const copyTree = () => {
  const copy = mkdtempSync("/dev/shm/headwater-mutations-")
  cpSync(join(root, "package.json"), join(copy, "package.json"))
  cpSync(join(root, "test"), join(copy, "test"), { recursive: true })
  link(join(root, "node_modules"), join(copy, "node_modules"), copy)
  for (const name of readdirSync(join(root, "packages"))) {
    for (const part of ["src", "test", "package.json"]) {
      cpSync(join(root, "packages", name, part), join(copy, "packages", name, part), { recursive: true })
    }
    link(join(root, "packages", name, "node_modules"), join(copy, "packages", name, "node_modules"), copy)
  }
  return copy
}

/** What stories say of the copy as it is. */
const played = (copy: string, seeds: number) =>
  new Promise<string>((resolve) => {
    const stories = ["--seeds", String(seeds), "--raw"]
    const child = spawn(process.execPath, [join(copy, "test/simulation/simulate.ts"), ...stories])
    let text = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)))
    // A mistake may make a story endless.
    const timer = setTimeout(() => child.kill("SIGKILL"), 60_000 + seeds * 2_000)
    child.on("close", () => {
      clearTimeout(timer)
      resolve(text)
    })
  })

const run = async () => {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "100" },
      only: { type: "string" },
      part: { type: "string", default: "1/1" }
    }
  })
  const [part, parts] = values.part.split("/").map(Number) as [number, number]
  const copy = copyTree()
  const missed: Array<string> = []
  try {
    const said = await played(copy, 3)
    if (!/^3 seeds from 1 on, 0 break/m.test(said)) throw new Error(`The copy itself fails:\n${said.slice(0, 2_000)}`)
    for (const { file, from, name, to } of mutations.filter((_, i) => i % parts === part - 1)) {
      if (values.only !== undefined && !name.includes(values.only)) continue
      const path = join(copy, file)
      const text = readFileSync(path, "utf8")
      if (!text.includes(from)) {
        missed.push(name)
        console.log(`${name}: its text is not in ${file} any more`)
        continue
      }
      writeFileSync(path, text.replace(from, to))
      const said = await played(copy, Number(values.seeds))
      writeFileSync(path, text)
      const caught = /^Seed (\d+) breaks .*\n {2}(.*)/m.exec(said)
      if (caught !== null) console.log(`${name}: caught by seed ${caught[1]}: ${caught[2]}`)
      else {
        // A story that fails, or has no end, shows that something is wrong, and not that a promise says so.
        const [seed = "none of them takes long"] = /Seed \d+ (takes|has).*/.exec(said) ?? []
        missed.push(name)
        console.log(`${name}: NOT caught by ${values.seeds} seeds: ${seed.slice(0, 150)}`)
      }
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  console.log(missed.length === 0 ? "All are caught" : `Not caught: ${missed.join("; ")}`)
  process.exitCode = missed.length === 0 ? 0 : 1
}

await run()
