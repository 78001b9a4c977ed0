/**
 * A Fastify app that holds the indexer: customers are added while it runs, their deposits are written exactly once, into
 * tables of the app in the indexer's store, and are answered from there.
 *
 * `PORT=3000 node examples/fastify-app.ts http://127.0.0.1:8545 app.db`
 */
import { Headwater } from "@headwater/indexer/Headwater"
import fastify from "fastify"
import { type Kysely, sql } from "kysely"

const [url = "", store = ""] = process.argv.slice(2)

interface Tables {
  readonly customer: { readonly address: string }
  readonly deposit: { readonly id: string; readonly address: string; readonly amount: string }
}

const headwater = await Headwater.start({
  chains: { "ethereum/devnet": { nodes: [url], start: 0, pollMillis: 100 } },
  store: { sqlite: store },
  // Before any block is committed: what customers get while the app is away is told.
  addresses: async (db: Kysely<Tables>) => {
    await sql`create table if not exists customer (address text primary key)`.execute(db)
    await sql`create table if not exists deposit (id text primary key, address text, amount text)`.execute(db)
    return (await db.selectFrom("customer").select("address").execute()).map(({ address }) => address)
  }
})

const app = fastify()
app.post<{ Params: { address: string } }>("/customers/:address", async ({ params: { address } }, reply) => {
  // Throws a tagged error, which names the rule, where that is no address.
  await headwater.watch([address])
  await headwater.transaction<Tables, unknown>((db) =>
    db
      .insertInto("customer")
      .values({ address })
      .onConflict((on) => on.doNothing())
      .execute()
  )
  return reply.code(201).send({ address })
})
app.get<{ Params: { address: string } }>("/customers/:address/deposits", ({ params: { address } }) =>
  headwater.transaction<Tables, unknown>((db) =>
    db.selectFrom("deposit").selectAll().where("address", "=", address).execute()
  )
)
app.addHook("onClose", () => headwater.close())

const following = headwater.inCommit<Tables>("deposits", async ({ db, events, undone }) => {
  for (const { id } of undone.events) await db.deleteFrom("deposit").where("id", "=", id).execute()
  for (const { id, item, kind } of events) {
    if ((kind !== "coin" && kind !== "internal") || item.direction !== "incoming") continue
    await db.insertInto("deposit").values({ id, address: item.address, amount: item.amount }).execute()
  }
})

await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" })
console.error("listening")
process.once("SIGTERM", () => void app.close())
await following
