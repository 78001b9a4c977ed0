/**
 * Transfers a second into an empty store, each found by both of its addresses: Headwater's transfer log, a block a
 * commit, against two rows of text a transfer through Kysely's `values`, a block a commit too. Both on SQLite with the
 * same pragmas, in turns.
 *
 *     node bench/evm/ingest.ts [address rows, 1000000] [rounds, 3] [headwater | text | both]
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TokenTransfer } from "@headwater/core/Block"
import * as Compaction from "@headwater/indexer/store/chain/transfers/Compaction"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import { Database } from "@headwater/indexer/store/database/Database"
import Sqlite from "better-sqlite3"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import { Kysely, SqliteDialect } from "kysely"

const rows = Number(process.argv[2] ?? 1_000_000)
const rounds = Number(process.argv[3] ?? 3)
const which = process.argv[4] ?? "both"
const perBlock = 500
const blocks = Math.round(rows / 2 / perBlock)
/** Blocks that are made before the clock runs. */
const atOnce = 50
/** Runs are sorted and merged beside the commits, as the daemon does. */
const compactEvery = Math.ceil(Compaction.unsortedLimit / 2 / perBlock)

/** A tenth of the transfers is of one busy address, a quarter of either side was never seen before, the rest is skewed. */
const generator = () => {
  let state = 88_172_645
  const random = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  let known = 1
  const address = (number: number) => {
    const bytes = Buffer.alloc(20)
    bytes.writeUInt32BE(Math.imul(number, 2_654_435_761) >>> 0, 0)
    bytes.writeUInt32BE(number, 12)
    return bytes as unknown as AddressBytes
  }
  const side = () => (random() < 0.25 ? address(known++) : address(Math.floor(known * random() ** 3)))
  const contracts = Array.from({ length: 200 }, (_, i) => address(0xf000_0000 + i))
  return (height: number): Block => {
    const transfers = Array.from(
      { length: perBlock },
      (_, i): TokenTransfer => ({
        ...{ kind: "token", transaction: i >> 1, position: i, batchIndex: 0, token: "fungible", tokenId: undefined },
        contract: contracts[Math.floor(200 * random() ** 2)]!,
        from: random() < 0.1 ? address(0) : side(),
        to: side(),
        amount: BigInt(Math.floor(random() * 2 ** 50)) * 1_000_003n
      })
    )
    const hash = (number: number) => {
      const bytes = Buffer.alloc(32)
      for (let i = 0; i < 32; i += 4) bytes.writeUInt32BE(Math.floor(random() * 2 ** 32), i)
      bytes.writeUInt32BE(number, 28)
      return bytes
    }
    const transactions = Array.from({ length: perBlock / 2 }, (_, i) => hash(i))
    return { height, hash: hash(height), parent: hash(height), time: height, transactions, transfers, spends: [] }
  }
}

interface Speed {
  readonly seconds: number
  readonly cpu: number
  /** Transfers a second in the first and the last tenth. */
  readonly first: number
  readonly last: number
}

interface Result extends Speed {
  readonly bytes: number
}

const sizeOf = (folder: string) => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

/** Runs `commit` for every block and measures it; making the blocks is not counted. */
const measure = async (commit: (block: Block) => Promise<void>, end: () => Promise<void>): Promise<Speed> => {
  const next = generator()
  const tenth = Math.ceil(blocks / 10)
  const tenths: Array<number> = []
  let cpu = 0
  let seconds = 0
  for (let height = 0; height < blocks; height += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, blocks - height) }, (_, i) => next(height + i))
    const before = process.cpuUsage()
    const begin = performance.now()
    for (const block of some) await commit(block)
    if (height + atOnce >= blocks) await end()
    const took = (performance.now() - begin) / 1000
    const { system, user } = process.cpuUsage(before)
    cpu += (system + user) / 1e6
    seconds += took
    const slot = Math.floor(height / tenth)
    tenths[slot] = (tenths[slot] ?? 0) + took
  }
  const rate = (seconds: number, blocks: number) => (blocks * perBlock) / seconds
  const last = blocks - (tenths.length - 1) * tenth
  return { seconds, cpu, first: rate(tenths[0]!, tenth), last: rate(tenths.at(-1)!, last) }
}

const inFolder = async (run: (folder: string) => Promise<Speed>): Promise<Result> => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-ingest-"))
  const speed = await run(folder)
  const sqlite = new Sqlite(join(folder, "store.db"))
  sqlite.pragma("wal_checkpoint(TRUNCATE)")
  sqlite.close()
  const bytes = sizeOf(folder)
  rmSync(folder, { recursive: true })
  return { ...speed, bytes }
}

const headwater = (folder: string) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { insertMany, transaction } = yield* Database
      const run = Effect.runPromiseWith(yield* Effect.context<Database>())
      let compacted = Promise.resolve()
      return yield* Effect.promise(() =>
        measure(
          async (block) => {
            const { hash, height, parent, time } = block
            const { chunks, unsorted } = TimeSlice.atOnce(TransferLog.pack(1, block, () => true))
            await run(
              transaction(
                Effect.all([
                  insertMany("block", [{ chain: 1, height, hash, parent, time }]),
                  insertMany("packed_transfers", chunks),
                  insertMany("staged_postings", unsorted)
                ])
              )
            )
            if (height % compactEvery === compactEvery - 1) {
              // At most one at a time, and the commits do not get away from it.
              await compacted
              compacted = run(Compaction.compact(1))
            }
          },
          async () => {
            await compacted
            await run(Compaction.compact(1))
          }
        )
      )
    }).pipe(Effect.provide(Database.layer({ kind: "sqlite", file: join(folder, "store.db") })), Effect.scoped)
  )

interface TextRow {
  readonly address: string
  readonly height: number
  readonly position: number
  readonly direction: string
  readonly counterpart: string
  readonly contract: string
  readonly transaction_id: string
  readonly amount: string
}

/** Those of Headwater's own connections. */
const pragmas = [
  ...["page_size=8192", "journal_mode=WAL", "synchronous=NORMAL", "temp_store=MEMORY"],
  ...["cache_size=-131072", "wal_autocheckpoint=10000"]
]

/** Rows of one statement: SQLite binds at most 32,766 values. */
const perStatement = 1_000

const text = async (folder: string) => {
  const sqlite = new Sqlite(join(folder, "store.db"))
  for (const pragma of pragmas) sqlite.pragma(pragma)
  sqlite.exec(`create table transfer (
    address text not null, height integer not null, position integer not null, direction text not null,
    counterpart text not null, contract text not null, transaction_id text not null, amount text not null
  );
  create index transfer_address on transfer (address, height, position);
  create index transfer_height on transfer (height)`)
  const db = new Kysely<{ transfer: TextRow }>({ dialect: new SqliteDialect({ database: sqlite }) })
  const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
  const result = await measure(
    async ({ height, transactions, transfers }) => {
      const values = (transfers as ReadonlyArray<TokenTransfer>).flatMap((transfer): ReadonlyArray<TextRow> => {
        const [from, to, contract] = [hex(transfer.from), hex(transfer.to), hex(transfer.contract)]
        const shared = {
          ...{ height, position: transfer.position, contract, amount: String(transfer.amount) },
          transaction_id: hex(transactions[transfer.transaction]!)
        }
        return [
          { address: from, counterpart: to, direction: "outgoing", ...shared },
          { address: to, counterpart: from, direction: "incoming", ...shared }
        ]
      })
      await db.transaction().execute(async (transaction) => {
        for (let i = 0; i < values.length; i += perStatement) {
          await transaction
            .insertInto("transfer")
            .values(values.slice(i, i + perStatement))
            .execute()
        }
      })
    },
    async () => {}
  )
  await db.destroy()
  return result
}

const show = (name: string, { bytes, cpu, first, last, seconds }: Result) => {
  const count = blocks * perBlock
  const thousands = (number: number) => `${(number / 1000).toFixed(1)}k`
  console.log(
    `${name.padEnd(10)} ${thousands(count / seconds).padStart(7)} transfers/s  ${thousands(count / cpu).padStart(7)} per CPU s` +
      `  first tenth ${thousands(first)}/s  last tenth ${thousands(last)}/s  ${(bytes / count).toFixed(0)} bytes/transfer`
  )
}

const median = (numbers: ReadonlyArray<number>) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

console.log(
  `${blocks * perBlock} transfers, ${blocks * perBlock * 2} address rows, ${perBlock} a block, 1 block a commit`
)
const ours: Array<Result> = []
const theirs: Array<Result> = []
for (let round = 0; round < rounds; round++) {
  if (which !== "text") {
    ours.push(await inFolder(headwater))
    show("headwater", ours.at(-1)!)
  }
  if (which !== "headwater") {
    theirs.push(await inFolder(text))
    show("text rows", theirs.at(-1)!)
  }
}
if (ours.length > 0 && theirs.length > 0) {
  const ratio = (of: (result: Result) => number) => (median(theirs.map(of)) / median(ours.map(of))).toFixed(1)
  console.log(`headwater is ${ratio(({ seconds }) => seconds)} times as fast, by CPU ${ratio(({ cpu }) => cpu)} times`)
}
console.log(`peak RSS ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`)
