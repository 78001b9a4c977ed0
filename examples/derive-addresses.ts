/** The first receiving addresses of a wallet: `node examples/derive-addresses.ts bitcoin mainnet zpub…` */
import { Derivation } from "@headwater/core/services/Derivation"
import * as Effect from "effect/Effect"

const [blockchain = "", network = "", extendedPublicKey = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const derivation = yield* Derivation
  return yield* derivation.addresses({ blockchain, network, extendedPublicKey, count: 5 })
})

for (const { address } of await Effect.runPromise(Effect.provide(program, Derivation.layer))) console.log(address)
