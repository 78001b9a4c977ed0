/** Blocks and transactions of an EVM chain, recorded or not, from the chain's node (wider interface, *Blocks*, *Transactions*). */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { ContractLog } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Capability from "@headwater/indexer/families/Capability"
import type { EvmNode, Log } from "@headwater/indexer/families/evm/EvmNode"
import type { BlockName, Explorer, NewestBlock } from "@headwater/indexer/families/evm/Explorer"
import * as TokenTransfers from "@headwater/indexer/families/evm/TokenTransfers"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import * as AnyInteger from "../../contract/AnyInteger.ts"
import { BlockNotFound, TransactionNotFound, Unimplemented } from "../../contract/Errors.ts"
import { newestByDefault } from "../../contract/Paging.ts"
import type { Freshness } from "../Freshness.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations, OffsetRequest } from "../Operations.ts"
import * as TokenData from "./TokenData.ts"
import * as TokenNames from "./TokenNames.ts"
import * as TransactionItem from "./TransactionItem.ts"

type Operations = Pick<
  ChainOperations,
  | ("evmByHash" | "evmByHeight" | "evmLatest" | "evmNewest" | "evmTransactionsByHash" | "evmTransactionsByHeight")
  | ("evmTransaction" | "evmInternal" | "evmTokens")
>

interface ExploredNode extends Pick<EvmNode, "logs"> {
  readonly explorer: Explorer
}

const blockItem = (chain: Chain, block: NewestBlock) => ({
  extraData: Hex.prefixed(block.extraData),
  gasLimit: block.gasLimit,
  gasUsed: block.gasUsed,
  hash: Hash.encode(chain, block.hash),
  height: block.height,
  minedInSeconds: block.seconds,
  nonce: AnyInteger.of(block.nonce),
  previousBlockHash: Hash.encode(chain, block.parent),
  size: block.size,
  timestamp: block.time,
  totalDifficulty: AnyInteger.of(block.totalDifficulty),
  transactionsCount: block.transactions,
  ...(block.resources === undefined
    ? {}
    : { blockchainSpecific: { bandwidthUsed: block.resources.bandwidth, energyUsed: block.resources.energy } })
})

/** With what was burned, for which the clients of the list have a whole number that cannot tell the amount. */
const wholeItem = (chain: Chain, block: NewestBlock) => {
  const { blockchainSpecific, ...item } = blockItem(chain, block)
  const burned = block.resources?.burned
  return burned === undefined || blockchainSpecific === undefined
    ? item
    : { ...item, blockchainSpecific: { ...blockchainSpecific, burnedTRX: Amount.format(burned, chain.decimals) } }
}

/** A log as the decoder of token transfers takes it. Positions are those in the transaction: nobody sees them. */
const contractLog = ({ address, data, topics }: Log, position: number): ContractLog => ({
  ...{ transaction: 0, position, contract: address, data: Hex.prefixed(data), topics: topics.map(Hex.prefixed) }
})

function* tokensOf(logs: ReadonlyArray<Log>) {
  const found = []
  for (const [position, log] of logs.entries()) {
    // One log may have more transfers than a call takes arguments.
    for (const transfer of yield* TokenTransfers.ofLog(contractLog(log, position))) found.push(transfer)
  }
  return found
}

export const make = <Node extends ConnectedNode>(
  record: ChainReader,
  freshness: Freshness<Node>,
  nodeOf: (node: Node) => ExploredNode,
  options: { readonly internalTransactions: boolean }
): Operations => {
  const { chain, name: chainName } = record
  const explorer = Effect.map(freshness.node, (node) => nodeOf(node).explorer)

  const noBlock = new BlockNotFound({ message: `${chainName} has no such block` })
  const noTransaction = new TransactionNotFound({ message: `No block of ${chainName} has this transaction` })

  const blockBy = Effect.fnUntraced(function* (name: BlockName) {
    const found = yield* freshness.orUnavailable((yield* explorer).block(name))
    return found ?? (yield* noBlock)
  })

  const details = (name: BlockName) =>
    Effect.map(blockBy(name), (block) => ({
      ...wholeItem(chain, block),
      nextBlockHash: block.next === undefined ? "" : Hash.encode(chain, block.next)
    }))

  const transactionsOf = Effect.fnUntraced(function* (name: BlockName, { limit, offset }: OffsetRequest) {
    const found = yield* freshness.orUnavailable((yield* explorer).transactionsOf(name, { limit, offset }))
    const { items, total } = found ?? (yield* noBlock)
    return { total, items: items.map((transaction) => TransactionItem.of(chain, transaction)) }
  })

  const evmInternal: Operations["evmInternal"] = Effect.fn("Explore.evmInternal")(function* (request) {
    const node = yield* freshness.node
    const { internal } = nodeOf(node).explorer
    if (internal === undefined || !options.internalTransactions) {
      const capabilities = yield* freshness.orUnavailable(node.source.capabilities)
      const lack = Capability.lacking(capabilities, Capability.internalTransactions)
      return yield* new Unimplemented({ message: `Internal transactions: ${lack?.detail ?? "not read"}` })
    }
    const found = yield* freshness.orUnavailable(internal(Hex.decode(request.transactionHash)))
    const { time, transfers } = found ?? (yield* noTransaction)
    const { limit, offset } = request
    return {
      total: transfers.length,
      items: transfers.slice(offset, offset + limit).map(({ amount, from, operation, operationType, to }) => ({
        operationId: operation,
        operationType,
        recipient: Address.encode(chain, to)!,
        sender: Address.encode(chain, from)!,
        timestamp: time,
        value: CoinAmount.of(chain, amount)
      }))
    }
  })

  const evmTokens: Operations["evmTokens"] = Effect.fn("Explore.evmTokens")(function* (request) {
    const { limit, offset } = request
    const node = yield* freshness.node
    const logs = yield* freshness.orUnavailable(nodeOf(node).logs(Hex.decode(request.transactionHash)))
    if (logs === undefined) return yield* noTransaction
    const all = yield* TimeSlice.run(() => tokensOf(logs))
    const transfers = all.slice(offset, offset + limit)
    const tip = yield* Effect.orDie(record.tip)
    // The block may be younger than the record, and its contracts unknown to a node that is behind.
    const height = Math.max(tip?.height ?? 0, logs[0]?.height ?? 0)
    const tokens = yield* freshness.orUnavailable(TokenNames.find(record, node.source, height, transfers))
    return {
      total: all.length,
      items: transfers.map((transfer) => {
        const metadata = tokens.get(Bytes.key(transfer.contract))
        return {
          recipient: Address.encode(chain, transfer.to)!,
          sender: Address.encode(chain, transfer.from)!,
          tokenData: TokenData.withDecimals(TokenData.of(chain, transfer, metadata), transfer, metadata)
        }
      })
    }
  })

  return {
    evmByHash: Effect.fn("Explore.evmByHash")(({ blockHash }) => details({ hash: Hex.decode(blockHash) })),
    evmByHeight: Effect.fn("Explore.evmByHeight")(({ blockHeight }) => details({ height: blockHeight })),
    evmLatest: Effect.fn("Explore.evmLatest")(() => Effect.map(blockBy("latest"), (block) => wholeItem(chain, block))),
    evmNewest: Effect.fn("Explore.evmNewest")(function* ({ count = newestByDefault }) {
      const blocks = yield* freshness.orUnavailable((yield* explorer).newest(count))
      return { items: blocks.map((block) => blockItem(chain, block)) }
    }),
    evmTransactionsByHash: Effect.fn("Explore.evmTransactionsByHash")((request) =>
      transactionsOf({ hash: Hex.decode(request.blockHash) }, request)
    ),
    evmTransactionsByHeight: Effect.fn("Explore.evmTransactionsByHeight")((request) =>
      Effect.map(transactionsOf({ height: request.blockHeight }, request), ({ items, total }) => ({
        total,
        items: items.map((item) => ({ ...item, timestapm: item.timestamp }))
      }))
    ),
    evmTransaction: Effect.fn("Explore.evmTransaction")(function* ({ transactionHash }) {
      const found = yield* freshness.orUnavailable((yield* explorer).transaction(Hex.decode(transactionHash)))
      return TransactionItem.single(chain, found ?? (yield* noTransaction))
    }),
    evmInternal,
    evmTokens
  }
}
