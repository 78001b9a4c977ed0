/** The code of docs/library.md without Effect, compiled: `Docs.test.ts` finds each of its snippets here, but for their indentation. */
import type { Block } from "@headwater/core/Block"
import { derive, match, sighash, verifyCallback } from "@headwater/core/Plain"
import * as Client from "@headwater/http/client"
import type { Event } from "@headwater/indexer/Headwater"
import { Headwater } from "@headwater/indexer/Headwater"

export const start = async () => {
  const headwater = await Headwater.start({
    chains: { "ethereum/mainnet": { nodes: ["http://127.0.0.1:8545"] } },
    store: { sqlite: "headwater.db" },
    addresses: ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
  })
  await headwater.close()
}

export const listen = async (
  headwater: Headwater,
  takeBack: (id: string) => Promise<void>,
  book: (id: string, kind: Event["kind"], item: Event["item"]) => Promise<void>
) => {
  for await (const { acknowledge, events, undone } of headwater.events("my-app")) {
    for (const { id } of undone.events) await takeBack(id)
    for (const { id, item, kind } of events) await book(id, kind, item)
    await acknowledge()
  }
}

interface Tables {
  readonly deposit: { readonly id: string; readonly amount: string }
}

export const write = async (headwater: Headwater) => {
  await headwater.inCommit<Tables>("my-app", async ({ db, events, undone }) => {
    for (const { id } of undone.events) await db.deleteFrom("deposit").where("id", "=", id).execute()
    for (const { id, item, kind } of events) {
      if ((kind !== "coin" && kind !== "internal") || item.direction !== "incoming") continue
      await db.insertInto("deposit").values({ id, amount: item.amount }).execute()
    }
  })
}

export const fetching = async () => {
  const client = Client.make({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_…" })
  const { item } = await client.credits.balance()
  return item
}

export const plain = (block: Block, request: Request, rawBody: string) => {
  derive("bitcoin/mainnet", "zpub…", { from: 0, count: 20 })
  sighash({ type: 2, chainId: 1, nonce: 0, gasLimit: 21_000, maxFeePerGas: "30000000000", to: "0x…", value: 1n })
  match("ethereum/mainnet", block, ["0x…"])
  verifyCallback(request.headers, rawBody, ["secret"], Date.now() / 1000)
}
