/** Blocks and transactions of a UTXO chain, recorded or not, from its node (wider interface, *Blocks*, *Transactions*). */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import type { BlockName } from "@headwater/indexer/families/utxo/BlockExplorer"
import type { ExplorerTransaction, Refused } from "@headwater/indexer/families/utxo/TransactionExplorer"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import { BlockNotFound, TransactionNotFound, Unimplemented } from "../../contract/Errors.ts"
import { newestByDefault } from "../../contract/Paging.ts"
import type { Freshness } from "../Freshness.ts"
import * as NodeCalls from "../NodeCalls.ts"
import type { ChainOperations, OffsetRequest } from "../Operations.ts"
import { typeOf } from "./ScriptType.ts"

type Operations = Pick<
  ChainOperations,
  | (
      | "utxoByHash"
      | "utxoByHeight"
      | "utxoLatest"
      | "utxoNewest"
      | "utxoTransactionsByHash"
      | "utxoTransactionsByHeight"
    )
  | ("utxoTransaction" | "utxoRaw")
>

const waits = { hash: "", height: -1, position: -1 }

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** Each address once, in the order of its first amount, with the sum of its amounts. */
const byAddress = (moved: ReadonlyArray<readonly [address: string | undefined, amount: bigint]>) => {
  const sums = new Map<string, bigint>()
  for (const [address, amount] of moved) {
    if (address !== undefined) sums.set(address, (sums.get(address) ?? 0n) + amount)
  }
  return [...sums]
}

const transactionItem = (chain: Chain, shown: ExplorerTransaction) => {
  const { isCoinbase, isSpent, spent, transaction } = shown
  const coins = (amount: bigint) => CoinAmount.of(chain, amount)
  const addressOf = (script: Uint8Array) => Address.encode(chain, Address.fromBytes(script))
  const addressesOf = (script: Uint8Array | undefined) => {
    const address = script && addressOf(script)
    return address === undefined ? {} : { addresses: [address] }
  }
  const moved = (all: Parameters<typeof byAddress>[0]) =>
    byAddress(all).map(([address, amount]) => ({ address, addresses: address, value: coins(amount) }))
  const { height, hash, position } = shown.block ?? waits
  const { outputs, zcash } = transaction
  const id = hex(transaction.id)
  return {
    ...{ id, transactionID: id, hash: hex(transaction.hash), isConfirmed: shown.block !== undefined },
    locktime: transaction.lockTime,
    size: transaction.size,
    version: transaction.version,
    fee: coins(shown.fee),
    inputs: transaction.inputs.map(({ outputIndex, scriptSig, transactionId, witness }, index) => {
      const output = spent[index]
      return {
        ...addressesOf(output?.script),
        ...(isCoinbase ? { coinbase: hex(scriptSig) } : {}),
        ...{ outputIndex, oututIndex: outputIndex, transactionId: hex(transactionId), witnesses: witness.map(hex) },
        script: { type: output === undefined ? "nonstandard" : typeOf(output.script) },
        ...(output === undefined ? {} : { value: coins(output.amount) })
      }
    }),
    outputs: outputs.map(({ amount, script }, index) => ({
      ...addressesOf(script),
      isSpent: isSpent[index]!,
      script: { type: typeOf(script) },
      value: coins(amount)
    })),
    positionInBlock: position,
    recipients: moved(outputs.map(({ amount, script }) => [addressOf(script), amount])),
    senders: moved(
      spent.flatMap((output) => (output === undefined ? [] : [[addressOf(output.script), output.amount]]))
    ),
    timestamp: shown.time,
    minedInBlock: { hash, height },
    ...(zcash === undefined
      ? {}
      : {
          blockchainSpecific: {
            expiryHeight: zcash.expiryHeight,
            overwintered: zcash.overwintered,
            valueBalance: coins(zcash.revealed.valueBalance),
            versionGroupId: zcash.versionGroupId.toString(16).padStart(8, "0")
          }
        })
  }
}

export const make = (
  { chain, name }: ChainReader,
  freshness: Freshness<UtxoConnection>,
  nodeCalls: number
): Operations => {
  const noBlock = new BlockNotFound({ message: `${name} has no such block` })
  const noTransaction = new TransactionNotFound({ message: `${name} has no such transaction` })

  const refusals = {
    NotShown: ({ message }: { readonly message: string }) => Effect.fail(new Unimplemented({ message })),
    TooManyCalls: () => Effect.fail(NodeCalls.exceeded(nodeCalls, "what so many inputs spend, or so many outputs,"))
  }

  /** What the node shows of a block. */
  const shown = <A>(asked: Effect.Effect<A, NodeError | Refused>) =>
    asked.pipe(Effect.catchTags({ ...refusals, BlockMissing: () => Effect.fail(noBlock) }), freshness.orUnavailable)

  /** What the node shows of a transaction; undefined where there is none. */
  const found = <A>(asked: Effect.Effect<A, NodeError | Refused>) =>
    asked.pipe(Effect.catchTags(refusals), freshness.orUnavailable)

  const details = Effect.fnUntraced(function* (wanted: BlockName) {
    const { source } = yield* freshness.node
    const { next = "", ...block } = yield* shown(source.blocks.block(wanted))
    return { ...block, merkleroot: block.merkleRoot, nextBlockHash: next }
  })

  const transactionsOf = Effect.fnUntraced(function* (wanted: BlockName, { limit, offset }: OffsetRequest) {
    const { transactions } = yield* freshness.node
    const { items, total } = yield* shown(transactions.transactionsOf(wanted, { limit, offset }, nodeCalls))
    return { total, items: items.map((each) => transactionItem(chain, each)) }
  })

  return {
    utxoByHash: Effect.fn("Explore.utxoByHash")(({ blockHash }) => details({ hash: blockHash.toLowerCase() })),
    utxoByHeight: Effect.fn("Explore.utxoByHeight")(({ blockHeight }) => details({ height: blockHeight })),
    utxoLatest: Effect.fn("Explore.utxoLatest")(function* () {
      const { source } = yield* freshness.node
      return yield* freshness.orUnavailable(source.latestDetails)
    }),
    utxoNewest: Effect.fn("Explore.utxoNewest")(function* ({ count = newestByDefault }) {
      const { source } = yield* freshness.node
      return { items: yield* freshness.orUnavailable(source.blocks.newest(count)) }
    }),
    utxoTransactionsByHash: Effect.fn("Explore.utxoTransactionsByHash")((request) =>
      transactionsOf({ hash: request.blockHash.toLowerCase() }, request)
    ),
    utxoTransactionsByHeight: Effect.fn("Explore.utxoTransactionsByHeight")((request) =>
      transactionsOf({ height: request.blockHeight }, request)
    ),
    utxoTransaction: Effect.fn("Explore.utxoTransaction")(function* ({ transactionHash }) {
      const { transactions } = yield* freshness.node
      const transaction = yield* found(transactions.transaction(transactionHash.toLowerCase(), nodeCalls))
      return transactionItem(chain, transaction ?? (yield* noTransaction))
    }),
    utxoRaw: Effect.fn("Explore.utxoRaw")(function* ({ transactionHash }) {
      const { transactions } = yield* freshness.node
      const transactionHex = yield* found(transactions.rawData(transactionHash.toLowerCase()))
      return { transactionHex: transactionHex ?? (yield* noTransaction) }
    })
  }
}
