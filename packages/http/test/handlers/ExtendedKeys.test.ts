import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as Descriptor from "@headwater/core/keys/Descriptor"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

/** BIP-32, test vector 1, chain m/0'. */
const xpub =
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
const eventType = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
const ethereum = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

const addressesOf = (type: Derivation.AddressType, derivation: Derivation.Derivation, count: number) => {
  const key = Result.getOrThrow(ExtendedPublicKey.decode(ethereum, xpub))
  const branch = Result.getOrThrow(Derivation.branch(ethereum, key, { type, derivation }))
  return Derivation.derive(branch, 0, count).map((one) => Result.getOrThrow(one).address)
}

const call = Effect.fnUntraced(function* (
  method: string,
  more: string,
  item?: unknown,
  who: "alice" | "bob" = "alice",
  chain = "ethereum"
) {
  const server = yield* TestServer
  const body = item === undefined ? {} : { body: { data: { item } } }
  return yield* send(server.url, {
    ...{ method, path: `/blockchain-events/${chain}/mainnet${more}`, key: server[who], ...body }
  })
})

const create = (item: object, chain?: string) =>
  call("POST", "/extended-keys", { eventType, callbackUrl: "https://example.com/", ...item }, "alice", chain)

for (const store of takenStores(import.meta.url)) {
  layer(testServer(store), { excludeTestServices: true })(`Extended public keys over HTTP on ${store.name}`, (it) => {
    it.effect("are subscribed to with a window of each branch, shown to their own account alone, and not edited", () =>
      Effect.gen(function* () {
        const made = yield* create({ extendedPublicKey: xpub, window: 3, furthestUsedIndex: { change: 4 } })
        assert.isUndefined(wrongWith(operationNamed("extendedKeys.create"), made.status, made.body))
        const { referenceId } = made.body.data.item
        const state = yield* call("GET", `/${referenceId}/extended-key`)
        assert.isUndefined(wrongWith(operationNamed("extendedKeys.get"), state.status, state.body))
        assert.deepStrictEqual(state.body.data.item, {
          ...{ extendedPublicKey: xpub, derivationType: "account", format: "STANDARD", window: 3, total: 11 },
          branches: [
            { type: "receiving", addresses: 3 },
            { type: "change", furthestUsedIndex: 4, addresses: 8 }
          ],
          isLookingBack: false
        })
        const listed = yield* call("GET", `/${referenceId}/addresses?limit=100`)
        assert.isUndefined(wrongWith(operationNamed("addressLists.list"), listed.status, listed.body))
        const wanted = (["receive", "change"] as const).flatMap((type, branch) =>
          addressesOf(type, "account", branch === 0 ? 3 : 8).map((address, index) => ({
            ...{ address, derivation: { type: type === "change" ? "change" : "receiving", index } }
          }))
        )
        assert.deepStrictEqual(listed.body.data.items, wanted)
        for (const more of ["", "/remove"]) {
          const edit = { addresses: [wanted[0]!.address] }
          assert.strictEqual((yield* call("POST", `/${referenceId}/addresses${more}`, edit)).status, 409)
        }
        for (const more of ["/extended-key", "/addresses"]) {
          assert.strictEqual((yield* call("GET", `/${referenceId}${more}`, undefined, "bob")).status, 404)
        }
        const all = yield* call("GET", "?limit=50")
        assert.include(
          all.body.data.items.map((one: { readonly referenceId: string }) => one.referenceId),
          referenceId
        )
        assert.strictEqual((yield* call("DELETE", `/${referenceId}`)).status, 200)
        assert.strictEqual((yield* call("GET", `/${referenceId}/extended-key`)).status, 404)
      })
    )

    it.effect("are no duplicates but of those that tell the same of the same branches, whatever the window", () =>
      Effect.gen(function* () {
        const wanted = { extendedPublicKey: xpub, callbackUrl: "https://example.com/twice" }
        const first = yield* create({ ...wanted, window: 2 })
        assert.strictEqual(first.status, 201)
        const { referenceId } = first.body.data.item
        for (const same of [
          {},
          { window: 3, callbackSecretKey: "k" },
          { derivation: "account", receiveCallbackOn: 1 }
        ]) {
          const refused = yield* create({ ...wanted, ...same })
          assert.isUndefined(wrongWith(operationNamed("extendedKeys.create"), refused.status, refused.body))
          assert.deepStrictEqual(
            [refused.status, refused.body.error.code, refused.body.error.details],
            [409, "already_exists", [{ attribute: "referenceId", message: referenceId }]]
          )
        }
        const others = [
          { allowDuplicates: true },
          { callbackUrl: "https://example.com/another" },
          { derivation: "bip32" },
          { receiveCallbackOn: 2 },
          { filter: { direction: "incoming" } },
          { eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", confirmationsCount: 1 }
        ]
        for (const other of others) assert.strictEqual((yield* create({ ...wanted, window: 2, ...other })).status, 201)
        const descriptors = [`wpkh(${xpub}/0/*)`, `wpkh(${xpub}/1/*)`, `wpkh(${xpub}/<0;1>/*)`, `tr(${xpub}/<0;1>/*)`]
        for (const descriptor of descriptors) {
          const { callbackUrl } = wanted
          assert.strictEqual((yield* create({ descriptor, callbackUrl, window: 1 }, "bitcoin")).status, 201)
          assert.strictEqual((yield* create({ descriptor, callbackUrl, window: 1 }, "bitcoin")).status, 409)
        }
        yield* call("DELETE", `/${referenceId}`)
        const again = yield* create({ ...wanted, derivation: "account" })
        // The one with allowDuplicates is still there.
        assert.strictEqual(again.status, 409)
      })
    )

    it.effect("derive as they are asked to, with windows of 20 addresses where nothing else is said", () =>
      Effect.gen(function* () {
        const { body } = yield* create({ extendedPublicKey: xpub, derivation: "BIP32" })
        const { referenceId } = body.data.item
        const listed = yield* call("GET", `/${referenceId}/addresses?limit=100`)
        assert.deepStrictEqual(
          listed.body.data.items.map(({ address }: { readonly address: string }) => address),
          addressesOf("receive", "bip32", 20)
        )
      })
    )

    it.effect("may be descriptors, which say derivation, form and branches", () =>
      Effect.gen(function* () {
        const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
        const descriptor = `sh(wpkh([d34db33f/49h/0h/0h]${xpub}/1/*))`
        const made = yield* create(
          { descriptor: `${descriptor}#${Descriptor.checksum(descriptor)}`, window: 2 },
          "bitcoin"
        )
        assert.isUndefined(wrongWith(operationNamed("extendedKeys.create"), made.status, made.body))
        const { referenceId } = made.body.data.item
        const state = yield* call("GET", `/${referenceId}/extended-key`, undefined, "alice", "bitcoin")
        const { branches, derivationType, format } = state.body.data.item
        assert.deepStrictEqual(
          [derivationType, format, branches],
          [...["account", "P2SH-P2WPKH"], [{ type: "change", addresses: 2 }]]
        )
        const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, xpub))
        const branch = Result.getOrThrow(Derivation.branch(bitcoin, key, { type: "change", format }))
        const listed = yield* call("GET", `/${referenceId}/addresses?limit=100`, undefined, "alice", "bitcoin")
        assert.deepStrictEqual(
          listed.body.data.items.map(({ address }: { readonly address: string }) => address),
          Derivation.derive(branch, 0, 2).map((one) => Result.getOrThrow(one).address)
        )
      })
    )

    it.effect("are refused with the field and the rule, and nothing of the key is repeated", () =>
      Effect.gen(function* () {
        const refused = (item: object, chain?: string) =>
          Effect.map(create(item, chain), ({ body, status, text }) => {
            assert.notInclude(text, xpub.slice(4, 24))
            return [status, body.error.code, body.error.details?.[0]?.attribute]
          })
        const descriptor = `wpkh(${xpub}/<0;1>/*)`
        const key = { extendedPublicKey: xpub }
        for (const [item, attribute] of [
          [{}, "extendedPublicKey"],
          [{ ...key, descriptor }, "descriptor"],
          [{ descriptor }, "descriptor"],
          [{ descriptor, format: "P2WPKH" }, "format"],
          [{ descriptor, derivation: "bip32" }, "derivation"],
          [{ descriptor: `${descriptor}#${Descriptor.checksum(descriptor)}x` }, "descriptor"],
          [{ ...key, format: "P2WPKH" }, "format"],
          [{ ...key, window: 0 }, "window"],
          [{ ...key, window: 1_001 }, "window"],
          [{ ...key, furthestUsedIndex: { receiving: 10_000 } }, "furthestUsedIndex.receiving"],
          [{ ...key, derivation: "bip32", furthestUsedIndex: { change: 1 } }, "furthestUsedIndex.change"],
          [{ ...key, eventType: "BLOCK_MINED" }, "eventType"],
          [{ ...key, eventType: `${eventType}_EACH_CONFIRMATION` }, "confirmationsCount"]
        ] as const) {
          assert.deepStrictEqual(
            yield* refused(item),
            [400, "invalid_data", attribute],
            JSON.stringify(item).slice(0, 40)
          )
        }
        assert.deepStrictEqual(yield* refused({ extendedPublicKey: `${xpub}x` }), [
          400,
          "invalid_xpub",
          "extendedPublicKey"
        ])
      })
    )
  })

  layer(testServer(store).pipe(Layer.provide(Layer.succeed(Limits, { ...defaultMaxima, listedAddresses: 50 }))), {
    excludeTestServices: true
  })(`Limited extended public keys on ${store.name}`, (it) => {
    it.effect("have no more addresses in their windows than the account may have in lists", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* create({ extendedPublicKey: xpub })).status, 201)
        // Not more of them, but the same one: as a client asks whose answer was lost.
        assert.strictEqual((yield* create({ extendedPublicKey: xpub })).status, 409)
        const another = { extendedPublicKey: xpub, allowDuplicates: true }
        assert.strictEqual((yield* create({ ...another, window: 6 })).status, 403)
        assert.strictEqual((yield* create({ ...another, window: 5 })).status, 201)
      })
    )
  })
}
