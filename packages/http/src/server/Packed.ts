/** Texts that are always the same: compressed once, when somebody takes that for the first time. */
import { gzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** Whether `accept-encoding` names gzip, and not as what is not taken (RFC 9110, 12.5.3). */
const takesGzip = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i.test(headers["accept-encoding"] ?? "")

/** The answer with a text, packed where the request takes that. */
export const answer = (
  text: string,
  { contentType, headers = {} }: { readonly contentType: string; readonly headers?: Readonly<Record<string, string>> }
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> => {
  // Bytes, which all readers share: of a text each slow reader has a copy.
  const bytes = new TextEncoder().encode(text)
  const plain = HttpServerResponse.uint8Array(bytes, { contentType, headers })
  let packed: HttpServerResponse.HttpServerResponse | undefined
  const pack = () => {
    packed ??= HttpServerResponse.uint8Array(gzipSync(bytes), {
      contentType,
      headers: { ...headers, "content-encoding": "gzip" }
    })
    return packed
  }
  return Effect.map(HttpServerRequest.HttpServerRequest, (request) => (takesGzip(request) ? pack() : plain))
}
