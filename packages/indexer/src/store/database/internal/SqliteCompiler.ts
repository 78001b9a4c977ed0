/** Queries as SQL of SQLite, in the form that SQLite plans once. */
import { SqliteQueryCompiler, type ValuesNode } from "kysely"

/** What comes before a value and behind it, and leaves the value as it is, without an affinity. */
const around = (value: unknown): readonly [string, string] => {
  if (typeof value === "number" || typeof value === "bigint") return ["(", " + 0)"]
  if (typeof value === "string") return ["(", " || '')"]
  return value instanceof Uint8Array ? ["cast(", " as blob)"] : ["", ""]
}

/**
 * A parameter that stands bare where SQLite might plan by its value, beside a column or behind `limit`, has the statement
 * planned again each time it is bound, which takes ten times as long as most statements do. What is part of an expression is
 * not looked at.
 */
export class SqliteCompiler extends SqliteQueryCompiler {
  #inValues = false

  protected override appendValue(value: unknown) {
    const [before, behind] = this.#inValues ? ["", ""] : around(value)
    this.append(before)
    super.appendValue(value)
    this.append(behind)
  }

  protected override visitValues(node: ValuesNode) {
    this.#inValues = true
    super.visitValues(node)
    this.#inValues = false
  }
}
