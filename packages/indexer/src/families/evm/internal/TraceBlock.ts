/**
 * `trace_block` (Parity's form, also of Erigon, Reth, Nethermind, Besu): one flat list of a block's frames, each with
 * its address in the tree. Gives the same transfers as {@link CallTracer}.
 */
import type { InternalTransfer } from "@headwater/core/Block"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
import type { BlockAnswer, Listed } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import { missing, needsNone, NotTraced, type Trace, type Traces, transferOf } from "./Trace.ts"

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

/** Calls that move no coins. */
const stillCalls: ReadonlySet<unknown> = new Set(["delegatecall", "callcode", "staticcall"])

/** The transfer of one frame below the top, if it moves coins. */
const movedBy = ({ address: path, json }: Frame, transaction: number): InternalTransfer | undefined => {
  const action = Hex.object(json.action, "trace.action")
  const made = (type: string, sender: unknown, recipient: unknown, value: unknown) => {
    const amount = Hex.quantity(value ?? "0x0", "trace.action.value")
    if (amount === 0n) return undefined
    const from = Hex.address(sender, "trace.action.from")
    return transferOf({ type, from, to: Hex.address(recipient, "trace.action.to"), amount, path }, transaction)
  }
  switch (json.type) {
    case "call":
      if (stillCalls.has(action.callType)) return undefined
      if (action.callType !== "call") throw new Hex.Malformed(`trace.action.callType ${action.callType} is not known`)
      return made("call", action.from, action.to, action.value)
    case "create": {
      const created = Hex.object(json.result, "trace.result").address
      return made(action.creationMethod === "create2" ? "create2" : "create", action.from, created, action.value)
    }
    case "suicide":
    case "selfdestruct":
      return made("selfdestruct", action.address, action.refundAddress, action.balance)
    default:
      throw new Hex.Malformed(`trace.type ${json.type} is not known`)
  }
}

/** The frames of a transaction, as far as they were read. */
class Frames {
  readonly parts = DecodedTransaction.parts()
  readonly frames: Array<Frame> = []
}

/** In depth-first order; a frame under one that failed moves nothing, whether or not it says so itself. */
function* traceOf({ frames, parts }: Frames, place: number): Generator<void, Result.Result<Trace, string>> {
  // Nodes give them in order; where one does not, a frame could come before the failed one above it.
  frames.sort(compare)
  const top = frames[0]
  if (top === undefined || top.address.length !== 0) {
    return Result.fail(["the transaction has no top frame", ...parts.broken].join("; "))
  }
  const transfers: Array<InternalTransfer> = []
  let failed: ReadonlyArray<number> | undefined
  for (const frame of frames) {
    if (failed?.every((index, depth) => frame.address[depth] === index)) continue
    failed = frame.failed ? frame.address : undefined
    if (frame.failed || frame.address.length === 0) continue
    const transfer = parts.read(() => movedBy(frame, place))
    if (transfer !== undefined) transfers.push(transfer)
    yield
  }
  return Result.succeed({ failed: top.failed, transfers, broken: parts.broken })
}

/** A block with what tells its transactions apart. */
export interface Traced extends Pick<BlockAnswer, "hashText"> {
  readonly listed: ReadonlyArray<Pick<Listed, "hashText" | "transaction">>
}

/** A block of transactions with these hashes, 32 bytes each, all of which need a trace. */
export const withHashes = (hashText: string, hashes: Uint8Array): Traced => ({
  hashText,
  listed: Array.from({ length: hashes.length / 32 }, (_, index) => ({
    hashText: Hex.encode(hashes.subarray(32 * index, 32 * (index + 1))),
    transaction: undefined
  }))
})

/** A trace for each transaction. Fails where the answer has no trace of the block's transactions. */
export function* decode(answer: unknown, block: Traced): Generator<void, Result.Result<Traces, NotTraced>> {
  const byTransaction = new Map(
    block.listed.flatMap(({ hashText }) => (hashText === "" ? [] : [[hashText, new Frames()] as const]))
  )
  let [last] = byTransaction.values()
  let found = 0
  for (const item of Array.isArray(answer) ? (answer as ReadonlyArray<unknown>) : []) {
    yield
    const json = Predicate.isReadonlyObject(item) ? item : {}
    // Block and uncle rewards belong to no transaction.
    if (json.type === "reward") continue
    const said = typeof json.transactionHash === "string" ? json.transactionHash.toLowerCase() : undefined
    const place = typeof json.transactionPosition === "number" ? json.transactionPosition : -1
    const of = byTransaction.get(said ?? block.listed[place]?.hashText ?? "")
    if (of === undefined) {
      // Frames stand behind those of the same transaction.
      last?.parts.note("a frame names no transaction of the block")
      continue
    }
    last = of
    if (typeof json.blockHash === "string" && json.blockHash.toLowerCase() !== block.hashText) {
      of.parts.note("a frame is of another block")
      continue
    }
    found++
    const address = of.parts.read(() => addressOf(json))
    if (address !== undefined) of.frames.push({ address, failed: json.error != null, json })
  }
  if (found === 0 && block.listed.length > 0)
    return Result.fail(new NotTraced({ reason: "no trace is of the block's transactions" }))
  const traces: Array<Traces[number]> = []
  for (const [place, listed] of block.listed.entries()) {
    const frames = byTransaction.get(listed.hashText)
    const isMissing = frames === undefined || (frames.frames.length === 0 && frames.parts.broken.length === 0)
    traces.push(isMissing || needsNone(listed) ? missing(listed) : yield* traceOf(frames, place))
  }
  return Result.succeed(traces)
}
