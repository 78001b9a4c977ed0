/**
 * What blocks change in subscriptions on extended public keys: an address that comes into use moves the window of its
 * branch, until nothing that was derived is used by the same block; before the block is matched.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../TimeSlice.ts"
import type { Entering, Make, ResolvedBlock } from "../chain/Projection.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as KeyWindows from "./internal/KeyWindows.ts"
import * as PastPayments from "./PastPayments.ts"

export const make: Make = Effect.fnUntraced(function* ({ chain, id, watched: { set } }) {
  const bounds = yield* KeyWindows.Bounds
  /** Whether any subscription of the chain is on a key, as of a revision. */
  let known: { readonly revision: number; readonly any: boolean } | undefined

  const any = Effect.fnUntraced(function* (revision: number) {
    if (known?.revision !== revision) {
      const { query } = yield* Database
      const found = yield* query((db) =>
        db.selectFrom("extended_key").select("subscription").where("chain", "=", id).limit(1)
      )
      known = { revision, any: found.length > 0 }
    }
    return known.any
  })

  /** Blocks above `since` are matched against what is derived here. */
  const grow = Effect.fnUntraced(function* (block: Block, since: number, entering: Entering) {
    const named = yield* TimeSlice.runInTransaction(() => KeyWindows.namedIn(block, set))
    const used = Effect.provideService(
      KeyWindows.usedBy(id, [...named.values()], block.height),
      KeyWindows.Bounds,
      bounds
    )
    const windows = named.size === 0 ? [] : yield* used
    if (windows.length === 0) return
    const all = yield* TimeSlice.runInTransaction(() => KeyWindows.namedIn(block))
    const isUsed = (address: AddressBytes) => all.has(Bytes.key(address))
    const reached = yield* Effect.provideService(KeyWindows.reachAll(chain, windows, isUsed), KeyWindows.Bounds, bounds)
    const row = yield* ChainRow.lockAndBumpRevision(id)
    yield* KeyWindows.store(
      row,
      reached.map((one) => ({ ...one, since, behindFrom: block.height }))
    )
    // Not taken out where the transaction fails: so the names of their tokens are asked for, and then the commit succeeds.
    for (const { reached: one } of reached) for (const { bytes } of one.fresh) set.add(bytes)
    entering.moveToRevision(row.revision)
  })

  return {
    apply: {
      resolve: Effect.fnUntraced(function* (block: ResolvedBlock, commit) {
        if (yield* any(commit.foundRevision)) yield* grow(block, block.height - 1, commit)
        return block
      })
    },
    undo: ({ fork }) => PastPayments.undo(id, fork),
    reprocess: {
      resolve: Effect.fnUntraced(function* (block: ResolvedBlock, again) {
        if (again.addsCallbacks === "past" && (yield* any(again.foundRevision)))
          yield* grow(block, again.row.height!, again)
        return block
      })
    }
  }
})
