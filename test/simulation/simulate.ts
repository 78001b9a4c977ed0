/**
 * Plays stories from the command line:
 *
 *     node test/simulation/simulate.ts --seed 7              one, with all that happened
 *     node test/simulation/simulate.ts --from 1 --seeds 1000  many; the first that breaks a promise is told
 *     node test/simulation/simulate.ts --all …                a line for each that breaks a promise
 *     node test/simulation/simulate.ts --store postgres …     on PostgreSQL: the server of DATABASE_URL, or one of its own
 */
import { parseArgs } from "node:util"
import * as PostgresServer from "../PostgresServer.ts"
import * as Simulation from "./Simulation.ts"
import * as StoreTemplate from "./StoreTemplate.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    seeds: { type: "string", default: "200" },
    store: { type: "string", default: "sqlite" },
    all: { type: "boolean", default: false },
    raw: { type: "boolean", default: false }
  }
})

const isOwn = values.store === "postgres" && process.env.DATABASE_URL === undefined
const server = isOwn ? await PostgresServer.start("/dev/shm") : undefined
const url = server?.url ?? process.env.DATABASE_URL
if (values.store === "postgres" && url === undefined) throw new Error("PostgreSQL is not installed")
const template = values.store === "postgres" ? StoreTemplate.postgres(url!) : StoreTemplate.sqlite()
const simulation = await Simulation.make(await template)
const now = Date.now
const began = now()
try {
  const first = Number(values.seed ?? values.from)
  const last = values.seed === undefined ? first + Number(values.seeds) - 1 : first
  let failures = 0
  for (let seed = first; seed <= last; seed++) {
    const done = seed - first
    if (done > 0 && done % 500 === 0) console.log(`${done} of ${last - first + 1} stories, ${failures} break a promise`)
    const outcome = await simulation.run(seed)
    if (outcome.broken.length === 0) {
      if (values.seed !== undefined) console.log(outcome.lines.join("\n"))
      continue
    }
    failures++
    process.exitCode = 1
    if (values.all) {
      console.log(
        `${seed}: ${[...new Set(outcome.broken.map(({ promise }) => promise))].join("; ")} | ${outcome.broken[0]!.detail.slice(0, 200)}`
      )
      continue
    }
    console.log(Simulation.describe(values.raw ? outcome : await simulation.shrink(outcome)))
    break
  }
  const seconds = (now() - began) / 1000
  const count = last - first + 1
  console.log(
    `${count} seeds from ${first} on, ${failures} break a promise, in ${seconds.toFixed(1)} s: ${Math.round((count / seconds) * 60)} a minute`
  )
} finally {
  await simulation.end()
  server?.remove()
}
