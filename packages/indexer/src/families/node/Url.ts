/** URLs in settings. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The text of a URL of one of these schemes (`http`), without its value in the error. */
export const ofSchemes = (schemes: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter(
      (value) =>
        Result.match(
          Result.try(() => new URL(value)),
          { onFailure: () => false, onSuccess: ({ protocol }) => schemes.includes(protocol.slice(0, -1)) }
        ) || `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`
    )
  )
