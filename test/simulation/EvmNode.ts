/** What a node of an EVM chain answers to JSON-RPC, of the branch that the node has. */
import type { Block, Branch, Movement, Transaction } from "./Chains.ts"
import { RpcError } from "../../packages/indexer/test/FakeNode.ts"
import type { View } from "./NodeView.ts"
import * as Wallets from "./Wallets.ts"

type Json = Readonly<Record<string, unknown>>

const quantity = (value: number | bigint) => `0x${value.toString(16)}`

/** The address at a place of the chain's list. */
export const addressAt = (place: number) =>
  place < Wallets.firstPlace
    ? `0x${(0xa000 + place).toString(16).padStart(4, "0").repeat(10)}`
    : Wallets.addressAt("ethereum/devnet", place).address.toLowerCase()
export const token = `0x${"7070".repeat(10)}`
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
const word = (address: string) => `0x${"0".repeat(24)}${address.slice(2)}`

const coinOf = ({ movements }: Transaction) => movements.find(({ kind }) => kind === "coin")
/** The address that a transaction is from. */
const senderOf = (transaction: Transaction) => coinOf(transaction)?.from ?? transaction.movements[0]?.from ?? 0

const transactionOf = (block: Block, transaction: Transaction, index: number): Json => {
  const coin = coinOf(transaction)
  return {
    hash: `0x${transaction.id}`,
    blockHash: `0x${block.hash}`,
    blockNumber: quantity(block.height),
    transactionIndex: quantity(index),
    from: addressAt(senderOf(transaction)),
    to: coin === undefined ? token : addressAt(coin.to),
    value: quantity(coin?.amount ?? 0n),
    ...{ gas: "0x5208", gasPrice: "0x1", input: "0x", type: "0x0", nonce: "0x0" }
  }
}

const logOf = ({ amount, from, to }: Movement, logIndex: number): Json => ({
  address: token,
  topics: [transferTopic, word(addressAt(from)), word(addressAt(to))],
  data: `0x${amount.toString(16).padStart(64, "0")}`,
  logIndex: quantity(logIndex)
})

export const receiptsOf = (block: Block): ReadonlyArray<Json> => {
  let logIndex = 0
  return block.transactions.map(({ failed, id, movements }, index) => ({
    transactionHash: `0x${id}`,
    transactionIndex: quantity(index),
    blockHash: `0x${block.hash}`,
    blockNumber: quantity(block.height),
    status: failed ? "0x0" : "0x1",
    ...{ contractAddress: null, gasUsed: "0x5208", cumulativeGasUsed: quantity(0x5208 * (index + 1)) },
    logs: failed ? [] : movements.filter(({ kind }) => kind === "token").map((movement) => logOf(movement, logIndex++))
  }))
}

/** The trace of a transaction: one call below the top for each internal movement. */
const traceOf = (transaction: Transaction): Json => ({
  txHash: `0x${transaction.id}`,
  result: {
    type: "CALL",
    from: addressAt(senderOf(transaction)),
    to: token,
    value: quantity(coinOf(transaction)?.amount ?? 0n),
    ...(transaction.failed ? { error: "execution reverted" } : {}),
    calls: transaction.movements
      .filter(({ kind }) => kind === "internal")
      .map(({ amount, from, to }) => ({
        type: "CALL",
        from: addressAt(from),
        to: addressAt(to),
        value: quantity(amount)
      }))
  }
})

const blockOf = (block: Block, full: boolean): Json => ({
  number: quantity(block.height),
  hash: `0x${block.hash}`,
  parentHash: `0x${block.parent}`,
  timestamp: quantity(block.time),
  transactions: block.transactions.map((transaction, index) =>
    full ? transactionOf(block, transaction, index) : `0x${transaction.id}`
  )
})

/** Whether an address has been part of anything up to a block. */
const isUsed = (branch: Branch, height: number, address: string) =>
  branch
    .slice(0, height + 1)
    .some(({ transactions }) =>
      transactions.some(({ movements }) =>
        movements.some(({ from, to }) => addressAt(from) === address || addressAt(to) === address)
      )
    )

/** The answer to one call. */
export const answer = (
  { branch, final, lacksParts }: View,
  method: string,
  params: ReadonlyArray<unknown>
): unknown => {
  const tip = branch.length - 1
  const find = (name: unknown): Block | undefined => {
    if (name === "latest" || name === "pending") return branch[tip]
    if (name === "finalized") return branch[Math.min(final, tip)]
    if (typeof name === "object" && name !== null) return find((name as { readonly blockHash: unknown }).blockHash)
    const text = String(name)
    return text.length === 66 ? branch.find(({ hash }) => `0x${hash}` === text) : branch[Number(text)]
  }
  const state = (name: unknown) => {
    const block = find(name)
    if (block === undefined) throw new RpcError(-32000, "header not found")
    return block
  }
  switch (method) {
    case "eth_chainId":
      return "0x539"
    case "eth_blockNumber":
      return quantity(branch.at(-1)?.height ?? 0)
    case "eth_getBlockByNumber": {
      const block = find(params[0])
      return block === undefined ? null : blockOf(block, params[1] === true)
    }
    case "eth_getBlockReceipts": {
      const block = find(params[0])
      return block === undefined ? null : receiptsOf(block)
    }
    case "eth_getTransactionReceipt":
      return (
        branch.flatMap((block) => receiptsOf(block)).find(({ transactionHash }) => transactionHash === params[0]) ??
        null
      )
    case "debug_traceBlockByHash": {
      if (typeof params[0] !== "string") throw new RpcError(-32602, "missing value for required argument 0")
      if (lacksParts) throw new RpcError(-32000, "missing trie node")
      return state(params[0]).transactions.map(traceOf)
    }
    case "eth_getBalance":
    case "eth_getTransactionCount":
      return isUsed(branch, state(params[1]).height, String(params[0])) ? "0x1" : "0x0"
    case "eth_getCode":
      state(params[1])
      return "0x"
    case "eth_call":
      // Six decimals, for a token without a name.
      if ((params[0] as Json).data === "0x313ce567") return quantity(6).replace("0x", `0x${"0".repeat(63)}`)
      throw new RpcError(3, "execution reverted")
    case "eth_getLogs": {
      const { fromBlock, toBlock, topics } = params[0] as Readonly<Record<string, ReadonlyArray<unknown>>>
      return branch.slice(Number(fromBlock), Number(toBlock) + 1).flatMap((block) =>
        receiptsOf(block)
          .flatMap(({ logs }) => logs as ReadonlyArray<Readonly<Record<string, ReadonlyArray<unknown>>>>)
          .filter((log) =>
            (topics ?? []).every(
              (wanted, i) => wanted === null || (wanted as ReadonlyArray<unknown>).includes(log.topics![i])
            )
          )
          .map((log) => ({ ...log, blockNumber: quantity(block.height) }))
      )
    }
    default:
      throw new RpcError(-32601, `the method ${method} does not exist/is not available`)
  }
}
