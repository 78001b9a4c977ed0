/** The call of a token's contract by which a transfer of its tokens is made: ERC-20 and ERC-721. */
import { randomBytes } from "node:crypto"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { TransactionRequest } from "@headwater/indexer/families/evm/TransactionRequest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { conflictingField, invalidField } from "../../contract/Errors.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import * as Hex from "../Hex.ts"

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

/** Loaded with the first transfer: no other operation needs it. */
const functions = Effect.map(
  Effect.promise(() => import("ethers/abi")),
  ({ Interface }) =>
    new Interface([
      "function transfer(address to, uint256 amount)",
      // A contract that cannot pass the token on refuses it (ERC-721).
      "function safeTransferFrom(address from, address to, uint256 tokenId)"
    ])
)

/** The functions by their signatures, which their selectors are hashes of. */
const signatures = {
  amount: "transfer(address,uint256)",
  tokenId: "safeTransferFrom(address,address,uint256)"
} as const

const largest = 2n ** 256n - 1n

const uint256 = (attribute: string, value: bigint) =>
  value <= largest ? Effect.succeed(value) : Effect.fail(invalidField(attribute, "must be below 2^256"))

const idOf = (attribute: string, text: string) =>
  /^\d{1,78}$/.test(text)
    ? uint256(attribute, BigInt(text))
    : Effect.fail(invalidField(attribute, "must be a whole number"))

/** As token transfers are shown: in the smallest units where decimals are unknown. */
const tokensOf = Effect.fnUntraced(function* (decimals: number | undefined, text: string) {
  const amount = yield* decodeAmount({ decimals: decimals ?? 0 }, "amount", text)
  return { amount: yield* uint256("amount", amount), decimals: decimals ?? 0 }
})

/** Gas of a call that only looks: above what any transfer takes. */
const ample = 10_000_000n

/** Whether bytes are `true`, as the standards have it of a transfer of fungible tokens that was made. */
const isTrue = (returned: Uint8Array) => returned.length >= 32 && returned.subarray(0, 32).some((byte) => byte !== 0)

/**
 * Fails where the contract would move nothing and not revert, and the fee would be lost: it refuses with `false`, or takes calls of
 * any kind, as wallets and wrapped coins do. Some tokens answer `false` whatever happens (Tether Gold), and some nothing (Tether,
 * and every ERC-721): what counts then is whether the transfer shows in the logs, where the node traces.
 */
const mustMove = Effect.fnUntraced(function* (evm: EvmNode, call: TransactionRequest, attribute: string) {
  const answer = yield* Effect.result(evm.returned(call))
  if (Result.isFailure(answer)) {
    // A transfer that reverts is refused by the estimate of its gas, with the reason.
    return answer.failure._tag === "NodeRejected" ? undefined : yield* answer.failure
  }
  if (isTrue(answer.success)) return
  const simulated = evm.simulate({ ...call, gasLimit: ample, gasPrice: 0n })
  const moves = yield* simulated.pipe(
    Effect.map(({ failed, moves }) => (failed ? undefined : moves)),
    Effect.catchTag("NodeRejected", () => Effect.undefined)
  )
  const isMoved = moves?.tokens.some(
    ({ contract, from }) => Bytes.equal(contract, call.to) && Bytes.equal(from, call.from)
  )
  if (isMoved === false) {
    return yield* conflictingField(attribute, "the contract would move nothing, and the fee would be lost")
  }
})

/** What is asked of a node to write a transfer. */
type DecimalsOf<E> = (contract: AddressBytes) => Effect.Effect<number | undefined, E>

/**
 * An address that nobody has: nobody could give it tokens beforehand. Without zeros, which take less gas than other bytes: two
 * estimates of the same transfer are the same.
 */
const nobody = Effect.sync(() => Hex.prefixed(randomBytes(20).map((byte) => byte || 1)))

/**
 * The call of the contract that a request asks for, from the sender. `toNobody` is the same one to an address that has none of the
 * tokens: it takes more gas, as the first tokens of a holder take a new place in the contract's storage.
 */
export const write = Effect.fnUntraced(function* <E>(chain: Chain, decimalsOf: DecimalsOf<E>, wanted: Wanted) {
  const from = yield* decodeAddress(chain, "sender", wanted.sender)
  const recipient = yield* decodeAddress(chain, "recipient", wanted.recipient)
  const to = yield* decodeAddress(chain, "contract", wanted.contract)
  // Most contracts take their own tokens, and can never give them back.
  if (Bytes.equal(recipient, to)) return yield* invalidField("recipient", "must not be the token's contract")
  const isFungible = !("tokenId" in wanted)
  const signature = signatures[isFungible ? "amount" : "tokenId"]
  const tokens = isFungible ? yield* tokensOf(yield* decimalsOf(to), wanted.amount) : undefined
  const id = isFungible ? undefined : yield* idOf(wanted.attribute ?? "tokenId", wanted.tokenId)
  const abi = yield* functions
  const dataTo = (holder: string) => {
    const values = id === undefined ? [holder, tokens!.amount] : [Hex.prefixed(from), holder, id]
    return Buffer.from(abi.encodeFunctionData(signature, values).slice(2), "hex")
  }
  return { from, to, data: dataTo(Hex.prefixed(recipient)), toNobody: dataTo(yield* nobody), tokens, signature }
})

const selectorBytes = 4

/** The call in the words of Tron's nodes, which put the selector together themselves. */
export const callOnTron = ({ data, from, signature, to, toNobody }: Effect.Success<ReturnType<typeof write>>) => ({
  ...{ sender: from, contract: to, signature, data },
  ...{ arguments: data.subarray(selectorBytes), toNobody: toNobody.subarray(selectorBytes) }
})

/** The call, from the sender to the contract. Refuses what is no contract, and what its contract would refuse. */
export const callOf = Effect.fnUntraced(function* (chain: Chain, evm: EvmNode, wanted: Wanted) {
  const contract = yield* decodeAddress(chain, "contract", wanted.contract)
  if (!(yield* evm.hasCode(contract))) {
    return yield* conflictingField("contract", "there is no contract at this address")
  }
  const { data, from, to, tokens, toNobody } = yield* write(chain, evm.tokenDecimals, wanted)
  const attribute = "amount" in wanted ? "amount" : (wanted.attribute ?? "tokenId")
  yield* mustMove(evm, { from, to, data, value: 0n }, attribute)
  return { from, to, data, toNobody, tokens }
})
