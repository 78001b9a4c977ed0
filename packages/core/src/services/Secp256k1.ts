/** The curve of all keys as a service, since platforms have different libraries of it. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Keys from "../keys/Secp256k1.ts"

export class Secp256k1 extends Context.Service<Secp256k1, Keys.Secp256k1>()("@headwater/core/services/Secp256k1") {
  /** In JavaScript alone, for browsers. The layer for Node is `layerTiny` of the module `Secp256k1Tiny`. */
  static readonly layerNoble = Layer.succeed(Secp256k1, Keys.noble)
}
