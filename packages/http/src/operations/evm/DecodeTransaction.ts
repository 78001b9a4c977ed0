/** A raw transaction of an EVM chain in the words of the interface, with ethers as the decoder. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { invalidField } from "../../contract/Errors.ts"
import type { ChainOperations } from "../Operations.ts"
import { asNumber } from "./Prepare.ts"

/** Gas for bytes of input data (EIP-2028), and of any transaction. */
const gasOf = (data: Uint8Array) => data.reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 0)
const plainGas = 21_000n

const attribute = "rawTransactionHex"

const decoded = Effect.fnUntraced(function* (text: string) {
  // Loaded with the first one: no other operation needs it.
  const { Transaction } = yield* Effect.promise(() => import("ethers/transaction"))
  return yield* Effect.mapError(
    Effect.fromResult(Result.try(() => Transaction.from(text.startsWith("0x") ? text : `0x${text}`))),
    () => invalidField(attribute, "must be a transaction of an EVM chain: legacy, or of types 1 to 4 (EIP-2718)")
  )
})

const decode = Effect.fnUntraced(function* (chain: Chain, text: string) {
  const transaction = yield* decoded(text)
  const { chainId, maxFeePerGas, maxPriorityFeePerGas, signature } = transaction
  const own = chain.evm?.chainId
  if (own !== undefined && chainId !== 0n && chainId !== BigInt(own)) {
    return yield* invalidField(attribute, `is of the chain with id ${chainId}; ${chain.blockchain} has ${own}`)
  }
  const coins = (wei: bigint) => Amount.format(wei, chain.decimals)
  const price = maxFeePerGas ?? transaction.gasPrice ?? 0n
  const gasPaidForData = gasOf(Buffer.from(transaction.data.slice(2), "hex"))
  const approximateAmount = coins(price * transaction.gasLimit)
  return {
    id: transaction.hash ?? transaction.unsignedHash,
    gasLimit: yield* asNumber(attribute, transaction.gasLimit),
    gasPaidForData,
    inputData: transaction.data,
    nonce: transaction.nonce,
    r: signature?.r ?? "",
    recipient: transaction.to ?? "",
    s: signature?.s ?? "",
    sender: transaction.from ?? "",
    type: transaction.type ?? 0,
    v: String(
      signature === null ? 0 : (signature.networkV ?? (transaction.type === 0 ? signature.v : signature.yParity))
    ),
    fee: {
      approximateAmount,
      approximateMinimumRequiredAmount: coins(price * (plainGas + BigInt(gasPaidForData))),
      unit: chain.unit,
      aproximateAmount: approximateAmount
    },
    gasPrice: { amount: String(price), unit: "Wei" },
    value: { amount: coins(transaction.value), unit: chain.unit },
    ...(maxFeePerGas === null
      ? {}
      : {
          blockchainSpecific: {
            fee: {
              maxFeePerGas: String(maxFeePerGas),
              maxPrioriryFeePerGas: String(maxPriorityFeePerGas ?? 0n),
              unit: "Wei"
            }
          }
        })
  }
})

export const make = (chain: Chain): ChainOperations["evmDecode"] =>
  Effect.fn("DecodeTransaction.evmDecode")(({ rawTransactionHex }) => decode(chain, rawTransactionHex))
