/** A Tron block and the infos of its transactions, as the HTTP API shows them: checked, and as a plain block. */
import type { Block, TokenTransfer, Transfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TokenTransfers from "../../evm/TokenTransfers.ts"
import * as InternalTransactions from "./InternalTransactions.ts"
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

const Transaction = Schema.Struct({
  txID: TronJson.Hash,
  raw_data_hex: TronJson.Hex,
  ret: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ contractRet: Schema.optionalKey(Schema.String), ret: Schema.optionalKey(Schema.String) })
    )
  )
})

export const Answer = Schema.Struct({ ...HeaderFields, transactions: Schema.optionalKey(Schema.Array(Transaction)) })
export type Answer = typeof Answer.Type

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
  /** `FAILED`, or left out. */
  result: Schema.optionalKey(Schema.String),
  /** The contract called or created. */
  contract_address: Schema.optionalKey(Schema.String),
  receipt: Schema.optionalKey(Schema.Struct({ result: Schema.optionalKey(Schema.String) })),
  log: Schema.optionalKey(Schema.Array(Log)),
  internal_transactions: Schema.optionalKey(Schema.Array(InternalTransactions.InternalTransaction))
})
export type Info = typeof Info.Type

type Read<A> = Result.Result<A, string>

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

const fine: ReadonlySet<string | undefined> = new Set([undefined, "SUCCESS", "DEFAULT"])

const succeeded = (transaction: typeof Transaction.Type, info: Info | undefined): boolean =>
  (transaction.ret ?? []).every(({ contractRet, ret }) => fine.has(contractRet) && ret !== "FAILED") &&
  info?.result !== "FAILED" &&
  fine.has(info?.receipt?.result)

/** Token transfers of a log, whose index in the block is `position`. */
const tokensOf = (chain: Chain, log: Log, transaction: number, position: number): Read<ReadonlyArray<TokenTransfer>> =>
  Result.map(TronJson.address(chain, log.address, "log.address"), (contract) =>
    TokenTransfers.ofLog(
      {
        address: `0x${Buffer.from(contract).toString("hex")}`,
        topics: (log.topics ?? []).map((topic) => `0x${topic.toLowerCase()}`),
        data: `0x${log.data ?? ""}`,
        logIndex: `0x${position.toString(16)}`
      },
      transaction
    )
  )

/**
 * The block at `height`. Its ids are the hashes of what its transactions say; every info is of one of them, and every
 * transaction that the virtual machine ran has its info. The failure names what contradicts. `internal`: whether to
 * take internal transactions.
 */
export const decode = (
  chain: Chain,
  answer: Answer,
  infos: ReadonlyArray<Info>,
  wanted: { readonly height: number; readonly internal: boolean }
): Read<Block> =>
  Result.gen(function* () {
    const header = answer.block_header.raw_data
    if (heightOf(answer) !== wanted.height) {
      return yield* Result.fail(`asked for block ${wanted.height}, answered block ${heightOf(answer)}`)
    }
    const listed = answer.transactions ?? []
    const ids = new Set(listed.map(({ txID }) => txID.toLowerCase()))
    if (ids.size !== listed.length) return yield* Result.fail("the block has a transaction twice")
    const infoOf = new Map<string, Info>()
    for (const info of infos) {
      const id = info.id.toLowerCase()
      if (!ids.has(id) || (info.blockNumber ?? wanted.height) !== wanted.height) {
        return yield* Result.fail(`the info of ${id} is not of a transaction in block ${wanted.height}`)
      }
      infoOf.set(id, info)
    }

    const transfers: Array<Transfer> = []
    let logs = 0
    for (const [index, transaction] of listed.entries()) {
      const id = transaction.txID.toLowerCase()
      const rawData = TronJson.bytes(transaction.raw_data_hex)
      if (Buffer.from(TronTransaction.id(rawData)).toString("hex") !== id) {
        return yield* Result.fail(`transaction ${id} does not hash to its id`)
      }
      const { contracts } = yield* Result.mapError(
        TronTransaction.decode(rawData),
        ({ message }) => `transaction ${id}: ${message}`
      )
      const info = infoOf.get(id)
      // The genesis block has no infos.
      if (info === undefined && wanted.height > 0 && contracts.some(({ type }) => virtualMachine.has(type))) {
        return yield* Result.fail(
          `there is no info of transaction ${id}: the node must keep them (storage.transHistory.switch = on)`
        )
      }
      const firstLog = logs
      logs += info?.log?.length ?? 0
      if (!succeeded(transaction, info)) continue
      for (const [position, { transfer }] of contracts.entries()) {
        if (transfer === undefined) continue
        const to = transfer.to ?? (yield* TronJson.address(chain, info?.contract_address ?? "", "contract_address"))
        transfers.push({ kind: "coin", transaction: index, position, from: transfer.from, to, amount: transfer.amount })
      }
      for (const [position, log] of (info?.log ?? []).entries()) {
        transfers.push(...(yield* tokensOf(chain, log, index, firstLog + position)))
      }
      if (wanted.internal) {
        transfers.push(...(yield* InternalTransactions.decode(chain, info?.internal_transactions ?? [], index)))
      }
    }
    return {
      height: wanted.height,
      hash: TronJson.bytes(answer.blockID),
      parent: TronJson.bytes(header.parentHash),
      time: Math.floor((header.timestamp ?? 0) / 1000),
      transactions: listed.map(({ txID }) => TronJson.bytes(txID)),
      transfers,
      spends: []
    }
  })
