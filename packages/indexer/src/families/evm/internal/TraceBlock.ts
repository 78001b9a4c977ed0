/**
 * `trace_block` (Parity's form, also of Erigon, Reth, Nethermind, Besu): one flat list of a block's frames, each with
 * its address in the tree. Gives the same transfers as {@link CallTracer}.
 */
import type { InternalTransfer } from "@headwater/core/Block"
import { type BlockAnswer, hashText } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import { checkCount, operationOf, type Trace } from "./Trace.ts"

interface Frame {
  readonly address: ReadonlyArray<number>
  readonly failed: boolean
  readonly json: Hex.Json
}

const addressOf = (json: Hex.Json): ReadonlyArray<number> =>
  Hex.array(json.traceAddress, "trace.traceAddress").map((index) => {
    if (typeof index !== "number" || !Number.isSafeInteger(index) || index < 0) {
      throw new Hex.Malformed("trace.traceAddress must be a list of indices")
    }
    return index
  })

const compare = (a: Frame, b: Frame): number => {
  const length = Math.min(a.address.length, b.address.length)
  for (let index = 0; index < length; index++) {
    const difference = a.address[index]! - b.address[index]!
    if (difference !== 0) return difference
  }
  return a.address.length - b.address.length
}

/** The transfer of one frame below the top, if it moves coins. */
const transferOf = ({ address, json }: Frame, transaction: number): InternalTransfer | undefined => {
  const action = Hex.object(json.action, "trace.action")
  const made = (operationType: string, from: unknown, to: unknown, value: unknown): InternalTransfer | undefined => {
    const amount = Hex.quantity(value ?? "0x0", "trace.action.value")
    if (amount === 0n) return undefined
    return {
      kind: "internal",
      transaction,
      operation: operationOf(address),
      operationType,
      from: Hex.address(from, "trace.action.from"),
      to: Hex.address(to, "trace.action.to"),
      amount
    }
  }
  switch (json.type) {
    case "call":
      return action.callType === "call" ? made("call", action.from, action.to, action.value) : undefined
    case "create": {
      const created = Hex.object(json.result, "trace.result").address
      return made(action.creationMethod === "create2" ? "create2" : "create", action.from, created, action.value)
    }
    case "suicide":
    case "selfdestruct":
      return made("selfdestruct", action.address, action.refundAddress, action.balance)
    default:
      return undefined
  }
}

/** In depth-first order; a frame under one that failed moves nothing, whether or not it says so itself. */
const traceOf = (frames: Array<Frame>, transaction: number): Trace => {
  // Nodes give them in order; where one does not, a frame could come before the failed one above it.
  frames.sort(compare)
  const top = frames[0]
  if (top === undefined || top.address.length !== 0) {
    throw new Hex.Malformed(`transaction ${transaction} has no top frame`)
  }
  const transfers: Array<InternalTransfer> = []
  let failed: ReadonlyArray<number> | undefined
  for (const frame of frames) {
    if (failed?.every((index, depth) => frame.address[depth] === index)) continue
    failed = frame.failed ? frame.address : undefined
    if (frame.failed || frame.address.length === 0) continue
    const transfer = transferOf(frame, transaction)
    if (transfer !== undefined) transfers.push(transfer)
  }
  return { failed: top.failed, transfers }
}

/** Throws {@link Hex.Malformed} where a transaction has no trace or a frame is of another block. */
export const decode = (answer: unknown, block: BlockAnswer): ReadonlyArray<Trace> => {
  const byTransaction = new Map<string, Array<Frame>>()
  for (const item of Hex.array(answer, "traces")) {
    const json = Hex.object(item, "trace")
    if (json.blockHash != null && hashText(json.blockHash, "trace.blockHash") !== block.hashText) {
      throw new Hex.Malformed("a trace is of another block")
    }
    // Block and uncle rewards belong to no transaction.
    if (json.type === "reward" || json.transactionHash == null) continue
    const frame = { address: addressOf(json), failed: json.error != null, json }
    const transaction = hashText(json.transactionHash, "trace.transactionHash")
    const frames = byTransaction.get(transaction)
    if (frames === undefined) byTransaction.set(transaction, [frame])
    else frames.push(frame)
  }
  checkCount(byTransaction.size, block)
  return block.transactions.slice(0, byTransaction.size).map(({ hashText: transaction }, index) => {
    const frames = byTransaction.get(transaction)
    if (frames === undefined) throw new Hex.Malformed(`there is no trace of transaction ${index}`)
    return traceOf(frames, index)
  })
}
