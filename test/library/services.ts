/** The code of docs/library.md of core as services, compiled: `Docs.test.ts` finds each of its snippets here, but for their indentation. */
import { Derivation } from "@headwater/core/services/Derivation"
import { Secp256k1 } from "@headwater/core/services/Secp256k1"
import { layerTiny } from "@headwater/core/services/Secp256k1Tiny"
import * as Layer from "effect/Layer"

export const services = () => {
  const onNode = Layer.provide(Derivation.layer, layerTiny)
  const inBrowsers = Layer.provide(Derivation.layer, Secp256k1.layerNoble)
  return { onNode, inBrowsers }
}
