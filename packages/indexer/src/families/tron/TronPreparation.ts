/**
 * A transfer of TRX, ready to be signed: built by the node, and refused unless it is byte for byte the transfer that was
 * asked for. Tron has no gas for a transfer: a transfer costs bandwidth, which an account has for free or by its stake,
 * or else pays for; and a fee where the transfer activates the recipient.
 */

import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TronTransfer from "@headwater/core/tron/TronTransfer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import * as TronAccount from "./internal/TronAccount.ts"
import * as TronJson from "./internal/TronJson.ts"
import type { TronHttp } from "./TronHttp.ts"

export interface TransferRequest {
  readonly sender: AddressBytes
  readonly recipient: AddressBytes
  /** Sun. */
  readonly amount: bigint
  /** A note that everybody can read on the chain; empty for none. */
  readonly memo: Uint8Array
  /** Take the fee from the amount, so that the sender spends the amount and no more. */
  readonly feeFromAmount: boolean
}

export interface PreparedTransfer extends TronTransfer.Verified {
  /** What the transfer burns, in sun. */
  readonly fee: bigint
  /** Points of bandwidth that the transfer takes, and sun for a point that has to be bought. */
  readonly bandwidth: number
  readonly bandwidthPrice: bigint
}

/** The transfer cannot be made, or not so; `attribute` names the part of the request that has to change. */
export class TransferRefused extends Schema.TaggedError<TransferRefused>()("TransferRefused", {
  attribute: Schema.Literals(["sender", "recipient", "amount", "additionalData", "contract"]),
  /** `invalid`: whatever the state of the chain; `state`: as the chain is at present. */
  reason: Schema.Literals(["invalid", "state"]),
  message: Schema.String
}) {}

const invalid = (attribute: TransferRefused["attribute"], message: string) =>
  new TransferRefused({ attribute, reason: "invalid", message })

const refuse = (attribute: TransferRefused["attribute"], message: string) =>
  new TransferRefused({ attribute, reason: "state", message })

/** What only the node decides, in the length that it has in these years: enough to measure a transfer. */
const placeholder = {
  refBlockBytes: new Uint8Array(2),
  refBlockHash: new Uint8Array(8),
  expiration: 2 ** 41,
  timestamp: 2 ** 41
}

/** Longest memo: a transaction that activates an account may have 1,000 bytes, any other far more. */
const maxMemo = 512

const path = "/wallet/createtransaction"

interface Circumstances {
  readonly bandwidth: TronAccount.Bandwidth
  readonly prices: TronAccount.Prices
  readonly activates: boolean
  readonly signatures: number
}

/** What the activation of an account costs by a transfer of so many points, of which none are free. */
const activationFee = (points: number, { bandwidth, prices }: Circumstances): bigint =>
  prices.activation + (bandwidth.staked >= points * prices.activationRate ? 0n : prices.activationWithoutStake)

/** What a transfer of so many points costs (java-tron's `BandwidthProcessor`, `TransferActuator`, `Manager`). */
const feeOf = (points: number, memo: Uint8Array, circumstances: Circumstances): bigint => {
  const { activates, bandwidth, prices, signatures } = circumstances
  return (
    (activates ? activationFee(points, circumstances) : TronAccount.bandwidthFee(points, bandwidth, prices)) +
    (memo.length > 0 ? prices.memo : 0n) +
    TronAccount.signatureFee(signatures, prices)
  )
}

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

/** Points of bandwidth that a transfer of so much takes: its bytes decide. */
const pointsOf = ({ memo, recipient, sender }: TransferRequest, sun: bigint, signatures: number): number =>
  TronTransfer.bandwidthOf(
    TronTransfer.encode({ owner: sender, to: recipient, amount: sun, memo, ...placeholder }),
    signatures
  )

/** What is wrong with a transfer whatever the state of the chain. */
const faultOf = ({ amount, memo, recipient, sender }: TransferRequest): TransferRefused | undefined => {
  if (amount <= 0n) return invalid("amount", "must be above zero")
  if (amount >= 2n ** 63n) return invalid("amount", "must be below 2^63 sun")
  if (same(sender, recipient)) return invalid("recipient", "must be another account than the sender")
  return memo.length > maxMemo ? invalid("additionalData", `must be at most ${maxMemo} bytes of UTF-8`) : undefined
}

/** Points of bandwidth that a transfer with one signature takes. */
export const bandwidthOf = (request: TransferRequest): Result.Result<number, TransferRefused> => {
  const fault = faultOf(request)
  return fault === undefined ? Result.succeed(pointsOf(request, request.amount, 1)) : Result.fail(fault)
}

/** Prepares a transfer. A node whose transaction is not the one asked for is `NodeInconsistent`. */
export const prepare = Effect.fn("TronPreparation.prepare")(function* (
  chain: Chain,
  http: TronHttp,
  request: TransferRequest
): Effect.fn.Return<PreparedTransfer, NodeError | TransferRefused> {
  const { amount, memo, recipient, sender } = request
  const fault = faultOf(request)
  if (fault !== undefined) return yield* fault

  const [from, to, bandwidth, prices] = yield* Effect.all(
    [
      TronAccount.fetch(http, sender),
      TronAccount.fetch(http, recipient),
      TronAccount.bandwidth(http, sender),
      TronAccount.prices(http)
    ],
    { concurrency: "unbounded" }
  )
  if (from === undefined) return yield* refuse("sender", "has no account on the chain yet: it holds nothing")
  if (to?.isContract === true && prices.forbidsContracts) {
    return yield* refuse("recipient", "is a contract: the chain refuses plain transfers to contracts")
  }

  const { signatures } = from
  const circumstances = { bandwidth, prices, activates: to === undefined, signatures }
  const feeFor = (sun: bigint) => feeOf(pointsOf(request, sun, signatures), memo, circumstances)
  const whole = feeFor(amount)
  const coins = (sun: bigint) => Amount.withUnit(chain, sun)
  if (request.feeFromAmount && amount <= whole) {
    return yield* refuse("amount", `${coins(amount)} does not cover the fee of ${coins(whole)}`)
  }
  const value = request.feeFromAmount ? amount - whole : amount
  const fee = feeFor(value)
  if (from.balance < value + fee) {
    const need = `${coins(value + fee)} (${coins(value)} and a fee of ${coins(fee)})`
    return yield* refuse("amount", `the sender has ${coins(from.balance)} and needs ${need}`)
  }

  const extra = memo.length === 0 ? "" : `,"extra_data":"${Buffer.from(memo).toString("hex")}"`
  const addresses = `"owner_address":"${TronJson.addressHex(sender)}","to_address":"${TronJson.addressHex(recipient)}"`
  const answer = yield* Effect.catchTag(
    // Written by hand, since JSON.stringify has no numbers beyond 2^53.
    http.post(path, `{${addresses},"amount":${value}${extra}}`),
    "NodeRejected",
    (error) =>
      Effect.fail(
        error.message.includes("ContractValidateException")
          ? refuse(
              "amount",
              `the chain would refuse the transfer: ${error.message.replace(/^.*?Exception\s*:\s*/, "")}`
            )
          : error
      )
  )
  const now = yield* Clock.currentTimeMillis
  const verified = yield* Effect.mapError(
    Effect.fromResult(TronTransfer.verify(answer, { owner: sender, to: recipient, amount: value, memo, now })),
    ({ message }) => new NodeInconsistent({ node: http.name, method: path, message })
  )
  const points = TronTransfer.bandwidthOf(verified.rawData, signatures)
  return { ...verified, fee, bandwidth: points, bandwidthPrice: prices.bandwidth }
})
