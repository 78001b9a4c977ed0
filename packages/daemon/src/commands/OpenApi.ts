/** `headwater openapi`: the description of the HTTP interface, for generators of clients. */

import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"

export const openapi = Command.make(
  "openapi",
  {},
  Effect.fnUntraced(function* () {
    // Loaded here only: the contract takes longer to load than the other commands take to run.
    const { publishedDocument } = yield* Effect.promise(() => import("@headwater/http/contract/PublishedDocument"))
    yield* Console.log(JSON.stringify(publishedDocument, null, 2))
  })
).pipe(Command.withDescription("Print the OpenAPI document of the HTTP interface"))
