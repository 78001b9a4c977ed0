/**
 * Who may see what is the operator's alone: whoever has the token, `metrics.token` of the settings. Without that setting
 * the token follows from the key of callback secrets, so that commands on the same machine know it. That a request comes
 * from this machine proves nothing: a proxy on the machine may pass on anybody's.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { Location } from "@headwater/indexer/store/database/Database"
import * as SecretKeys from "@headwater/indexer/store/database/SecretKeys"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"
import * as Settings from "./settings/Settings.ts"

/** The token that follows from the keys of a store; undefined where none can be read. */
export const ofStore = Effect.fnUntraced(function* (location: Location) {
  const [key] = yield* Effect.orElseSucceed(SecretKeys.read(location), (): ReadonlyArray<SecretKeys.SecretKey> => [])
  if (key === undefined) return undefined
  return Redacted.make(createHmac("sha256", key.bytes).update("headwater operator").digest("base64url"))
})

/** The operator's token; undefined where there is neither the setting nor a key that can be read. */
export const token = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  return settings.metrics.token ?? (yield* ofStore(Settings.storeLocation(settings)))
})

/** The header by which a request shows that it is the operator's. */
export const header = (token: Redacted.Redacted) => ({ authorization: `Bearer ${Redacted.value(token)}` })

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Whether a request is the operator's. */
export const isOperator = (request: HttpServerRequest.HttpServerRequest, token: Redacted.Redacted | undefined) =>
  token !== undefined &&
  timingSafeEqual(digest(request.headers.authorization ?? ""), digest(header(token).authorization))
