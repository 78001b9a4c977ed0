/** Derivation of addresses as a service: a wallet's addresses in one call. The pure functions are those of `keys/`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Chain from "../chains/Chain.ts"
import * as Keys from "../keys/Derivation.ts"
import * as ExtendedPublicKey from "../keys/ExtendedPublicKey.ts"
import { Secp256k1 } from "./Secp256k1.ts"

/** Addresses of an extended public key at the indices `from` (default 0) to `from + count − 1`, at most 100,000. */
export interface Request extends Keys.Options {
  readonly blockchain: string
  readonly network: string
  readonly extendedPublicKey: string
  readonly from?: number
  readonly count: number
}

/** Why there are no addresses. */
export type DerivationError =
  | Chain.UnknownBlockchain
  | Chain.UnknownNetwork
  | ExtendedPublicKey.InvalidExtendedPublicKey
  | Keys.InvalidDerivation

/** Addresses that are derived before others have a turn. */
const addressesOfTurn = 100

export class Derivation extends Context.Service<
  Derivation,
  {
    /** In the order of their indices; an index that BIP-32 has no key for is left out. Others have turns meanwhile. */
    readonly addresses: (request: Request) => Effect.Effect<ReadonlyArray<Keys.DerivedAddress>, DerivationError>
  }
>()("@headwater/core/services/Derivation") {
  /** With the curve of the platform. */
  static readonly layer = Layer.effect(
    Derivation,
    Effect.gen(function* () {
      const curve = yield* Secp256k1
      return {
        addresses: Effect.fn("Derivation.addresses")(function* (request: Request) {
          const { blockchain, count, extendedPublicKey, from = 0, network, ...options } = request
          const chain = yield* Effect.fromResult(Chain.find(blockchain, network))
          const key = yield* Effect.fromResult(ExtendedPublicKey.decode(chain, extendedPublicKey, curve))
          const branch = yield* Effect.fromResult(Keys.branch(chain, key, options))
          yield* Effect.fromResult(Keys.checkRange(from, count))
          const found: Array<Keys.DerivedAddress> = []
          for (let at = 0; at < count; at += addressesOfTurn) {
            const results = Keys.derive(branch, from + at, Math.min(addressesOfTurn, count - at))
            found.push(...results.filter(Result.isSuccess).map(({ success }) => success))
            yield* Effect.yieldNow
          }
          return found
        })
      }
    })
  )
}
