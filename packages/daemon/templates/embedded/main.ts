/**
 * Headwater inside this program: deposits to ADDRESSES, each written exactly once into a table of this program's own, which
 * is in the indexer's store and changes in the transaction that moves the position on the chain. Kill it whenever you like.
 * The settings are in `.env`.
 */
import { Headwater } from "@headwater/indexer"

const {
  ADDRESSES = "",
  CHAIN = "ethereum/devnet",
  NODE_URL = "http://127.0.0.1:8545",
  STORE = "deposits.db"
} = process.env

interface Tables {
  readonly deposit: {
    readonly id: string
    readonly address: string
    readonly amount: string
    readonly unit: string
    readonly height: number
  }
}

const headwater = await Headwater.start({
  chains: { [CHAIN]: { nodes: [NODE_URL] } },
  store: { sqlite: STORE },
  addresses: ADDRESSES.split(",").map((address) => address.trim())
})
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void headwater.close())

await headwater.transaction<Tables, void>((db) =>
  db.schema
    .createTable("deposit")
    .ifNotExists()
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("address", "text")
    .addColumn("amount", "text")
    .addColumn("unit", "text")
    .addColumn("height", "bigint")
    .execute()
)
console.log(`Following ${CHAIN} by ${NODE_URL}; stop with Ctrl-C`)

await headwater.inCommit<Tables>("deposits", async ({ db, events, undone }) => {
  // What has left the chain comes before what has come in its place.
  for (const { id } of undone.events) {
    await db.deleteFrom("deposit").where("id", "=", id).execute()
    console.log(`Taken back: ${id}`)
  }
  for (const { id, item, kind } of events) {
    if ((kind !== "coin" && kind !== "internal") || item.direction !== "incoming") continue
    const { address, amount, minedInBlock, unit } = item
    await db.insertInto("deposit").values({ id, address, amount, unit, height: minedInBlock.height }).execute()
    console.log(`Deposit: ${amount} ${unit} to ${address} in block ${minedInBlock.height}`)
  }
})
