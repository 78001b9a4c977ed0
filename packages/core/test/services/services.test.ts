import { assert, describe, it, layer } from "@effect/vitest"
import { Amount, Services } from "@headwater/core"
import * as Credits from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Sighash from "@headwater/core/evm/Sighash"
import { derive } from "@headwater/core/Plain"
import { layerTiny } from "@headwater/core/services/Secp256k1Tiny"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

const servicesOver = (curve: Layer.Layer<Services.Secp256k1>) =>
  Layer.mergeAll(
    Layer.provide(Services.Derivation.layer, curve),
    Services.Sighash.layer,
    Services.EventMatcher.layer,
    Services.CreditLedger.layer()
  )

it("the root of the package has the namespaces", () => assert.strictEqual(Amount.format(1n, 1), "0.1"))

const curves = { noble: Services.Secp256k1.layerNoble, tiny: layerTiny }

describe.each(["noble", "tiny"] as const)("services say what the pure functions say, over %s", (curve) => {
  layer(servicesOver(curves[curve]))((it) => {
    it.effect("Derivation", () =>
      Effect.gen(function* () {
        const derivation = yield* Services.Derivation
        const extendedPublicKey =
          "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
        const range = { from: 95, count: 130 }
        const request = { blockchain: "bitcoin", network: "mainnet", extendedPublicKey, ...range }
        const found = yield* derivation.addresses(request)
        assert.deepStrictEqual(found, derive("bitcoin/mainnet", extendedPublicKey, range))
        assert.deepStrictEqual(yield* derivation.addresses({ ...request, count: 0 }), [])
        const failures = yield* Effect.forEach(
          [
            { blockchain: "nowhere" },
            { network: "nonet" },
            { extendedPublicKey: "xpub" },
            { format: "CLASSIC" as const },
            // No address, in place of those that there are.
            { from: -5 },
            { count: Number.NaN },
            // Without end.
            { count: 1 / 0 }
          ],
          (wrong) => Effect.flip(derivation.addresses({ ...request, ...wrong }))
        )
        assert.deepStrictEqual(
          failures.map(({ _tag }) => _tag),
          [
            ...["UnknownBlockchain", "UnknownNetwork", "InvalidExtendedPublicKey"],
            ...Array.from({ length: 4 }, () => "InvalidDerivation")
          ]
        )
      })
    )

    it.effect("Sighash", () =>
      Effect.gen(function* () {
        const { digest } = yield* Services.Sighash
        const transaction = { type: 2, chainId: 1, gas: 21000, to: "0x3535353535353535353535353535353535353535" }
        const pure = Sighash.digestText(Result.getOrThrow(Sighash.parse(transaction)))
        assert.strictEqual(yield* digest(transaction), pure)
        const { message } = yield* Effect.flip(digest({ ...transaction, receipient: "0x" }))
        assert.match(message, /no field of an unsigned transaction/)
      })
    )

    it.effect("EventMatcher", () =>
      Effect.gen(function* () {
        const { match } = yield* Services.EventMatcher
        const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
        const hash = (byte: number) => new Uint8Array(32).fill(byte)
        const block = {
          height: 1,
          hash: hash(1),
          parent: hash(0),
          time: 1,
          transactions: [],
          transfers: [],
          spends: []
        }
        const candidates: Matcher.Candidates<Matcher.Subscription> = {
          byAddress: new Map(),
          blockMined: [{ event: "BLOCK_MINED", address: undefined }],
          metadata: () => ({ name: "", symbol: "", decimals: undefined })
        }
        const matched = yield* match(chain, block, candidates)
        assert.strictEqual(matched.occurrences.length, 1)
        assert.deepStrictEqual(matched, Matcher.match(chain, block, candidates))
      })
    )

    it.effect("CreditLedger", () =>
      Effect.gen(function* () {
        const ledger = yield* Services.CreditLedger
        assert.strictEqual(ledger.price("prepare", 1, "polygon"), 120)
        assert.strictEqual(ledger.price("subscription-list", 3), 90)
        assert.deepStrictEqual(ledger.settle(100, [60, 50, 40]), { balance: 0, paid: [true, false, true] })
      })
    )
  })

  layer(Services.CreditLedger.layer({ ...Credits.defaultRules, per: "request" }))((it) => {
    it.effect("CreditLedger by an operator's rules", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* Services.CreditLedger).price("subscription-list", 3), 30)
      })
    )
  })
})
