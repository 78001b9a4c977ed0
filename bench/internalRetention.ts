/**
 * What a dropped partition saves: a day's internal transactions are read, added up and go with their partition, beside the same
 * where they are deleted row by row, with a vacuum.
 *
 *     node bench/internalRetention.ts [transactions a day] [days] [rounds]
 *
 * Both ways in turns, each in a database of its own. CPU is of this process and of the server; the server has `fsync = off`.
 */
import { randomBytes } from "node:crypto"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, InternalTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as PartitionUpkeep from "@headwater/indexer/store/chain/PartitionUpkeep"
import * as PrunedInternal from "@headwater/indexer/store/chain/PrunedInternal"
import * as InternalPartitions from "@headwater/indexer/store/chain/transfers/InternalPartitions"
import * as Posting from "@headwater/indexer/store/chain/transfers/internal/Posting"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import { Database } from "@headwater/indexer/store/database/Database"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as RetentionCosts from "./RetentionCosts.ts"

const [count = 100_000, days = 14, rounds = 5] = process.argv.slice(2).map(Number)
const perBlock = 200
const blocksOfDay = Math.ceil(count / perBlock)
const chain = 1
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

const writeDay = (day: number, table: TransferLog.InternalTable) =>
  Effect.gen(function* () {
    const { insertMany, transaction } = yield* Database
    for (let n = 0; n < blocksOfDay; n++) {
      const block = blockAt(day * blocksOfDay + n)
      const rows = TimeSlice.atOnce(TransferLog.pack(chain, block, () => true, table))
      yield* transaction(insertMany(table, rows[table]))
    }
  })

/** Where nobody watches the ends, no sum is written: the case in which the removal weighs most. */
const sums = (transfers: ReadonlyArray<InternalTransfer>) => PrunedInternal.add(chain, "watched", transfers)

const forget = (below: number) => TransferLog.forgetInternal(chain, below, sums)

const main = async () => {
  const { admin, end, open } = await RetentionCosts.start()
  // A vacuum of the server's own would count with whichever way is measured at the time.
  await admin.query("alter system set autovacuum = off")
  await admin.query("select pg_reload_conf()")

  const dropped = await open("dropped")
  const deleted = await open("deleted")
  const attachDay = Effect.fnUntraced(function* (day: number) {
    const { transaction } = yield* Database
    yield* transaction(InternalPartitions.attach(chain, day * blocksOfDay, (day + 1) * blocksOfDay))
  })
  for (const { client } of [dropped, deleted]) {
    await client.query("insert into chain (id, name, height) values ($1, 'ethereum/mainnet', 1000000000)", [chain])
  }
  const writeBoth = async (day: number) => {
    await dropped.run(attachDay(day))
    await dropped.run(writeDay(day, "packed_internal"))
    await deleted.run(writeDay(day, "packed_transfers"))
  }
  for (let day = 0; day < days; day++) await writeBoth(day)
  const thousands = (blocksOfDay * perBlock) / 1_000
  const ours: Array<RetentionCosts.Cost> = []
  const peers: Array<RetentionCosts.Cost> = []
  const reader = ChainReader.make(Result.getOrThrow(Chain.find("ethereum", "mainnet")))
  for (let round = 0; round < rounds; round++) {
    const below = (round + 1) * blocksOfDay
    await writeBoth(days + round)
    ours.push(
      await dropped.measured(thousands, async () => {
        await dropped.run(Effect.andThen(forget(below), Effect.flatMap(reader, PartitionUpkeep.drop)))
      })
    )
    peers.push(
      await deleted.measured(thousands, async () => {
        await deleted.run(forget(below))
        await deleted.client.query("vacuum packed_transfers")
      })
    )
    for (const [{ client }, table] of [[dropped, "packed_internal"] as const, [deleted, "packed_transfers"] as const]) {
      const { rows: left } = await client.query(`select min(position) as first from ${table}`)
      if (Number(left[0].first) < Posting.positionOf(below, 0))
        throw new Error("Something that should be gone is there")
    }
    for (const [name, cost] of [["dropped", ours.at(-1)!] as const, ["deleted", peers.at(-1)!] as const]) {
      const { own, server, wal } = cost
      console.log(
        `${name}: ${own.toFixed(2)} + ${server.toFixed(2)} ms of CPU, ${wal.toFixed(0)} bytes of WAL a thousand`
      )
    }
  }
  RetentionCosts.report("internal transactions forgotten, PostgreSQL", "a thousand", ours, {
    ...{ as: "peer", name: "deleted row by row, and vacuumed", costs: peers }
  })
  await end()
}

await main()
