/**
 * Consumers of a chain's events: programs that embed the indexer, each with a name and a position of its own, from which
 * follows what a consumer is told next (`ConsumerChanges`).
 */
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"

/** Blocks that a consumer is to be told of are not kept: never recorded for consumers, or not any more. */
export class EventsNotKept extends Schema.TaggedError<EventsNotKept>()("EventsNotKept", {
  consumer: Schema.String,
  /** `blockchain/network`. */
  chain: Schema.String,
  /** The first block that lacks, and the last one. */
  from: Schema.Int,
  to: Schema.Int
}) {
  override get message() {
    return (
      `The events of blocks ${this.from} to ${this.to} of ${this.chain} are not kept, which the consumer ${this.consumer} ` +
      "has yet to be told of: what it has is to be made anew from another source, and the consumer to be forgotten and " +
      `started at block ${this.to + 1}`
    )
  }
}

/** The consumer is told in another place as well, which has acknowledged more; or it was forgotten. */
export class ConsumerElsewhere extends Schema.TaggedError<ConsumerElsewhere>()("ConsumerElsewhere", {
  consumer: Schema.String,
  /** `blockchain/network`. */
  chain: Schema.String
}) {
  override get message() {
    return `The consumer ${this.consumer} of ${this.chain} has acknowledged in another place, or was forgotten`
  }
}

/** Where a consumer begins: at a height, behind the last block, or with the first block that is kept. */
export type From = number | "latest" | "first"

/** How far a consumer has come, or has been told. */
export interface Progress {
  readonly position: number
  /** The number up to which the consumer may know blocks that it has not acknowledged: those that left are told as undone. */
  readonly told: number
  /** The number of the last step back whose undone blocks have been told, not below the position. */
  readonly steppedBack: number
  /** The last block of the chain as far as the consumer knows it; undefined where that is none. */
  readonly height: number | undefined
  /** The block's hash, where it is known. */
  readonly hash: Uint8Array | undefined
}

export interface Consumer {
  readonly id: number
  readonly name: string
  readonly chain: Chain
  /** The chain's number in the store. */
  readonly chainId: number
  /** The first block that the consumer is told of. */
  readonly from: number
  /** As far as the consumer has acknowledged. */
  readonly acknowledged: Progress
}

const toConsumer = (chain: Chain, row: Row<"consumer">): Consumer => ({
  ...{ id: row.id, name: row.name, chain, chainId: row.chain, from: row.from_height },
  acknowledged: {
    ...{ position: row.position, told: Math.max(row.told, row.position), steppedBack: row.stepped_back },
    ...{ height: row.height ?? undefined, hash: undefined }
  }
})

/** The consumer of this name, made where there is none. */
export const open = Effect.fn("Consumers.open")(function* (chain: Chain, name: string, from: From) {
  const { query, transaction } = yield* Database
  const chainId = yield* ChainRow.make(chain)
  const find = query((db) =>
    db.selectFrom("consumer").selectAll().where("name", "=", name).where("chain", "=", chainId)
  )
  const make = Effect.gen(function* () {
    const cursor = yield* ChainRow.lock(chainId)
    const [known] = yield* find
    if (known !== undefined) return toConsumer(chain, known)
    const wanted = from === "first" ? 0 : from === "latest" ? (cursor.height ?? -1) + 1 : from
    const onChain = yield* query((db) =>
      db
        .selectFrom("consumed_block")
        .select(["height", "number"])
        .where("chain", "=", chainId)
        .where("left_number", "is", null)
        .where("completion", "=", 0)
        .where("height", ">=", wanted)
        .orderBy("height")
        .limit(1)
    )
    const [last] = yield* query((db) =>
      db
        .selectFrom("consumed_block")
        .select(({ fn }) => fn.max("number").as("number"))
        .where("chain", "=", chainId)
    )
    const [first] = onChain
    if (typeof from === "number") {
      // A chain that has no blocks for consumers yet will have those that follow its cursor.
      const begins = first?.height ?? (cursor.height === null ? from : cursor.height + 1)
      if (begins > from) {
        return yield* new EventsNotKept({ consumer: name, chain: nameOf(chain), from, to: begins - 1 })
      }
    }
    const begins = first?.height ?? wanted
    const position = first === undefined ? (last?.number ?? 0) : first.number - 1
    const height = first === undefined && from === "first" ? null : begins - 1
    const [row] = yield* query((db) =>
      db
        .insertInto("consumer")
        .values({ name, chain: chainId, from_height: begins, position, told: position, stepped_back: position, height })
        .returningAll()
    )
    return toConsumer(chain, row!)
  })
  return yield* transaction(make)
})

/** The consumer, as far as it has acknowledged by now, here or elsewhere; fails where it was forgotten. */
export const present = Effect.fnUntraced(function* ({ chain, id, name }: Consumer) {
  const { query } = yield* Database
  const [row] = yield* query((db) => db.selectFrom("consumer").selectAll().where("id", "=", id))
  return row === undefined
    ? yield* new ConsumerElsewhere({ consumer: name, chain: nameOf(chain) })
    : toConsumer(chain, row)
})

/**
 * Takes note that a consumer is told so far, before it is: should the program be killed, it may have written any of that. Fails
 * where the consumer has acknowledged more in another place.
 */
export const tell = Effect.fn("Consumers.tell")(function* (
  { chain, id, name }: Pick<Consumer, "chain" | "id" | "name">,
  from: Progress,
  to: Progress
) {
  const { query } = yield* Database
  const told = yield* query((db) =>
    db
      .updateTable("consumer")
      .set({ told: sql<number>`case when told < ${to.told} then ${to.told} else told end` })
      .where("id", "=", id)
      .where(sql<boolean>`(position, stepped_back) <= (${from.position}, ${from.steppedBack})`)
      .returning("id")
  )
  if (told.length === 0) return yield* new ConsumerElsewhere({ consumer: name, chain: nameOf(chain) })
})

/** Moves the position of a consumer on, unless it is there or beyond. */
export const acknowledge = Effect.fn("Consumers.acknowledge")(function* (
  { id }: Pick<Consumer, "id">,
  { height, position, steppedBack }: Progress
) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .updateTable("consumer")
      .set({ position, stepped_back: steppedBack, height: height ?? null })
      .where("id", "=", id)
      .where(sql<boolean>`(position, stepped_back) < (${position}, ${steppedBack})`)
  )
})

/** Whether a consumer has acknowledged so far and no further; nobody else moves it until the transaction ends. */
export const isAt = Effect.fnUntraced(function* ({ id }: Pick<Consumer, "id">, { position, steppedBack }: Progress) {
  const { forUpdate, query } = yield* Database
  const [row] = yield* query((db) =>
    db.selectFrom("consumer").select(["position", "stepped_back"]).where("id", "=", id).modifyEnd(forUpdate)
  )
  return row?.position === position && row.stepped_back === steppedBack
})

/** Whether one progress is beyond another one of the same consumer. */
export const isBeyond = (one: Progress, other: Progress) =>
  one.position > other.position || (one.position === other.position && one.steppedBack > other.steppedBack)

/** Forgets a consumer on all chains: nothing is kept for it any more. */
export const forget = Effect.fn("Consumers.forget")(function* (name: string) {
  const { query } = yield* Database
  yield* query((db) => db.deleteFrom("consumer").where("name", "=", name))
})
