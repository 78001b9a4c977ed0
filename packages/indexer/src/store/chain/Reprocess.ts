/**
 * Enters a committed block again: the block is checked against what is stored in its place, what its place should hold
 * is written where it is not there, and callbacks that its subscriptions should have had are added.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { Entered } from "./internal/Entered.ts"
import * as Projection from "./Projection.ts"
import * as UndoneBlocks from "../subscriptions/UndoneBlocks.ts"
import * as SkippedBlocks from "./SkippedBlocks.ts"
import type { LearnedToken } from "./Tokens.ts"

/** What the node shows is not the block that the store has at this height, or the store has none there. */
export class NotRecorded extends Schema.TaggedError<NotRecorded>()("NotRecorded", { message: Schema.String }) {}

export interface Options {
  /**
   * Add the callbacks that subscriptions should have had: all, or those alone of movements that were in doubt, of internal
   * transactions, or of what was paid before the window of an extended public key reached it.
   */
  readonly callbacks: Projection.AddedCallbacks
  /**
   * Internal transactions of blocks below this height stay as they are, since they may have been forgotten on purpose;
   * those that a block never had are entered all the same. Undefined where the source shows none: all stay.
   */
  readonly internalFrom: number | undefined
  /** Also enters a block from before the first one that was committed, on the node's word that it is of the chain. */
  readonly earlier?: boolean
  /** The node's answers about token contracts; absent where the node is not asked. */
  readonly learned?: ReadonlyArray<LearnedToken> | undefined
}

/** Writes the header, if the block belongs where it stands; a header that is missing must fit the one above it. */
const header = Effect.fnUntraced(function* (row: ChainRow.ChainRow, block: Block, earlier: boolean) {
  const { insertMany, query } = yield* Database
  const { hash, height, parent, time } = block
  if (row.height === null || row.hash === null || height > row.height || (height < row.first_height! && !earlier)) {
    return yield* new NotRecorded({ message: `Block ${height} is not among those that were ever committed` })
  }
  if (!earlier && (yield* SkippedBlocks.has(row.id, height))) {
    return yield* new NotRecorded({ message: `Block ${height} was skipped: a rewind to below brings back such blocks` })
  }
  const headers = yield* query((db) =>
    db
      .selectFrom("block")
      .selectAll()
      .where("chain", "=", row.id)
      .where("height", "in", [height, height + 1])
  )
  const stored = headers.find((header) => header.height === height)
  const child = headers.find((header) => header.height === height + 1)
  const expected = stored?.hash ?? (height === row.height ? row.hash : child?.parent)
  if (expected !== undefined && !Bytes.equal(expected, hash)) {
    return yield* new NotRecorded({
      message:
        `The node's block ${height} is not the stored one: while a reorganisation is under way, wait for its end; ` +
        "else rewind the chain to below that block"
    })
  }
  if (stored !== undefined && Bytes.equal(stored.parent, parent) && stored.time === time) return
  yield* insertMany(
    "block",
    [{ chain: row.id, height, hash, parent, time }],
    "on conflict (chain, height) do update set hash = excluded.hash, parent = excluded.parent, time = excluded.time"
  )
})

/** Fails while what another block at or below the height told is still to be taken back: what was told there is not known yet. */
const nothingToTakeBack = Effect.fnUntraced(function* (chain: number, height: number) {
  if (!(yield* UndoneBlocks.mayReach(chain, height))) return
  return yield* new NotRecorded({
    message: `What block ${height} told before the last reorganisation is still being taken back: try again in a moment`
  })
})

/** A block that is being entered again. */
class EnteredAgain extends Entered implements Projection.Reprocessing {
  readonly row: ChainRow.ChainRow
  readonly addsCallbacks: Projection.AddedCallbacks
  readonly internalFrom: number | undefined

  constructor(row: ChainRow.ChainRow, { callbacks, internalFrom, learned }: Options) {
    super(row, learned)
    this.row = row
    this.addsCallbacks = callbacks
    this.internalFrom = internalFrom
  }
}

export const make = ({ id, watched }: Projection.OpenChain, projections: ReadonlyArray<Projection.Projection>) => {
  const again = Projection.through(projections.map(({ reprocess }) => reprocess))

  /** How many callbacks were added. */
  return Effect.fn("ChainStore.reprocess")(function* (block: Block, options: Options) {
    const entered = yield* watched.transaction(
      Effect.gen(function* () {
        const row = yield* ChainRow.lock(id)
        yield* watched.catchUpToRevision(row.revision)
        yield* header(row, block, options.earlier ?? false)
        if (options.callbacks !== false) yield* nothingToTakeBack(id, block.height)
        const entered = new EnteredAgain(row, options)
        yield* again(block, entered)
        return entered
      })
    )
    yield* entered.after
    return entered.callbacks
  })
}
