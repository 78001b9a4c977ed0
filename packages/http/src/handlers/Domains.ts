/** Answers the operations on domains of callback URLs. */
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import { type Domain, Domains, DomainVerifier } from "@headwater/indexer/store/subscriptions/Domains"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Option from "effect/Option"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { Conflict, invalidField, RequestLimitReached, ResourceNotFound, Unimplemented } from "../contract/Errors.ts"
import { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import * as Pages from "../server/Pages.ts"

const seconds = (millis: number) => Math.floor(millis / 1000)

const shown = ({ created, name, token, verified }: Domain) => ({
  domain: name,
  token,
  isVerified: verified !== undefined,
  createdTimestamp: seconds(created),
  ...(verified === undefined ? {} : { verifiedTimestamp: seconds(verified) })
})

const notAHost = { rule: "must be a host name alone, without scheme, port or path, as in hooks.example.com" }

const unimplemented = new Unimplemented({ message: "This server does not verify domains" })

const notFound = new ResourceNotFound({ message: "The account has added no such domain" })

export const layer = HttpApiBuilder.group(
  Api,
  "domains",
  Effect.fnUntraced(function* (handlers) {
    const domains = yield* Domains
    const verifier = yield* Effect.serviceOption(DomainVerifier)
    const policy = yield* CallbackUrlPolicy

    /** The host that callback URLs of this domain have. */
    const hostOf = Effect.fnUntraced(function* (domain: string) {
      // Asked first: a whole URL would be read as one of the host `https`.
      if (/[/?:@#]/.test(domain)) return yield* Effect.fail(notAHost)
      return (yield* policy.check(`https://${domain}/`)).hostname
    })

    return handlers.handleAll({
      add: Effect.fnUntraced(function* ({ payload }) {
        const { id } = yield* CurrentAccount
        const host = yield* Effect.mapError(hostOf(payload.data.item.domain), ({ rule }) =>
          invalidField("domain", rule)
        )
        const added = domains.add(id, host).pipe(
          Effect.catchTags({
            LimitReached: ({ message }) => Effect.fail(new Conflict({ message })),
            DatabaseError: Effect.die
          })
        )
        return { item: shown(yield* added) }
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { id } = yield* CurrentAccount
        return yield* Pages.byOffset(query, 10, ({ limit, offset }) =>
          Effect.map(Effect.orDie(domains.list(id)), (all) => ({
            total: all.length,
            items: all.slice(offset, offset + limit).map(shown)
          }))
        )
      }),
      verify: Effect.fnUntraced(
        function* ({ params }) {
          const { id } = yield* CurrentAccount
          const host = yield* Effect.mapError(hostOf(params.domain), () => notFound)
          if (Option.isNone(verifier)) return yield* unimplemented
          yield* domains.countVerification(id)
          return { item: shown(yield* verifier.value.verify(id, host)) }
        },
        Effect.catchTags({
          DatabaseError: Effect.die,
          LimitReached: ({ message }) =>
            Effect.flatMap(Limits.millisToNextHour, (millis) =>
              Effect.fail(new RequestLimitReached({ message, retryAfter: Math.ceil(millis / 1000) }))
            ),
          DomainNotFound: () => Effect.fail(notFound),
          DomainNotVerified: ({ message }) => Effect.fail(new Conflict({ message }))
        })
      )
    })
  })
)
