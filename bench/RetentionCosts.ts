/** What it costs PostgreSQL to forget: ways of forgetting, each in a database of its own, measured in turns. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import pg from "pg"
import * as PostgresServer from "../test/PostgresServer.ts"
import * as Comparison from "./Comparison.ts"
import * as PostgresCosts from "./PostgresCosts.ts"

/** Of one thing that is forgotten: milliseconds of CPU of this process and of the server, bytes of the server's log. */
export interface Cost {
  readonly own: number
  readonly server: number
  readonly wal: number
}

export interface Store {
  readonly client: pg.Client
  readonly run: <A, E>(work: Effect.Effect<A, E, Database>) => Promise<A>
  /** What work costs, for each of `count`, after a vacuum and a checkpoint. */
  readonly measured: (count: number, work: () => Promise<unknown>) => Promise<Cost>
}

/** A server of this run's own, until `end`. */
export const start = async () => {
  const server = (await PostgresServer.start())!
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  const postmaster = await PostgresCosts.postmaster(admin)
  const clients = [admin]

  const open = async (name: string): Promise<Store> => {
    await admin.query(`create database ${name}`)
    const url = new URL(server.url)
    url.pathname = `/${name}`
    const client = new pg.Client({ connectionString: url.href })
    const location = { kind: "postgres", url: Redacted.make(url.href), connections: 4 } as const
    const run: Store["run"] = (work) =>
      work.pipe(
        Effect.provide(Database.layer(location)),
        Effect.provideService(References.MinimumLogLevel, "Warn" as const),
        Effect.runPromise
      )
    await run(Database)
    await client.connect()
    clients.push(client)
    return {
      client,
      run,
      measured: async (count, work) => {
        await client.query("vacuum (analyze)")
        await client.query("checkpoint")
        const before = await PostgresCosts.countsOf(client)
        const [cpu, serverCpu] = [process.cpuUsage(), PostgresCosts.cpuOf(postmaster)]
        await work()
        const used = process.cpuUsage(cpu)
        const after = await PostgresCosts.countsOf(client)
        return {
          own: (used.user + used.system) / 1_000 / count,
          server: ((PostgresCosts.cpuOf(postmaster) - serverCpu) * 1_000) / count,
          wal: (after.wal - before.wal) / count
        }
      }
    }
  }

  return {
    ...{ admin, postmaster, open },
    end: async () => {
      for (const client of clients.reverse()) await client.end()
      server.remove()
    }
  }
}

/** Says what each way has cost in each round; `each` names what is counted. */
export const report = (
  work: string,
  each: string,
  ours: ReadonlyArray<Cost>,
  other: { readonly as: "peer" | "floor"; readonly name: string; readonly costs: ReadonlyArray<Cost> }
) => {
  for (const [unit, of] of [
    [`ms CPU ${each}`, ({ own, server }: Cost) => own + server],
    [`bytes of WAL ${each}`, ({ wal }: Cost) => wal]
  ] as const) {
    Comparison.report({
      ...{ work, unit, better: "less", ours: ours.map(of) },
      [other.as]: { name: other.name, values: other.costs.map(of) }
    })
  }
}
