/** Prepares a payment of XRP for signing, and refuses one that the ledger would take the fee of and nothing else. */
import { createHash } from "node:crypto"
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import { type Account, type Fees, type OpenLedger, outbidding } from "@headwater/indexer/families/xrp/OpenLedger"
import type { XrpConnection } from "@headwater/indexer/families/xrp/XrpConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { conflictingField, invalidField } from "../../contract/Errors.ts"
import * as CoinAmount from "../CoinAmount.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import { numberOf, type Reserving } from "../KeptNonce.ts"
import type { ChainOperations } from "../Operations.ts"
import { cushioned } from "./NextTransaction.ts"

type Operation = ChainOperations["preparePayment"]
type Request = Parameters<Operation>[0]

/** Ledgers that a payment waits for: a minute or more (xrpl.js). */
const ledgersToWait = 20
/** Of a ledger, which closes after 3 to 5 of them (xrpl.org, Consensus). */
const mostSeconds = 5

/** Whole coins: a higher fee of the open ledger has to be named by the caller (`maxFeeXRP` of xrpl.js). */
const largestFee = "2"

/** Bytes of a memo: rippled takes no more than 1,024 of all memos together, and what holds this one is 5. */
const maxMemo = 1_019

const recipientOf = Effect.fnUntraced(function* (chain: Chain, { destinationTag, recipient }: Request) {
  const account = yield* decodeAddress(chain, "recipient", recipient)
  const own = Result.getOrUndefined(Address.destinationTag(chain, recipient))
  if (own !== undefined && destinationTag !== undefined && own !== destinationTag) {
    return yield* invalidField("destinationTag", `is not the tag of the X-address, which is ${own}`)
  }
  return { account, tag: own ?? destinationTag }
})

/** The transaction in the queue that has a sequence; undefined where none has it. */
const queuedAt = ({ inQueue }: Account, sequence: number | undefined) =>
  inQueue.find((queued) => queued.sequence === sequence)

/** The least that takes the place of a queued transaction: the account's first one may go past the queue instead. */
const leastInPlace = (account: Account, fees: Fees, sequence: number | undefined): bigint => {
  const replaced = queuedAt(account, sequence)
  if (replaced === undefined) return 0n
  const least = outbidding(replaced, fees)
  return sequence === account.openSequence && fees.openLedger < least ? fees.openLedger : least
}

const feeOf = Effect.fnUntraced(function* (chain: Chain, account: Account, fees: Fees, { fee, sequence }: Request) {
  const { minimum, openLedger } = fees
  const inPlace = leastInPlace(account, fees, sequence)
  const coins = (drops: bigint) => Amount.withUnit(chain, drops)
  if (fee?.exactAmount !== undefined) {
    const exact = Amount.parse(fee.exactAmount, 0)
    if (Result.isFailure(exact)) return yield* invalidField("fee.exactAmount", "must be a whole number of drops")
    if (exact.success < minimum) {
      return yield* conflictingField("fee.exactAmount", `servers take ${minimum} drops or more`)
    }
    return exact.success < inPlace
      ? yield* conflictingField(
          "fee.exactAmount",
          `in the place of the queued transaction with this sequence servers take ${inPlace} drops or more`
        )
      : exact.success
  }
  const usual = { slow: minimum, standard: openLedger, fast: cushioned(openLedger) }[fee?.priority ?? "standard"]
  const isRaised = usual < inPlace
  const drops = isRaised ? inPlace : usual
  if (drops <= Result.getOrThrow(Amount.parse(largestFee, chain.decimals))) return drops
  const asking = isRaised ? "the place of the queued transaction with this sequence" : "the open ledger"
  return yield* conflictingField("fee", `${asking} asks for ${coins(drops)}: name fee.exactAmount, or come back`)
})

/** What rippled hashes everything with: the first 32 bytes of SHA-512. */
const sha512Half = (hex: string) =>
  createHash("sha512").update(Buffer.from(hex, "hex")).digest("hex").slice(0, 64).toUpperCase()

/** Whether the key of an address may sign for an account. */
const maySign = (address: string, sender: string, { masterDisabled, regularKey }: Account) =>
  address === sender ? !masterDisabled : address === regularKey

/** The reason for which the recipient would not be paid. */
const refusalOf = Effect.fnUntraced(function* (
  chain: Chain,
  ledger: OpenLedger,
  sender: Address.AddressBytes,
  recipient: { readonly account: Address.AddressBytes; readonly tag: number | undefined },
  amount: bigint
) {
  const account = yield* ledger.account(recipient.account)
  if (account === undefined) {
    const { base } = yield* ledger.reserves
    return amount >= base
      ? undefined
      : conflictingField(
          "amount",
          `the recipient has no account yet: a first payment is of ${Amount.withUnit(chain, base)} or more`
        )
  }
  if (account.isPseudo) {
    return conflictingField(
      "recipient",
      "is an account of the ledger's own, for an AMM, a vault or lending: nobody can pay it"
    )
  }
  if (account.requiresTag && recipient.tag === undefined) {
    return conflictingField("destinationTag", "the recipient takes no payment without one")
  }
  if (account.refusesCoins) return conflictingField("recipient", `wants no ${chain.unit}`)
  if (!account.requiresAuthorisation) return undefined
  const { base } = yield* ledger.reserves
  // What an account without more than the reserve needs for its fees, anybody may pay (rippled).
  if (account.balance <= base && amount <= base) return undefined
  return (yield* ledger.isAuthorised(sender, recipient.account))
    ? undefined
    : conflictingField("recipient", "takes payments of authorised accounts alone, of which the sender is none")
})

const prepare = Effect.fnUntraced(function* (
  chain: Chain,
  freshness: Freshness<XrpConnection>,
  reserving: Reserving,
  request: Request
) {
  const sender = yield* decodeAddress(chain, "sender", request.sender)
  const senderText = Address.encode(chain, sender)!
  const recipient = yield* recipientOf(chain, request)
  if (Bytes.equal(sender, recipient.account)) return yield* invalidField("recipient", "must not be the sender")
  const amount = yield* decodeAmount(chain, "amount", request.amount)
  if (amount === 0n) return yield* invalidField("amount", "must be above zero")
  const memo = Buffer.from(request.additionalData ?? "")
  if (memo.length > maxMemo) return yield* invalidField("additionalData", `must be at most ${maxMemo} bytes of UTF-8`)
  const { feeFault, openLedger: ledger } = (yield* freshness.node).source
  const account = yield* ledger.account(sender)
  if (account === undefined) return yield* conflictingField("sender", "there is no such account")
  if (request.sequence !== undefined && request.sequence < account.openSequence) {
    return yield* conflictingField(
      "sequence",
      `${request.sequence} is used already; the sender's next one is ${account.sequence}`
    )
  }
  const publicKey = request.publicKey.toUpperCase()
  // Loaded with the first payment: no other operation needs them.
  const [{ encode, encodeForSigning }, { deriveAddress }] = yield* Effect.promise(() =>
    Promise.all([import("ripple-binary-codec"), import("ripple-keypairs")])
  )
  if (!maySign(deriveAddress(publicKey), senderText, account)) {
    return yield* conflictingField("publicKey", "the key may not sign for the sender")
  }
  const refusal = yield* refusalOf(chain, ledger, sender, recipient, amount)
  if (refusal !== undefined) return yield* refusal
  const fees = yield* ledger.fees
  const fee = yield* feeOf(chain, account, fees, request)
  const { base, increment } = yield* ledger.reserves
  const reserve = base * BigInt(account.accounts) + increment * BigInt(account.owned)
  // A payment with the sequence of a queued transaction takes its place, and may spend what that one might have.
  const queued = account.queued - (queuedAt(account, request.sequence)?.spend ?? 0n)
  // rippled lets a payment of XRP take its fee from the reserve.
  const least = amount + (fee > reserve ? fee : reserve)
  if (account.balance - queued < least) {
    const coins = (drops: bigint) => Amount.withUnit(chain, drops)
    const less = queued === 0n ? "" : `, of which its queued transactions may take ${coins(queued)},`
    return yield* conflictingField(
      "amount",
      `the sender has ${coins(account.balance)}${less} and needs ${coins(least)}: ` +
        `amount ${coins(amount)}, and the larger one of fee ${coins(fee)} and reserve ${coins(reserve)}`
    )
  }
  const isChosen = request.fee?.exactAmount !== undefined && fee > fees.minimum
  const fault = isChosen ? feeFault(fee, fees.openLedger) : undefined
  if (fault !== undefined) return yield* invalidField("fee.exactAmount", fault)
  const lastLedgerSequence = (yield* ledger.validated) + ledgersToWait
  // Last: whoever gets no answer has reserved nothing.
  // An abandoned payment holds up those behind its sequence: it is kept no longer than it may be validated.
  const reservationSeconds = Math.min(reserving.reservationSeconds, ledgersToWait * mostSeconds)
  const { kept, nonce: sequence } = yield* numberOf(
    { ...reserving, reservationSeconds },
    {
      ...{ chain, account: request.account, sender, next: account.sequence },
      // Whoever gives up, and prepares again, has not asked to have the coins set aside.
      ...{ named: request.sequence, reserve: request.reserve ?? true, keepsCost: request.reserve === true },
      ...{ cost: amount + fee, available: account.balance - queued - (least - amount - fee) },
      waiting: account.inQueue.map(({ sequence }) => sequence)
    }
  )
  const recipientText = Address.encode(chain, recipient.account)!
  const tag = recipient.tag === undefined ? {} : { destinationTag: recipient.tag }
  const sourceTag = Result.getOrUndefined(Address.destinationTag(chain, request.sender))
  const transaction = {
    ...{ TransactionType: "Payment", Flags: 0, Account: senderText, Destination: recipientText },
    ...{ Amount: String(amount), Fee: String(fee), Sequence: sequence, LastLedgerSequence: lastLedgerSequence },
    SigningPubKey: publicKey,
    ...(recipient.tag === undefined ? {} : { DestinationTag: recipient.tag }),
    ...(sourceTag === undefined ? {} : { SourceTag: sourceTag }),
    ...(memo.length === 0 ? {} : { Memos: [{ Memo: { MemoData: memo.toString("hex").toUpperCase() } }] })
  }
  const signingData = encodeForSigning(transaction)
  const value = (drops: bigint) => CoinAmount.of(chain, drops)
  return {
    ...{ sender: senderText, recipient: recipientText, ...tag, value: value(amount), fee: value(fee) },
    ...kept,
    ...{ sequence, lastLedgerSequence, transactionHex: encode(transaction), signingData },
    sighash: sha512Half(signingData)
  }
})

export const make = ({ chain }: ChainReader, freshness: Freshness<XrpConnection>, reserving: Reserving): Operation =>
  Effect.fn("Prepare.preparePayment")((request: Request) =>
    freshness.orUnavailable(prepare(chain, freshness, reserving, request))
  )
