/** Pages of a chain's logs with their blocks, each the state of one moment, also while blocks are committed and undone. */
import type * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { inChunks } from "../../database/Statements.ts"
import * as TransferPages from "../transfers/TransferPages.ts"

/**
 * Where a page ended: height, number within the block, and the reorganisations that there had been. Blocks that were
 * undone since are seen by the latter.
 */
export type Position = readonly [height: number, index: number, reorganisations: number]

export interface PageRequest {
  readonly order: "ascending" | "descending"
  readonly limit: number
  readonly after?: Position | undefined
  /** No block before this time, in seconds since the Unix epoch. */
  readonly since?: number | undefined
}

/** Positions of a page's end and of the transfer log. */
const toLog = (height: number, index: number) => height * TransferPages.perBlock + index

const endOf = (last: { readonly height: number; readonly position: number }, reorganisations: number): Position => [
  last.height,
  last.position - toLog(last.height, 0),
  reorganisations
]

/** The lowest block that reorganisations after the given one left standing; undefined where there were none. */
const forkSince = Effect.fnUntraced(function* (chain: number, reorganisation: number) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("reorganisation")
      .select((of) => of.fn.min("fork_height").as("fork"))
      .where("chain", "=", chain)
      .where("id", ">", reorganisation)
  )
  return row?.fork ?? undefined
})

/**
 * The position in the log beyond which a page begins. What has taken the place of undone blocks is still to be shown. Upwards
 * the page begins above the fork; downwards at the newest block, since nothing of what was shown above the fork is left.
 */
const beginOf = Effect.fnUntraced(function* (chain: number, { after, order }: PageRequest) {
  if (after === undefined) return undefined
  const [height, index, reorganisations] = after
  const fork = yield* forkSince(chain, reorganisations)
  if (fork === undefined || fork >= height) return toLog(height, index)
  return order === "ascending" ? toLog(fork + 1, 0) - 1 : undefined
})

/**
 * Blocks of a UTXO chain that are looked through for one that is younger than a block above it. Bitcoin's rules let a block be
 * two hours ahead of the clock, and the next ones be older than that: 120 of Dogecoin, which have a minute each.
 */
const outOfOrder = 2_000

/** Seconds by which such a block may be younger: those two hours, and one by which the rules let blocks be behind the clock. */
const secondsOutOfOrder = 3 * 3_600

/** Heights of a chain's row. */
export interface Range {
  readonly id: number
  readonly first: number
  readonly last: number
}

/** The lowest height of a range whose block has this time or a later one; else one past the last. */
const heightBetween = Effect.fnUntraced(function* (chain: Chain.Chain, { first, id, last }: Range, time: number) {
  const { read } = yield* Database
  let low = first
  let high = last + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    // Among skipped blocks the one below them decides.
    const [block] = yield* read((db) =>
      db
        .selectFrom("block")
        .select("time")
        .where("chain", "=", id)
        .where("height", "<=", middle)
        .orderBy("height", "desc")
        .limit(1)
    )
    if (block !== undefined && block.time >= time) high = middle
    else low = middle + 1
  }
  // Elsewhere no block is older than the one before.
  if (chain.ledger !== "outputs") return low
  const [earlier] = yield* read((db) =>
    db
      .selectFrom("block")
      .select("height")
      .where("chain", "=", id)
      .where("height", ">=", Math.max(first, low - outOfOrder))
      .where("height", "<", low)
      .where("time", ">=", time)
      .orderBy("height")
      .limit(1)
  )
  return earlier?.height ?? low
})

/** Heights of blocks above the first of this time that are older. */
const olderAbove = Effect.fnUntraced(function* (chain: Chain.Chain, { id }: Range, first: number, time: number) {
  if (chain.ledger !== "outputs") return undefined
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("block")
      .select("height")
      .where("chain", "=", id)
      .where("height", ">", first)
      .where("height", "<", first + outOfOrder)
      .where("time", "<", time)
  )
  return new Set(rows.map(({ height }) => height))
})

/**
 * The lowest height of a range whose block has this time or a later one; one past the last where none has, and 0 where
 * blocks from before the range may be as young.
 */
export const heightSince = Effect.fnUntraced(function* (chain: Chain.Chain, range: Range, time: number) {
  const { first } = range
  const surelyOlder = chain.ledger === "outputs" ? time - secondsOutOfOrder : time
  const isWithin = (yield* heightBetween(chain, { ...range, last: first }, surelyOlder)) > first
  return isWithin ? yield* heightBetween(chain, range, time) : 0
})

/** Hashes and times of blocks, by height. */
const blocksAt = Effect.fnUntraced(function* (chain: number, heights: ReadonlyArray<number>) {
  const { read } = yield* Database
  const rows = yield* inChunks(heights, (some) =>
    read((db) =>
      db.selectFrom("block").select(["height", "hash", "time"]).where("chain", "=", chain).where("height", "in", some)
    )
  )
  return new Map(rows.map((row) => [row.height, row]))
})

/** How a page is read of a log. */
export type Read<A> = (
  chain: number,
  request: TransferPages.PageRequest
) => Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly hasMore: boolean }, DatabaseError, Database>

interface Placed<A> {
  readonly items: ReadonlyArray<A & { readonly block: { readonly hash: Uint8Array; readonly time: number } }>
  readonly next: Position | undefined
}

/** A page with its blocks; undefined where blocks were undone meanwhile: half of it may be of either branch. */
const pageAtOnce = Effect.fnUntraced(function* <A extends { readonly height: number; readonly position: number }>(
  chain: Chain.Chain,
  readLog: Read<A>,
  request: PageRequest
) {
  const before = yield* ChainRow.findWithReorganisations(chain)
  if (before === undefined || before.height === null) return { items: [], next: undefined } satisfies Placed<A>
  const { id } = before
  const range = { id, first: before.first_height ?? 0, last: before.height }
  const { since } = request
  const fromHeight = since === undefined ? undefined : yield* heightBetween(chain, range, since)
  const { hasMore, items } = yield* readLog(id, {
    order: request.order,
    limit: request.limit,
    after: yield* beginOf(id, request),
    fromHeight,
    except:
      since === undefined || fromHeight === undefined ? undefined : yield* olderAbove(chain, range, fromHeight, since)
  })
  const blocks = yield* blocksAt(id, [...new Set(items.map(({ height }) => height))])
  const after = yield* ChainRow.findWithReorganisations(chain)
  if (after?.reorganisations !== before.reorganisations) return undefined
  const last = items.at(-1)
  return {
    items: items.map((item) => ({ ...item, block: blocks.get(item.height)! })),
    next: hasMore && last !== undefined ? endOf(last, before.reorganisations ?? 0) : undefined
  } satisfies Placed<A>
})

/** The page as of one moment. */
export const read = Effect.fnUntraced(function* <A extends { readonly height: number; readonly position: number }>(
  chain: Chain.Chain,
  readLog: Read<A>,
  request: PageRequest
) {
  while (true) {
    const found: Placed<A> | undefined = yield* pageAtOnce(chain, readLog, request)
    if (found !== undefined) return found
  }
})
