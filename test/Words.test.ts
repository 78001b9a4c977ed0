/** The glossary and the pictures of the architecture name what the code has. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { births, states, transitions } from "@headwater/indexer/store/subscriptions/CallbackState"
import { assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const packages = ["core", "indexer", "http", "daemon"]
const architecture = readFileSync(join(root, "docs/architecture.md"), "utf8")

/** The files of a module by its path below any package's sources. */
const filesOf = (path: string) =>
  packages.map((name) => join(root, "packages", name, "src", `${path}.ts`)).filter((file) => existsSync(file))

/** Whether the module declares the name, or passes it on. */
const exportsName = (file: string, name: string) => {
  const text = readFileSync(file, "utf8")
  return (
    new RegExp(`export (?:declare )?(?:const|class|interface|type|function) ${name}\\b`).test(text) ||
    new RegExp(`export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\}`).test(text)
  )
}

const picture = (heading: string): string => {
  const section = architecture.slice(architecture.indexOf(`## ${heading}`))
  return /```mermaid\n([\s\S]*?)```/.exec(section)![1]!
}

describe("the glossary", () => {
  const rows = readFileSync(join(root, "docs/glossary.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (?:word|-)/.test(line))
    .map((line) => line.split(" | "))

  it("names modules and exports that exist", () => {
    const names = rows.flatMap((cells) => Array.from(cells.at(-1)!.matchAll(/`([^`]+)`/g), ([, name]) => name!))
    assert.isAbove(names.length, 50)
    const unknown = names.filter((name) => {
      const [path, exported] = name.split(".")
      const files = filesOf(path!)
      return files.length === 0 || (exported !== undefined && !files.some((file) => exportsName(file, exported)))
    })
    assert.deepStrictEqual(unknown, [])
  })

  it("says each word once, in three cells", () => {
    const words = rows.map(([word]) => word!.replace("| ", "").trim())
    assert.deepStrictEqual(
      words.filter((word, index) => words.indexOf(word) !== index),
      []
    )
    assert.deepStrictEqual(
      rows.filter((cells) => cells.length !== 3).map(([word]) => word),
      []
    )
  })
})

describe("the architecture", () => {
  it("names modules that exist, in text and pictures", () => {
    const inText = Array.from(architecture.matchAll(/`((?:[a-z]\w*\/)+\w+)`/g), ([, path]) => path!)
    const inPictures = Array.from(architecture.matchAll(/\["((?:[a-z]\w*\/)+[A-Z]\w*)/g), ([, path]) => path!)
    assert.isAbove(inPictures.length, 5)
    const unknown = [...inText, ...inPictures].filter(
      (path) =>
        filesOf(path).length === 0 &&
        !existsSync(join(root, path)) &&
        !packages.some((name) => existsSync(join(root, "packages", name, "src", path)))
    )
    assert.deepStrictEqual(unknown, [])
  })

  it("draws the states of a callback as the store has them", () => {
    const drawn = Array.from(picture("A callback's states").matchAll(/^ +(\S+) --> (\S+) : (.+)$/gm), (arrow) => {
      const [, from, to, names] = arrow
      return names!.split(", ").map((name) => `${from} ${to} ${name}`)
    }).flat(1)
    const outside = "[*]"
    const born = Object.entries(births).flatMap(([name, birth]) =>
      ("state" in birth ? [birth.state] : ["due", "held"]).map((state) => `${outside} ${state} ${name}`)
    )
    // From any state: the text says so.
    const { remove: _, ...others } = transitions
    const moved = Object.entries(others).flatMap(([name, rule]) => {
      if (!("to" in rule)) return []
      const to = rule.to === "gone" ? outside : rule.to
      return rule.from.filter((from) => from !== to).map((from) => `${from} ${to} ${name}`)
    })
    assert.deepStrictEqual(drawn.toSorted(), [...born, ...moved].toSorted())
    assert.includeMembers(
      drawn.flatMap((arrow) => arrow.split(" ")),
      Object.keys(states)
    )
  })

  it("draws the imports between rooms as they are", () => {
    const rooms: Record<string, ReadonlyArray<string>> = {
      indexer: ["families", "store", "sync", "embedded"],
      http: ["contract", "server", "handlers", "operations", "client"]
    }
    /** The room of a file; undefined for modules that lie between rooms. */
    const roomOf = (file: string): string | undefined => {
      const [, name, , first] = file.split("/")
      if (rooms[name!] === undefined) return name
      const room = first!.replace(/\.ts$/, "")
      return rooms[name!]!.includes(room) ? (room === "handlers" ? "server" : room) : undefined
    }
    const imports = globSync("packages/*/src/**/*.ts", { cwd: root }).flatMap((file) =>
      Array.from(readFileSync(join(root, file), "utf8").matchAll(/(?:from |import\()"([^"]+)"/g)).flatMap(
        ([, path]) => {
          const target = path!.startsWith("@headwater/")
            ? `packages/${path!.slice("@headwater/".length).replace("/", "/src/")}`
            : path!.startsWith(".")
              ? relative(root, join(root, dirname(file), path!))
              : undefined
          const [from, to] = [roomOf(file), target === undefined ? undefined : roomOf(target)]
          return from === undefined || to === undefined || from === to ? [] : [`${from} --> ${to}`]
        }
      )
    )
    const drawn = Array.from(
      picture("The rooms, and the direction of imports").matchAll(/^ +(\w+)(?:\[[^\]]*\])? --> (\w+)$/gm),
      ([, from, to]) => `${from} --> ${to}`
    )
    // All of them import core: two arrows stand for that.
    const withoutCore = (arrows: ReadonlyArray<string>) =>
      [...new Set(arrows)].filter((arrow) => !arrow.endsWith(" --> core")).toSorted()
    assert.deepStrictEqual(withoutCore(drawn), withoutCore(imports))
    assert.notInclude(
      imports.map((arrow) => arrow.split(" ")[0]),
      "core"
    )
  })
})
