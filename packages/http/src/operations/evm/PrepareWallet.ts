/** Prepares a transfer of native coins from an address of a synced wallet (wider interface, *HD wallets*). */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { InvalidData, type InvalidXpub, invalidField, type XpubNotSynced } from "../../contract/Errors.ts"
import { decodeAddress } from "../Field.ts"
import type { ChainOperations, WalletRequest } from "../Operations.ts"

type Operation = ChainOperations["evmPrepare"]

/** Where in a synced wallet an address is; undefined for one that is not watched as the wallet's. */
type PlaceOf = (
  request: WalletRequest,
  address: AddressBytes
) => Effect.Effect<
  { readonly change: number; readonly index: number } | undefined,
  InvalidXpub | InvalidData | XpubNotSynced
>

/** Numbers of JSON lose digits above 2^53 in many readers: such an amount is text. */
const carried = (amount: bigint) => (amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : String(amount))

/** The name that a field has in requests of this operation. */
const renamed = (error: InvalidData) =>
  error.details?.[0]?.attribute === "type" ? invalidField("transactionType", error.details[0].message) : error

/** `prepare` is the operation of the chain that prepares a transfer from any address. */
export const make = (chain: Chain, prepare: ChainOperations["prepare"], placeOf: PlaceOf): Operation =>
  Effect.fn("PrepareWallet.evmPrepare")(function* (request) {
    const { extendedPublicKey: _key, derivation: _derivation, fee, transactionType, ...transfer } = request
    const place = yield* placeOf(request, yield* decodeAddress(chain, "sender", request.sender))
    if (place === undefined) {
      return yield* invalidField(
        "sender",
        "must be an address of the wallet that is synced: up to the gap behind the last used one"
      )
    }
    const wanted = {
      ...transfer,
      fee: { ...fee, priority: fee.priority ?? ("standard" as const) },
      ...(transactionType === undefined ? {} : { type: transactionType })
    }
    const {
      fee: price,
      sighash,
      value,
      ...prepared
    } = yield* Effect.mapError(prepare(wanted), (error) => (error instanceof InvalidData ? renamed(error) : error))
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, total, unit } = price
    return {
      ...prepared,
      ...{ change: place.change, derivationIndex: place.index, sigHash: sighash, gasPrice },
      value: { amount: carried(Result.getOrThrow(Amount.parse(value.amount, chain.decimals))), unit },
      fee: {
        ...{ gasLimit: prepared.gasLimit, gasPrice, unit },
        ...(maxFeePerGas === 0 ? {} : { maxFeePerGas, maxPriorityFeePerGas }),
        ...(total === undefined ? {} : { total })
      }
    }
  })
