/** The call of a token's contract by which a transfer of its tokens is made: ERC-20 and ERC-721. */
import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { TransactionRequest } from "@headwater/indexer/families/evm/TransactionRequest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Interface } from "ethers/abi"
import { conflictingField, invalidField } from "../../contract/Errors.ts"
import { decodeAddress } from "./AddressHistory.ts"

/** A transfer of an amount, or of the token of one id. */
export type Wanted = {
  readonly contract: string
  readonly recipient: string
  readonly sender: string
} & (
  | { readonly amount: string }
  | {
      readonly tokenId: string
      /** The field of the request that has the id. */
      readonly attribute?: string
    }
)

const functions = new Interface([
  "function transfer(address to, uint256 amount)",
  // A contract that cannot pass the token on refuses it (ERC-721).
  "function safeTransferFrom(address from, address to, uint256 tokenId)"
])

const hex = (bytes: AddressBytes) => `0x${Buffer.from(bytes).toString("hex")}`
const largest = 2n ** 256n - 1n

const uint256 = (attribute: string, value: bigint) =>
  value <= largest ? Effect.succeed(value) : Effect.fail(invalidField(attribute, "must be below 2^256"))

const idOf = (attribute: string, text: string) =>
  /^\d{1,78}$/.test(text)
    ? uint256(attribute, BigInt(text))
    : Effect.fail(invalidField(attribute, "must be a whole number"))

const unitsOf = Effect.fnUntraced(function* (evm: EvmNode, contract: AddressBytes, text: string) {
  const { decimals } = yield* evm.tokenMetadata(contract)
  // As token transfers are shown: in the smallest units where decimals are unknown.
  const units = yield* Effect.mapError(Effect.fromResult(Amount.parse(text, decimals ?? 0)), ({ message }) =>
    invalidField("amount", message)
  )
  return yield* uint256("amount", units)
})

/** Fails where the contract would refuse the transfer with `false` instead of a revert: the fee would be lost all the same. */
const mustReturnTrue = Effect.fnUntraced(function* (evm: EvmNode, call: TransactionRequest) {
  const answer = yield* Effect.result(evm.returned(call))
  if (Result.isFailure(answer)) {
    // A transfer that reverts is refused by the estimate of its gas, with the reason.
    return answer.failure._tag === "NodeRejected" ? undefined : yield* answer.failure
  }
  if (answer.success.length >= 32 && answer.success.subarray(0, 32).every((byte) => byte === 0)) {
    return yield* conflictingField("amount", "the token's contract would refuse the transfer")
  }
})

/** The call, from the sender to the contract. Refuses what is no contract, and what its contract would refuse. */
export const callOf = Effect.fnUntraced(function* (chain: Chain, evm: EvmNode, wanted: Wanted) {
  const from = yield* decodeAddress(chain, "sender", wanted.sender)
  const recipient = yield* decodeAddress(chain, "recipient", wanted.recipient)
  const to = yield* decodeAddress(chain, "contract", wanted.contract)
  if (!(yield* evm.hasCode(to))) return yield* conflictingField("contract", "there is no contract at this address")
  const data = Buffer.from(
    ("tokenId" in wanted
      ? functions.encodeFunctionData("safeTransferFrom", [
          hex(from),
          hex(recipient),
          yield* idOf(wanted.attribute ?? "tokenId", wanted.tokenId)
        ])
      : functions.encodeFunctionData("transfer", [hex(recipient), yield* unitsOf(evm, to, wanted.amount)])
    ).slice(2),
    "hex"
  )
  if (!("tokenId" in wanted)) yield* mustReturnTrue(evm, { from, to, data, value: 0n })
  return { from, to, data }
})
