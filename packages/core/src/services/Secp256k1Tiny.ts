/**
 * The curve on Node: tiny-secp256k1, which is libsecp256k1 as WebAssembly. The layer is a module of its own, so that no bundle
 * for browsers has the 1.2 MB of it.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Secp256k1 } from "./Secp256k1.ts"

/** Loads the library, some 20 ms. */
export const layerTiny = Layer.effect(
  Secp256k1,
  Effect.promise(() => import("tiny-secp256k1"))
)
