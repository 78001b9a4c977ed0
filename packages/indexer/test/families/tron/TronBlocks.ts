/** Tron blocks made for tests: transactions encoded by tronweb, with the infos that a node would keep of them. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import { utils } from "tronweb"
import * as TronProof from "../../../src/families/tron/internal/TronProof.ts"
import type { Json, TronBlock } from "./TronNode.ts"

export const mainnet = Result.getOrThrow(Chain.find("tron", "mainnet"))

export const bytesOf = (number: number): Address.AddressBytes => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(16, number + 1)
  return Address.fromBytes(bytes)
}

/** The account with this number as the API writes it: 41 and 40 digits. */
export const account = (number: number): string => `41${Buffer.from(bytesOf(number)).toString("hex")}`

/** The same without the version, as logs have it. */
export const bare = (number: number): string => account(number).slice(2)

export const base58 = (number: number): string => Address.encode(mainnet, bytesOf(number))!

let nonce = 0

/** A transaction of one contract as a node shows it in a block; encoded by tronweb. */
export const transaction = (type: string, value: Json, contractRet: string | undefined = "SUCCESS"): Json => {
  const json = {
    visible: false,
    raw_data: {
      contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
      ref_block_bytes: "2927",
      ref_block_hash: "939ece39d08a7abe",
      expiration: 1_777_447_527_000 + 3_000 * ++nonce,
      timestamp: 1_777_447_470_038
    }
  }
  // tronweb's types know every contract by its own interface.
  const message = utils.transaction.txJsonToPb(json as never)
  return {
    ...json,
    txID: utils.transaction.txPbToTxID(message).replace("0x", ""),
    raw_data_hex: utils.transaction.txPbToRawDataHex(message),
    signature: ["00".repeat(65)],
    ret: [contractRet === undefined ? {} : { contractRet }]
  }
}

export const transfer = (from: number, to: number, amount: number, contractRet?: string): Json =>
  transaction("TransferContract", { owner_address: account(from), to_address: account(to), amount }, contractRet)

export const call = (from: number, contract: number, value = 0, contractRet?: string): Json =>
  transaction(
    "TriggerSmartContract",
    {
      owner_address: account(from),
      contract_address: account(contract),
      data: "a9059cbb",
      ...(value === 0 ? {} : { call_value: value })
    },
    contractRet
  )

/** What a node keeps of a transaction. */
export const infoOf = ({ txID }: Json, height: number, more: Json = {}): Json => ({
  id: txID,
  blockNumber: height,
  blockTimeStamp: 1_777_000_000_000 + height * 3_000,
  contractResult: [""],
  receipt: { net_usage: 267 },
  ...more
})

const word = (value: bigint | string): string =>
  typeof value === "string" ? value.padStart(64, "0") : value.toString(16).padStart(64, "0")

const transferTopic = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

export const trc20 = (contract: number, from: number, to: number, amount: bigint): Json => ({
  address: bare(contract),
  topics: [transferTopic, word(bare(from)), word(bare(to))],
  data: word(amount)
})

export const trc721 = (contract: number, from: number, to: number, tokenId: bigint): Json => ({
  address: bare(contract),
  topics: [transferTopic, word(bare(from)), word(bare(to)), word(tokenId)]
})

export const internal = (from: number, to: number, callValue: number | undefined, note = "call", more = {}): Json => ({
  hash: "61318c1e41c5fd387f1e4e4e8ec1fc98f295d3ef002bab1b33dd1cba2f93cb75",
  caller_address: account(from),
  transferTo_address: account(to),
  callValueInfo: [callValue === undefined ? {} : { callValue }],
  note: Buffer.from(note).toString("hex"),
  ...more
})

const idOf = (height: number): string => height.toString(16).padStart(16, "0") + "ab".repeat(24)

/** A block at a height, whose parent is the one made for the height below. */
export const blockOf = (
  height: number,
  transactions: ReadonlyArray<Json>,
  infos: ReadonlyArray<Json> = transactions.map((each) => infoOf(each, height))
): TronBlock => ({
  block: {
    blockID: idOf(height),
    block_header: {
      raw_data: {
        ...(height === 0 ? {} : { number: height }),
        txTrieRoot: "00".repeat(32),
        witness_address: account(77),
        parentHash: idOf(height - 1 < 0 ? 99 : height - 1),
        version: 34,
        timestamp: 1_777_000_000_000 + height * 3_000
      },
      witness_signature: "00".repeat(65)
    },
    ...(transactions.length === 0 ? {} : { transactions })
  },
  infos
})

/** Blocks with the roots and ids of what they hold, each naming the one before; the first block is left as it is. */
export const linked = (blocks: ReadonlyArray<TronBlock>): ReadonlyArray<TronBlock> => {
  let before: TronBlock | undefined
  return blocks.map(({ block, infos }) => {
    const { raw_data: raw, ...header } = block.block_header
    if (raw.number !== undefined) {
      const parentHash = before === undefined ? raw.parentHash : before.block.blockID
      const sealed = { ...raw, parentHash, txTrieRoot: TronProof.rootOfTransactions(block.transactions ?? []) }
      const blockID = TronProof.idOfHeader(sealed)
      before = { block: { ...block, blockID, block_header: { ...header, raw_data: sealed } }, infos }
    } else before = { block, infos }
    return before
  })
}
