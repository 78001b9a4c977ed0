/**
 * Other indexers, each as a small project of its own that keeps the ERC-20 transfers of one contract with indexes on
 * both addresses. They are installed from npm into a folder for temporary files, outside of the workspace.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

export interface Peer {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly install: ReadonlyArray<string>
  /** The program and its arguments; `{contract}`, `{port}` and the like come as environment variables. */
  readonly command: ReadonlyArray<string>
  /** Its table of transfers. */
  readonly table: string
}

/** Its own limit of requests is per URL, so it gets the same node under many names (`notes/nodes.md`). */
const ponderConfig = `import { createConfig } from "ponder"
import { erc20Abi } from "viem"
export default createConfig({
  database: { kind: "postgres", connectionString: process.env.DATABASE_URL },
  chains: {
    anvil: {
      id: 31337,
      rpc: Array.from({ length: 24 }, (_, i) => \`\${process.env.NODE_URL}/?n=\${i}\`),
      maxRequestsPerSecond: 100000,
      pollingInterval: 1000
    } as any
  },
  contracts: { Coin: { chain: "anvil", abi: erc20Abi, address: process.env.CONTRACT as any, startBlock: 0 } }
})
`

const ponderSchema = `import { index, onchainTable } from "ponder"
export const transferEvent = onchainTable("transfer_event", (t) => ({
  id: t.text().primaryKey(), block: t.bigint().notNull(), timestamp: t.integer().notNull(), tx: t.hex().notNull(),
  logIndex: t.integer().notNull(), from: t.hex().notNull(), to: t.hex().notNull(), amount: t.bigint().notNull()
}), (t) => ({ fromIndex: index().on(t.from), toIndex: index().on(t.to) }))
`

const ponderIndex = `import { ponder } from "ponder:registry"
import { transferEvent } from "ponder:schema"
ponder.on("Coin:Transfer", async ({ event, context }) => {
  await context.db.insert(transferEvent).values({
    id: event.id, block: event.block.number, timestamp: Number(event.block.timestamp), tx: event.transaction.hash,
    logIndex: event.log.logIndex, from: event.args.from, to: event.args.to, amount: event.args.value
  })
})
`

const ponderApi = `import { Hono } from "hono"
export default new Hono()
`

export const ponder: Peer = {
  name: "ponder 0.16.10",
  files: {
    "package.json": JSON.stringify({
      type: "module",
      private: true,
      dependencies: { ponder: "0.16.10", viem: "2.56.9", hono: "^4.5.0" },
      overrides: { viem: "2.56.9" }
    }),
    "ponder.config.ts": ponderConfig,
    "ponder.schema.ts": ponderSchema,
    "src/index.ts": ponderIndex,
    "src/api/index.ts": ponderApi
  },
  install: ["npm", "install", "--no-audit", "--no-fund"],
  command: ["node_modules/ponder/dist/esm/bin/ponder.js", "start", "--schema", "bench", "-H", "127.0.0.1"],
  table: "bench.transfer_event"
}

const squidModel = `require("reflect-metadata")
const store = require("@subsquid/typeorm-store")
class TransferEvent { constructor(values) { Object.assign(this, values) } }
const column = (name, type, ...decorators) => {
  Reflect.defineMetadata("design:type", type, TransferEvent.prototype, name)
  for (const decorator of decorators) decorator(TransferEvent.prototype, name)
}
column("id", String, store.PrimaryColumn())
column("block", Number, store.IntColumn({ nullable: false }))
column("timestamp", Number, store.IntColumn({ nullable: false }))
column("tx", String, store.StringColumn({ nullable: false }))
column("logIndex", Number, store.IntColumn({ nullable: false }))
for (const side of ["from", "to"]) column(side, String, store.StringColumn({ nullable: false }), store.Index())
column("amount", BigInt, store.BigIntColumn({ nullable: false }))
store.Entity()(TransferEvent)
exports.TransferEvent = TransferEvent
`

const squidMigration = `module.exports = class Data1700000000000 {
  name = "Data1700000000000"
  async up(db) {
    await db.query('CREATE TABLE "transfer_event" ("id" character varying NOT NULL, "block" integer NOT NULL, "timestamp" integer NOT NULL, "tx" text NOT NULL, "log_index" integer NOT NULL, "from" text NOT NULL, "to" text NOT NULL, "amount" numeric NOT NULL, CONSTRAINT "transfer_event_key" PRIMARY KEY ("id"))')
    await db.query('CREATE INDEX "transfer_from" ON "transfer_event" ("from")')
    await db.query('CREATE INDEX "transfer_to" ON "transfer_event" ("to")')
  }
  async down(db) { await db.query('DROP TABLE "transfer_event"') }
}
`

const squidMain = `require("reflect-metadata")
const { EvmBatchProcessor } = require("@subsquid/evm-processor")
const { TypeormDatabase } = require("@subsquid/typeorm-store")
const { TransferEvent } = require("./model")
const topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
new EvmBatchProcessor()
  .setRpcEndpoint({ url: process.env.NODE_URL, capacity: 10, rateLimit: 100000, maxBatchCallSize: 100 })
  .setFinalityConfirmation(1)
  .addLog({ address: [process.env.CONTRACT.toLowerCase()], topic0: [topic], range: { from: 0 } })
  .setFields({ log: { transactionHash: true, data: true, topics: true } })
  .run(new TypeormDatabase({ supportHotBlocks: true }), async (context) => {
    const transfers = []
    for (const block of context.blocks) for (const log of block.logs) transfers.push(new TransferEvent({
      id: log.id, block: block.header.height, timestamp: Math.floor(block.header.timestamp / 1000),
      tx: log.transactionHash, logIndex: log.logIndex, from: "0x" + log.topics[1].slice(26),
      to: "0x" + log.topics[2].slice(26), amount: BigInt(log.data)
    }))
    await context.store.insert(transfers)
  })
`

export const squid: Peer = {
  name: "subsquid 1.27.3",
  files: {
    "package.json": JSON.stringify({
      private: true,
      dependencies: {
        "@subsquid/evm-processor": "1.27.3",
        "@subsquid/typeorm-store": "1.5.1",
        "@subsquid/typeorm-migration": "1.3.0",
        typeorm: "0.3.20",
        pg: "8.23.1",
        "reflect-metadata": "0.2.2"
      }
    }),
    "lib/model/index.js": squidModel,
    "lib/main.js": squidMain,
    "db/migrations/1700000000000-Data.js": squidMigration
  },
  install: ["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps"],
  command: [
    "-e",
    "require('child_process').execFileSync(process.execPath, ['node_modules/@subsquid/typeorm-migration/lib/apply.js'], { stdio: 'inherit' }); require('./lib/main.js')"
  ],
  table: "transfer_event"
}

/** Writes a peer's project and installs it where that is not done yet; its folder. */
export const prepare = ({ files, install, name }: Peer): string => {
  const folder = join(tmpdir(), "headwater-bench-peers", name.replaceAll(" ", "-"))
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
  const [program, ...args] = install
  if (!existsSync(join(folder, "node_modules"))) execFileSync(program!, args, { cwd: folder, stdio: "inherit" })
  return folder
}
