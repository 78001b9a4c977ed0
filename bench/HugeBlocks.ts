/**
 * Nodes with blocks as large as they come, for `bench/eventLoop.ts`, and as usual, for `bench/proofs.ts` and
 * `bench/scaling.ts`. As a program, the node of one kind, whose block may have another number of transactions than usual:
 * prints its URL and the heights of its blocks, which follow one another.
 */
import * as XrpServer from "../packages/indexer/test/families/xrp/XrpServer.ts"
import * as EvmNode from "../packages/indexer/test/families/evm/EvmNode.ts"
import * as SealedBlock from "../packages/indexer/test/families/evm/SealedBlock.ts"
import * as FakeNode from "../packages/indexer/test/FakeNode.ts"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import * as TronBlocks from "../packages/indexer/test/families/tron/TronBlocks.ts"
import * as TronNode from "../packages/indexer/test/families/tron/TronNode.ts"
import * as UtxoBlocks from "../packages/indexer/test/families/utxo/UtxoBlocks.ts"
import * as UtxoNode from "../packages/indexer/test/families/utxo/UtxoNode.ts"
import * as XrpLedgers from "../packages/indexer/test/families/xrp/XrpLedgers.ts"
import * as Effect from "effect/Effect"

interface Served {
  readonly url: string
  readonly heights: ReadonlyArray<number>
}

const evm = (transactions: number, calls: number) =>
  Effect.suspend(() => {
    const { recorded } = EvmNode.bundle("ethereum-17053184")
    const block = SealedBlock.repeated(recorded, transactions, calls)
    return Effect.map(
      FakeNode.make(EvmNode.answers([block])),
      ({ url }): Served => ({ url, heights: [Number(block.block.number)] })
    )
  })

const script = (number: number) => `76a914${number.toString(16).padStart(40, "0")}88ac`
const value = "0.00001000"

/** A transaction that pays to so many scripts. */
const payout = (outputs: number) =>
  UtxoBlocks.transaction(
    [],
    Array.from({ length: outputs }, (_, index) => UtxoBlocks.paid(value, script(index)))
  )

const utxo = (made: ReadonlyArray<ReadonlyArray<UtxoNode.NodeTransaction>>) => {
  let previous = "00".repeat(32)
  const blocks = made.map((transactions, index) => {
    const block = UtxoBlocks.block(100 + index, previous, transactions)
    previous = block.json.hash
    return block
  })
  const raw = Object.fromEntries(blocks.map(({ json, raw }) => [json.hash, raw]))
  const part = { blocks: blocks.map(({ json }) => json), raw }
  const answer = UtxoNode.answers("core", part)
  return Effect.map(
    // A node that does not say whether it has an index is asked for every transaction of its newest block.
    FakeNode.make((method, params) =>
      method === "getindexinfo" ? { txindex: { synced: true } } : answer(method, params)
    ),
    ({ url }): Served => ({ url, heights: part.blocks.map(({ height }) => height) })
  )
}

const inputOf = ({ txid, vout }: UtxoNode.NodeTransaction, index: number) => ({
  ...{ txid, vout: index },
  prevout: UtxoBlocks.paid(value, (vout[index]! as XrpServer.Json).scriptPubKey.hex)
})

const xrp = (count: number) => {
  const recorded = Fixtures.json("xrp/rippled-historical-database/test/mock/ledgers/11119619.json") as XrpServer.Json
  const transactions = Array.from({ length: count }, (_, index) => {
    const entry = recorded.transactions[index % recorded.transactions.length]
    const metaData = { ...entry.metaData, TransactionIndex: index }
    return { ...entry, Sequence: index + 1, metaData }
  })
  const filled = { parent_close_time: recorded.close_time, close_flags: 0, ...recorded, transactions }
  return Effect.map(
    XrpServer.make({ ledgers: XrpLedgers.sealed([filled]) }),
    ({ httpUrl }): Served => ({ url: httpUrl, heights: [Number(recorded.ledger_index)] })
  )
}

const tron = (count: number) => {
  const height = 1_000_000
  const transactions = Array.from({ length: count }, (_, index) =>
    index % 3 === 0 ? TronBlocks.transfer(index, index + 1, 5 + index) : TronBlocks.call(index, 70 + index)
  )
  const infos = transactions.map((transaction, index) =>
    TronBlocks.infoOf(
      transaction,
      height,
      index % 3 === 0
        ? {}
        : {
            contract_address: TronBlocks.account(70 + index),
            log: Array.from({ length: 5 }, (_, log) => TronBlocks.trc20(70 + log, index, index + log, 1_000n)),
            internal_transactions: Array.from({ length: 5 }, (_, call) => TronBlocks.internal(index, call, 5))
          }
    )
  )
  const blocks = TronBlocks.linked([TronBlocks.blockOf(height, transactions, infos)])
  return Effect.map(TronNode.make({ blocks }), ({ url }): Served => ({ url, heights: [height] }))
}

const kinds: Readonly<
  Record<string, (transactions?: number) => Effect.Effect<Served, never, import("effect/Scope").Scope>>
> = {
  evm: () => evm(5_000, 1),
  "evm-calls": () => evm(300, 100),
  utxo: () => {
    const paid = payout(15_000)
    const spending = Array.from({ length: 15_000 }, (_, index) =>
      UtxoBlocks.transaction(
        [inputOf(paid, index)],
        [UtxoBlocks.paid("0.00000400", script(index + 1)), UtxoBlocks.paid("0.00000500", script(index + 2))]
      )
    )
    return utxo([[paid], [UtxoBlocks.transaction([], [UtxoBlocks.paid(value, script(9))], 1), ...spending]])
  },
  consolidation: () => {
    const paid = payout(20_000)
    const inputs = Array.from({ length: 20_000 }, (_, index) => inputOf(paid, index))
    const coinbase = UtxoBlocks.transaction([], [UtxoBlocks.paid(value, script(9))], 1)
    return utxo([[paid], [coinbase, UtxoBlocks.transaction(inputs, [UtxoBlocks.paid("0.20000000", script(7))])]])
  },
  // A block of Bitcoin Cash as large as it may be, in one text of 64 million digits.
  "raw-32": () => {
    const transactions = Array.from({ length: 22_000 }, (_, transaction) =>
      UtxoBlocks.transaction(
        transaction === 0 ? [] : [{ txid: transaction.toString(16).padStart(64, "0"), vout: 0 }],
        Array.from({ length: 41 }, (_, output) => UtxoBlocks.paid(value, script(transaction * 41 + output)))
      )
    )
    return utxo([transactions])
  },
  // The same in transactions as small as they come, which spend outputs of the block before and of the same block in turn.
  "small-32": () => {
    const paid = payout(80_000)
    let last = paid
    const spending = Array.from({ length: 160_000 }, (_, index) => {
      const from = index % 2 === 0 ? { txid: paid.txid, vout: index / 2 } : { txid: last.txid, vout: 0 }
      last = UtxoBlocks.transaction([from], [UtxoBlocks.paid("0.00000900", script(index))])
      return last
    })
    return utxo([[paid], [UtxoBlocks.transaction([], [UtxoBlocks.paid(value, script(9))], 1), ...spending]])
  },
  /** As a block of Bitcoin has: two inputs and two outputs each. */
  "usual-utxo": (count = 2_500) => {
    const paid = payout(2 * count)
    const spending = Array.from({ length: count }, (_, index) =>
      UtxoBlocks.transaction(
        [inputOf(paid, 2 * index), inputOf(paid, 2 * index + 1)],
        [UtxoBlocks.paid("0.00000400", script(index + 1)), UtxoBlocks.paid("0.00001500", script(index + 2))]
      )
    )
    return utxo([[paid], [UtxoBlocks.transaction([], [UtxoBlocks.paid(value, script(9))], 1), ...spending]])
  },
  "usual-xrp": (count = 100) => xrp(count),
  "usual-tron": (count = 300) => tron(count),
  "usual-evm": (count = 200) => evm(count, 1),
  xrp: () => xrp(1_500),
  tron: () => tron(3_000)
}

await Effect.runPromise(
  Effect.gen(function* () {
    const [kind = "", transactions] = process.argv.slice(2)
    const { heights, url } = yield* kinds[kind]!(...(transactions === undefined ? [] : [Number(transactions)]))
    console.log([url, ...heights].join(" "))
    return yield* Effect.never
  }).pipe(Effect.scoped)
)
