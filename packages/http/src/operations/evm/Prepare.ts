/** Prepares transfers of native coins (interface section 4.15) and of tokens for signing. */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Preparation from "@headwater/core/evm/Preparation"
import * as Sighash from "@headwater/core/evm/Sighash"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { Account, EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { GasPrices } from "@headwater/indexer/families/evm/GasPrices"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { conflictingField, invalidField } from "../../contract/Errors.ts"
import * as CoinAmount from "../CoinAmount.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import * as Hex from "../Hex.ts"
import { numberOf, type Reserving } from "../KeptNonce.ts"
import type { ChainOperations } from "../Operations.ts"
import * as CallGas from "./CallGas.ts"
import * as OfferedFee from "./OfferedFee.ts"
import * as SafeInteger from "./SafeInteger.ts"
import * as TokenTransfer from "./TokenTransfer.ts"

type Request = Parameters<ChainOperations["prepare"]>[0]

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

/** The value that is left to pay: the amount, or what the fees leave of it. */
const valueOf = (chain: Chain, payment: Parameters<typeof Preparation.valueOf>[1]) =>
  Effect.mapError(Effect.fromResult(Preparation.valueOf(chain, payment)), ({ message }) =>
    conflictingField("amount", message)
  )

/** The call that a transaction makes; of a transfer of native coins the payment itself. */
interface Wanted extends Omit<CallGas.Called, "value"> {
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
    ? CallGas.estimate(evm, called)
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
  const gasLimit = yield* CallGas.limit(chain, evm, called, estimate)
  const replaced =
    account.replaced ??
    (request.nonce === undefined ? undefined : yield* OfferedFee.sent(reserving.nonces, request.account, from, next))
  const quote = yield* OfferedFee.quote(fee, { type, gasLimit, fromAmount, prices, replaced, feeFault })
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
    fee: OfferedFee.item(type, yield* SafeInteger.of("fee", quote.cap), yield* SafeInteger.of("fee", quote.tip)),
    gasLimit: yield* SafeInteger.of("gasLimit", gasLimit)
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
