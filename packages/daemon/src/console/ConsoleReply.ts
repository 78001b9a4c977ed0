/** Answers of the console: JSON under the page's headers, and what a request asks in its query. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Page from "./Page.ts"

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { ...Page.headers, ...headers } })

/** A refusal, in words that the page shows. */
export const refused = (status: number, error: string, headers?: Record<string, string>) =>
  json({ error }, status, headers)

export const notFound = refused(404, "There is no such subscription or callback")

export const queryOf = ({ url }: HttpServerRequest.HttpServerRequest) => {
  const query = url.indexOf("?")
  return new URLSearchParams(query === -1 ? "" : url.slice(query))
}

/** A whole number of a query; undefined where the text is none. */
export const wholeNumber = (text: string | null) =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
