/** Tasks beside a chain's blocks are woken by rows that are theirs, on their own chain alone. */
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { allKinds, type Kind, WaitingWork } from "@headwater/indexer/store/chain/WaitingWork"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const chains = [Seed.chain, Result.getOrThrow(Chain.find("litecoin", "regtest"))] as const
const address = new Uint8Array(20).fill(5)
/** Longer than two looks are apart. */
const looked = Effect.sleep("700 millis")

/** Rows of a chain that are work of a kind; `nothingFound` dies where a look has found what is no work yet. */
const rowsOf = Effect.fnUntraced(function* (kind: Kind, chain: number, nothingFound: Effect.Effect<void>) {
  const { query } = yield* Database
  const account = yield* Seed.account
  const subscriptionId = Effect.gen(function* () {
    const { referenceId } = yield* Seed.subscription(account, "https://receiver.test/")
    const [row] = yield* query((db) =>
      db.updateTable("subscription").set({ chain }).where("reference_id", "=", referenceId).returning("id")
    )
    return row!.id
  })
  switch (kind) {
    case "broadcasts":
      yield* query((db) =>
        db.insertInto("broadcast").values({
          ...{ account, chain, transaction_id: address, raw: address, outcome: "unknown", error: null, height: null },
          ...{ hash: null, since_height: 0, next_look: 7, created: 1, changed: 1, sender: null, nonce: null },
          ...{ subscription: null, told: null }
        })
      )
      // A transaction that was looked for at the chain's height waits for the next block.
      yield* nothingFound
      yield* query((db) => db.updateTable("chain").set({ height: 7 }).where("id", "=", chain))
      break
    case "fanOut":
      yield* query((db) =>
        db.insertInto("waiting").values({
          ...{ subscription: 1, account, chain, height: 6, due_height: 7, confirmation: 2, target: 2 },
          ...{ each_confirmation: 0, block_hash: address, occurrence: "block", item: "{}" }
        })
      )
      // It is due with the next block.
      yield* nothingFound
      yield* query((db) => db.updateTable("chain").set({ height: 7 }).where("id", "=", chain))
      break
    case "missingParts":
      yield* query((db) =>
        db.insertInto("missing_parts").values({ chain, part: "internal", from_height: 1, to_height: 2, reason: "none" })
      )
      break
    case "pastPayments": {
      const subscription = yield* subscriptionId
      const key = { public_key: "key", derivation: "account", format: "STANDARD" } as const
      yield* query((db) => db.insertInto("extended_key").values({ subscription, chain, window_size: 20, ...key }))
      yield* query((db) => db.insertInto("past_payment").values({ chain, height: 3, subscription }))
      break
    }
    case "pastTransactions": {
      const subscription = yield* subscriptionId
      yield* query((db) => db.insertInto("transaction_look").values({ subscription, account, chain, next_look: 7 }))
      // It is looked for at the next block.
      yield* nothingFound
      yield* query((db) => db.updateTable("chain").set({ height: 7 }).where("id", "=", chain))
      break
    }
    case "pastReading":
    case "unusedProof":
      yield* query((db) =>
        db.insertInto("synced_address").values({
          ...{ account, chain, wallet: 0, address, revision: 1, active: 1, created: 1, callback_url: null, birth: 0 },
          ...{ next_height: 0, last_height: 9, state: kind === "pastReading" ? "tokens" : "synced" }
        })
      )
      if (kind === "unusedProof") {
        yield* query((db) =>
          db.insertInto("completeness").values({ chain, address, coins: null, tokens: 1, history: 1, transactions: 1 })
        )
      }
  }
})

/** Waits for work of each kind on each chain. */
const waiting = Effect.gen(function* () {
  const { next } = yield* WaitingWork
  const [id] = yield* Effect.forEach(chains, ChainRow.make)
  const found: Array<string> = []
  const waits = yield* Effect.forEach(chains, (chain) =>
    Effect.forEach(allKinds, (kind) =>
      next(chain, kind).pipe(
        Effect.tap(() => Effect.sync(() => found.push(`${kind} of ${chain.blockchain}`))),
        Effect.forkChild
      )
    )
  )
  const foundOnly = (expected: ReadonlyArray<string>) =>
    Effect.map(looked, () => assert.deepStrictEqual(found, expected))
  return { foundOnly, id: id!, next, waits: waits[0]! }
})

for (const store of takenStores(import.meta.url)) {
  const layer = WaitingWork.layer.pipe(Layer.provideMerge(Subscriptions.layer), Layer.provideMerge(store.layer))
  describe(`Waiting work on ${store.name}`, () => {
    it.live("is not found where there is none", () =>
      Effect.gen(function* () {
        const { foundOnly } = yield* waiting
        yield* foundOnly([])
      }).pipe(Effect.provide(layer))
    )

    for (const [number, kind] of allKinds.entries()) {
      it.live(`is found where there are ${kind}`, () =>
        Effect.gen(function* () {
          const { foundOnly, id, next, waits } = yield* waiting
          yield* rowsOf(kind, id, foundOnly([]))
          yield* Fiber.join(waits[number]!).pipe(Effect.timeout("10 seconds"))
          yield* foundOnly([`${kind} of ethereum`])
          // It is found again as long as it is there.
          yield* next(chains[0], kind).pipe(Effect.timeout("10 seconds"))
        }).pipe(Effect.provide(layer))
      )
    }
  })
}
