/** A script of a web page that asks for a balance: bundled for browsers by `Client.test.ts`. */
import * as Client from "@headwater/http/contract/Client"
import * as Effect from "effect/Effect"

export const available = (baseUrl: string, apiKey: string): Promise<number> =>
  Client.makeFetch({ baseUrl, apiKey }).pipe(
    Effect.flatMap(({ credits }) => credits.balance({ query: {} })),
    Effect.map(({ item }) => item.available),
    Effect.runPromise
  )
