/** The code of docs/library.md with Effect, compiled: `Docs.test.ts` finds each of its snippets here, but for their indentation. */
import * as Matcher from "@headwater/core/events/Matcher"
import * as Signature from "@headwater/core/events/Signature"
import * as Sighash from "@headwater/core/evm/Sighash"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as Client from "@headwater/http/contract/Client"
import type { Event } from "@headwater/indexer/embedded/Indexer"
import { Indexer } from "@headwater/indexer/embedded/Indexer"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { sql } from "kysely"

export const modules = [Derivation, Layer, Matcher, Sighash, Signature]

const indexer = Indexer.layer({
  chains: { "ethereum/mainnet": { nodes: ["http://127.0.0.1:8545"] } },
  store: { sqlite: "headwater.db" },
  addresses: ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]
})
export const layers = [indexer]

export const listening = (
  indexer: Indexer["Service"],
  takeBack: (event: Event) => Effect.Effect<void>,
  book: (event: Event) => Effect.Effect<void>
) =>
  Stream.runForEach(indexer.events("my-app"), ({ acknowledge, events, undone }) =>
    Effect.forEach(undone.events, takeBack).pipe(
      Effect.andThen(Effect.forEach(events, book)),
      Effect.andThen(acknowledge)
    )
  )

export const writing = (indexer: Indexer["Service"]) =>
  indexer.inCommit("my-app", ({ events, undone }) =>
    Effect.gen(function* () {
      const { query } = yield* Database
      for (const { id } of undone.events) yield* query(rows(sql`delete from deposit where id = ${id}`))
      for (const { id, item, kind } of events) {
        if ((kind !== "coin" && kind !== "internal") || item.direction !== "incoming") continue
        yield* query(rows(sql`insert into deposit values (${id}, ${item.amount})`))
      }
    })
  )

export const calling = Effect.gen(function* () {
  const client = yield* Client.makeFetch({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_…" })
  const { item } = yield* client.credits.balance({ query: {} })
  return item
})
