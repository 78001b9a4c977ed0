/** The page in a browser: core with the library of the curve for browsers. */
import { Derivation } from "@headwater/core/services/Derivation"
import { Secp256k1 } from "@headwater/core/services/Secp256k1"
import { Sighash } from "@headwater/core/services/Sighash"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { differences, type Vector } from "./Answers.ts"

const layer = Layer.provideMerge(Layer.merge(Derivation.layer, Sighash.layer), Secp256k1.layerNoble)

Object.assign(globalThis, {
  differences: (vectors: string) =>
    Effect.runPromise(Effect.provide(differences(JSON.parse(vectors) as ReadonlyArray<Vector>), layer))
})
