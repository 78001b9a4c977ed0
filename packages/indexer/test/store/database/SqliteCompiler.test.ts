import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { Kysely, sql } from "kysely"
import { SqliteReader, SqliteReaderDialect } from "../../../src/store/database/internal/SqliteReader.ts"

interface Tables {
  readonly run: { readonly log: number; readonly state: string }
}

describe("Queries of a SQLite store", () => {
  it("have plans that do not go by the values that are bound, and know the literals", () => {
    const database = new Database(":memory:")
    database.exec("create table run (log integer, state text); create index live_run on run (log) where state = 'live'")
    const reader = new SqliteReader(database)
    const db = new Kysely<Tables>({ dialect: new SqliteReaderDialect(reader) })
    const liveOf = (state: string | ReturnType<typeof sql.lit<string>>) =>
      db.selectFrom("run").selectAll().where("state", "=", state).orderBy("log").compile()
    const planOf = (query: ReturnType<typeof liveOf>) =>
      reader
        .rowsOf<{ readonly detail: string }>({ ...query, sql: `explain query plan ${query.sql}` })
        .map(({ detail }) => detail)
        .join()

    assert.notInclude(planOf(liveOf("live")), "live_run")
    assert.include(planOf(liveOf(sql.lit("live"))), "live_run")
    database.close()
  })
})
