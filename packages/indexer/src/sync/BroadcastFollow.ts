/**
 * Follows what becomes of the transactions that were broadcast, once after each new block: in a block, replaced, or known to
 * no node any more. Nothing is sent here: what a process did not get to, the nodes are asked about. A block that leaves the
 * chain takes its transactions back into doubt.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import type { Broadcasting } from "../families/Broadcasting.ts"
import type { NodeError } from "../families/node/NodeError.ts"
import * as Broadcasts from "../store/broadcasts/Broadcasts.ts"
import * as ChainRow from "../store/database/ChainRow.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as LooksInTurn from "./internal/LooksInTurn.ts"
import { type Pace, retryForever } from "./RetryForever.ts"

export type Options = Pace

export interface BroadcastFollow {
  /** Looks for every transaction that has not been looked for since the last block. Asks no node where there is none. */
  readonly step: Effect.Effect<void, DatabaseError | NodeError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

const dropped = "no node has the transaction any more"

/** What was refused is not in any block; somebody else may have sent it since. */
const isRefused = ({ height, outcome }: Broadcasts.Broadcast) => outcome === "failed" && height === null

/**
 * What the nodes know, in the terms of the store; how often they had nothing, where that is not enough to tell; undefined
 * while they are being searched, which the next step goes on with.
 */
const foundOf = Effect.fnUntraced(function* (chain: Chain, row: Broadcasts.Broadcast, broadcasting: Broadcasting) {
  const standing = yield* broadcasting.standing(row.raw, row.since_height)
  switch (standing.state) {
    case "searching":
      return undefined
    case "mined": {
      const { error, hash, height } = standing
      return { outcome: error === undefined ? "mined" : "failed", error, block: { height, hash } } as const
    }
    case "waiting":
      return { outcome: "sent" } as const
    case "absent":
    case "replaced":
    case "dropped": {
      if (standing.state === "absent" && standing.mayCome === true) return { absences: row.absences }
      const isTold = row.outcome === (standing.state === "absent" ? "dropped" : standing.state) || isRefused(row)
      if (!isTold && row.absences + 1 < Broadcasts.absencesUntilLost(chain)) return { absences: row.absences + 1 }
      return standing.state === "absent"
        ? ({ outcome: "dropped", error: dropped } as const)
        : { outcome: standing.state, error: standing.message }
    }
  }
})

export const make = Effect.fn("BroadcastFollow.make")(function* (
  chain: Chain,
  broadcasting: Broadcasting,
  options: Options
) {
  const database = yield* Database

  /** Whether the nodes are still being searched. */
  const look = Effect.fnUntraced(function* (row: Broadcasts.Broadcast, height: number) {
    if (yield* Broadcasts.isStillMined(row)) {
      const { error, hash, outcome } = row
      const block = { height: row.height!, hash: hash! }
      yield* Broadcasts.recordLook(chain, row, { outcome, error: error ?? undefined, block }, height)
      return false
    }
    const found = yield* foundOf(chain, row, broadcasting)
    if (found === undefined) return true
    if ("absences" in found) {
      yield* Broadcasts.miss(row.id, height, found.absences)
      return false
    }
    const kept = isRefused(row) && (found.outcome === "dropped" || found.outcome === "replaced")
    yield* Broadcasts.recordLook(
      chain,
      row,
      kept ? { outcome: row.outcome, error: row.error ?? undefined } : found,
      height
    )
    return false
  })

  const step: BroadcastFollow["step"] = Effect.gen(function* () {
    const row = yield* ChainRow.find(chain)
    if (row === undefined || row.height === null) return
    const { height, id } = row
    const failed = yield* LooksInTurn.run(Broadcasts.queue(id, height), (some: ReadonlyArray<Broadcasts.Broadcast>) =>
      LooksInTurn.each(some, (row) => look(row, height))
    )
    if (failed !== undefined) return yield* Effect.failCause(failed)
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("BroadcastFollow.step"))

  const run = retryForever(chain, "Following broadcast transactions", options, step)
  return { step, run } satisfies BroadcastFollow
})
