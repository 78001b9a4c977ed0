/**
 * How every story begins: a store with three accounts, Ann who wants retractions, Bob, and Cid who has few credits,
 * and with hosts that each of them has verified. The program makes it once; each simulation begins with a copy.
 */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Chance from "./Chance.ts"
import * as Nodes from "./Nodes.ts"
import * as Receivers from "./Receivers.ts"
import type { Tenant } from "./Record.ts"
import { simulated } from "./SimulatedTime.ts"
import type { StoreTemplate } from "./StoreTemplate.ts"
import * as System from "./System.ts"

export interface Opening {
  /** The store of a story, with the schema of release 0.1 where there is one and `released` is asked for. */
  readonly store: StoreTemplate["copy"]
  readonly hasReleased: boolean
  readonly tenants: ReadonlyArray<Omit<Tenant, "verifiedAt">>
  /** The texts that verified hosts have published, by host. */
  readonly challenges: ReadonlyMap<string, ReadonlySet<string>>
  /** Removes what was stored. */
  readonly remove: () => Promise<void>
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

export const make = (template: StoreTemplate, settings: System.Written): Promise<Opening> =>
  simulated(Chance.make(0), async (time) => {
    const chance = Chance.make(1)
    const machine = template.copy(time, chance)
    machine.mend()
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
    template.keep(machine)
    machine.remove()
    return {
      store: template.copy,
      hasReleased: template.hasReleased,
      tenants: made.value,
      challenges: new Map(receivers.all.map(({ challenges, host }) => [host, challenges])),
      remove: template.remove
    }
  })
