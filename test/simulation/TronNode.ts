/**
 * What a java-tron node answers at the paths of its HTTP API. Blocks and transactions have the ids of what they hold;
 * nobody's signature is looked at.
 */
import { createHash } from "node:crypto"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Protobuf from "../../packages/core/src/tron/internal/Protobuf.ts"
import * as TronProof from "../../packages/indexer/src/families/tron/internal/TronProof.ts"
import { RpcError } from "../../packages/indexer/test/FakeNode.ts"
import type { Block, Transaction, Unsealed } from "./Chains.ts"
import type { View } from "./NodeView.ts"

type Json = Readonly<Record<string, unknown>>

const chain = Chain.ofName("tron/nile")!

/** The account at a place, 40 digits. */
const bareAt = (place: number) => (0xa000 + place).toString(16).padStart(4, "0").repeat(10)
const bareToken = "7070".repeat(10)
const versioned = (bare: string) => `41${bare}`

/** The address at a place of the chain's list. */
export const addressAt = (place: number) => Address.encode(chain, Address.fromBytes(Buffer.from(bareAt(place), "hex")))!

const movementsOf = (transaction: Pick<Transaction, "movements">, kind: string) =>
  transaction.movements.filter((movement) => movement.kind === kind)

/** Who signs a transaction, the contract that it calls if it is no plain transfer, and the coins that it takes along. */
const callOf = (transaction: Omit<Transaction, "id">) => {
  const [coin] = movementsOf(transaction, "coin")
  return {
    owner: bareAt(coin?.from ?? transaction.movements[0]?.from ?? 0),
    to: coin === undefined ? bareToken : bareAt(coin.to),
    amount: coin?.amount ?? 0n,
    isPlain: !transaction.failed && transaction.movements.every(({ kind }) => kind === "coin")
  }
}

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

/** `raw_data` as it is hashed. */
const rawOf = (transaction: Omit<Transaction, "id">): Uint8Array => {
  const { amount, isPlain, owner, to } = callOf(transaction)
  const name = isPlain ? "TransferContract" : "TriggerSmartContract"
  const value = Protobuf.encode([
    [1, bytes(versioned(owner))],
    [2, bytes(versioned(to))],
    [3, amount]
  ])
  const any = Protobuf.encode([
    [1, new TextEncoder().encode(`type.googleapis.com/protocol.${name}`)],
    [2, value]
  ])
  return Protobuf.encode([
    [1, bytes(transaction.nonce.slice(0, 4))],
    [4, bytes(transaction.nonce.slice(4, 20))],
    [8, 1_800_000_000_000n],
    [
      11,
      Protobuf.encode([
        [1, isPlain ? 1n : 31n],
        [2, any]
      ])
    ]
  ])
}

/** A transaction with its id. */
export const transaction = (own: Omit<Transaction, "id">): Transaction => ({
  ...own,
  id: createHash("sha256").update(rawOf(own)).digest("hex")
})

const shown = (transaction: Transaction): Json => ({
  ...{ txID: transaction.id, raw_data_hex: Buffer.from(rawOf(transaction)).toString("hex") },
  ...{ signature: ["00".repeat(65)], ret: [{ contractRet: transaction.failed ? "REVERT" : "SUCCESS" }] }
})

const word = (hex: string) => hex.padStart(64, "0")
const transferTopic = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const callListed = (from: string, to: string, callValue: bigint): Json => ({
  ...{ caller_address: versioned(from), transferTo_address: versioned(to), note: Buffer.from("call").toString("hex") },
  callValueInfo: [callValue === 0n ? {} : { callValue: Number(callValue) }]
})

/** What a node keeps of a transaction. */
const infoOf = (transaction: Transaction, { height }: Unsealed): Json => {
  const { isPlain, to } = callOf(transaction)
  const own = { id: transaction.id, blockNumber: height, contractResult: [""] }
  if (isPlain) return { ...own, receipt: { net_usage: 267 } }
  const called = { ...own, contract_address: versioned(to) }
  if (transaction.failed) return { ...called, result: "FAILED", receipt: { result: "REVERT" } }
  const tokens = movementsOf(transaction, "token")
  const calls = [
    ...movementsOf(transaction, "internal").map(({ amount, from, to }) => callListed(bareAt(from), bareAt(to), amount)),
    // The token's contract is called by the one that the transaction calls.
    ...(tokens.length > 0 && to !== bareToken ? [callListed(to, bareToken, 0n)] : [])
  ]
  const log = tokens.map(({ amount, from, to }) => ({
    address: bareToken,
    topics: [transferTopic, word(bareAt(from)), word(bareAt(to))],
    data: word(amount.toString(16))
  }))
  return {
    ...{ ...called, receipt: { result: "SUCCESS" } },
    ...(log.length === 0 ? {} : { log }),
    ...(calls.length === 0 ? {} : { internal_transactions: calls })
  }
}

interface Sealed {
  readonly hash: string
  readonly block: Json
}

const known = new WeakMap<object, Sealed>()

/** A block with the root and the id of what it holds. */
const sealed = (own: Unsealed): Sealed => {
  const found = known.get(own)
  if (found !== undefined) return found
  const transactions = own.transactions.map(shown)
  const header = {
    ...(own.height === 0 ? {} : { number: own.height }),
    ...{ txTrieRoot: TronProof.rootOfTransactions(transactions), witness_address: versioned(bareAt(99)) },
    ...{ parentHash: own.parent, version: 34, timestamp: own.time * 1_000, accountStateRoot: own.nonce }
  }
  const hash = TronProof.idOfHeader(header)
  const block = {
    ...{ blockID: hash, block_header: { raw_data: header, witness_signature: "00".repeat(65) } },
    ...(transactions.length === 0 ? {} : { transactions })
  }
  const made = { hash, block }
  known.set(own, made)
  return made
}

/** The id of a block. */
export const hashOf = (block: Unsealed) => sealed(block).hash

/** A lie about what transactions have paid. */
export const withOtherResults = (block: Json): Json => {
  const { transactions } = block
  return Array.isArray(transactions)
    ? { ...block, transactions: transactions.map((one) => ({ ...one, ret: [{ ...one.ret[0], fee: 1 }] })) }
    : block
}

/** When an address was first part of anything, in milliseconds; undefined where it never was. */
const activatedAt = (branch: ReadonlyArray<Block>, bare: string) => {
  const first = branch.find(({ transactions }) =>
    transactions.some(({ movements }) => movements.some(({ from, to }) => bareAt(from) === bare || bareAt(to) === bare))
  )
  return first && first.time * 1_000
}

const undoneCall = { result: { result: true }, constant_result: [""], transaction: { ret: [{ ret: "FAILED" }] } }

/** The answer to a request. */
export const answer = ({ branch, final }: View, path: string, [body = {}]: ReadonlyArray<unknown>): unknown => {
  const asked = body as Json
  const tip = branch.length - 1
  const whole = (height: number): Json => {
    const block = branch[height]
    return block === undefined ? {} : sealed(block).block
  }
  const header = (height: number): Json => {
    const { transactions: _, ...rest } = whole(height)
    return rest
  }
  switch (path) {
    case "/wallet/getblock":
      return header(asked.id_or_num === undefined ? tip : Number(asked.id_or_num))
    case "/wallet/getnowblock":
      return whole(tip)
    case "/wallet/getblockbynum":
      return whole(Number(asked.num))
    case "/wallet/gettransactioninfobyblocknum": {
      const block = branch[Number(asked.num)]
      return block === undefined || block.height === 0 ? {} : block.transactions.map((one) => infoOf(one, block))
    }
    case "/wallet/gettransactioninfobyid": {
      for (const block of branch) {
        const found = block.transactions.find(({ id }) => id === asked.value)
        if (found !== undefined) return infoOf(found, block)
      }
      return {}
    }
    case "/walletsolidity/getblock":
      return header(Math.min(final, tip))
    case "/wallet/getaccount": {
      const at = activatedAt(branch, String(asked.address).slice(2))
      return at === undefined ? {} : { address: asked.address, balance: 1, create_time: at }
    }
    case "/wallet/triggerconstantcontract":
      return asked.function_selector === "decimals()"
        ? { result: { result: true }, constant_result: [word("6")], transaction: { ret: [{}] } }
        : undoneCall
    default:
      throw new RpcError(404, "the node has no such path")
  }
}
