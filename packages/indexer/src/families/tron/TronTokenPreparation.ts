/**
 * A transfer of tokens (TRC-20, TRC-721), ready to be signed: a call of the token's contract, whose bytes are made here. A call
 * costs energy, which an account has by its stake or pays for, and bandwidth.
 */
import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as TronTransfer from "@headwater/core/tron/TronTransfer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { NodeError } from "../node/NodeError.ts"
import type { Head } from "../Source.ts"
import * as TronAccount from "./internal/TronAccount.ts"
import * as TronContract from "./internal/TronContract.ts"
import type { TronHttp } from "./TronHttp.ts"
import { TransferRefused } from "./TronPreparation.ts"

export interface TokenTransferRequest {
  readonly sender: AddressBytes
  readonly contract: AddressBytes
  /** The function as its signature has it, and its ABI-encoded arguments. */
  readonly signature: string
  readonly arguments: Uint8Array
  /** The selector and the arguments. */
  readonly data: Uint8Array
  /** The arguments of the same transfer to an address that has none of the tokens. */
  readonly toNobody: Uint8Array
}

export interface PreparedCall {
  readonly rawData: Uint8Array
  readonly id: Uint8Array
  /** Milliseconds since the Unix epoch. */
  readonly expiration: number
  readonly energy: number
  /** Sun for a unit of energy that has to be bought. */
  readonly energyPrice: bigint
  /** What the call burns by the present state, in sun: for energy and bandwidth that the sender has not, and for several signatures. */
  readonly fee: bigint
  /** The most that it may burn for energy. */
  readonly feeLimit: bigint
}

const refuse = (attribute: "sender" | "recipient" | "contract", message: string) =>
  new TransferRefused({ attribute, reason: "state", message })

/** As long as transactions that a node makes. */
const lifeMillis = 60_000

/** Three tenths more: what a contract takes may be more by then, and a call that runs out of energy burns all of it. */
const withMargin = (energy: number) => Math.ceil(energy * 1.3)

/** Bytes 6 and 7 of the height of a recent block, and bytes 8 to 15 of its id (`TransactionCapsule.setReference`). */
const referenceTo = ({ hash, height }: Pick<Head, "hash" | "height">) => {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(height))
  return { refBlockBytes: new Uint8Array(number.subarray(6)), refBlockHash: hash.slice(8, 16) }
}

/** Energy that the transfer takes; fails where the contract would refuse it. */
export const energyOf = Effect.fn("TronTokenPreparation.energyOf")(function* (
  http: TronHttp,
  { arguments: values, contract, sender, signature }: TokenTransferRequest
): Effect.fn.Return<number, NodeError | TransferRefused> {
  const outcome = yield* TronContract.run(http, sender, contract, signature, Buffer.from(values).toString("hex"))
  if (outcome === undefined) return yield* refuse("contract", "there is no contract at this address")
  if (outcome.failure !== undefined) return yield* refuse("recipient", `the transfer would fail: ${outcome.failure}`)
  return outcome.energy
})

/**
 * Energy that the first tokens of a holder take, by a new place in the contract's storage: twice as much at a busy contract as USDT's.
 * A recipient who has some may have spent them by the time that a block takes the transfer, and what runs out of energy burns all
 * of that.
 */
const energyOfFirst = (http: TronHttp, request: TokenTransferRequest) =>
  Effect.catchTag(
    energyOf(http, { ...request, arguments: request.toNobody }),
    // Tokens that only some may hold say nothing.
    "TransferRefused",
    () => Effect.succeed(0)
  )

export const prepare = Effect.fn("TronTokenPreparation.prepare")(function* (
  chain: Chain,
  http: TronHttp,
  head: Effect.Effect<Head, NodeError>,
  request: TokenTransferRequest
): Effect.fn.Return<PreparedCall, NodeError | TransferRefused> {
  const { contract, data, sender } = request
  const [from, resources, prices, run, first, block] = yield* Effect.all(
    [
      TronAccount.fetch(http, sender),
      TronAccount.resources(http, sender),
      TronAccount.prices(http),
      Effect.result(energyOf(http, request)),
      energyOfFirst(http, request),
      head
    ],
    { concurrency: "unbounded" }
  )
  if (from === undefined) return yield* refuse("sender", "has no account on the chain yet: it holds nothing")
  const energy = yield* Effect.fromResult(run)
  const feeLimit = BigInt(Math.max(withMargin(energy), first)) * prices.energy
  if (feeLimit > prices.maxFeeLimit) {
    return yield* refuse("contract", `the transfer takes ${energy} energy, more than the chain lets a call burn`)
  }
  const now = yield* Clock.currentTimeMillis
  const call = {
    ...{ owner: sender, contract, data, feeLimit, ...referenceTo(block) },
    ...{ expiration: now + lifeMillis, timestamp: now }
  }
  const rawData = TronTransfer.encodeCall(call)
  const points = TronTransfer.bandwidthOf(rawData, from.signatures)
  const forSignatures = TronAccount.signatureFee(from.signatures, prices)
  const forBandwidth = TronAccount.bandwidthFee(points, resources.bandwidth, prices)
  const fee = forBandwidth + forSignatures + BigInt(Math.max(0, energy - resources.energy)) * prices.energy
  if (from.balance < fee) {
    const coins = (sun: bigint) => Amount.withUnit(chain, sun)
    return yield* refuse(
      "sender",
      `has ${coins(from.balance)}, and the transfer burns ${coins(fee)} for energy and bandwidth${forSignatures > 0n ? ", and for its signatures" : ""}`
    )
  }
  return {
    ...{ rawData, id: TronTransaction.id(rawData), expiration: call.expiration },
    ...{ energy, energyPrice: prices.energy, fee, feeLimit }
  }
})
