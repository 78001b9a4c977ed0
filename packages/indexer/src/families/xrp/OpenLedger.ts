/** What the next ledger asks of a transaction: fees, reserves, and the sequence of an account's next transaction. */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import { isAccountMissing } from "./internal/XrpReply.ts"
import type { XrpClient } from "./XrpNode.ts"

/** In drops. */
export interface Fees {
  /** Of a transaction with one signature, in an empty ledger. */
  readonly base: bigint
  /** With a lower fee a transaction is not even queued. */
  readonly minimum: bigint
  /** With this fee a transaction goes into the open ledger, and past the queue. */
  readonly openLedger: bigint
}

/** In drops, of the newest validated ledger. */
export interface Reserves {
  /** Of every account. */
  readonly base: bigint
  /** Of an account for each thing in the ledger. */
  readonly increment: bigint
}

/** A transaction of an account that waits in the queue. */
export interface Queued {
  readonly sequence: number
  /** Its fee, in 256ths of what its type and its signatures cost in an empty ledger. */
  readonly feeLevel: bigint
  /** Drops that it may spend, with its fee. */
  readonly spend: bigint
}

/** An account before its next transaction. */
export interface Account {
  /** In drops. */
  readonly balance: bigint
  /** Drops that its transactions in the queue may spend of that, at the most. */
  readonly queued: bigint
  /** Those of them that have a sequence, and no ticket. */
  readonly inQueue: ReadonlyArray<Queued>
  /** Of its next transaction, behind those of the open ledger, and of the queue up to its first gap. */
  readonly sequence: number
  /** Of its next transaction, behind those of the open ledger alone: a lower one was used. */
  readonly openSequence: number
  /** Whether the ledger itself has the account, for an AMM, a vault or lending: it takes no payments. */
  readonly isPseudo: boolean
  /** Things in the ledger for each of which it has a reserve: its own that no sponsor reserves for, and those that it sponsors. */
  readonly owned: number
  /** Accounts for each of which it has a reserve: its own, unless that is sponsored, and those that it sponsors. */
  readonly accounts: number
  /** Whether payments without a destination tag are refused. */
  readonly requiresTag: boolean
  /** Whether payments of XRP are unwanted, though the ledger takes them. */
  readonly refusesCoins: boolean
  /** Whether payments are refused but for those of accounts that were authorised (DepositAuth). */
  readonly requiresAuthorisation: boolean
  /** Whether the key that the address is made of may not sign any more. */
  readonly masterDisabled: boolean
  /** The address of another key that may sign. */
  readonly regularKey: string | undefined
}

export interface OpenLedger {
  readonly fees: Effect.Effect<Fees, NodeError>
  readonly reserves: Effect.Effect<Reserves, NodeError>
  /** Undefined where the ledger has no such account. */
  readonly account: (address: Address.AddressBytes) => Effect.Effect<Account | undefined, NodeError>
  /** Index of the newest validated ledger. */
  readonly validated: Effect.Effect<number, NodeError>
  /** Whether an account that requires it has authorised the payments of another one. */
  readonly isAuthorised: (
    sender: Address.AddressBytes,
    recipient: Address.AddressBytes
  ) => Effect.Effect<boolean, NodeError>
}

const Drops = Schema.String.check(Schema.isPattern(/^\d{1,18}$/))
const Level = Schema.String.check(Schema.isPattern(/^\d{1,20}$/))
const Index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))
const Xrp = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const FeeAnswer = Schema.Struct({
  drops: Schema.Struct({ base_fee: Drops, minimum_fee: Drops, open_ledger_fee: Drops })
})

const InfoAnswer = Schema.Struct({
  info: Schema.Struct({
    validated_ledger: Schema.Struct({ reserve_base_xrp: Xrp, reserve_inc_xrp: Xrp, seq: Index })
  })
})

const AccountAnswer = Schema.Struct({
  account_data: Schema.Struct({
    Account: Schema.String,
    // Each names what a pseudo-account is for.
    AMMID: Schema.optionalKey(Schema.String),
    VaultID: Schema.optionalKey(Schema.String),
    LoanBrokerID: Schema.optionalKey(Schema.String),
    Balance: Drops,
    Flags: Index,
    OwnerCount: Index,
    RegularKey: Schema.optionalKey(Schema.String),
    Sequence: Index,
    // XLS-68.
    Sponsor: Schema.optionalKey(Schema.String),
    SponsoredOwnerCount: Schema.optionalKey(Index),
    SponsoringAccountCount: Schema.optionalKey(Index),
    SponsoringOwnerCount: Schema.optionalKey(Index)
  }),
  queue_data: Schema.optionalKey(
    Schema.Struct({
      highest_sequence: Schema.optionalKey(Index),
      max_spend_drops_total: Schema.optionalKey(Drops),
      transactions: Schema.optionalKey(
        Schema.Array(Schema.Struct({ seq: Schema.optionalKey(Index), fee_level: Level, max_spend_drops: Drops }))
      )
    })
  )
})

const AuthorisedAnswer = Schema.Struct({ deposit_authorized: Schema.Boolean })

const referenceLevel = 256n

/**
 * Drops with which a payment of one signature takes the place of a transaction in the queue, where it does not go past the queue:
 * its level has to be above 5 quarters of that one's (rippled's `retrySequencePercent`).
 */
export const outbidding = ({ feeLevel }: Queued, { base }: Fees): bigint => {
  const level = (feeLevel * 125n) / 100n + 1n
  return (level * base + referenceLevel - 1n) / referenceLevel
}

const lsfRequireDestTag = 0x0002_0000
const lsfDisallowXRP = 0x0008_0000
const lsfDisableMaster = 0x0010_0000
const lsfDepositAuth = 0x0100_0000

/**
 * rippled takes a transaction that fills the first gap of an account's queue, as where one is over that waited before others, and none
 * behind that (`TxQ::nextQueuableSeq`). What a TicketCreate of the queue takes looks like such a gap: servers refuse that one as well.
 */
const nextSequence = (open: number, inQueue: ReadonlyArray<Queued>, highest: number | undefined): number => {
  if (inQueue.length === 0) return Math.max(open, (highest ?? -1) + 1)
  const taken = new Set(inQueue.map(({ sequence }) => sequence))
  let next = open
  while (taken.has(next)) next++
  return next
}

export const make = (chain: Chain, node: XrpClient): OpenLedger => {
  const inconsistent = (method: string) => (error: { readonly message: string }) =>
    new NodeInconsistent({ node: node.name, method, message: error.message.slice(0, 300) })
  const ask = <A>(method: string, params: object, schema: Schema.Codec<A>) =>
    Effect.flatMap(node.request(method, { ...params }), (answer) =>
      Effect.mapError(Schema.decodeUnknownEffect(schema)(answer), inconsistent(method))
    )
  const info = Effect.map(ask("server_info", {}, InfoAnswer), ({ info }) => info.validated_ledger)
  const drops = (xrp: number) =>
    Effect.mapError(Effect.fromResult(Amount.parse(String(xrp), chain.decimals)), inconsistent("server_info"))

  return {
    fees: Effect.map(ask("fee", {}, FeeAnswer), ({ drops }) => ({
      base: BigInt(drops.base_fee),
      minimum: BigInt(drops.minimum_fee),
      openLedger: BigInt(drops.open_ledger_fee)
    })),
    reserves: Effect.flatMap(info, ({ reserve_base_xrp, reserve_inc_xrp }) =>
      Effect.all({ base: drops(reserve_base_xrp), increment: drops(reserve_inc_xrp) })
    ),
    validated: Effect.map(info, ({ seq }) => seq),
    isAuthorised: Effect.fn("OpenLedger.isAuthorised")(function* (sender, recipient) {
      const parties = {
        source_account: Address.encode(chain, sender) ?? "",
        destination_account: Address.encode(chain, recipient) ?? ""
      }
      const answer = yield* ask("deposit_authorized", { ...parties, ledger_index: "current" }, AuthorisedAnswer)
      return answer.deposit_authorized
    }),
    account: Effect.fn("OpenLedger.account")(function* (address) {
      const account = Address.encode(chain, address) ?? ""
      const answer = yield* Effect.result(
        ask("account_info", { account, ledger_index: "current", queue: true }, AccountAnswer)
      )
      if (Result.isFailure(answer)) {
        return isAccountMissing(answer.failure) ? undefined : yield* answer.failure
      }
      const { account_data: data, queue_data: queue } = answer.success
      if (data.Account !== account) {
        return yield* inconsistent("account_info")({ message: "the answer is of another account" })
      }
      const inQueue = (queue?.transactions ?? []).flatMap(({ fee_level, max_spend_drops, seq }) =>
        seq === undefined ? [] : { sequence: seq, feeLevel: BigInt(fee_level), spend: BigInt(max_spend_drops) }
      )
      return {
        balance: BigInt(data.Balance),
        queued: BigInt(queue?.max_spend_drops_total ?? "0"),
        inQueue,
        openSequence: data.Sequence,
        isPseudo: [data.AMMID, data.VaultID, data.LoanBrokerID].some((id) => id !== undefined),
        sequence: nextSequence(data.Sequence, inQueue, queue?.highest_sequence),
        owned: Math.max(0, data.OwnerCount - (data.SponsoredOwnerCount ?? 0)) + (data.SponsoringOwnerCount ?? 0),
        accounts: (data.Sponsor === undefined ? 1 : 0) + (data.SponsoringAccountCount ?? 0),
        requiresTag: (data.Flags & lsfRequireDestTag) !== 0,
        refusesCoins: (data.Flags & lsfDisallowXRP) !== 0,
        requiresAuthorisation: (data.Flags & lsfDepositAuth) !== 0,
        masterDisabled: (data.Flags & lsfDisableMaster) !== 0,
        regularKey: data.RegularKey
      }
    })
  }
}
