/** Signing hashes of EVM transactions as a service. The pure functions are those of `evm/Sighash`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Evm from "../evm/Sighash.ts"

export class Sighash extends Context.Service<
  Sighash,
  {
    /** An unsigned transaction as people and JSON-RPC write it → `0x` and the 64 digits to sign. */
    readonly digest: (transaction: object) => Effect.Effect<string, Evm.InvalidTransaction>
  }
>()("@headwater/core/services/Sighash") {
  static readonly layer = Layer.succeed(Sighash, {
    digest: (transaction: object) => Effect.fromResult(Result.map(Evm.parse(transaction), Evm.digestText))
  })
}
