/**
 * An exchange's deposit listener, with Effect and exactly once: its table is in the indexer's store, and a deposit is
 * written in the transaction that moves the listener's position. Kill it whenever you like.
 *
 * `node examples/deposit-listener.ts http://127.0.0.1:8545 deposits.db 0x7099…`
 */
import { Indexer } from "@headwater/indexer/embedded/Indexer"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { sql } from "kysely"

const [url = "", store = "", ...addresses] = process.argv.slice(2)

const listen = Effect.gen(function* () {
  const indexer = yield* Indexer
  const { query } = yield* Database
  yield* query(
    rows(sql`create table if not exists deposit (id text primary key, address text, amount text, block bigint)`)
  )
  return yield* indexer.inCommit("deposits", ({ events, undone }) =>
    Effect.gen(function* () {
      for (const { id } of undone.events) yield* query(rows(sql`delete from deposit where id = ${id}`))
      for (const { id, item, kind } of events) {
        if ((kind !== "coin" && kind !== "internal") || item.direction !== "incoming") continue
        const { address, amount, minedInBlock } = item
        yield* query(rows(sql`insert into deposit values (${id}, ${address}, ${amount}, ${minedInBlock.height})`))
      }
    })
  )
})

const indexer = Indexer.layer({
  chains: { "ethereum/devnet": { nodes: [url], start: 0, pollMillis: 100 } },
  store: store.startsWith("postgres:") ? { postgres: store } : { sqlite: store },
  addresses
})

await listen.pipe(Effect.provide(indexer), Effect.provideService(Logger.LogToStderr, true), Effect.runPromise)
