/** A Tron block and the infos of its transactions, as the HTTP API shows them: checked, and as a plain block. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, ContractLog, TransactionParties, Transfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
import * as TokenTransfers from "../../evm/TokenTransfers.ts"
import { field, optional, part, type Read } from "./AnswerPart.ts"
import * as InternalTransactions from "./InternalTransactions.ts"
import * as TransactionOutcome from "./TransactionOutcome.ts"
import * as TronJson from "./TronJson.ts"

const HeaderFields = {
  blockID: TronJson.Hash,
  block_header: Schema.Struct({
    raw_data: Schema.Struct({
      /** Left out for the genesis block. */
      number: Schema.optionalKey(TronJson.Count),
      parentHash: TronJson.Hash,
      /** Milliseconds since the Unix epoch. */
      timestamp: Schema.optionalKey(TronJson.Count)
    })
  })
}

/** A block without its transactions. */
export const Header = Schema.Struct(HeaderFields)

export const Answer = Schema.Struct({ ...HeaderFields, transactions: Schema.optionalKey(Schema.Array(Schema.Unknown)) })
export type Answer = typeof Answer.Type

/** Each entry is the {@link Info} of a transaction, if it can be read. */
export const Infos = Schema.Array(Schema.Unknown)

export const Log = Schema.Struct({
  address: Schema.String,
  topics: Schema.optionalKey(Schema.Array(TronJson.Hash)),
  data: Schema.optionalKey(TronJson.Hex)
})
export type Log = typeof Log.Type

/** What became of a transaction. */
export const Info = Schema.Struct({
  id: TronJson.Hash,
  blockNumber: Schema.optionalKey(TronJson.Count),
  ...TransactionOutcome.fields,
  /** The contract called or created. */
  contract_address: Schema.optionalKey(Schema.String),
  log: Schema.optionalKey(Schema.Array(Log)),
  internal_transactions: Schema.optionalKey(Schema.Array(InternalTransactions.InternalTransaction))
})
export type Info = typeof Info.Type

type Json = Readonly<Record<string, unknown>>

/** The ids of a block's transactions, as far as they can be read. */
export const idsOf = ({ transactions = [] }: Answer): ReadonlyArray<string> =>
  transactions.flatMap((transaction) =>
    Predicate.isReadonlyObject(transaction) && TronJson.isHash(transaction.txID) ? transaction.txID : []
  )

const heightOf = ({ block_header: header }: typeof Header.Type): number => header.raw_data.number ?? 0

/** Height and hash of a header. */
export const tipOf = (header: typeof Header.Type) => ({
  height: heightOf(header),
  hash: TronJson.bytes(header.blockID)
})

/** Contract types that the virtual machine runs: only an info says what they did. */
const virtualMachine: ReadonlySet<number> = new Set([
  TronTransaction.contractTypes.createSmartContract,
  TronTransaction.contractTypes.triggerSmartContract
])

const list = part(Infos, Array.isArray)

const log = part(
  Log,
  (json) =>
    Predicate.isReadonlyObject(json) &&
    typeof json.address === "string" &&
    (json.topics === undefined || (Array.isArray(json.topics) && json.topics.every(TronJson.isHash))) &&
    (json.data === undefined || TronJson.isHex(json.data))
)

/** A log, whose index in the block is `position`. */
const logOf = (chain: Chain, json: unknown, transaction: number, position: number): Read<ContractLog> =>
  Result.flatMap(field(log, json, "log"), ({ address, data = "", topics = [] }) =>
    Result.map(TronJson.address(chain, address, "log.address"), (contract) => ({
      transaction,
      position,
      contract,
      topics: topics.map((topic) => `0x${topic.toLowerCase()}`),
      data: `0x${data}`
    }))
  )

/** A transaction's bytes and id, which is the hash of the bytes; the id is known where either can be read. */
interface Named {
  readonly raw: unknown
  readonly json: Json
  readonly rawData: Uint8Array | undefined
  readonly hash: Uint8Array | undefined
  /** The hash as text. */
  readonly id: string | undefined
  /** Whether the node says the id. */
  readonly isStated: boolean
}

/** Fails where a transaction does not hash to its id. */
const named = (raw: unknown): Read<Named> => {
  const json = Predicate.isReadonlyObject(raw) ? raw : {}
  const stated = TronJson.isHash(json.txID) ? json.txID.toLowerCase() : undefined
  const rawData = TronJson.bytesOf(json.raw_data_hex)
  const hash =
    rawData !== undefined ? TronTransaction.id(rawData) : stated === undefined ? undefined : TronJson.bytes(stated)
  const id = hash && Buffer.from(hash).toString("hex")
  return stated !== undefined && stated !== id
    ? Result.fail(`transaction ${stated} does not hash to its id`)
    : Result.succeed({ raw, json, rawData, hash, id, isStated: stated !== undefined })
}

/** The infos that can be told to be of one transaction of the block at `height`. */
function* infosById(infos: ReadonlyArray<unknown>, height: number): Generator<void, ReadonlyMap<string, Json>> {
  const found = new Map<string, Json>()
  for (const info of infos) {
    yield
    if (!Predicate.isReadonlyObject(info) || !TronJson.isHash(info.id) || (info.blockNumber ?? height) !== height)
      continue
    found.set(info.id.toLowerCase(), info)
  }
  return found
}

const noInfo = "there is no info of the transaction"

/** What a block's transactions have in common while they are decoded one after another. */
interface Place {
  readonly chain: Chain
  readonly height: number
  readonly internal: boolean
  /** How many logs the transactions before have; undefined where that is not known. */
  logs: number | undefined
}

/** Whom a contract names; undefined for the few types that name nobody. */
const partiesOf = (
  chain: Chain,
  contract: TronTransaction.Contract | undefined,
  info: Json | undefined,
  transaction: number
): TransactionParties | undefined => {
  if (contract === undefined) return undefined
  const { recipient, sender } = TronTransaction.partiesOf(contract)
  const created = (): AddressBytes | undefined =>
    virtualMachine.has(contract.type)
      ? Result.getOrUndefined(TronJson.address(chain, String(info?.contract_address ?? ""), "contract_address"))
      : undefined
  return sender === undefined
    ? undefined
    : { kind: "transaction", transaction, from: sender, to: recipient ?? created() }
}

function* readTransaction(
  { hash, isStated, json, rawData }: Named,
  index: number,
  info: Json | undefined,
  place: Place,
  parts: DecodedTransaction.Parts
): Generator<void, DecodedTransaction.Content> {
  const { chain, height, internal } = place
  const transfers: Array<Transfer> = []
  const events: Array<ContractLog> = []
  if (json.raw_data_hex === undefined || rawData === undefined) parts.note("raw_data_hex must be hexadecimal digits")
  if (!isStated) parts.note("txID must be 64 hexadecimal digits")
  const contracts =
    rawData &&
    parts.take(
      Result.mapBoth(TronTransaction.decode(rawData), {
        onFailure: ({ message }) => message,
        onSuccess: ({ contracts }) => contracts
      })
    )
  for (const { type } of contracts ?? []) {
    if (!TronTransaction.isKnownType(type)) parts.note(`contract type ${type} is not known`, info && ["coin"])
  }
  const tookEffect = parts.take(TransactionOutcome.succeeded(json, info))

  const needsInfo = contracts === undefined || contracts.some(({ type }) => virtualMachine.has(type))
  // The genesis block has no infos, and what failed has left no logs.
  const lacksInfo = info === undefined && needsInfo && height > 0
  if (lacksInfo) parts.note(noInfo)
  const logs: ReadonlyArray<unknown> | undefined =
    info === undefined
      ? lacksInfo && tookEffect !== false
        ? undefined
        : []
      : (parts.take(optional(list, info.log, "log")) ?? (info.log === undefined ? [] : undefined))
  const firstLog = place.logs
  place.logs = firstLog === undefined || logs === undefined ? undefined : firstLog + logs.length

  const named = partiesOf(chain, contracts?.[0], info, index)
  const parties = named === undefined ? {} : { parties: [named] }
  if (tookEffect !== true || hash === undefined) return { id: hash, transfers, ...parties }
  for (const [position, { transfer }] of (contracts ?? []).entries()) {
    if (transfer === undefined) continue
    const to =
      transfer.to ??
      parts.take(TronJson.address(chain, String(info?.contract_address ?? ""), "contract_address"), ["coin"])
    if (to === undefined) continue
    transfers.push({ kind: "coin", transaction: index, position, from: transfer.from, to, amount: transfer.amount })
  }
  for (const [position, log] of (logs ?? []).entries()) {
    const decoded = parts.take(logOf(chain, log, index, (firstLog ?? 0) + position), ["token"])
    const tokens = decoded === undefined ? [] : yield* TokenTransfers.ofLog(decoded)
    yield
    if (decoded === undefined) continue
    if (firstLog !== undefined) {
      events.push(decoded)
      for (const token of tokens) transfers.push(token)
      continue
    }
    // The place is a part of an event's key, which a guess would tell a second time.
    parts.note("how many logs the transactions before it have is not known", tokens.length > 0 ? ["token"] : [])
  }
  if (internal && info !== undefined) {
    const listed = parts.take(optional(list, info.internal_transactions, "internal_transactions"), ["internal"]) ?? []
    for (const [position, entry] of listed.entries()) {
      const moved = parts.take(InternalTransactions.decode(chain, entry, index, position), ["internal"])
      if (moved !== undefined) transfers.push(moved)
      yield
    }
  }
  return { id: hash, transfers, logs: events, ...parties }
}

const decodeTransaction = (named: Named, index: number, info: Json | undefined, place: Place) =>
  DecodedTransaction.decodeInSlices(info === undefined ? named.raw : { transaction: named.raw, info }, (parts) =>
    readTransaction(named, index, info, place, parts)
  )

/**
 * The block at `height`. Its ids are the hashes of what its transactions say. The failure names what contradicts, or says
 * that the node keeps no infos at all. `internal`: whether to take internal transactions.
 */
export function* decode(
  chain: Chain,
  answer: Answer,
  infos: ReadonlyArray<unknown>,
  wanted: { readonly height: number; readonly internal: boolean }
): Generator<void, Read<Block>> {
  const header = answer.block_header.raw_data
  const { height } = wanted
  if (heightOf(answer) !== height) {
    return Result.fail(`asked for block ${height}, answered block ${heightOf(answer)}`)
  }
  const all = Result.all(yield* TimeSlice.map(answer.transactions ?? [], named))
  if (Result.isFailure(all)) return Result.fail(all.failure)
  const listed = all.success
  const ids = new Set(listed.map(({ id }) => id))
  if (ids.size !== listed.length && listed.every(({ id }) => id !== undefined)) {
    return Result.fail("the block has a transaction twice")
  }
  const infoOf = yield* infosById(infos, height)
  const place: Place = { chain, ...wanted, logs: 0 }
  const transactions: Array<DecodedTransaction.DecodedTransaction> = []
  for (const [index, transaction] of listed.entries()) {
    transactions.push(yield* decodeTransaction(transaction, index, infoOf.get(transaction.id ?? ""), place))
    yield
  }
  const lacking = transactions.find(({ broken }) => broken.includes(noInfo))
  if (infos.length === 0 && lacking !== undefined) {
    return Result.fail(
      `there is no info of any transaction of block ${height}: the node must keep them (storage.transHistory.switch = on)`
    )
  }
  const foreign = [...infoOf].flatMap(([id, info]) =>
    ids.has(id)
      ? []
      : DecodedTransaction.decode(info, (parts) => {
          parts.note("the info is of no transaction that the block lists")
          return { id: TronJson.bytes(id), transfers: [] }
        })
  )
  return Result.succeed(
    DecodedTransaction.toBlock(
      {
        height,
        hash: TronJson.bytes(answer.blockID),
        parent: TronJson.bytes(header.parentHash),
        time: Math.floor((header.timestamp ?? 0) / 1000)
      },
      transactions,
      foreign
    )
  )
}
