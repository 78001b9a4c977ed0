/** Settings that Tron chains have beside those of every chain. */
import * as Schema from "effect/Schema"

export const fields = {
  /** TronGrid's key, sent with every request. */
  apiKey: Schema.optionalKey(
    Schema.RedactedFromValue(
      Schema.String.check(
        Schema.isNonEmpty({ message: "must not be empty" }),
        Schema.isPattern(/^[\x21-\x7e]*$/, { message: "must be printable ASCII without spaces" })
      )
    )
  )
}

export type Fields = typeof fields
