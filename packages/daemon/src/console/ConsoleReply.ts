/** Answers of the console: JSON under the page's headers, and what a request asks in its query and its body. */
import * as NulCharacter from "@headwater/http/server/NulCharacter"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as Page from "./Page.ts"

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { ...Page.headers, ...headers } })

/** A refusal, in words that the page shows. */
export const refused = (status: number, error: string, headers?: Record<string, string>) =>
  json({ error }, status, headers)

/** Nothing is called so, or nothing that the visitor may know of. */
export const noSuch = (what: string) => refused(404, `There is no such ${what}`)
export const noAccount = noSuch("account")

export const queryOf = ({ url }: HttpServerRequest.HttpServerRequest) => {
  const query = url.indexOf("?")
  return new URLSearchParams(query === -1 ? "" : url.slice(query))
}

/** A text of a query, cut where it is longer than anything that is asked for. */
export const textOf = (request: HttpServerRequest.HttpServerRequest, name: string) =>
  (queryOf(request).get(name) ?? "").trim().slice(0, 200)

/** A whole number of a query; undefined where the text is none. */
export const wholeNumber = (text: string | null) =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined

/** The body has not the form that is asked for. */
export class UnreadableBody extends Schema.TaggedError<UnreadableBody>()("UnreadableBody", {
  message: Schema.String
}) {}

/** Reads the body of a request; `form` says in words what is asked for. */
export const bodyOf = <S extends Schema.Decoder<unknown>>(schema: S, form: string) => {
  const decode = Schema.decodeUnknownEffect(schema)
  const unreadable = new UnreadableBody({ message: `The body must be ${form}` })
  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.fn.Return<S["Type"], UnreadableBody> {
    const body = yield* Effect.mapError(request.json, () => unreadable)
    if (NulCharacter.isIn(JSON.stringify(body))) {
      return yield* new UnreadableBody({ message: `A text of the body ${NulCharacter.rule}` })
    }
    return yield* Effect.mapError(decode(body), () => unreadable)
  })
}

/** What every route that reads a body answers where the body is wrong. */
export const unreadable = {
  UnreadableBody: ({ message }: UnreadableBody) => Effect.succeed(refused(400, message))
}
