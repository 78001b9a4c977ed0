/** What the README of http says of the client of Effects. */
import * as Client from "@headwater/http/contract/Client"
import * as Effect from "effect/Effect"

const program = Effect.gen(function* () {
  const client = yield* Client.makeFetch({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_…" })
  return yield* client.credits.balance({ query: {} })
})

export default program
