/**
 * What a server of the XRP Ledger answers: rippled by its first API version, and clio by its second one. Ledgers have
 * the hashes of what they hold. Places stand for accounts, and for users of accounts that a tag tells apart.
 */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as LedgerBinary from "../../packages/indexer/src/families/xrp/internal/LedgerBinary.ts"
import * as LedgerHash from "../../packages/indexer/src/families/xrp/internal/LedgerHash.ts"
import * as TransactionTree from "../../packages/indexer/src/families/xrp/internal/TransactionTree.ts"
import { RpcError } from "../../packages/indexer/test/FakeNode.ts"
import type { Block, Movement, Transaction, Unsealed } from "./Chains.ts"
import type { View } from "./NodeView.ts"

type Json = Readonly<Record<string, unknown>>

const chain = Chain.ofName("xrp/testnet")!
const { bytesOf } = LedgerBinary.make(chain)

/** The account and the tag at each place. */
const users: ReadonlyArray<readonly [account: number, tag?: number]> = [
  ...([[0], [0, 1], [0, 2 ** 32 - 1], [1], [1, 0], [2], [3], [4]] as const)
]
/** Sends what others pay for. */
const trader = 9

const bytesAt = (account: number) => Address.fromBytes(new Uint8Array(20).fill(0xa0 + account))
const classic = (account: number) => Address.encode(chain, bytesAt(account))!

const [accountOf, tagOf] = [(place: number) => users[place]![0], (place: number) => users[place]![1]]

/** The address at a place of the chain's list. */
export const addressAt = (place: number) => {
  const tag = tagOf(place)
  return tag === undefined
    ? classic(accountOf(place))
    : Address.encode(chain, Address.withTag(bytesAt(accountOf(place)), tag))!
}

/** Whether an address is told what moves at a place: an account is told of all its users. */
export const isOf = (place: number, address: number) =>
  accountOf(place) === accountOf(address) && (tagOf(address) === undefined || tagOf(address) === tagOf(place))

/** Some payments are of what another one's offer has given for tokens: nothing says beforehand what they deliver. */
const isPartial = ({ nonce }: Pick<Transaction, "nonce">) => "0123".includes(nonce[0]!)

const fee = 12n

const taggedAs = (name: string, place: number) => {
  const tag = tagOf(place)
  return tag === undefined ? {} : { [name]: tag }
}

const fieldsOf = (transaction: Pick<Transaction, "movements" | "nonce">): Json => {
  const { movements, nonce } = transaction
  const [{ amount, from, to }] = movements as readonly [Movement]
  return {
    TransactionType: "Payment",
    ...(isPartial(transaction)
      ? {
          ...{ Account: classic(trader), Amount: String(amount * 10n), Flags: 0x0002_0000 },
          SendMax: { currency: "USD", issuer: classic(trader), value: "100" }
        }
      : { Account: classic(accountOf(from)), Amount: String(amount), Flags: 0, ...taggedAs("SourceTag", from) }),
    ...{ Destination: classic(accountOf(to)), Fee: String(fee), Sequence: Number.parseInt(nonce.slice(0, 8), 16) },
    ...taggedAs("DestinationTag", to)
  }
}

const written = (json: Json) => Result.getOrThrow(bytesOf(json))
const upper = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex").toUpperCase()

/** A payment has two accounts, and whoever has an offer taken has no tag. */
export const transaction = ({ movements, ...rest }: Omit<Transaction, "id">): Transaction => {
  const [{ from, to, ...other }] = movements as readonly [Movement]
  const payer = accountOf(from) === accountOf(to) ? users.length - 1 : from
  const untagged = users.findIndex(([account]) => account === accountOf(payer))
  const own = { ...rest, movements: [{ ...other, from: isPartial(rest) ? untagged : payer, to }] }
  return { ...own, id: TransactionTree.transactionHash(written(fieldsOf(own))).toString("hex") }
}

const changed = (account: number, by: bigint): Json => ({
  ModifiedNode: {
    LedgerEntryType: "AccountRoot",
    FinalFields: { Account: classic(account), Balance: String(10n ** 12n + by) },
    PreviousFields: { Balance: String(10n ** 12n) }
  }
})

const metadataOf = (transaction: Transaction, index: number): Json => {
  const [{ amount, from, to }] = transaction.movements as readonly [Movement]
  const isOffer = isPartial(transaction)
  if (transaction.failed) {
    const AffectedNodes = [changed(isOffer ? trader : accountOf(from), -fee)]
    return { AffectedNodes, TransactionIndex: index, TransactionResult: "tecPATH_DRY" }
  }
  return {
    AffectedNodes: [
      ...(isOffer
        ? [changed(trader, -fee), changed(accountOf(from), -amount)]
        : [changed(accountOf(from), -amount - fee)]),
      changed(accountOf(to), amount)
    ],
    TransactionIndex: index,
    TransactionResult: "tesSUCCESS",
    ...(isOffer ? { DeliveredAmount: String(amount) } : {}),
    delivered_amount: String(amount)
  }
}

/** Seconds from the Unix epoch to Ripple's. */
const rippleEpoch = 946_684_800

interface Sealed {
  readonly hash: string
  readonly header: Json
  /** As API version 1 has them, the last one first. */
  readonly transactions: ReadonlyArray<Json>
}

const known = new WeakMap<object, Sealed>()

/** A ledger with the hashes of what it holds. */
const sealed = (block: Unsealed): Sealed => {
  const found = known.get(block)
  if (found !== undefined) return found
  const leaves: Array<TransactionTree.Leaf> = []
  const transactions = block.transactions.map((transaction, index) => {
    const fields = fieldsOf(transaction)
    const metaData = metadataOf(transaction, index)
    const { delivered_amount: _, ...committed } = metaData
    leaves.push(TransactionTree.leafOf(Buffer.from(transaction.id, "hex"), written(fields), written(committed)))
    return { ...fields, hash: transaction.id.toUpperCase(), metaData }
  })
  const root = TimeSlice.atOnce(TransactionTree.rootOf(leaves))
  const time = block.time - rippleEpoch
  const hash = Buffer.from(
    LedgerHash.of({
      ...{ ledgerIndex: block.height, totalCoins: 10n ** 17n, transactionHash: root, closeTime: time },
      ...{ parentHash: Buffer.from(block.parent, "hex"), accountHash: Buffer.from(block.nonce, "hex") },
      ...{ parentCloseTime: time, closeTimeResolution: 10, closeFlags: 0 }
    })
  ).toString("hex")
  const header = {
    ...{ account_hash: block.nonce.toUpperCase(), transaction_hash: upper(root), ledger_hash: hash.toUpperCase() },
    ...{ parent_hash: block.parent.toUpperCase(), total_coins: String(10n ** 17n), closed: true, close_flags: 0 },
    ...{ close_time: time, parent_close_time: time, close_time_resolution: 10, ledger_index: String(block.height) }
  }
  const made = { hash, header, transactions: transactions.toReversed() }
  known.set(block, made)
  return made
}

/** The hash of a ledger. */
export const hashOf = (block: Unsealed) => sealed(block).hash

/** As API version 2 has it. */
const ofVersion2 = ({ hash, metaData, ...fields }: Json): Json => {
  const { Amount, ...others } = fields
  return { hash, meta: metaData, tx_json: { ...others, DeliverMax: Amount }, validated: true }
}

/** A lie about what a payment has delivered. */
export const deliveringMore = (entry: Json): Json => {
  const name = entry.meta === undefined ? "metaData" : "meta"
  const metadata = entry[name] as Json
  return {
    ...entry,
    [name]: { ...metadata, delivered_amount: String(Number(metadata.delivered_amount ?? 0) + 1) }
  }
}

const refusal = (name: string, code: number) => new RpcError(code, name)
const ledgerMissing = () => refusal("lgrNotFound", 21)

/** Whether the history of a server that has not all of it lacks a ledger. */
const isForgotten = ({ height, nonce }: Block, tip: number) => height < tip && "012345".includes(nonce[1]!)

/** As `complete_ledgers` says it: `0-4,6-9`. */
const rangesOf = (heights: ReadonlyArray<number>) => {
  const ranges: Array<[number, number]> = []
  for (const height of heights) {
    const last = ranges.at(-1)
    if (last?.[1] === height - 1) last[1] = height
    else ranges.push([height, height])
  }
  return ranges.map((range) => range.join("-")).join(",")
}

/** The answer to one command. */
export const answer = (view: View, command: string, [params = {}]: ReadonlyArray<unknown>): unknown => {
  const { branch, lacksParts, place } = view
  const asked = params as Json
  const tip = branch.length - 1
  const has = lacksParts ? branch.filter((block) => !isForgotten(block, tip)) : branch
  const shown = place % 2 === 0 ? (entry: Json) => entry : ofVersion2
  const named = (account: unknown) =>
    has.filter(({ transactions }) =>
      transactions.some(({ movements }) =>
        movements.some(({ from, to }) => [from, to].some((place) => classic(accountOf(place)) === account))
      )
    )
  switch (command) {
    case "server_info":
      return {
        info: {
          ...{ build_version: "2.6.1", server_state: "full", network_id: chain.xrp!.networkId },
          complete_ledgers: rangesOf(has.map(({ height }) => height))
        }
      }
    case "ledger": {
      const { ledger_hash: hash, ledger_index: wanted = "validated" } = asked
      const block = has.find((one) =>
        hash === undefined
          ? one.height === (wanted === "validated" ? tip : Number(wanted))
          : one.hash.toUpperCase() === hash
      )
      if (block === undefined) throw ledgerMissing()
      const { header, transactions } = sealed(block)
      const listed =
        asked.transactions !== true
          ? {}
          : { transactions: asked.expand === true ? transactions.map(shown) : transactions.map(({ hash }) => hash) }
      const place = { ledger_hash: block.hash.toUpperCase(), ledger_index: block.height, validated: true }
      return { ledger: { ...header, ...listed }, ...place }
    }
    case "tx": {
      for (const block of has) {
        const found = sealed(block).transactions.find(({ hash }) => hash === asked.transaction)
        if (found === undefined) continue
        const { metaData, ...fields } = found
        return { ...fields, meta: metaData, ledger_index: block.height, validated: true }
      }
      throw refusal("txnNotFound", 29)
    }
    case "account_info": {
      if (named(asked.account).length === 0) throw refusal("actNotFound", 19)
      const account_data = { Account: asked.account, Balance: String(10n ** 12n), Sequence: 1 }
      return { account_data, ledger_index: tip, validated: true }
    }
    case "account_tx": {
      const transactions = named(asked.account).map(() => ({ tx: {}, meta: {}, validated: true }))
      return { account: asked.account, ledger_index_min: 0, ledger_index_max: tip, transactions, validated: true }
    }
    case "ledger_entry":
      throw refusal("entryNotFound", 21)
    default:
      throw refusal("unknownCmd", 32)
  }
}
