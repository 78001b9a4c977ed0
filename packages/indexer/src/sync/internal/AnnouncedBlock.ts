/**
 * Enters the block behind ours as soon as one is announced there, without asking for the newest block before: a request less
 * for each block, of which some chains have several a second. From time to time a node is asked all the same, which also
 * tells what is final.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Head, Source } from "../../families/Source.ts"
import * as SteadyTime from "../../SteadyTime.ts"
import type { ChainStore } from "../../store/chain/ChainStore.ts"
import type { DatabaseError } from "../../store/database/Database.ts"
import * as NextLook from "./NextLook.ts"
import type { SyncError } from "./SyncFailure.ts"

interface Entrance {
  /** Commits the block of the head; gives the block. */
  readonly newest: (head: Head) => Effect.Effect<Block, SyncError>
}

export interface AnnouncedBlock {
  /** The announced block, where it has entered; what came instead is for a look at the head to tell. */
  readonly enter: Effect.Effect<Head | undefined, DatabaseError>
  /** Takes note that a node has been asked for its newest block. */
  readonly noteLook: Effect.Effect<void>
  /** Whether the node that was asked last may be a moment behind the one whose block was announced. */
  readonly mayBeAhead: () => boolean
}

export const make = (
  source: Pick<Source, "announcedHead">,
  store: Pick<ChainStore, "cursor">,
  { newest }: Entrance
): AnnouncedBlock => {
  let lookedAt = Number.NEGATIVE_INFINITY
  let enteredAt = Number.NEGATIVE_INFINITY
  /** The hash of the block that was asked for last. */
  let asked: Uint8Array | undefined

  const enter = Effect.gen(function* () {
    const announced = source.announcedHead?.()
    if (announced === undefined) return undefined
    const { hash } = announced
    const unlooked = (yield* SteadyTime.millis) - lookedAt
    if (unlooked >= NextLook.longestUnlooked || (asked !== undefined && Bytes.equal(asked, hash))) return undefined
    const cursor = yield* store.cursor
    if (cursor === undefined || (cursor.hash !== undefined && Bytes.equal(cursor.hash, hash))) return undefined
    const next = cursor.height + 1
    if ((announced.height ?? next) !== next) return undefined
    asked = hash
    const head: Head = { height: next, hash, final: undefined }
    const entered = yield* Effect.result(newest(head))
    if (Result.isFailure(entered)) {
      // Above all that the chain is followed elsewhere, where a look may find nothing to write.
      if (entered.failure._tag === "DatabaseError") return yield* entered.failure
      return undefined
    }
    if (!Bytes.equal(entered.success.hash, hash)) return undefined
    enteredAt = yield* SteadyTime.millis
    return head
  })

  return {
    enter,
    noteLook: Effect.map(SteadyTime.millis, (now) => {
      lookedAt = now
    }),
    mayBeAhead: () => lookedAt - enteredAt < NextLook.longestUnlooked
  }
}
