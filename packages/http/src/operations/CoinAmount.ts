/** An amount of a chain's coin as answers have it: in whole coins, with the unit. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"

/** `amount` is in the smallest unit. */
export const of = ({ decimals, unit }: Chain, amount: bigint) => ({ amount: Amount.format(amount, decimals), unit })
