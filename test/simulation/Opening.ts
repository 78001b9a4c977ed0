/**
 * How every story begins: a store with three accounts, Ann who wants retractions, Bob, and Cid who has few credits,
 * and with hosts that each of them has verified. The program makes it once; each simulation begins with a copy.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database } from "@headwater/indexer/store/database/Database"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Chance from "./Chance.ts"
import * as Nodes from "./Nodes.ts"
import * as Receivers from "./Receivers.ts"
import type { Tenant } from "./Record.ts"
import * as SimulatedMachine from "./SimulatedMachine.ts"
import { simulated } from "./SimulatedTime.ts"
import * as System from "./System.ts"

export interface Opening {
  /** The file of the store. */
  readonly file: string
  readonly tenants: ReadonlyArray<Omit<Tenant, "verifiedAt">>
  /** The texts that verified hosts have published, by host. */
  readonly challenges: ReadonlyMap<string, ReadonlySet<string>>
  /** Removes the file. */
  readonly remove: () => void
}

/** The hosts that there are, of which the last one is verified by nobody. */
export const hosts = 4

/** Enough for everything that happens; and for little of it. */
const granted = { Ann: 10_000_000, Bob: 10_000_000, Cid: 70 }

const accounts = Effect.gen(function* () {
  const accounts = yield* Accounts
  const credits = yield* Credits
  return yield* Effect.forEach(["Ann", "Bob", "Cid"] as const, (name) =>
    Effect.gen(function* () {
      const { id } = yield* accounts.create(name)
      const retractions = name === "Ann"
      yield* accounts.setRetractions(id, retractions)
      yield* credits.grant({ account: id, amount: granted[name], detail: "simulation" })
      const { key } = yield* accounts.createKey(id, { name })
      return { name, id, key: Redacted.value(key), retractions, isPoor: name === "Cid" }
    })
  )
})

/** A file with all that was written: its thread was ended, and has left the log. */
const checkpoint = (file: string) => {
  const db = new BetterSqlite(file)
  db.pragma("wal_checkpoint(truncate)")
  db.close()
}

export const make = async (settings: System.Written): Promise<Opening> => {
  const folder = mkdtempSync("/dev/shm/headwater-opening-")
  const empty = join(folder, "empty.db")
  await Effect.runPromise(Effect.scoped(Layer.build(Database.layer({ kind: "sqlite", file: empty }))))
  checkpoint(empty)
  const file = join(folder, "opening.db")
  return simulated(Chance.make(0), async (time) => {
    const chance = Chance.make(1)
    const machine = SimulatedMachine.make(empty, time, chance)
    const receivers = Receivers.make(hosts, time, chance)
    const nodes = Nodes.make([], time, chance)
    const world = { chance, machine, receivers, nodes, attempted: () => {}, logged: () => {} }
    const life = await System.start(world, settings)
    const made = await life!.run(accounts)
    if (Exit.isFailure(made)) throw new Error(`The accounts could not be made: ${made.cause}`)
    for (const { key } of made.value) {
      for (const { challenges, host } of receivers.all.slice(0, -1)) {
        const added = await life!.call({ key, method: "POST", path: "/domains/", item: { domain: host } })
        challenges.add(added!.body.data.item.token)
        const verified = await life!.call({ key, method: "POST", path: `/domains/${host}/verify`, item: {} })
        if (verified?.status !== 200) throw new Error(`${host} was not verified`)
      }
    }
    await life!.stop()
    checkpoint(machine.file())
    copyFileSync(machine.file(), file)
    machine.remove()
    return {
      file,
      tenants: made.value,
      challenges: new Map(receivers.all.map(({ challenges, host }) => [host, challenges])),
      remove: () => rmSync(folder, { recursive: true, force: true })
    }
  })
}
