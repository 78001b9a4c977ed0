import { assert, describe, it } from "@effect/vitest"
import * as MessageBytes from "@headwater/indexer/store/database/internal/MessageBytes"
import type { Statement } from "@headwater/indexer/store/database/internal/SqliteStatement"

/** Views on a pool, as small buffers are. */
const bytes = (...values: ReadonlyArray<number>) => Buffer.from(values)

/** As the thread has them, with all bytes as plain arrays of bytes. */
const sent = (statements: ReadonlyArray<Statement>) => {
  const packed = MessageBytes.pack(statements)
  const { buffer } = packed
  const message = structuredClone(packed, buffer === undefined ? {} : { transfer: [buffer] })
  return { size: message.buffer?.byteLength ?? 0, statements: MessageBytes.unpack(message) }
}

const plain = (statements: ReadonlyArray<Statement>) => {
  const row = (values: ReadonlyArray<unknown>) =>
    values.map((value) => (value instanceof Uint8Array ? new Uint8Array(value) : value))
  const many = (one: { readonly sql: string; readonly rows: ReadonlyArray<ReadonlyArray<unknown>> }) => ({
    sql: one.sql,
    rows: one.rows.map(row)
  })
  return statements.map((statement) => {
    if ("batch" in statement) return { batch: statement.batch.map(many) }
    return statement.rows === undefined ? { ...statement, parameters: row(statement.parameters) } : many(statement)
  })
}

describe("MessageBytes", () => {
  it("gives the thread the statements as they were, with the bytes of all in one buffer", () => {
    const rows = [
      [1, bytes(1, 2, 3), null, "a", 2n ** 60n],
      [0, bytes(), bytes(4), "", -1n],
      [2.5, null, bytes(5, 6), "ä", 0n]
    ]
    const statements: ReadonlyArray<Statement> = [
      { sql: "begin immediate", parameters: [], ifUnchanged: true },
      { sql: "insert", rows },
      { sql: "none", rows: [] },
      { sql: "no parameters", rows: [[], []] },
      {
        batch: [
          { sql: "first", rows: [[bytes(7)], [undefined]] },
          { sql: "second", rows: [[8, "b"]] }
        ]
      },
      { sql: "last", parameters: [bytes(9, 10), true] }
    ]
    const { size, statements: found } = sent(statements)
    assert.strictEqual(size, 3 + 1 + 2 + 1 + 2)
    assert.deepStrictEqual(found, plain(statements))
  })

  it("moves no buffer for statements without bytes", () => {
    const statements: ReadonlyArray<Statement> = [
      { sql: "commit", parameters: [] },
      { sql: "one", rows: [[1], [2]] }
    ]
    const { size, statements: found } = sent(statements)
    assert.strictEqual(size, 0)
    assert.deepStrictEqual(found, statements)
  })
})
