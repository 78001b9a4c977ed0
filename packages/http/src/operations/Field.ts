/** Fields of requests, read by the rules of the chain that a request names; a wrong one is named with its rule. */
import * as AmountText from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { invalidField } from "../contract/Errors.ts"

/** The address of a chain that a field has. */
export const decodeAddress = (chain: Chain, attribute: string, text: string) =>
  Effect.mapError(Effect.fromResult(Address.decode(chain, text)), ({ message }) => invalidField(attribute, message))

/** An amount with so many decimals, in the smallest unit. */
export const decodeAmount = ({ decimals }: Pick<Chain, "decimals">, attribute: string, text: string) =>
  Effect.mapError(Effect.fromResult(AmountText.parse(text, decimals)), ({ message }) =>
    invalidField(attribute, message)
  )
