/**
 * Which callback URLs a subscription may have: by default those that keep the rules for the text. What a host resolves
 * to is for the policy of the daemon, and for the delivery, which checks it again.
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
