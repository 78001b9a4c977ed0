/**
 * Prepares a transfer of TRX for signing (interface section 4.15). What is signed is the hash of the transaction's
 * `raw_data`, which is its id; there is no nonce, and the chain sets the fee.
 */

import * as Address from "@headwater/core/address/Address"
import * as Hash from "@headwater/core/Hash"
import type { TronConnection } from "@headwater/indexer/families/tron/TronConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { invalidField } from "../../contract/Errors.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { refusalOf } from "./Fees.ts"

type Request = Parameters<ChainOperations["prepare"]>[0]

/** The only kind of transaction that moves TRX and nothing else. */
const contractType = "TransferContract"

export const make = (record: ChainReader, freshness: Freshness<TronConnection>): ChainOperations["prepare"] => {
  const { chain } = record

  const prepare = Effect.fnUntraced(function* (request: Request) {
    const { fee } = request
    if (request.type !== undefined) {
      return yield* invalidField("type", `${chain.blockchain} has ${contractType} only: leave it out`)
    }
    if (fee?.exactAmount !== undefined) {
      return yield* invalidField("fee.exactAmount", "must be left out: the chain sets the fee")
    }
    const sender = yield* decodeAddress(chain, "sender", request.sender)
    const recipient = yield* decodeAddress(chain, "recipient", request.recipient)
    const amount = yield* decodeAmount(chain, "amount", request.amount)
    const { source } = yield* freshness.node
    const prepared = yield* source
      .prepare({
        ...{ sender, recipient, amount },
        memo: new TextEncoder().encode(request.additionalData ?? ""),
        feeFromAmount: request.substractFromAmount ?? fee?.substractFromAmount ?? false
      })
      .pipe(Effect.catchTag("TransferRefused", (refused) => Effect.fail(refusalOf(refused))))
    return {
      inputData: Buffer.from(prepared.rawData).toString("hex"),
      nonce: 0,
      recipient: Address.encode(chain, prepared.transfer.to)!,
      sender: Address.encode(chain, prepared.transfer.owner)!,
      sighash: Hash.encode(chain, prepared.id),
      value: CoinAmount.of(chain, prepared.transfer.amount),
      fee: {
        gasPrice: Number(prepared.bandwidthPrice),
        maxFeePerGas: 0,
        maxPriorityFeePerGas: 0,
        unit: "SUN",
        total: Number(prepared.fee.total)
      },
      gasLimit: prepared.bandwidth,
      type: contractType,
      expirationTimestamp: Math.floor(prepared.transfer.expiration / 1000)
    }
  })

  return Effect.fn("TronPrepare.prepare")((request: Request) => freshness.orUnavailable(prepare(request)))
}
