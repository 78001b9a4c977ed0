/** A raw transaction of a UTXO chain in the words of the interface. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as WholeTransaction from "@headwater/indexer/families/utxo/WholeTransaction"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { invalidField } from "../../contract/Errors.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"
import * as Script from "./Script.ts"
import { typeOf } from "./ScriptType.ts"
import * as SpentScript from "./SpentScript.ts"

const attribute = "rawTransactionHex"
const scriptItem = (script: Uint8Array, type: string) => ({ asm: Script.asm(script), hex: Hex.encode(script), type })

const optional = <Key extends string, A>(key: Key, value: A | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: A }

const decode = Effect.fnUntraced(function* (chain: Chain, text: string) {
  const bytes = Hex.decode(text)
  const transaction = yield* Effect.mapError(Effect.fromResult(WholeTransaction.decode(chain, bytes)), (rule) =>
    invalidField(attribute, rule)
  )
  // That was one piece of work, as what is before it: others have their turn before the next.
  yield* Effect.yieldNow
  const addressOf = (script: Uint8Array) => Address.encode(chain, Address.fromBytes(script))
  const outputItem = ({ amount, script }: WholeTransaction.Output) => ({
    ...optional("address", addressOf(script)),
    script: scriptItem(script, typeOf(chain, script)),
    value: CoinAmount.of(chain, amount)
  })
  const inputItem = (input: WholeTransaction.Input) => {
    const spent = SpentScript.of(chain, input)
    return {
      ...optional("address", spent && addressOf(spent)),
      outputIndex: input.outputIndex,
      script: scriptItem(input.scriptSig, spent === undefined ? "nonstandard" : typeOf(chain, spent)),
      sequence: input.sequence,
      transactionId: Hex.encode(input.transactionId),
      ...optional("witnesses", input.witness.length === 0 ? undefined : input.witness.map(Hex.encode))
    }
  }
  return {
    id: Hex.encode(transaction.id),
    size: transaction.size,
    hash: Hex.encode(transaction.hash),
    inputs: yield* TimeSlice.run(() => TimeSlice.map(transaction.inputs, inputItem)),
    locktime: transaction.lockTime,
    outputs: yield* TimeSlice.run(() => TimeSlice.map(transaction.outputs, outputItem)),
    version: transaction.version,
    vsize: Math.ceil(transaction.weight / 4),
    weight: transaction.weight,
    ...optional("shielded", transaction.shielded),
    ...optional("mweb", transaction.mweb && { ...transaction.mweb, pegOuts: transaction.mweb.pegOuts.map(outputItem) })
  }
})

export const make = (chain: Chain): ChainOperations["utxoDecode"] =>
  Effect.fn("DecodeTransaction.utxoDecode")(({ rawTransactionHex }) => decode(chain, rawTransactionHex))
