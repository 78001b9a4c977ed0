/** How far the chains are that catch up, as a live line below the log; nothing where there is no terminal. */
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus, type Status } from "@headwater/indexer/families/node/ChainStatus"
import * as CatchingUp from "@headwater/indexer/sync/CatchingUp"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LiveLine } from "./LiveLine.ts"

/** A chain that is behind for a shorter time gets no line. */
const longMillis = 2_000
const redraw = "500 millis"
const barWidth = 20

/**
 * Takes note of the height at which each chain begins to catch up: `first`, until the chain is at its head. Blocks that are
 * undone meanwhile are to be committed as well.
 */
export const noteFirst = (statuses: ReadonlyArray<Status>, first: Map<string, number>) => {
  for (const { chain, head, height, state } of statuses) {
    const name = Chain.nameOf(chain)
    if (state === "following") first.delete(name)
    else if (head !== undefined && height !== undefined) first.set(name, Math.min(height, first.get(name) ?? height))
  }
}

/** The chains that catch up since `longMillis`; `first`: the height at which each began to. */
export const describe = (statuses: ReadonlyArray<Status>, first: ReadonlyMap<string, number>, now: number): string =>
  statuses
    .flatMap((status) => {
      const { chain, head = 0, height = 0, since } = status
      const catchingUp = CatchingUp.of(status)
      if (catchingUp === undefined || now - since < longMillis) return []
      const name = Chain.nameOf(chain)
      const from = first.get(name) ?? height
      const done = Math.min(1, (height - from) / Math.max(1, head - from))
      const filled = Math.floor(done * barWidth)
      const bar = statuses.length > 1 ? "" : ` ${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`
      // The bar is what a narrow terminal does without.
      return [`${name} ${Math.floor(done * 100)}%: ${CatchingUp.describe(catchingUp)}${bar}`]
    })
    .join("; ")

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const line = yield* LiveLine
    if (line === undefined) return
    const statuses = yield* ChainStatus
    const first = new Map<string, number>()
    const show = Effect.gen(function* () {
      const all = yield* statuses.all
      noteFirst(all, first)
      yield* line.show(describe(all, first, yield* Clock.currentTimeMillis))
    })
    yield* Effect.forkScoped(Effect.forever(Effect.delay(show, redraw)))
  })
)
