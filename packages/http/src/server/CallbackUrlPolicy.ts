/**
 * The callback URLs that a subscription may have: by default, URLs that keep the rules for the text. The daemon's policy
 * also checks the addresses that the host resolves to, and delivery checks the addresses again.
 */
import * as CallbackUrl from "@headwater/core/events/CallbackUrl"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

export interface CallbackUrlPolicy {
  /** The URL that a text names; fails with the rule that it breaks. */
  readonly check: (text: string) => Effect.Effect<URL, CallbackUrl.InvalidCallbackUrl>
}

export const CallbackUrlPolicy = Context.Reference<CallbackUrlPolicy>("@headwater/http/server/CallbackUrlPolicy", {
  defaultValue: () => ({ check: (text) => Effect.fromResult(CallbackUrl.parse(text)) })
})

/** Hosts of callbacks that one request may name: each is looked up. */
const maxHosts = 100

/** Checks URLs as `policy` does, which looks at each host once in a request. */
export const oncePerHost = (policy: CallbackUrlPolicy): CallbackUrlPolicy => {
  const hosts = new Map<string, Result.Result<URL, CallbackUrl.InvalidCallbackUrl>>()
  return {
    check: Effect.fnUntraced(function* (text) {
      // The text by itself, wherever it leads.
      const url = Result.flatMap(
        Result.try(() => new URL(text)),
        ({ hostname }) => CallbackUrl.parse(text, new Set([hostname]))
      )
      if (Result.isFailure(url)) return yield* policy.check(text)
      const { host } = url.success
      let checked = hosts.get(host)
      if (checked === undefined) {
        if (hosts.size === maxHosts) {
          return yield* new CallbackUrl.InvalidCallbackUrl({ rule: `must be on one of ${maxHosts} hosts in a request` })
        }
        checked = yield* Effect.result(policy.check(text))
        hosts.set(host, checked)
      }
      return yield* Effect.fromResult(Result.map(checked, () => url.success))
    })
  }
}
