/** The one commit by which blocks enter: headers, what every projection makes of them, and the cursor, in one transaction. */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { Tables } from "../database/Tables.ts"
import { Entered } from "./internal/Entered.ts"
import * as Projection from "./Projection.ts"
import type { LearnedToken } from "./Tokens.ts"

/** The block does not continue the stored chain: a reorganisation, or another process has moved the cursor. */
export class NotNext extends Schema.TaggedError<NotNext>()("NotNext", {
  height: Schema.Int,
  cursor: Schema.UndefinedOr(Schema.Int)
}) {
  override get message() {
    return `Block ${this.height} does not follow the stored block ${this.cursor ?? "(none)"}`
  }
}

export interface Committed {
  readonly blocks: number
  /** Callbacks that became due with the blocks. */
  readonly callbacks: number
}

/** How often projections forget what lies beyond the undo depth, in blocks. */
const pruneEvery = 100

/** A commit under way. */
class CommitUnderWay extends Entered implements Projection.Commit {
  readonly blocks: ReadonlyArray<Block>
  continues: boolean
  readonly #rows = new Map<keyof Tables & string, Array<object>>()
  readonly #ends: Array<Effect.Effect<void, DatabaseError, Database>> = []

  constructor(
    row: ChainRow.ChainRow,
    blocks: ReadonlyArray<Block>,
    learned: ReadonlyArray<LearnedToken> | undefined,
    continues: boolean
  ) {
    super(row, learned)
    this.blocks = blocks
    this.continues = continues
  }

  readonly atEnd: Projection.Commit["atEnd"] = (effect) => {
    this.#ends.push(effect)
  }

  readonly insert: Projection.Commit["insert"] = (table, rows) => {
    if (rows.length === 0) return
    const gathered = this.#rows.get(table)
    if (gathered === undefined) this.#rows.set(table, [...rows])
    // A block may have more rows than a call takes arguments.
    else for (const row of rows) gathered.push(row)
  }

  /** Ends what projections have put off, and inserts what was gathered. */
  get flush() {
    return Effect.flatMap(Database, ({ insertMany }) =>
      Effect.andThen(
        Effect.all(this.#ends, { discard: true }),
        Effect.forEach(this.#rows, ([table, rows]) => insertMany(table, rows as never), { discard: true })
      )
    )
  }
}

/** The commits of an open chain. */
export const make = (
  { id, undoDepth, watched }: Projection.OpenChain,
  projections: ReadonlyArray<Projection.Projection>
) => {
  const apply = Projection.through(projections.map(({ apply }) => apply))
  const prunes = projections.flatMap(({ prune }) => prune ?? [])
  /** The chain's row as the last commit has left it: as long as it is so, nobody else has changed the chain. */
  let left: Pick<ChainRow.ChainRow, "hash" | "height" | "revision"> | undefined

  const isAsLeft = ({ hash, height, revision }: ChainRow.ChainRow) =>
    left?.height === height && left.revision === revision && hash !== null && Bytes.equal(left.hash!, hash)

  const enter = Effect.fnUntraced(function* (block: Block, commit: CommitUnderWay) {
    yield* apply(block, commit)
    const { hash, height, parent, time } = block
    commit.insert("block", [{ chain: id, height, hash, parent, time }])
    if (height % pruneEvery === 0) for (const prune of prunes) yield* prune(height - undoDepth)
    commit.continues = true
  })

  const enterAll = Effect.fnUntraced(function* (
    blocks: ReadonlyArray<Block>,
    learned: ReadonlyArray<LearnedToken> | undefined,
    final: number | undefined
  ) {
    const row = yield* ChainRow.lock(id)
    yield* watched.catchUpToRevision(row.revision)
    const commit = new CommitUnderWay(row, blocks, learned, isAsLeft(row))
    left = undefined
    let cursor: ChainRow.Cursor = row
    let count = 0
    for (const block of blocks) {
      if (!ChainRow.follows(cursor, block)) break
      yield* enter(block, commit)
      cursor = block
      count++
    }
    const { hash, height } = cursor
    if (count === 0 || hash === null || height === null) {
      return yield* new NotNext({ height: blocks[0]!.height, cursor: height ?? undefined })
    }
    yield* commit.flush
    if (final !== undefined && count === blocks.length) yield* ChainRow.setFinal(id, final)
    yield* ChainRow.moveCursor(id, { height, hash, firstHeight: row.first_height ?? blocks[0]!.height })
    return { commit, count, left: { hash, height, revision: commit.revision } }
  })

  const commit = Effect.fn("ChainStore.commit")(function* (
    blocks: ReadonlyArray<Block>,
    learned: ReadonlyArray<LearnedToken> | undefined,
    final: number | undefined
  ) {
    const done = yield* watched.transaction(enterAll(blocks, learned, final))
    left = done.left
    yield* done.commit.after
    return { blocks: done.count, callbacks: done.commit.callbacks } satisfies Committed
  })

  return commit
}
