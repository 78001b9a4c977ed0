/**
 * Queries in SQLite's words, whose plans do not go by the values that are bound: SQLite plans a statement with `order by`
 * anew for each value that is bound bare beside an index's column, which takes five times as long as the rest. The condition
 * of a partial index therefore stands in a query as a literal.
 */
import { SqliteQueryCompiler } from "kysely"

/** Stands for a value: an expression, and no bare variable. */
export const placeholder = "+?"

export class SqliteCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder() {
    return placeholder
  }
}
