/**
 * Proves that an account holds a domain: its token stands in a TXT record of the domain's DNS, or in a file that the
 * domain serves over HTTPS. The file is fetched as callbacks are sent: from public addresses only, without redirects.
 */
import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import {
  challengeRecord,
  challengeUrl,
  type Domain,
  DomainNotVerified,
  Domains,
  DomainVerifier
} from "@headwater/indexer/store/subscriptions/Domains"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import { CallbackTarget } from "./CallbackTarget.ts"
import { ReceiverClient } from "./ReceiverClient.ts"

/** Undefined where a place holds the token, else what is there instead: never its content, which is somebody else's. */
type Found = string | undefined

export const layer: Layer.Layer<DomainVerifier, never, Domains | Dns.Dns | CallbackTarget | ReceiverClient> =
  Layer.effect(
    DomainVerifier,
    Effect.suspend(() => make)
  )

/** A resolver that is not answered tries for much longer. */
const dnsMillis = 10_000

const make = Effect.gen(function* () {
  const domains = yield* Domains
  const dns = yield* Dns.Dns
  const target = yield* CallbackTarget
  const client = yield* ReceiverClient

  const inDns = ({ name, token }: Domain): Effect.Effect<Found> =>
    dns.resolve(challengeRecord(name), "TXT").pipe(
      Effect.map((records) =>
        records.some(({ chunks }) => chunks.join("").trim() === token) ? undefined : "a different text"
      ),
      Effect.catch(({ reason }) =>
        Effect.succeed(reason === "NotFound" ? "no TXT record" : `lookup failed: ${reason}`)
      ),
      Effect.timeoutOrElse({ duration: dnsMillis, orElse: () => Effect.succeed("lookup failed: no answer in time") })
    )

  const inFile = ({ name, token }: Domain): Effect.Effect<Found> =>
    target.parse(challengeUrl(name)).pipe(
      Effect.flatMap((url) => client.request({ method: "GET", url, headers: { "user-agent": "Headwater" } })),
      Effect.map(({ status, text }) =>
        status !== 200 ? `answered ${status}` : text.trim() === token ? undefined : "a different text"
      ),
      Effect.catch(({ message }) => Effect.succeed(message))
    )

  const verify = Effect.fn("DomainVerification.verify")(function* (
    account: number,
    name: string,
    also?: Effect.Effect<void, DatabaseError>
  ) {
    const domain = yield* domains.get(account, name)
    if (domain.verified !== undefined) return domain
    const [dns, file] = yield* Effect.all([inDns(domain), inFile(domain)], { concurrency: 2 })
    if (dns !== undefined && file !== undefined) return yield* new DomainNotVerified({ name, dns, file })
    return yield* domains.setVerified(account, name, also)
  })

  return DomainVerifier.of({ verify })
})
