import { assert, describe, it } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import type { Row } from "@headwater/indexer/store/database/Tables"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../../../../test/Stores.ts"
import * as Logs from "../../../../../src/store/chain/transfers/internal/Logs.ts"
import * as Posting from "../../../../../src/store/chain/transfers/internal/Posting.ts"
import * as PostingMerge from "../../../../../src/store/chain/transfers/internal/PostingMerge.ts"
import * as PostingRuns from "../../../../../src/store/chain/transfers/internal/PostingRuns.ts"
import * as PostingSearch from "../../../../../src/store/chain/transfers/internal/PostingSearch.ts"
import { Current } from "../../../../../src/store/database/internal/Connection.ts"

const log = Logs.logOf(1, "coin")
const address = new Uint8Array(20).fill(7)
const hash = Posting.hash(address)

/** Postings of the address in a block, unsorted. */
const postings = (height: number): Row<"staged_postings"> => ({
  log,
  height,
  data: Posting.keyOf(hash, height * Posting.perBlock)
})

/** A level that is full: eight runs, each of one block. */
const fill = Effect.gen(function* () {
  const { insertMany } = yield* Database
  for (let height = 1; height <= 8; height++) {
    yield* insertMany("staged_postings", [postings(height)])
    yield* PostingMerge.sort(log, 1)
  }
})

/** The heights at which the address is found. */
const found = Effect.map(PostingSearch.positions(log, address, { order: "ascending", limit: 100 }), (positions) =>
  positions.map(Posting.heightOf)
)

const states = Effect.flatMap(Database, ({ query }) =>
  query((db) => db.selectFrom("posting_run").select(["level", "state"]).orderBy("id"))
)

/** Does something before the first page of a run is written, as another process may. */
const beforePages = <A, E, R>(other: Effect.Effect<unknown, never, Database>, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const database = yield* Database
    let done = false
    const apart = Effect.provideService(Effect.provideService(other, Database, database), Current, undefined)
    const interfered: Database["Service"] = {
      ...database,
      transaction: (self) => database.transaction(Effect.provideService(self, Database, interfered)),
      insertMany: (table, rows, conflict) => {
        const insert = database.insertMany(table, rows, conflict)
        if (table !== "sorted_postings" || done) return insert
        done = true
        return Effect.andThen(apart, insert)
      }
    }
    return yield* Effect.provideService(self, Database, interfered)
  })

for (const store of takenStores(import.meta.url)) {
  describe(`PostingMerge on ${store.name}`, () => {
    it.live("leaves a run that another process is building, and removes one that nobody builds on", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const now = Date.now()
        const unfinished = {
          log,
          level: 1,
          postings: 1,
          first_position: 0,
          last_position: 0,
          state: "building"
        } as const
        const built = yield* PostingRuns.insert(unfinished)
        const left = yield* PostingRuns.insert(unfinished)
        yield* query((db) =>
          db
            .updateTable("posting_run")
            .set({ changed: now - 61_000 })
            .where("id", "=", left)
        )
        yield* PostingMerge.merge(log)
        const runs = yield* query((db) => db.selectFrom("posting_run").select("id"))
        assert.deepStrictEqual(runs, [{ id: built }])
      }).pipe(Effect.provide(store.layer))
    )

    it.live("keeps every posting where another process merges the same runs", () =>
      Effect.gen(function* () {
        yield* fill
        yield* beforePages(Effect.orDie(PostingMerge.merge(log)), PostingMerge.merge(log))
        assert.deepStrictEqual(yield* found, [1, 2, 3, 4, 5, 6, 7, 8])
        const live = (yield* states).filter(({ state }) => state === "live")
        assert.deepStrictEqual(live, [{ level: 1, state: "live" }])
      }).pipe(Effect.provide(store.layer))
    )

    it.live("keeps every posting where another process has taken its run for a half-built one", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        yield* fill
        const late = query((db) => db.updateTable("posting_run").set({ changed: 1 }).where("state", "=", "building"))
        yield* beforePages(
          Effect.orDie(Effect.andThen(late, PostingRuns.retireUnfinished(log, 2))),
          PostingMerge.merge(log)
        )
        assert.deepStrictEqual(yield* found, [1, 2, 3, 4, 5, 6, 7, 8])
      }).pipe(Effect.provide(store.layer))
    )

    // On SQLite nobody else writes meanwhile.
    if (store.name === "sqlite") return
    it.live("keeps what another process writes while a run is made", () =>
      Effect.gen(function* () {
        const { insertMany } = yield* Database
        yield* insertMany("staged_postings", [postings(1), postings(3)])
        const late = Effect.orDie(
          Effect.flatMap(Database, ({ insertMany }) => insertMany("staged_postings", [postings(2)]))
        )
        yield* beforePages(late, PostingMerge.sort(log, 1))
        assert.deepStrictEqual(yield* found, [1, 2, 3])
      }).pipe(Effect.provide(store.layer))
    )
  })
}
