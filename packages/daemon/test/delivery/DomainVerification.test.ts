import { assert, describe, it } from "@effect/vitest"
import { CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as DomainVerification from "@headwater/daemon/delivery/DomainVerification"
import {
  ReceiverClient,
  ReceiverClientOptions,
  type Reply,
  type Request
} from "@headwater/daemon/delivery/ReceiverClient"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import { DatabaseError } from "@headwater/indexer/store/database/Database"
import { Domains, DomainVerifier } from "@headwater/indexer/store/subscriptions/Domains"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import { stores } from "../../../../test/Stores.ts"
import * as Seed from "../../../indexer/test/store/Seed.ts"
import * as HttpsReceiver from "./HttpsReceiver.ts"

/** Verifies `example.com` for a new account, whose token the world is made with. */
const verify = (
  world: (token: string) => { readonly text?: ReadonlyArray<string>; readonly file?: Reply },
  also: Effect.Effect<void, DatabaseError> = Effect.void
) =>
  Effect.gen(function* () {
    const domains = yield* Domains
    const account = yield* Seed.account
    const { token } = yield* domains.add(account, "example.com")
    const { file, text } = world(token)
    const asked: Array<Request> = []
    const client = Layer.succeed(ReceiverClient, {
      reaches: () => Effect.die("not asked"),
      isCertified: () => Effect.die("not asked"),
      looksUp: () => false,
      request: (request) =>
        Effect.sync(() => {
          asked.push(request)
          return file ?? { status: 404, retryAfter: undefined, text: "" }
        })
    })
    const dns = Dns.layerStatic({
      records:
        text === undefined
          ? {}
          : { "_headwater-challenge.example.com": [Dns.makeRecordUnsafe("TXT", { chunks: text as [string] })] }
    })
    const result = yield* Effect.flatMap(DomainVerifier, ({ verify }) =>
      Effect.result(verify(account, "example.com", also))
    ).pipe(
      Effect.provide(
        DomainVerification.layer.pipe(
          Layer.provide([CallbackTarget.layer, client]),
          Layer.provide(dns),
          Layer.provide(Layer.succeed(Domains, domains))
        )
      )
    )
    return { result, asked, isVerified: yield* domains.isVerified(account, "example.com") }
  }).pipe(Effect.provide(Domains.layer.pipe(Layer.provideMerge(stores[0]!.layer))))

const file = (status: number, text: string) => ({ status, text, retryAfter: undefined })

describe("DomainVerification", () => {
  it.live("finds the token in DNS, also in pieces", () =>
    Effect.gen(function* () {
      assert.isTrue((yield* verify((token) => ({ text: [token] }))).isVerified)
      assert.isTrue((yield* verify((token) => ({ text: [token.slice(0, 5), token.slice(5)] }))).isVerified)
    })
  )

  it.live("does what belongs to the verification with it, or neither of both", () =>
    Effect.gen(function* () {
      const failing = new DatabaseError({ cause: "full" })
      const { isVerified, result } = yield* verify((token) => ({ text: [token] }), failing)
      assert.isTrue(Result.isFailure(result))
      assert.isFalse(isVerified)
    })
  )

  it.live("finds the token in the file of the domain", () =>
    Effect.gen(function* () {
      const { asked, isVerified } = yield* verify((token) => ({ file: file(200, `${token}\n`) }))
      assert.isTrue(isVerified)
      assert.deepStrictEqual(
        asked.map(({ method, url }) => [method, url.href]),
        [["GET", "https://example.com/.well-known/headwater-challenge.txt"]]
      )
    })
  )

  it.live("takes nothing else for the token, and does not repeat what it found", () =>
    Effect.gen(function* () {
      for (const world of [
        () => ({}),
        () => ({ text: ["secret-of-others"], file: file(200, "secret-of-others") }),
        (token: string) => ({ file: file(302, token) }),
        (token: string) => ({ file: file(404, token) }),
        (token: string) => ({ text: [`${token}x`], file: file(200, `x${token}`) }),
        () => ({ text: [""], file: file(200, "") })
      ]) {
        const { isVerified, result } = yield* verify(world)
        assert.isFalse(isVerified)
        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") assert.notMatch(result.failure.message, /secret-of-others/)
      }
    })
  )

  it.live("asks only public hosts, over connections that nothing turns elsewhere", () =>
    Effect.gen(function* () {
      const domains = yield* Domains
      const account = yield* Seed.account
      const { token } = yield* domains.add(account, "inside.test")
      const certificate = yield* DevelopmentCertificate.make(["inside.test"])
      const receiver = yield* HttpsReceiver.start(certificate, (response) => response.end(token))
      const verifier = DomainVerification.layer.pipe(
        Layer.provide(ReceiverClient.layer),
        Layer.provide(CallbackTarget.layer),
        Layer.provide(
          Dns.layerStatic({
            records: { "inside.test": [Dns.makeRecordUnsafe("A", { address: NetAddress.ipv4Loopback })] }
          })
        ),
        Layer.provide(
          Layer.succeed(ReceiverClientOptions, { timeoutMillis: 500, connections: 1, extraCa: certificate.ca })
        ),
        Layer.provide(Layer.succeed(Domains, domains))
      )
      const failure = yield* Effect.flatMap(DomainVerifier, ({ verify }) =>
        Effect.flip(verify(account, "inside.test"))
      ).pipe(Effect.provide(verifier))
      assert.match(failure.message, /not public/)
      assert.strictEqual(receiver.connections(), 0)
    }).pipe(Effect.scoped, Effect.provide(Domains.layer.pipe(Layer.provideMerge(stores[0]!.layer))))
  )
})
