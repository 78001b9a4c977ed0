/**
 * What a partition of the record that is dropped would save: a day's internal transactions forgotten as they are, with a
 * vacuum, beside the part of the work that stays where a partition is dropped: reading what goes, and adding up the sums.
 *
 *     node bench/internalRetention.ts [transactions a day] [days] [rounds]
 *
 * Both ways in turns, each in a database of its own. CPU is of this process and of the server; the server has `fsync = off`.
 */
import { randomBytes } from "node:crypto"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, InternalTransfer } from "@headwater/core/Block"
import * as PrunedInternal from "@headwater/indexer/store/chain/PrunedInternal"
import { logOf } from "@headwater/indexer/store/chain/transfers/internal/Logs"
import * as Posting from "@headwater/indexer/store/chain/transfers/internal/Posting"
import * as TransferChunk from "@headwater/indexer/store/chain/transfers/internal/TransferChunk"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import { Database } from "@headwater/indexer/store/database/Database"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as RetentionCosts from "./RetentionCosts.ts"

const [count = 100_000, days = 14, rounds = 5] = process.argv.slice(2).map(Number)
const perBlock = 200
const blocksOfDay = Math.ceil(count / perBlock)
const chain = 1
const log = logOf(chain, "internal")
/** A tenth of all ends is one of a hundred contracts. */
const contracts = Array.from({ length: 100 }, () => randomBytes(20) as Uint8Array as AddressBytes)
const address = () =>
  Math.random() < 0.1
    ? contracts[Math.floor(Math.random() * contracts.length)]!
    : (randomBytes(20) as Uint8Array as AddressBytes)

const transferOf = (_: unknown, n: number): InternalTransfer => ({
  kind: "internal",
  transaction: n >> 1,
  operation: `call_${n & 1}_${n % 3}`,
  operationType: "call",
  from: address(),
  to: address(),
  amount: BigInt(`0x${randomBytes(8).toString("hex")}`)
})

const blockAt = (height: number): Block => ({
  ...{ height, hash: randomBytes(32), parent: randomBytes(32), time: 1_700_000_000 + 12 * height },
  transactions: Array.from({ length: perBlock / 2 }, () => randomBytes(32)),
  transfers: Array.from({ length: perBlock }, transferOf),
  spends: []
})

const writeDay = (day: number) =>
  Effect.gen(function* () {
    const { insertMany, transaction } = yield* Database
    for (let n = 0; n < blocksOfDay; n++) {
      const block = blockAt(day * blocksOfDay + n)
      const { chunks } = TimeSlice.atOnce(TransferLog.pack(chain, block, () => true))
      yield* transaction(insertMany("packed_transfers", chunks))
    }
  })

/** Where nobody watches the ends, no sum is written: the case in which the removal weighs most. */
const sums = (transfers: ReadonlyArray<InternalTransfer>) => PrunedInternal.add(chain, "watched", transfers)

/** Reads what `TransferLog.prune` would remove, a step at a time, and adds up its sums; nothing goes. */
const readOnly = (from: number, below: number) =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    let after = Posting.positionOf(from, 0) - 1
    while (true) {
      const rows = yield* transaction(
        Effect.gen(function* () {
          const rows = yield* query((db) =>
            db
              .selectFrom("packed_transfers")
              .select(["position", "data"])
              .where("log", "=", log)
              .where("position", ">", after)
              .where("position", "<", Posting.positionOf(below, 0))
              .orderBy("position")
              .limit(100)
          )
          yield* sums(
            rows.flatMap(({ data }) => TransferChunk.unpack(data).map(({ transfer }) => transfer as InternalTransfer))
          )
          return rows
        })
      )
      if (rows.length === 0) return
      after = rows.at(-1)!.position
      yield* Effect.sleep("5 millis")
    }
  })

const main = async () => {
  const { admin, end, open } = await RetentionCosts.start()
  // A vacuum of the server's own would count with whichever way is measured at the time.
  await admin.query("alter system set autovacuum = off")
  await admin.query("select pg_reload_conf()")

  const pruned = await open("pruned")
  const kept = await open("kept")
  for (const { run } of [pruned, kept]) for (let day = 0; day < days; day++) await run(writeDay(day))
  const thousands = (blocksOfDay * perBlock) / 1_000
  const ours: Array<RetentionCosts.Cost> = []
  const floors: Array<RetentionCosts.Cost> = []
  for (let round = 0; round < rounds; round++) {
    const below = (round + 1) * blocksOfDay
    for (const { run } of [pruned, kept]) await run(writeDay(days + round))
    ours.push(
      await pruned.measured(thousands, async () => {
        await pruned.run(TransferLog.prune(chain, "internal", below, sums))
        await pruned.client.query("vacuum packed_transfers")
      })
    )
    floors.push(await kept.measured(thousands, () => kept.run(readOnly(below - blocksOfDay, below))))
    const { rows: left } = await pruned.client.query("select min(position) as first from packed_transfers")
    if (Number(left[0].first) < Posting.positionOf(below, 0)) throw new Error("Something that should be gone is there")
    for (const [name, cost] of [["forgotten", ours.at(-1)!] as const, ["read and added up", floors.at(-1)!] as const]) {
      const { own, server, wal } = cost
      console.log(
        `${name}: ${own.toFixed(2)} + ${server.toFixed(2)} ms of CPU, ${wal.toFixed(0)} bytes of WAL a thousand`
      )
    }
  }
  RetentionCosts.report("internal transactions forgotten, PostgreSQL", "a thousand", ours, {
    ...{ as: "floor", name: "read and added up", costs: floors }
  })
  await end()
}

await main()
