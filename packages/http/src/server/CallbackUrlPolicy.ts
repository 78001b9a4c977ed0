/**
 * The callback URLs that a subscription may have: by default, URLs that keep the rules for the text. The daemon's policy
 * also checks the addresses that the host resolves to, and delivery checks the addresses again.
 */
import * as CallbackUrl from "@headwater/core/events/CallbackUrl"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

export interface CallbackUrlPolicy {
  /** The URL that a text names; fails with the rule that it breaks. */
  readonly check: (text: string) => Effect.Effect<URL, CallbackUrl.InvalidCallbackUrl>
}

export const CallbackUrlPolicy = Context.Reference<CallbackUrlPolicy>("@headwater/http/server/CallbackUrlPolicy", {
  defaultValue: () => ({ check: (text) => Effect.fromResult(CallbackUrl.parse(text)) })
})
