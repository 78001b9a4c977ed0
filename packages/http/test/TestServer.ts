/** A server on an ephemeral port over a fresh store, with one account and its key. */
import * as Chain from "@headwater/core/Chain"
import * as Server from "@headwater/http/Server"
import { CreditsEnabled } from "@headwater/http/server/Charging"
import { ConfiguredChains } from "@headwater/http/server/RequestedChain"
import { Accounts } from "@headwater/indexer/store/Accounts"
import { Credits } from "@headwater/indexer/store/Credits"
import { DomainNotVerified, Domains, DomainVerifier } from "@headwater/indexer/store/Domains"
import { Subscriptions } from "@headwater/indexer/store/Subscriptions"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { stores } from "../../../test/Stores.ts"

/** Every chain on every network but Zcash, which nobody has configured. */
export const configured = new Map(
  Chain.all.filter(({ blockchain }) => blockchain !== "zcash").map((chain) => [Chain.nameOf(chain), { chain }] as const)
)

export class TestServer extends Context.Service<
  TestServer,
  {
    readonly url: string
    /** Keys of two accounts. */
    readonly alice: string
    readonly bob: string
  }
>()("test/TestServer") {}

const start = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const accounts = yield* Accounts
  const credits = yield* Credits
  const keyOf = Effect.fnUntraced(function* (name: string) {
    const { id } = yield* accounts.create(name)
    const { key } = yield* accounts.createKey(id, { name: "test" })
    yield* credits.grant({ account: id, amount: 1_000_000, detail: "test" })
    return Redacted.value(key)
  })
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  return { url: `http://127.0.0.1:${port}`, alice: yield* keyOf("alice"), bob: yield* keyOf("bob") }
})

/** Finds the token of every domain but those of example.net. */
const verifier = Layer.effect(
  DomainVerifier,
  Effect.map(Domains, (domains) => ({
    verify: (account: number, name: string) =>
      name.endsWith("example.net")
        ? Effect.andThen(
            domains.get(account, name),
            Effect.fail(new DomainNotVerified({ name, dns: "nothing", file: "nothing" }))
          )
        : domains.setVerified(account, name)
  }))
)

export const testServer = (store: (typeof stores)[number], options: Partial<Server.Options> = {}) =>
  Layer.effect(TestServer, start).pipe(
    Layer.provideMerge(Server.layer({ host: "127.0.0.1", port: 0, ...options })),
    Layer.provide(verifier),
    Layer.provideMerge(Layer.mergeAll(Accounts.layer, Subscriptions.layer, Credits.layer, Domains.layer)),
    Layer.provide(Layer.succeed(ConfiguredChains, configured)),
    Layer.provide(Layer.succeed(CreditsEnabled, true)),
    Layer.provideMerge(store.layer)
  )
