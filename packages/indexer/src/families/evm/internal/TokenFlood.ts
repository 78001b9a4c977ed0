/**
 * Blocks with more token transfers than the record of a block has numbers for. Gas pays for a million of them where blocks are
 * large, if a few logs of ERC-1155 have them all: such logs are left out, the largest first, and what they move is said to be
 * missing. All others have one transfer each, of which no block has a third as many.
 */
import type { Block, NotUnderstood } from "@headwater/core/Block"
import * as Steps from "@headwater/core/Steps"

/** Token transfers of a block: the record has room for these, however they are packed (`TransferChunk`). */
const mostTransfers = 900_000

/**
 * Transfers that take as much room as the smallest log may: a chunk is full with 255 of them, or with 253 addresses, of which
 * each log has three.
 */
const leastOfLog = 3.1

const roomOf = ({ count }: Pick<Log, "count">) => Math.max(count, leastOfLog)

interface Log {
  readonly transaction: number
  readonly position: number
  count: number
}

const reason = "its logs have more token transfers than are read of a block"

const lackOf = (block: Block, transaction: number, transfers: number): NotUnderstood => ({
  transactionId: block.transactions[transaction],
  ...{ reason, transfers, lacks: ["token"], raw: "" }
})

/** The block, with no more token transfers than that. */
export function* bounded<B extends Block>(block: B, most = mostTransfers): Generator<void, B> {
  if (block.transfers.length * leastOfLog <= most) return block
  const logs = new Map<number, Log>()
  const keyOf = (transaction: number, position: number) => transaction * 2 ** 32 + position
  yield* Steps.forEach(block.transfers, (transfer) => {
    if (transfer.kind !== "token") return
    const { position, transaction } = transfer
    const key = keyOf(transaction, position)
    const log = logs.get(key)
    if (log === undefined) logs.set(key, { transaction, position, count: 1 })
    else log.count++
  })
  const left = new Set<number>()
  const lacking = new Set<number>()
  const largestFirst = [...logs.values()].sort((a, b) => b.count - a.count)
  let total = largestFirst.reduce((sum, log) => sum + roomOf(log), 0)
  for (const log of largestFirst) {
    if (total <= most) break
    total -= roomOf(log)
    const { position, transaction } = log
    left.add(keyOf(transaction, position))
    lacking.add(transaction)
  }
  if (left.size === 0) return block
  const transfers: Array<Block["transfers"][number]> = []
  const counts = new Map<number, number>()
  yield* Steps.forEach(block.transfers, (transfer) => {
    const { transaction } = transfer
    if (transfer.kind === "token" && left.has(keyOf(transaction, transfer.position))) return
    transfers.push(transfer)
    counts.set(transaction, (counts.get(transaction) ?? 0) + 1)
  })
  const lacks = [...lacking].map((transaction) => lackOf(block, transaction, counts.get(transaction) ?? 0))
  return { ...block, transfers, notUnderstood: [...(block.notUnderstood ?? []), ...lacks] }
}
