/** Prepares transfers of tokens (TRC-20, TRC-721) for signing: calls of their contracts. */
import * as Address from "@headwater/core/address/Address"
import * as Hash from "@headwater/core/Hash"
import type { TronConnection } from "@headwater/indexer/families/tron/TronConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { invalidField } from "../../contract/Errors.ts"
import * as TokenTransfer from "../evm/TokenTransfer.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { refusalOf } from "./Fees.ts"

type Operations = Pick<ChainOperations, "prepareFungible" | "prepareNonFungible">
type Request = Parameters<Operations[keyof Operations]>[0]

const contractType = "TriggerSmartContract"

export const make = ({ chain }: ChainReader, freshness: Freshness<TronConnection>): Operations => {
  const prepare = Effect.fnUntraced(function* (request: Request) {
    if (request.type !== undefined) {
      return yield* invalidField("type", `${chain.blockchain} has ${contractType} only: leave it out`)
    }
    if (request.fee.exactAmount !== undefined) {
      return yield* invalidField("fee.exactAmount", "must be left out: the chain sets the fee")
    }
    const { source } = yield* freshness.node
    const call = yield* TokenTransfer.write(chain, source.tokenDecimals, request)
    const { energy, energyPrice, expiration, fee, id, rawData } = yield* Effect.catchTag(
      source.prepareTokens(TokenTransfer.callOnTron(call)),
      "TransferRefused",
      (refused) => Effect.fail(refusalOf(refused))
    )
    return {
      inputData: Buffer.from(rawData).toString("hex"),
      nonce: 0,
      recipient: Address.encode(chain, call.to)!,
      sender: Address.encode(chain, call.from)!,
      sigHash: Hash.encode(chain, id),
      value: { amount: "0" },
      fee: {
        gasPrice: Number(energyPrice),
        maxFeePerGas: 0,
        maxPriorityFeePerGas: 0,
        unit: "SUN",
        total: Number(fee)
      },
      gasLimit: energy,
      type: contractType,
      expirationTimestamp: Math.floor(expiration / 1000)
    }
  })
  const prepared = (request: Request) => freshness.orUnavailable(prepare(request))
  return {
    prepareFungible: Effect.fn("TronPrepareTokens.prepareFungible")(prepared),
    prepareNonFungible: Effect.fn("TronPrepareTokens.prepareNonFungible")(prepared)
  }
}
