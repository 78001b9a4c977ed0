/** Answers the operations on the account's credits. */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../Api.ts"
import { Unimplemented } from "../Errors.ts"

const unimplemented = () => Effect.fail(new Unimplemented({ message: "This server does not count credits" }))

export const layer = HttpApiBuilder.group(Api, "credits", (handlers) =>
  handlers.handleAll({ balance: unimplemented, statement: unimplemented })
)
