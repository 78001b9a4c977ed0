/**
 * An exchange's deposit listener without Effect: its table is in a database of its own, so that it is told at least once,
 * and a deposit that it has is passed over. It acknowledges what it has written; kill it whenever you like.
 *
 * `node examples/deposit-listener-plain.ts http://127.0.0.1:8545 store.db deposits.db 0x7099…`
 */
import { DatabaseSync } from "node:sqlite"
import { Headwater } from "@headwater/indexer/Headwater"

const [url = "", store = "", deposits = "", ...addresses] = process.argv.slice(2)

// Somebody may be reading the table when a deposit is written: that waits for the end of the reading, and else would fail.
const database = new DatabaseSync(deposits, { timeout: 5_000 })
database.exec("create table if not exists deposit (id text primary key, address text, amount text, block bigint)")
const credit = database.prepare("insert or ignore into deposit values (?, ?, ?, ?)")
const takeBack = database.prepare("delete from deposit where id = ?")

const headwater = await Headwater.start({
  chains: { "ethereum/devnet": { nodes: [url], start: 0, pollMillis: 100 } },
  store: { sqlite: store },
  addresses
})
process.once("SIGTERM", () => void headwater.close())

for await (const { acknowledge, events, undone } of headwater.events("deposits")) {
  database.exec("begin")
  for (const { id } of undone.events) takeBack.run(id)
  for (const { id, item, kind } of events) {
    if ((kind !== "coin" && kind !== "internal") || item.direction !== "incoming") continue
    credit.run(id, item.address, item.amount, item.minedInBlock.height)
    console.log(`${item.address} got ${item.amount} ${item.unit}: ${id}`)
  }
  database.exec("commit")
  await acknowledge()
}
database.close()
