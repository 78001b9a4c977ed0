/**
 * Transfers a second into an empty store, each found by both of its addresses, and the pages of a busy and of other
 * addresses then: Headwater's transfer log, a block a commit, against two rows of text a transfer through Kysely's `values`,
 * a block a commit too. Both on SQLite with the same pragmas, in turns; or the log alone, on SQLite or in the PostgreSQL
 * database at DATABASE_URL, which must be empty.
 *
 *     node bench/evm/ingest.ts [address rows, 1000000] [rounds, 3] [headwater | postgres | text | both] [blocks a commit, 1]
 *
 * A block a commit is a chain that is followed; 10 of these blocks are what a daemon that catches up commits at once.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TokenTransfer } from "@headwater/core/Block"
import * as Compaction from "@headwater/indexer/store/chain/transfers/Compaction"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import * as TransferPages from "@headwater/indexer/store/chain/transfers/TransferPages"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows as rowsOf } from "@headwater/indexer/store/database/Statements"
import Sqlite from "better-sqlite3"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Kysely, SqliteDialect, sql } from "kysely"
import * as Comparison from "../Comparison.ts"
import { median } from "../Samples.ts"

const rows = Number(process.argv[2] ?? 1_000_000)
const rounds = Number(process.argv[3] ?? 3)
const which = process.argv[4] ?? "both"
const blocksOfCommit = Number(process.argv[5] ?? 1)
const perBlock = 500
const blocks = Math.round(rows / 2 / perBlock)
/**
 * Blocks that are made before the clock runs: few, as of a chain that is followed. Of many the processor's caches have
 * nothing, and the collector copies all of them.
 */
const atOnce = Math.max(10, blocksOfCommit)
/** Runs are sorted and merged beside the commits, as the daemon does. */
const commitsBetweenCompactions = Math.ceil(Compaction.unsortedLimit / 2 / perBlock / blocksOfCommit)

const addressOf = (number: number) => {
  const bytes = Buffer.alloc(20)
  bytes.writeUInt32BE(Math.imul(number, 2_654_435_761) >>> 0, 0)
  bytes.writeUInt32BE(number, 12)
  return bytes as unknown as AddressBytes
}

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
  const side = () => (random() < 0.25 ? addressOf(known++) : addressOf(Math.floor(known * random() ** 3)))
  const contracts = Array.from({ length: 200 }, (_, i) => addressOf(0xf000_0000 + i))
  return (height: number): Block => {
    const transfers = Array.from(
      { length: perBlock },
      (_, i): TokenTransfer => ({
        ...{ kind: "token", transaction: i >> 1, position: i, batchIndex: 0, token: "fungible", tokenId: undefined },
        contract: contracts[Math.floor(200 * random() ** 2)]!,
        from: random() < 0.1 ? addressOf(0) : side(),
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

/** Microseconds of wall time that a page of 50 takes, newest first: the median of a busy address, and of one that few name. */
interface Pages {
  readonly busy: number
  readonly quiet: number
}

interface Result extends Speed, Pages {
  /** What the store takes, without pages that are free and runs that are retired; and by table, in bytes a transfer. */
  readonly bytes: number
  readonly tables: string
}

const pagesOfEach = 500

/** Reads pages that begin anywhere in the record. */
const measurePages = async (read: (address: AddressBytes, below: number) => Promise<number>): Promise<Pages> => {
  const of = async (address: (i: number) => AddressBytes) => {
    const took: Array<number> = []
    for (let i = 0; i < pagesOfEach; i++) {
      const below = 1 + Math.floor(((i + 1) / pagesOfEach) * (blocks - 1))
      const begin = performance.now()
      await read(address(i), below)
      took.push((performance.now() - begin) * 1000)
    }
    return median(took)
  }
  const many = Math.floor(blocks * perBlock * 0.4)
  return { busy: await of(() => addressOf(0)), quiet: await of((i) => addressOf(1 + ((i * 7919) % many))) }
}

/** Runs `commit` for all blocks, `blocksOfCommit` at a time, and measures it; making the blocks is not counted. */
const measure = async (
  commit: (blocks: ReadonlyArray<Block>) => Promise<void>,
  end: () => Promise<void>
): Promise<Speed> => {
  const next = generator()
  const tenth = Math.ceil(blocks / 10)
  const tenths: Array<number> = []
  let cpu = 0
  let seconds = 0
  for (let height = 0; height < blocks; height += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, blocks - height) }, (_, i) => next(height + i))
    const before = process.cpuUsage()
    const begin = performance.now()
    for (let i = 0; i < some.length; i += blocksOfCommit) await commit(some.slice(i, i + blocksOfCommit))
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

type Measured = Speed & Pages

const inFolder = async (run: (folder: string) => Promise<Measured>): Promise<Result> => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-ingest-"))
  const measured = await run(folder)
  const sqlite = new Sqlite(join(folder, "store.db"))
  const hasRuns = sqlite.prepare("select 1 from sqlite_master where name = 'posting_run'").get() !== undefined
  if (hasRuns) {
    sqlite.exec("delete from sorted_postings where run in (select id from posting_run where state = 'retired')")
  }
  const number = (pragma: string) => sqlite.pragma(pragma, { simple: true }) as number
  const bytes = (number("page_count") - number("freelist_count")) * number("page_size")
  const tables = sqlite
    .prepare("select name, sum(pgsize) as bytes from dbstat group by name order by bytes desc limit 5")
    .all() as ReadonlyArray<{ readonly name: string; readonly bytes: number }>
  sqlite.close()
  rmSync(folder, { recursive: true })
  return { ...measured, bytes, tables: shares(tables) }
}

const shares = (tables: ReadonlyArray<{ readonly name: string; readonly bytes: number }>) =>
  tables.map(({ bytes, name }) => `${name} ${(bytes / blocks / perBlock).toFixed(1)}`).join(", ")

const ingest = Effect.gen(function* () {
  const { insertMany, transaction } = yield* Database
  const run = Effect.runPromiseWith(yield* Effect.context<Database>())
  let compacted = Promise.resolve()
  let commits = 0
  const speed = yield* Effect.promise(() =>
    measure(
      async (some) => {
        const rows = some.map((block) => TimeSlice.atOnce(TransferLog.pack(1, block, () => true)))
        await run(
          transaction(
            Effect.all([
              insertMany(
                "block",
                some.map(({ hash, height, parent, time }) => ({ chain: 1, height, hash, parent, time }))
              ),
              insertMany(
                "packed_transfers",
                rows.flatMap(({ packed_transfers }) => packed_transfers)
              ),
              insertMany(
                "staged_postings",
                rows.flatMap(({ staged_postings }) => staged_postings)
              )
            ])
          )
        )
        commits++
        if (commits % commitsBetweenCompactions === 0) {
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
  const pages = yield* Effect.promise(() =>
    measurePages(async (address, below) => {
      const after = below * TransferPages.perBlock
      const { transfers } = await run(
        TransferPages.page(1, "token", address, { order: "descending", limit: 50, after })
      )
      return transfers.length
    })
  )
  return { ...speed, ...pages }
})

const headwater = (folder: string) =>
  Effect.runPromise(
    ingest.pipe(Effect.provide(Database.layer({ kind: "sqlite", file: join(folder, "store.db") })), Effect.scoped)
  )

const inPostgres = async (): Promise<Result> => {
  const url = Redacted.make(process.env.DATABASE_URL!)
  const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))
  const database = Database.layer({ kind: "postgres", url, connections: 5, secretKeys })
  return Effect.runPromise(
    Effect.gen(function* () {
      const measured = yield* ingest
      const { query } = yield* Database
      const tables = yield* query(
        rowsOf(sql<{ readonly name: string; readonly bytes: number }>`
          select relname as name, pg_total_relation_size(oid)::bigint as bytes from pg_class
          where relkind = 'r' and relnamespace = 'public'::regnamespace order by 2 desc limit 5`)
      )
      const bytes = tables.reduce((sum, table) => sum + Number(table.bytes), 0)
      return { ...measured, bytes, tables: shares(tables) }
    }).pipe(Effect.provide(database), Effect.scoped)
  )
}

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
    async (some) => {
      const values = some.flatMap(({ height, transactions, transfers }) =>
        (transfers as ReadonlyArray<TokenTransfer>).flatMap((transfer): ReadonlyArray<TextRow> => {
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
      )
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
  const page = sqlite.prepare(
    "select * from transfer where address = ? and height < ? order by height desc, position desc limit 50"
  )
  const pages = await measurePages(async (address, below) => page.all(hex(address), below).length)
  await db.destroy()
  return { ...result, ...pages }
}

const show = (name: string, { busy, bytes, cpu, first, last, quiet, seconds, tables }: Result) => {
  const count = blocks * perBlock
  const thousands = (number: number) => `${(number / 1000).toFixed(1)}k`
  console.log(
    `${name.padEnd(10)} ${thousands(count / seconds).padStart(7)} transfers/s  ${thousands(count / cpu).padStart(7)} per CPU s` +
      `  first tenth ${thousands(first)}/s  last tenth ${thousands(last)}/s  ${(bytes / count).toFixed(0)} bytes/transfer (${tables})` +
      `  pages of 50: busy ${busy.toFixed(0)} us, quiet ${quiet.toFixed(0)} us`
  )
}

console.log(
  `${blocks * perBlock} transfers, ${blocks * perBlock * 2} address rows, ${perBlock} a block, ${blocksOfCommit} a commit`
)
const ours: Array<Result> = []
const theirs: Array<Result> = []
for (let round = 0; round < rounds; round++) {
  if (which === "postgres") {
    show("postgres", await inPostgres())
    continue
  }
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
  const rates = (all: ReadonlyArray<Result>) => all.map(({ cpu }) => (blocks * perBlock) / cpu)
  Comparison.report({
    ...{
      work: `transfers into an empty SQLite store, ${blocksOfCommit} blocks a commit`,
      unit: "a CPU second",
      better: "more"
    },
    ...{ ours: rates(ours), peer: { name: "rows of text", values: rates(theirs) } }
  })
  console.log(`headwater is ${ratio(({ seconds }) => seconds)} times as fast, by CPU ${ratio(({ cpu }) => cpu)} times`)
}
console.log(`peak RSS ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`)
