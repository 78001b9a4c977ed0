/**
 * Fields of a request that clients send although they have nothing to say: `null` is absence, and so is an empty
 * `callbackSecretKey` or `exactAmount`. Generated clients send such fields where an interface has optional ones; for
 * transfers of fungible tokens the wider interface requires an `exactAmount`, beside the `priority`, of every client.
 */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Result from "effect/Result"

const isAbsent = (key: string, value: unknown) =>
  (value === null && key !== "") || (value === "" && (key === "callbackSecretKey" || key === "exactAmount"))

/** JSON without such fields; text that is no JSON stays as it is. */
const withoutAbsent = (text: string): string =>
  Result.getOrElse(
    Result.try(
      (): string => JSON.stringify(JSON.parse(text, (key, value) => (isAbsent(key, value) ? undefined : value))) ?? text
    ),
    () => text
  )

/** Decodes the request's body as if such fields were not there. */
export const provide = <A, E, R>(handled: Effect.Effect<A, E, R>) =>
  Effect.updateService(handled, HttpServerRequest.HttpServerRequest, (request) =>
    request.method === "POST"
      ? (Object.create(request, {
          text: { value: Effect.map(request.text, withoutAbsent) }
        }) as HttpServerRequest.HttpServerRequest)
      : request
  )
