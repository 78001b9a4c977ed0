/** What the fields of settings are made of: those of a chain, of the daemon, and of a program that embeds the indexer. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A field with the value that stands where the settings have none. */
export const withDefault =
  <S extends Schema.Top>(value: S["Encoded"]) =>
  (schema: S) =>
    schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

/** A whole number within bounds, both of them allowed. */
export const between = (minimum: number, maximum: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum, maximum }, { message: `must be a whole number from ${minimum} to ${maximum}` })
  )

export const text = Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" }))
