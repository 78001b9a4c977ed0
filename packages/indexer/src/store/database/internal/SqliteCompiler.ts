/**
 * Compiles queries whose plans do not go by the values that are bound: SQLite plans a statement with `order by` anew for each
 * value that is bound bare beside an index's column, which takes ten times as long as the rest.
 */
import { SqliteQueryCompiler } from "kysely"

export class SqliteCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder() {
    return "+?"
  }
}
