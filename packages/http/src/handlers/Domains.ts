/** Answers the operations on domains of callback URLs. */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../Api.ts"
import { Unimplemented } from "../Errors.ts"

const unimplemented = () => Effect.fail(new Unimplemented({ message: "This server does not verify domains" }))

export const layer = HttpApiBuilder.group(Api, "domains", (handlers) =>
  handlers.handleAll({ add: unimplemented, list: unimplemented, verify: unimplemented })
)
