import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as InternalRetention from "@headwater/indexer/store/chain/InternalRetention"
import * as PartitionUpkeep from "@headwater/indexer/store/chain/PartitionUpkeep"
import * as InternalPartitions from "@headwater/indexer/store/chain/transfers/InternalPartitions"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import { sql } from "kysely"
import { locations } from "../../../../../test/Stores.ts"
import { isInTurn } from "../../../../../test/Turn.ts"
import * as Seed from "../Seed.ts"

const { chain } = Seed
const day = 86_400
const first = 100
const postgres = locations.find(({ name }) => name === "postgres")
const address = (number: number) => new Uint8Array(20).fill(number) as AddressBytes
const alice = address(1)
const hash = (fork: number, height: number) => new Uint8Array(32).fill(fork).fill(height % 251, 0, 8)

/** A block that moves as much as its height says. */
const blockAt = (height: number, time: number, fork = 1, parentFork = fork): Block => ({
  ...{ height, time, hash: hash(fork, height), parent: hash(parentFork, height - 1), spends: [] },
  transactions: [hash(fork, height + 1)],
  transfers: [
    {
      ...{ kind: "internal", transaction: 0, operation: "call_0", operationType: "call" },
      ...{ from: alice, to: address(2), amount: BigInt(height) }
    }
  ]
})

const sumOf = (from: number, to: number) => BigInt(((from + to) * (to - from + 1)) / 2)

const open = Effect.gen(function* () {
  const commits = yield* ChainStore.open(chain, { record: "all", undoDepth: 2 })
  const recorded = yield* ChainReader.make(chain)
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  /** Blocks of an hour each. */
  const commit = Effect.fnUntraced(function* (from: number, to: number) {
    const blocks = Array.from({ length: to - from + 1 }, (_, i) => blockAt(from + i, now + (from + i - first) * 3_600))
    assert.strictEqual((yield* commits.commit(blocks)).blocks, blocks.length)
  })
  const heights = Effect.map(recorded.page("internal", alice, { order: "ascending", limit: 5_000 }), ({ transfers }) =>
    transfers.map(({ height }) => height)
  )
  const spent = Effect.gen(function* () {
    let sum = (yield* recorded.prunedTotals([alice])).get(Bytes.key(alice))?.spent ?? 0n
    yield* recorded.each("internal", alice, Number.MAX_SAFE_INTEGER, ({ amount }) => {
      sum += amount
    })
    return sum
  })
  return { commit, commits, heights, now, recorded, spent }
})

/** With blocks up to 120, of which those from 110 on below 115 are in a partition. */
const openWithPartition = Effect.gen(function* () {
  const opened = yield* open
  const { transaction } = yield* Database
  yield* opened.commit(first, 109)
  yield* transaction(InternalPartitions.attach(1, 110, 115))
  yield* opened.commit(110, 120)
  return opened
})

/** As some days later. */
const later = <A, E, R>(days: number, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const currentTimeMillis = Effect.map(clock.currentTimeMillis, (millis) => millis + days * day * 1_000)
    return yield* Effect.provideService(
      self,
      Clock.Clock,
      Object.create(clock, { currentTimeMillis: { value: currentTimeMillis } })
    )
  })

/** Forgets blocks below a height, as if they were 14 days old by now, and that one were not. */
const forgetBelow = (recorded: ChainReader.ChainReader, height: number) =>
  later(14 + (height - first - 0.5) / 24, InternalRetention.prune(recorded, { record: "all", undoDepth: 2 }))

/** Rows by the table that has them. */
const tables = Effect.gen(function* () {
  const { query } = yield* Database
  const counts = sql<{ readonly name: string; readonly rows: number }>`
    select name, count(*)::int as rows from (
      select tableoid::regclass::text as name from packed_internal
      union all select 'packed_transfers' from packed_transfers
    ) chunks group by name`
  const found = yield* query(rows(counts))
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows]))
})

const partitions = Effect.flatMap(Database, ({ query }) =>
  query((db) => db.selectFrom("internal_partition").select(["from_height", "to_height"]).orderBy("from_height"))
)

const statement = (text: string) => Effect.flatMap(Database, ({ query }) => query(rows(sql.raw(text))))

const fresh = <A, E>(self: Effect.Effect<A, E, Subscriptions | Database | Scope.Scope>): Effect.Effect<A, unknown> =>
  Effect.flatMap(postgres!.location, (location) =>
    Effect.provide(Effect.scoped(self), Subscriptions.layer.pipe(Layer.provideMerge(Database.layer(location))))
  ).pipe(Effect.scoped)

const isTried = postgres !== undefined && isInTurn(import.meta.url)

describe.skipIf(!isTried)("The partitions of internal transactions on postgres", () => {
  it.live("take the blocks to come, and are dropped once these are forgotten", () =>
    fresh(
      Effect.gen(function* () {
        const { commit, heights, recorded, spent } = yield* open
        yield* commit(first, 103)
        yield* Effect.all(
          Array.from({ length: 3 }, () => PartitionUpkeep.prepare(recorded)),
          { concurrency: 3 }
        )
        assert.deepStrictEqual(yield* partitions, [{ from_height: 104, to_height: 1_104 }])
        yield* commit(104, 120)
        assert.deepStrictEqual(yield* tables, { packed_internal_1_104: 11, packed_transfers: 10 })
        yield* forgetBelow(recorded, 110)
        assert.deepStrictEqual(yield* tables, { packed_internal_1_104: 11 })
        assert.strictEqual((yield* heights)[0], 110)
        assert.strictEqual(yield* spent, sumOf(first, 120))
        yield* PartitionUpkeep.keep(recorded)
        assert.lengthOf(yield* partitions, 1)

        yield* commit(121, 860)
        yield* PartitionUpkeep.keep(recorded)
        const next = { from_height: 1_104, to_height: 2_104 }
        assert.deepStrictEqual((yield* partitions)[1], next)
        yield* commit(861, 1_120)
        yield* forgetBelow(recorded, 1_110)
        assert.deepStrictEqual(yield* tables, { packed_internal_1_104: 994, packed_internal_1_1104: 17 })
        yield* Effect.all([PartitionUpkeep.drop(recorded), PartitionUpkeep.drop(recorded)], { concurrency: 2 })
        assert.deepStrictEqual(yield* tables, { packed_internal_1_1104: 17 })
        assert.deepStrictEqual(yield* partitions, [next])
        assert.strictEqual((yield* heights)[0], 1_110)
        assert.strictEqual(yield* spent, sumOf(first, 1_120))
      })
    )
  )

  it.live("are of about two days by the time of the blocks, where the clock is years behind", () =>
    fresh(
      Effect.gen(function* () {
        const { commit, recorded } = yield* open
        yield* commit(first, 1_399)
        yield* later(-10_000, PartitionUpkeep.prepare(recorded))
        assert.deepStrictEqual(yield* partitions, [{ from_height: 1_400, to_height: 2_400 }])
      })
    )
  )

  it.live("are not tried to be made by a role that may make no tables", () =>
    fresh(
      Effect.gen(function* () {
        const { commit, recorded } = yield* open
        const { transaction } = yield* Database
        yield* commit(first, 110)
        const role = `reader_${randomUUID().replaceAll("-", "")}`
        const tried = Effect.gen(function* () {
          yield* statement(`create role ${role}`)
          yield* statement(`grant select, insert, update, delete on all tables in schema public to ${role}`)
          yield* statement(`set local role ${role}`)
          yield* PartitionUpkeep.prepare(recorded)
          return yield* Effect.fail(yield* partitions)
        })
        // The role is gone again with the transaction.
        assert.deepStrictEqual(yield* Effect.flip(transaction(tried)), [])
        yield* PartitionUpkeep.prepare(recorded)
        assert.lengthOf(yield* partitions, 1)
      })
    )
  )

  it.live("stay where their blocks come again, and count the blocks that did", () =>
    fresh(
      Effect.gen(function* () {
        const { commit, commits, heights, recorded, spent } = yield* openWithPartition
        yield* forgetBelow(recorded, 112)
        assert.deepStrictEqual(yield* heights, [112, 113, 114, 115, 116, 117, 118, 119, 120])
        yield* commits.rewind(109)
        yield* PartitionUpkeep.drop(recorded)
        assert.lengthOf(yield* partitions, 1)
        yield* commit(110, 120)
        assert.deepStrictEqual(yield* tables, { packed_internal_1_110: 5, packed_transfers: 6 })
        assert.strictEqual((yield* heights)[0], 110)
        yield* forgetBelow(recorded, 116)
        // What was summed up before the rewind counts twice, as `headwater rewind` says.
        assert.strictEqual(yield* spent, sumOf(first, 120) + sumOf(110, 111))
        yield* PartitionUpkeep.drop(recorded)
        assert.deepStrictEqual(yield* tables, { packed_transfers: 5 })
      })
    )
  )

  it.live("wait for readers without keeping anybody waiting for long", () =>
    fresh(
      Effect.gen(function* () {
        const { commit, recorded } = yield* openWithPartition
        const { query, transaction } = yield* Database
        yield* forgetBelow(recorded, 116)
        const reads = yield* Deferred.make<void>()
        const ends = yield* Deferred.make<void>()
        const reader = yield* Effect.forkChild(
          transaction(
            Effect.andThen(
              query((db) => db.selectFrom("packed_internal").select("position").limit(1)),
              Effect.andThen(Deferred.succeed(reads, undefined), Deferred.await(ends))
            )
          )
        )
        yield* Deferred.await(reads)
        const dropping = yield* Effect.forkChild(PartitionUpkeep.drop(recorded))
        // Between two tries of the drop there is room.
        yield* commit(121, 125)
        assert.lengthOf(yield* partitions, 1)
        yield* Deferred.succeed(ends, undefined)
        yield* Fiber.join(reader)
        yield* Fiber.join(dropping)
        assert.lengthOf(yield* partitions, 0)
      })
    )
  )

  it.live("are not needed: what none can be made for is deleted row by row", () =>
    fresh(
      Effect.gen(function* () {
        const { commit, heights, recorded, spent } = yield* open
        yield* commit(first, 104)
        yield* statement("create table packed_internal_1_105 (in_the_way bigint)")
        const lines: Array<string> = []
        const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
        yield* Effect.provide(PartitionUpkeep.keep(recorded), logger)
        // A line, as an operator reads it, and no stack.
        const { message } = JSON.parse(lines.join())
        assert.match(message, /^No partition was made for internal transactions: .*already exists$/)
        assert.lengthOf(yield* partitions, 0)
        yield* commit(105, 120)
        yield* forgetBelow(recorded, 112)
        assert.deepStrictEqual(yield* tables, { packed_transfers: 9 })
        assert.strictEqual((yield* heights)[0], 112)
        assert.strictEqual(yield* spent, sumOf(first, 120))
      })
    )
  )
})
