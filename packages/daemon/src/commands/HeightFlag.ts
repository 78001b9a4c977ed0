/** A flag that names a block by its height. */
import * as Flag from "effect/cli/Flag"
import * as Schema from "effect/Schema"

export const flag = (name: string, description: string) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
    Flag.withDescription(description),
    Flag.optional
  )
