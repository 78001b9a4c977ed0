/** Fees, the sequence of an account's next transaction, and the XRP that it has. */
import * as Amount from "@headwater/core/Amount"
import type { XrpConnection } from "@headwater/indexer/families/xrp/XrpConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { ResourceNotFound } from "../../contract/Errors.ts"
import { decodeAddress } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"

/** A fifth more, as xrpl.js adds to the fees of transactions that it fills in (`feeCushion`). */
const cushion = "1.2"
export const cushioned = (drops: bigint): bigint => (drops * 6n + 4n) / 5n

type Operations = Pick<ChainOperations, "ledgerFees" | "nextSequence" | "xrpBalance">

export const make = ({ chain, name }: ChainReader, freshness: Freshness<XrpConnection>): Operations => {
  const ledgerFees: Operations["ledgerFees"] = Effect.fn("NextTransaction.ledgerFees")(function* () {
    const { source } = yield* freshness.node
    const { minimum, openLedger } = yield* source.openLedger.fees
    const coins = (drops: bigint) => Amount.format(drops, chain.decimals)
    return {
      slow: coins(minimum),
      standard: coins(openLedger),
      fast: coins(cushioned(openLedger)),
      feeCushionMultiplier: cushion,
      unit: chain.unit
    }
  }, freshness.orUnavailable)

  const nextSequence: Operations["nextSequence"] = Effect.fn("NextTransaction.nextSequence")(function* (request) {
    const address = yield* decodeAddress(chain, "address", request.address)
    const { source } = yield* freshness.node
    const account = yield* source.openLedger.account(address)
    if (account === undefined) {
      return yield* new ResourceNotFound({ message: `${name} has no such account: a first payment makes it` })
    }
    return { nextAvailableSequence: account.sequence }
  }, freshness.orUnavailable)

  const xrpBalance: Operations["xrpBalance"] = Effect.fn("NextTransaction.xrpBalance")(function* (request) {
    const address = yield* decodeAddress(chain, "address", request.address)
    const { source } = yield* freshness.node
    const drops = yield* source.balance(address)
    return { confirmedBalance: CoinAmount.of(chain, drops) }
  }, freshness.orUnavailable)

  return { xrpBalance, ledgerFees, nextSequence }
}
