/**
 * Prepares transfers of TRX (interface section 4.15) and of tokens (TRC-20, TRC-721) for signing. What is signed is the hash of
 * the transaction's `raw_data`, which is its id; there is no nonce, and the chain sets the fee.
 */

import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import type { TronConnection } from "@headwater/indexer/families/tron/TronConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { invalidField } from "../../contract/Errors.ts"
import * as CoinAmount from "../CoinAmount.ts"
import * as TokenTransfer from "../evm/TokenTransfer.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"
import { refusalOf } from "./Fees.ts"

type Operations = Pick<ChainOperations, "prepare" | "prepareFungible" | "prepareNonFungible">
type TokenRequest = Parameters<Operations["prepareFungible" | "prepareNonFungible"]>[0]

/** The kind of transaction that moves TRX and nothing else, and the one that calls a token's contract. */
type ContractType = "TransferContract" | "TriggerSmartContract"

/** Refuses what a sender cannot choose on Tron. */
const check = Effect.fnUntraced(function* (
  { blockchain }: Chain,
  contractType: ContractType,
  { fee, type }: Pick<Parameters<Operations["prepare"]>[0], "fee" | "type">
) {
  if (type !== undefined) return yield* invalidField("type", `${blockchain} has ${contractType} only: leave it out`)
  if (fee?.exactAmount !== undefined) {
    return yield* invalidField("fee.exactAmount", "must be left out: the chain sets the fee")
  }
})

/** What the answers about both kinds have in common; prices and amounts are in sun, `expiration` is in milliseconds. */
const itemOf = (
  chain: Chain,
  type: ContractType,
  transaction: {
    readonly rawData: Uint8Array
    readonly from: Address.AddressBytes
    readonly to: Address.AddressBytes
    readonly gasLimit: number
    readonly gasPrice: bigint
    readonly fee: bigint
    readonly expiration: number
  }
) => ({
  inputData: Hex.encode(transaction.rawData),
  nonce: 0,
  recipient: Address.encode(chain, transaction.to)!,
  sender: Address.encode(chain, transaction.from)!,
  fee: {
    ...{ gasPrice: Number(transaction.gasPrice), maxFeePerGas: 0, maxPriorityFeePerGas: 0 },
    ...{ unit: "SUN", total: Number(transaction.fee) }
  },
  gasLimit: transaction.gasLimit,
  type,
  expirationTimestamp: Math.floor(transaction.expiration / 1000)
})

export const make = ({ chain }: ChainReader, freshness: Freshness<TronConnection>): Operations => {
  const prepare: Operations["prepare"] = Effect.fn("TronPrepare.prepare")(function* (request) {
    yield* check(chain, "TransferContract", request)
    const sender = yield* decodeAddress(chain, "sender", request.sender)
    const recipient = yield* decodeAddress(chain, "recipient", request.recipient)
    const amount = yield* decodeAmount(chain, "amount", request.amount)
    const { source } = yield* freshness.node
    const { bandwidth, bandwidthPrice, fee, id, rawData, transfer } = yield* source
      .prepare({
        ...{ sender, recipient, amount },
        memo: new TextEncoder().encode(request.additionalData ?? ""),
        feeFromAmount: request.substractFromAmount ?? request.fee?.substractFromAmount ?? false
      })
      .pipe(Effect.catchTag("TransferRefused", (refused) => Effect.fail(refusalOf(refused))))
    return {
      ...itemOf(chain, "TransferContract", {
        ...{ rawData, from: transfer.owner, to: transfer.to, expiration: transfer.expiration },
        ...{ gasLimit: bandwidth, gasPrice: bandwidthPrice, fee }
      }),
      sighash: Hash.encode(chain, id),
      value: CoinAmount.of(chain, transfer.amount)
    }
  }, freshness.orUnavailable)

  const prepareTokens = Effect.fnUntraced(function* (request: TokenRequest) {
    yield* check(chain, "TriggerSmartContract", request)
    const { source } = yield* freshness.node
    const call = yield* TokenTransfer.write(chain, source.tokenDecimals, request)
    const prepared = yield* Effect.catchTag(
      source.prepareTokens(TokenTransfer.callOnTron(call)),
      "TransferRefused",
      (refused) => Effect.fail(refusalOf(refused))
    )
    return {
      ...itemOf(chain, "TriggerSmartContract", {
        ...{ rawData: prepared.rawData, from: call.from, to: call.to, expiration: prepared.expiration },
        ...{ gasLimit: prepared.energy, gasPrice: prepared.energyPrice, fee: prepared.fee }
      }),
      sigHash: Hash.encode(chain, prepared.id),
      value: { amount: "0" }
    }
  }, freshness.orUnavailable)

  return {
    prepare,
    prepareFungible: Effect.fn("TronPrepare.prepareFungible")(prepareTokens),
    prepareNonFungible: Effect.fn("TronPrepare.prepareNonFungible")(prepareTokens)
  }
}
