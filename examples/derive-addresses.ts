/** The first receiving addresses of a wallet: `node examples/derive-addresses.ts bitcoin mainnet zpub…` */
import { Derivation } from "@headwater/core/services/Derivation"
import { layerTiny } from "@headwater/core/services/Secp256k1Tiny"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const [blockchain = "", network = "", extendedPublicKey = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const derivation = yield* Derivation
  return yield* derivation.addresses({ blockchain, network, extendedPublicKey, count: 5 })
})

// A browser has layerNoble of the service Secp256k1 in its place.
const addresses = await Effect.runPromise(Effect.provide(program, Layer.provide(Derivation.layer, layerTiny)))
for (const { address } of addresses) console.log(address)
