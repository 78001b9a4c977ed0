/**
 * Decides movements in doubt: asks the nodes what the doubtful inputs spend, shows that in the block, as a node with
 * prevouts would have shown it, and enters the block again. The callback gets the key that it always had.
 *
 * What no node can show is asked for again now and then, a few blocks at a time, since an operator may give a node an
 * index of transactions at any time; once one more movement is decided, all are asked for anew.
 */
import type { Block, Spend } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Inputs from "@headwater/core/utxo/Inputs"
import { mayUnlock } from "@headwater/core/utxo/Unlocking"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { NodeError } from "../families/node/NodeError.ts"
import type { MinedOutputs } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import * as SteadyTime from "../SteadyTime.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as Completeness from "../store/chain/Completeness.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as UnresolvedEvents from "../store/subscriptions/UnresolvedEvents.ts"
import { retryForever } from "./RetryForever.ts"

/** A movement in doubt. */
type Movement = Pick<UnresolvedEvents.UnresolvedEvent, "address" | "transactionId">

/** Where movements in doubt are kept. */
export interface Movements {
  /** Blocks above a height with such movements, the lowest first; no more than the limit. */
  readonly heightsAbove: (
    chain: Chain,
    height: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<number>, DatabaseError, Database>
  readonly at: (chain: Chain, height: number) => Effect.Effect<ReadonlyArray<Movement>, DatabaseError, Database>
  /** Forgets those that nobody asks for any more. */
  readonly tidy: (chain: Chain) => Effect.Effect<void, DatabaseError, Database>
}

/** Those that subscriptions have no callbacks of. */
const ofSubscriptions: Movements = { ...UnresolvedEvents, tidy: UnresolvedEvents.forgetUnsubscribed }

export interface Options {
  /** Those of subscriptions by default. */
  readonly movements?: Movements
  readonly pollInterval: Duration.Duration
  /** The longest time between two looks at what could not be decided; 10 minutes by default. */
  readonly longestWait?: Duration.Duration
}

export interface EventResolution {
  /** One look at movements in doubt. Asks no node where there are none, or none that is to be asked for now. */
  readonly step: Effect.Effect<void, NodeError | DatabaseError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** Blocks with movements in doubt that one step looks at. */
const blocksAtOnce = 16

/** The inputs of a block that may be the own of a movement in doubt, and whose output the node's block does not show. */
const doubtfulInputs = (block: Block, movements: ReadonlyArray<Movement>) => {
  const addresses = Map.groupBy(movements, ({ transactionId }) => Bytes.key(transactionId))
  return Inputs.unshown(block).filter(({ transaction, unlocking }) => {
    const inDoubt = addresses.get(Bytes.key(block.transactions[transaction]!))
    if (inDoubt === undefined) return false
    const mayBe = mayUnlock([unlocking?.()])
    return inDoubt.some(({ address }) => mayBe(address))
  })
}

export const make = Effect.fn("EventResolution.make")(function* (
  source: Source,
  minedOutputs: MinedOutputs,
  store: ChainStore,
  options: Options
) {
  const database = yield* Database
  const { chain } = source
  const inDoubt = options.movements ?? ofSubscriptions
  const longestWait = Duration.toMillis(options.longestWait ?? Duration.minutes(10))
  const shortestWait = Math.min(Duration.toMillis(options.pollInterval), longestWait)
  /** Blocks above this height have not been asked for since the start or the last decision. */
  let asked = -1
  /** The last block of those that were asked for again, when the next ones are, and the wait after that. */
  let again = { after: -1, at: 0, wait: shortestWait }

  /** What the nodes show of inputs. */
  const shownBy = Effect.fnUntraced(function* (inputs: ReadonlyArray<Spend>) {
    const outputs = inputs.length === 0 ? [] : yield* minedOutputs(inputs.map(({ outpoint }) => outpoint))
    return inputs.flatMap((spend, i): ReadonlyArray<Inputs.Input> => {
      const coin = outputs[i]
      return coin === undefined ? [] : [{ spend, coin }]
    })
  })

  /** Whether fewer movements of the block are in doubt than before. */
  const resolveBlock = Effect.fnUntraced(function* (height: number) {
    const movements = yield* inDoubt.at(chain, height)
    const block = yield* source.blockAt(height)
    const shown = yield* shownBy(doubtfulInputs(block, movements))
    // The store may know by now every coin that the address had.
    const recorded = yield* Completeness.of(
      chain,
      movements.map(({ address }) => address)
    )
    const mayDecide = [...recorded.values()].some(({ coins }) => coins !== undefined && coins <= height)
    if (shown.length === 0 && !mayDecide) return false
    yield* store.reprocess(Inputs.show(block, shown), {
      ...{ callbacks: "unresolved", internalFrom: undefined, learned: [] }
    })
    const left = (yield* inDoubt.at(chain, height)).length
    if (left === movements.length) return false
    yield* Effect.logInfo(`${movements.length - left} movements of block ${height} are not in doubt any more`)
    return true
  })

  /** Whether something was decided. A block that cannot be entered at present holds up none of the others. */
  const resolve = Effect.fnUntraced(function* (heights: ReadonlyArray<number>) {
    yield* inDoubt.tidy(chain)
    const decided = yield* Effect.forEach(heights, (height) =>
      resolveBlock(height).pipe(
        Effect.catchTag(
          ["BlockMissing", "NodeInconsistent", "ProofFailed", "NodeRejected", "NotRecorded", "TokensUnknown"],
          (error) =>
            Effect.as(
              Effect.logWarning(`The movements in doubt of block ${height} cannot be looked at: ${error.message}`),
              false
            )
        )
      )
    )
    return decided.includes(true)
  })

  /** Blocks that were asked for before, from where the last such look ended, and then from the lowest on. */
  const nextAgain = Effect.gen(function* () {
    const next = yield* inDoubt.heightsAbove(chain, again.after, blocksAtOnce)
    return next.length > 0 || again.after < 0 ? next : yield* inDoubt.heightsAbove(chain, -1, blocksAtOnce)
  })

  const step = Effect.gen(function* () {
    const [any] = yield* inDoubt.heightsAbove(chain, -1, 1)
    if (any === undefined) return
    const cursor = yield* store.cursor
    // Blocks that were undone may come again with other movements.
    if (cursor !== undefined) asked = Math.min(asked, cursor.height)
    const unasked = yield* inDoubt.heightsAbove(chain, asked, blocksAtOnce)
    if (unasked.length > 0) {
      yield* resolve(unasked)
      asked = unasked.at(-1)!
      return
    }
    const now = yield* SteadyTime.millis
    if (now < again.at) return
    const heights = yield* nextAgain
    if (heights.length === 0) return
    if (yield* resolve(heights)) {
      asked = -1
      again = { after: -1, at: now, wait: shortestWait }
    } else {
      again = { after: heights.at(-1)!, at: now + again.wait, wait: Math.min(again.wait * 2, longestWait) }
    }
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("EventResolution.step"))

  return {
    step,
    run: retryForever(chain, "Looking for what doubtful inputs spend", options, step)
  } satisfies EventResolution
})
