/**
 * What waits to be done beside the blocks of chains, found by one look for all chains of a process: each task that looked for
 * itself would ask some times a second, mostly for nothing.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import * as PastReading from "../addresses/PastReading.ts"
import * as Broadcasts from "../broadcasts/Broadcasts.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import * as FanOut from "../subscriptions/FanOut.ts"
import * as PastPayments from "../subscriptions/PastPayments.ts"
import * as PastTransactions from "../subscriptions/PastTransactions.ts"
import * as AccountUse from "./AccountUse.ts"
import * as MissingParts from "./MissingParts.ts"

/** Each as a condition on a row of `chain`. */
const kinds = {
  broadcasts: Broadcasts.isWaiting,
  fanOut: FanOut.isWaiting,
  missingParts: MissingParts.isWaiting,
  pastPayments: PastPayments.isWaiting,
  pastReading: PastReading.isWaiting,
  pastTransactions: PastTransactions.isWaiting,
  unusedProof: AccountUse.isWaiting
}

export type Kind = keyof typeof kinds

export const allKinds = Object.keys(kinds) as ReadonlyArray<Kind>

/** Milliseconds between two looks. */
const lookMillis = 500

export class WaitingWork extends Context.Service<
  WaitingWork,
  {
    /** Waits until a look at the store, made after this moment, finds work of the kind on the chain. */
    readonly next: (chain: Chain.Chain, kind: Kind) => Effect.Effect<void>
  }
>()("@headwater/indexer/store/chain/WaitingWork") {
  /** Looks as long as the layer lives. */
  static readonly layer = Layer.effect(
    WaitingWork,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const { read, texts } = yield* Database
  /** Those who wait, by kind and by the chain's name. */
  const waiting = new Map(allKinds.map((kind) => [kind, new Map<string, Deferred.Deferred<void>>()]))

  const look = Effect.gen(function* () {
    const asked = new Set([...waiting.values()].flatMap((chains) => [...chains.keys()]))
    if (asked.size === 0) return
    // Nested, so that nothing is looked for that nobody waits for.
    const answers = allKinds.map((kind) => {
      const isAsked = sql`name in ${texts([...waiting.get(kind)!.keys()])}`
      return sql`case when ${isAsked} then case when ${kinds[kind]} then 1 else 0 end else 0 end as ${sql.ref(kind)}`
    })
    const found = yield* read(
      rows(sql<{ readonly name: string } & Readonly<Record<Kind, number>>>`
        select name, ${sql.join(answers)} from chain where name in ${texts([...asked])}`)
    )
    for (const [kind, chains] of waiting) {
      for (const row of found) {
        const deferred = chains.get(row.name)
        if (row[kind] !== 1 || deferred === undefined) continue
        chains.delete(row.name)
        Deferred.doneUnsafe(deferred, Effect.void)
      }
    }
  })

  yield* look.pipe(
    Effect.catchCause((cause) => Effect.logDebug("What waits beside the blocks is not known", cause)),
    Effect.andThen(Effect.sleep(lookMillis)),
    Effect.forever,
    Effect.forkScoped
  )

  return WaitingWork.of({
    next: (chain, kind) =>
      Effect.suspend(() => {
        const chains = waiting.get(kind)!
        const name = Chain.nameOf(chain)
        const deferred = chains.get(name) ?? Deferred.makeUnsafe<void>()
        chains.set(name, deferred)
        return Deferred.await(deferred)
      })
  })
})
