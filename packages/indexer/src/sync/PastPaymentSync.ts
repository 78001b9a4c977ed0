/**
 * Tells subscriptions on extended public keys what their addresses had before a window reached them: steps of the store find
 * the blocks, which are read again from the node.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Source } from "../families/Source.ts"
import type { NodeError } from "../families/node/NodeError.ts"
import * as SteadyTime from "../SteadyTime.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import type { DatabaseError } from "../store/database/Database.ts"
import { type Pace, retryForever } from "./RetryForever.ts"
import * as TokenNames from "./TokenNames.ts"

export type Options = Pace

export interface PastPaymentSync {
  /** Tells all that there is to tell now. Asks no node where that is nothing. */
  readonly step: Effect.Effect<void, NodeError | DatabaseError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** A block that the node did not show is asked for again after the first of these times, and each time after twice as long. */
const [firstWait, longestWait] = [30_000, 3_600_000]

/** Between two steps others come to the store, for as long as a step takes, at least so many milliseconds. */
const leastPause = 2

export const make = (source: Source, store: ChainStore, options: Options): PastPaymentSync => {
  const tell = Effect.fnUntraced(function* (height: number) {
    const block = yield* source.blockAt(height)
    yield* TokenNames.withTokens(source, store, [block], (learned) =>
      store.reprocess(block, { callbacks: "past", internalFrom: undefined, learned })
    )
  })

  /** Blocks that could not be told, and when they are asked for again. */
  const untold = new Map<number, { readonly wait: number; readonly until: number }>()

  /** Whether the block was told; one that cannot be, at present, holds up none of the others. */
  const tellOrWarn = Effect.fnUntraced(function* (height: number) {
    const now = yield* SteadyTime.millis
    const before = untold.get(height)
    if (before !== undefined && now < before.until) return false
    return yield* tell(height).pipe(
      Effect.tap(() => Effect.sync(() => untold.delete(height))),
      Effect.as(true),
      Effect.catchTag(
        ["BlockMissing", "NodeInconsistent", "ProofFailed", "NodeRejected", "NotRecorded", "TokensUnknown"],
        ({ message }) => {
          const wait = before === undefined ? firstWait : Math.min(longestWait, 2 * before.wait)
          untold.set(height, { wait, until: now + wait })
          return Effect.as(
            Effect.logWarning(`What block ${height} paid to extended public keys cannot be told yet: ${message}`),
            false
          )
        }
      )
    )
  })

  const step = Effect.gen(function* () {
    /**
     * Where the round has come to, and whether another is to follow: what was told may have moved a window, by which earlier
     * blocks are to be told. Looking for such blocks alternates with telling, so that none waits for all.
     */
    let round = { after: new Map<number, number>(), isLast: true }
    while (true) {
      const [took, { more, next }] = yield* Effect.timed(store.pastPayments(round.after))
      if (next !== undefined) {
        const isTold = yield* tellOrWarn(next.height)
        // There may be more to tell of the same block, to other subscriptions.
        round.after.set(next.account, isTold ? next.height - 1 : next.height)
        round = { ...round, isLast: round.isLast && !isTold && !more }
      } else if (more || !round.isLast) round = { after: new Map(), isLast: true }
      else return
      yield* Effect.sleep(Duration.max(took, Duration.millis(leastPause)))
    }
  }).pipe(Effect.withSpan("PastPaymentSync.step"))

  return {
    step,
    run: retryForever(source.chain, "Looking for payments to extended public keys", options, step)
  }
}
