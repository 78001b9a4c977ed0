import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import { Database } from "@headwater/indexer/store/database/Database"
import * as DeferredMatches from "@headwater/indexer/store/subscriptions/internal/DeferredMatches"
import * as LeftMatches from "@headwater/indexer/store/subscriptions/LeftMatches"
import * as Effect from "effect/Effect"

/** What a commit gives the store for addresses of which each has so many matches: of each statement its matches, by row. */
const statementsFor = Effect.fnUntraced(function* (addresses: number, matchesOfEach: number) {
  const statements: Array<ReadonlyArray<number>> = []
  const database = {
    insertMany: (table: string, rows: ReadonlyArray<{ readonly occurrences: string }>) => {
      if (table === "matched") {
        statements.push(rows.map(({ occurrences }) => LeftMatches.decode(occurrences).length))
      }
      return Effect.void
    },
    defer: () => Effect.void,
    query: () => Effect.succeed([])
  }
  const matches = Array.from({ length: matchesOfEach }, (_, i) => ({
    ...{ class: "token", occurrence: `token:${i}:0:incoming`, item: {} }
  }))
  const left = Array.from({ length: addresses }, (_, i) => ({
    ...{ address: Uint8Array.of(i >> 8, i & 0xff) as AddressBytes, matches, accounts: undefined }
  }))
  const block = { height: 1, hash: new Uint8Array(32) }
  yield* DeferredMatches.defer(1, block, { revision: 0, now: 0 }, left as never).pipe(
    Effect.provideService(Database, database as never)
  )
  return statements
})

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

describe("matches that are left to the steps", () => {
  it.effect("are given to the store in statements that have room for them", () =>
    Effect.gen(function* () {
      const statements = yield* statementsFor(50, 4_500)
      assert.strictEqual(sum(statements.map(sum)), 50 * 4_500)
      assert.deepStrictEqual(statements.flat().slice(0, 4), [2_000, 2_000, 500, 2_000])
      for (const statement of statements) assert.isAtMost(sum(statement), 32_000)
      // A block of many addresses is as few statements as before.
      assert.lengthOf(yield* statementsFor(3_000, 1), 1)
    })
  )
})
