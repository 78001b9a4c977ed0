/** What docs/callbacks.md says of receivers with core. */
import * as Signature from "@headwater/core/events/Signature"
import * as Result from "effect/Result"

export const isGenuine = (headers: Signature.ReceivedHeaders, rawBody: Uint8Array, secrets: ReadonlyArray<string>) =>
  Result.isSuccess(Signature.verify(headers, rawBody, secrets, Date.now() / 1000))
