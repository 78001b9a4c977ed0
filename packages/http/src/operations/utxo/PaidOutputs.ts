/** The outputs that a request asks for: one for each recipient, and one that holds its data. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import * as Effect from "effect/Effect"
import { invalidField } from "../../contract/Errors.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { ChainOperations } from "../Operations.ts"

type Request = Parameters<ChainOperations["utxoPrepare"]>[0]

const OP_RETURN = 0x6a
const OP_PUSHDATA1 = 0x4c
/** As nodes relay it: with the opcodes 83 bytes. */
const maxData = 80

const dataScript = (text: string) => {
  const data = new TextEncoder().encode(text)
  if (data.length > maxData) return Effect.fail(invalidField("additionalData", `must be at most ${maxData} bytes`))
  return Effect.succeed(
    Uint8Array.of(OP_RETURN, ...(data.length < OP_PUSHDATA1 ? [] : [OP_PUSHDATA1]), data.length, ...data)
  )
}

interface Output {
  readonly script: Uint8Array
  readonly amount: bigint
}

/** Fails where an output would be smaller than nodes relay, or the data longer. */
export const of = Effect.fnUntraced(function* (chain: Chain, { additionalData = "", recipients }: Request) {
  const outputs: Array<Output> = []
  for (const [index, { address, amount: text }] of recipients.entries()) {
    const script = yield* decodeAddress(chain, `recipients.${index}.address`, address)
    const amount = yield* decodeAmount(chain, `recipients.${index}.amount`, text)
    const dust = TransactionCosts.dustOf(chain.utxo!, script)
    if (amount < dust) {
      return yield* invalidField(
        `recipients.${index}.amount`,
        `must be at least ${Amount.withUnit(chain, dust)}: nodes relay no smaller output`
      )
    }
    outputs.push({ script, amount })
  }
  if (additionalData !== "") outputs.push({ script: yield* dataScript(additionalData), amount: 0n })
  return outputs
})
