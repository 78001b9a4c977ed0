/** Prepares transfers of native coins (interface section 4.15) and of tokens for signing. */

import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Preparation from "@headwater/core/evm/Preparation"
import * as Sighash from "@headwater/core/evm/Sighash"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { Account, EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import * as RawTransaction from "@headwater/indexer/families/evm/RawTransaction"
import type { GasPrices } from "@headwater/indexer/families/evm/GasPrices"
import type { TransactionRequest } from "@headwater/indexer/families/evm/TransactionRequest"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { conflictingField, invalidField } from "../../contract/Errors.ts"
import * as CoinAmount from "../CoinAmount.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import * as Hex from "../Hex.ts"
import { numberOf, type Reserving } from "../KeptNonce.ts"
import type { ChainOperations } from "../Operations.ts"
import * as TokenTransfer from "./TokenTransfer.ts"

type Request = Parameters<ChainOperations["prepare"]>[0]

/** A count that the answer can carry as a JSON number. */
export const asNumber = (attribute: string, value: bigint) =>
  value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Effect.succeed(Number(value))
    : Effect.fail(invalidField(attribute, "must be at most 2^53 - 1"))

const typeOf = (chain: Chain, asked: Request["type"], { baseFee }: GasPrices) => {
  const types = Preparation.typesOf(chain.evm!)
  if (asked !== undefined) {
    return types.includes(asked)
      ? Effect.succeed(asked)
      : Effect.fail(invalidField("type", `${chain.blockchain} has ${types.join(", ")}`))
  }
  // A chain of ours that has not reached EIP-1559, as a development node may be told to be.
  return Effect.succeed(baseFee === undefined ? "legacy-transaction" : types[0]!)
}

const nonceOf = (asked: string | undefined, { mined, pending }: Account) => {
  if (asked === undefined) return Effect.succeed(pending)
  const nonce = Number(asked)
  return nonce < mined
    ? Effect.fail(conflictingField("nonce", `${nonce} is used already; the sender's next one is ${pending}`))
    : Effect.succeed(nonce)
}

/** The balance that the transaction can spend, in Wei; `asked` is the nonce of the request. */
const balanceOf = (asked: string | undefined, { afterPending, balance, mined, pending }: Account) => {
  if (afterPending !== undefined) return Effect.succeed(afterPending)
  return asked !== undefined
    ? Effect.succeed(balance)
    : Effect.fail(
        conflictingField(
          "nonce",
          `the sender has transactions that wait for a block (${pending - mined}), and the node does not say what they ` +
            `leave of the balance: wait for the block, or name a nonce (${pending} is the next), by which the balance of the ` +
            "newest block counts"
        )
      )
}

/** Refusals that are about the transaction: reverted, or out of what a block takes. */
const wouldFail = /revert|gas required|exceeds|insufficient|out of gas|invalid opcode/i

export const gasFor = (evm: EvmNode, transaction: TransactionRequest) =>
  Effect.catchTag(evm.estimateGas(transaction), "NodeRejected", ({ code, message }) =>
    Effect.fail(
      conflictingField(
        "recipient",
        code === 3 || wouldFail.test(message)
          ? `the transaction would fail: ${message.slice(0, 200)}`
          : "the node cannot say how much gas the transaction takes, so it would likely fail"
      )
    )
  )

/** A call; of a transfer of tokens with the data of one to an address that has none. */
export interface Called extends TransactionRequest {
  readonly toNobody?: Uint8Array
}

/**
 * Gas that a transfer of tokens takes to who has none: a recipient who has some now may have spent them by the time a block takes
 * the transfer, which would run out of gas. 0 for tokens that only some may hold, and for no transfer of tokens.
 */
const gasOfFirstTokens = (evm: EvmNode, { toNobody, ...transaction }: Called) =>
  toNobody === undefined
    ? Effect.succeed(0n)
    : Effect.catchTag(evm.estimateGas({ ...transaction, data: toNobody }), "NodeRejected", () => Effect.succeed(0n))

/** The gas limit of a call as the state is now, for the node's estimate. */
const usualLimit = Effect.fnUntraced(function* (
  chain: Chain,
  evm: EvmNode,
  { data, to }: TransactionRequest,
  estimate: bigint
) {
  const limit = Preparation.gasLimit(estimate, data)
  if (limit > estimate || data.length === 0) return limit
  // Data takes as much of an account without code, and hides in the floor of EIP-7623 what a contract does.
  const mayTakeMore = chain.evm?.dataFee === "arbitrum" || (yield* evm.hasCode(to))
  return mayTakeMore ? Preparation.withMargin(estimate) : estimate
})

/** The gas limit of a call, for the node's estimate. */
export const gasLimitOf = Effect.fnUntraced(function* (chain: Chain, evm: EvmNode, called: Called, estimate: bigint) {
  const limit = yield* usualLimit(chain, evm, called, estimate)
  const first = yield* gasOfFirstTokens(evm, called)
  if (first <= limit) return limit
  return first
})

/**
 * The price of the transaction's gas: by a priority, or so that the fee is exactly what the request says. `replaced` is that of
 * a waiting transaction whose place it takes: nodes keep what has blobs from any that has none (EIP-4844).
 */
const feeQuoteFor = (
  type: Preparation.TransactionType,
  { prices, replaced }: { readonly prices: GasPrices; readonly replaced: Account["replaced"] },
  fee: NonNullable<Request["fee"]>,
  gasLimit: bigint,
  fromAmount: boolean,
  feeFault: EvmConnection["feeFault"]
) => {
  if (replaced?.hasBlobs === true) {
    return Effect.fail(
      conflictingField(
        "nonce",
        "the waiting transaction with this nonce has blobs, and nodes take none without in its place"
      )
    )
  }
  const outbidding = replaced && Preparation.outbidding(replaced)
  const faultOf = ({ cap }: Preparation.FeeQuote) => feeFault(cap, gasLimit, prices.suggestedPrice)
  if (fee.exactAmount === undefined) {
    const usual = Preparation.feeQuote(type, prices, fee.priority, fromAmount)
    const isWhole = fromAmount || type !== "gas-fee-market-transaction"
    const quote = outbidding === undefined ? usual : Preparation.raised(usual, outbidding, isWhole)
    const fault = faultOf(quote)
    if (fault === undefined) return Effect.succeed(quote)
    // Where few transactions are mined, what one of them has paid by mistake is the tip of all recent blocks.
    const reason =
      faultOf(usual) === undefined
        ? "in the place of the waiting transaction with this nonce nodes take no less"
        : "so much was paid in recent blocks: name fee.exactAmount, or come back"
    return Effect.fail(conflictingField("fee.priority", `${fault}; ${reason}`))
  }
  const exact = Amount.parse(fee.exactAmount, 0)
  if (Result.isFailure(exact)) return Effect.fail(invalidField("fee.exactAmount", "must be a whole number of Wei"))
  const quote = Preparation.exactFeeQuote(exact.success, gasLimit)
  // Blocks of BNB Smart Chain have a base fee of 0, and its nodes take nothing for nothing all the same.
  const { baseFee, leastTip = 1n } = prices
  const least = baseFee !== undefined && baseFee > leastTip ? baseFee : leastTip
  if (quote.cap < least) {
    return Effect.fail(
      conflictingField(
        "fee.exactAmount",
        `${exact.success} Wei is ${quote.cap} for each of ${gasLimit} gas; blocks take ${least} or more`
      )
    )
  }
  if (outbidding !== undefined && quote.cap < outbidding.cap) {
    return Effect.fail(
      conflictingField(
        "fee.exactAmount",
        `${exact.success} Wei is ${quote.cap} for each of ${gasLimit} gas; in the place of the waiting transaction with this ` +
          `nonce nodes take ${outbidding.cap} or more`
      )
    )
  }
  const fault = faultOf(quote)
  return fault === undefined ? Effect.succeed(quote) : Effect.fail(invalidField("fee.exactAmount", fault))
}

/**
 * What the account's own transactions with a nonce offer that were broadcast here, the highest of each price: many nodes show none
 * of what waits, and refuse for as much what takes its place.
 */
const sentOffer = Effect.fnUntraced(function* (
  nonces: Reserving["nonces"],
  account: number,
  sender: Address.AddressBytes,
  nonce: number
) {
  const raws = yield* Effect.orDie(nonces.sentWith(account, sender, nonce))
  const offers = yield* Effect.forEach(raws, (raw) =>
    Effect.map(Effect.orDie(RawTransaction.read(Hex.prefixed(raw))), RawTransaction.offerOf)
  )
  return offers.reduce<Account["replaced"]>(
    (most, offer) =>
      most === undefined
        ? offer
        : { ...Preparation.raised(most, offer, false), hasBlobs: most.hasBlobs || offer.hasBlobs },
    undefined
  )
})

/** The fee in the words of the contract, in Wei. */
const feeItem = (type: Preparation.TransactionType, cap: number, tip: number) => {
  const isMarket = type === "gas-fee-market-transaction"
  return {
    gasPrice: isMarket ? 0 : cap,
    maxFeePerGas: isMarket ? cap : 0,
    maxPriorityFeePerGas: isMarket ? tip : 0,
    unit: "Wei"
  }
}

/** The value that is left to pay: the amount, or what the fees leave of it. */
const valueOf = (chain: Chain, payment: Parameters<typeof Preparation.valueOf>[1]) =>
  Effect.mapError(Effect.fromResult(Preparation.valueOf(chain, payment)), ({ message }) =>
    conflictingField("amount", message)
  )

/** The call that a transaction makes; of a transfer of native coins the payment itself. */
interface Wanted extends Omit<Called, "value"> {
  /** In Wei. */
  readonly amount: bigint
  /** Whether the fees are taken from the amount. */
  readonly fromAmount: boolean
  /** What it moves of the tokens of the contract that it calls. */
  readonly tokens?: { readonly amount: bigint; readonly decimals: number } | undefined
}

/** What a call moves beside what its sender has, of which blocks have taken what the nonces before the first open one moved. */
const spentTokens = Effect.fnUntraced(function* (evm: EvmNode, { from, to, tokens }: Wanted, { mined }: Account) {
  // Asked soon after the nonce: a transfer that is mined in between is counted twice for a moment, instead of not at all.
  const available = tokens && (yield* evm.tokenBalance(to, from))
  return available === undefined ? undefined : { ...tokens!, contract: to, available, from: mined }
})

const prepareCall = Effect.fnUntraced(function* (
  { chain, reserving }: { readonly chain: Chain; readonly reserving: Reserving },
  { evm, feeFault }: Pick<EvmConnection, "evm" | "feeFault">,
  request: Pick<Request, "account" | "nonce" | "reserve" | "type"> & { readonly fee: NonNullable<Request["fee"]> },
  wanted: Wanted
) {
  const { fee } = request
  const { amount, data, from, fromAmount, to } = wanted
  const called = { ...wanted, value: amount }
  const prices = yield* evm.gasPrices(Preparation.percentiles)
  const type = yield* typeOf(chain, request.type, prices)
  const account = yield* evm.account(from, request.nonce === undefined ? undefined : Number(request.nonce))
  const next = yield* nonceOf(request.nonce, account)
  const balance = yield* balanceOf(request.nonce, account)
  const tokens = yield* spentTokens(evm, wanted, account)
  const chainId = chain.evm?.chainId === undefined ? yield* evm.chainId : BigInt(chain.evm.chainId)
  const afterPending = balance < account.balance
  const payable = (gasFee: bigint, dataFee: bigint) =>
    valueOf(chain, { amount, balance, afterPending, gasFee, dataFee, fromAmount })

  const estimate = yield* amount <= balance
    ? gasFor(evm, called)
    : // Nodes estimate nothing for an amount that the sender does not have; the refusal names the fee nevertheless.
      Effect.catchTag(evm.estimateGas({ from, to, value: balance, data }), "NodeRejected", () =>
        Effect.fail(
          conflictingField(
            "amount",
            `the sender has ${Amount.withUnit(chain, balance)} and needs ${Amount.withUnit(chain, amount)}` +
              (fromAmount ? "" : " and the fee, which the node does not estimate")
          )
        )
      )
  const gasLimit = yield* gasLimitOf(chain, evm, called, estimate)
  const replaced =
    account.replaced ??
    (request.nonce === undefined ? undefined : yield* sentOffer(reserving.nonces, request.account, from, next))
  const quote = yield* feeQuoteFor(type, { prices, replaced }, fee, gasLimit, fromAmount, feeFault)
  const gasFee = quote.cap * gasLimit
  const build = (value: bigint, nonce = next) =>
    Preparation.transaction(type, quote, { chainId, nonce: BigInt(nonce), gasLimit, to, value, data })
  /** The value is part of the bytes of a transaction, and the data fee depends on the bytes. */
  const dataFeeOf = (value: bigint) =>
    chain.evm?.dataFee === "op-stack"
      ? Effect.map(evm.opStackFee(Sighash.serialise(build(value)), gasLimit), Preparation.dataFeeReserve)
      : Effect.succeed(0n)
  // What nobody can have is refused by the next line, and has no bytes.
  const first = gasFee + amount < 2n ** 256n ? yield* dataFeeOf(amount) : 0n
  const dataFee = yield* dataFeeOf(yield* payable(gasFee, first))
  const value = yield* payable(gasFee, dataFee)
  const numbers = {
    fee: feeItem(type, yield* asNumber("fee", quote.cap), yield* asNumber("fee", quote.tip)),
    gasLimit: yield* asNumber("gasLimit", gasLimit)
  }
  // Last: whoever gets no answer has reserved nothing.
  const { kept, nonce } = yield* numberOf(reserving, {
    ...{ chain, account: request.account, sender: from, next: account.pending },
    ...{ named: request.nonce === undefined ? undefined : next, reserve: request.reserve === true },
    ...{ keepsCost: request.reserve === true, cost: value + gasFee + dataFee, available: balance, tokens }
  })

  return {
    digest: Sighash.digestText(build(value, nonce)),
    value,
    item: {
      inputData: Hex.prefixed(data),
      ...kept,
      nonce,
      recipient: Address.encode(chain, to)!,
      sender: Address.encode(chain, from)!,
      ...numbers,
      type
    }
  }
})

interface Means {
  readonly chain: Chain
  readonly freshness: Freshness<EvmConnection>
  readonly reserving: Reserving
}

const prepareCoins = Effect.fnUntraced(function* (means: Means, request: Request) {
  const { chain, freshness } = means
  const { fee } = request
  if (fee === undefined) return yield* invalidField("fee", "is missing")
  const from = yield* decodeAddress(chain, "sender", request.sender)
  const to = yield* decodeAddress(chain, "recipient", request.recipient)
  const amount = yield* decodeAmount(chain, "amount", request.amount)
  const data = new TextEncoder().encode(request.additionalData ?? "")
  const fromAmount = request.substractFromAmount ?? fee.substractFromAmount ?? false
  const node = yield* freshness.node
  const prepared = yield* prepareCall(means, node, { ...request, fee }, { from, to, amount, data, fromAmount })
  const value = CoinAmount.of(chain, prepared.value)
  return { ...prepared.item, sighash: prepared.digest, value }
})

type TokenRequest = Parameters<ChainOperations["prepareFungible" | "prepareNonFungible"]>[0]

/** The transaction calls the token's contract, with no coins: `recipient` of the answer is the contract. */
const prepareTokens = Effect.fnUntraced(function* (means: Means, request: TokenRequest) {
  const { chain, freshness } = means
  const node = yield* freshness.node
  const call = yield* TokenTransfer.callOf(chain, node.evm, request)
  const wanted = { ...call, amount: 0n, fromAmount: false }
  const { digest, item } = yield* prepareCall(means, node, request, wanted)
  return { ...item, sigHash: digest, value: { amount: "0" } }
})

export const make = (
  { chain }: ChainReader,
  freshness: Freshness<EvmConnection>,
  reserving: Reserving
): Pick<ChainOperations, "prepare" | "prepareFungible" | "prepareNonFungible"> => {
  const means = { chain, freshness, reserving }
  const prepareToken = (request: TokenRequest) => freshness.orUnavailable(prepareTokens(means, request))
  return {
    prepare: Effect.fn("Prepare.prepare")((request: Request) => freshness.orUnavailable(prepareCoins(means, request))),
    prepareFungible: Effect.fn("Prepare.prepareFungible")(prepareToken),
    prepareNonFungible: Effect.fn("Prepare.prepareNonFungible")(prepareToken)
  }
}
