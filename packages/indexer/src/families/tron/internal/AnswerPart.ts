/** Parts of a transaction or an info: told by hand where they are plain, else read by their schema, which names the broken rule. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** What was read, or the rule that it breaks. */
export type Read<A> = Result.Result<A, string>

/** A part of a transaction or an info, of which a block has hundreds. */
export interface Part<A> {
  /** Whether the part is as the schema wants it: told by hand, which takes a tenth of the time. */
  readonly isPlain: (json: unknown) => json is A
  /** Reads what is not, and names the rule that it breaks. */
  readonly read: (json: unknown) => Result.Result<A, { readonly message: string }>
}

export const part = <A>(schema: Schema.ConstraintDecoder<A>, isPlain: (json: unknown) => boolean): Part<A> => ({
  isPlain: isPlain as Part<A>["isPlain"],
  read: Schema.decodeUnknownResult(schema)
})

/** The failure names the field. */
export const field = <A>({ isPlain, read }: Part<A>, json: unknown, name: string): Read<A> =>
  isPlain(json)
    ? Result.succeed(json)
    : Result.mapError(read(json), ({ message }) => `${name}: ${message.split("\n")[0]}`)

/** As {@link field}, of a field that may be absent. */
export const optional = <A>(part: Part<A>, json: unknown, name: string): Read<A | undefined> =>
  json === undefined ? Result.succeed(undefined) : field(part, json, name)
