/**
 * `debug_traceBlockByHash` with geth's `callTracer`: a tree of call frames for each transaction.
 *
 * A frame's move of coins counts if neither it nor any frame above it ended in an error: a call that succeeded inside a
 * reverted one carries no error of its own. DELEGATECALL, CALLCODE and STATICCALL move nothing; DELEGATECALL only
 * repeats the value of the frame above.
 */
import type { InternalTransfer } from "@headwater/core/Block"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as DecodedTransaction from "../../DecodedTransaction.ts"
import { type BlockAnswer, hashedTransactions, type Listed } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"
import * as Retryable from "./Retryable.ts"
import { missing, needsNone, NotTraced, type Trace, type Traces, transferOf } from "./Trace.ts"

/**
 * Parameters beside the block hash. `timeout` is how long the node may take for a transaction, as a duration of Go; without
 * one it is the node's own, 5 s at geth.
 */
export const config = (timeout: string | undefined) => ({
  tracer: "callTracer",
  ...(timeout === undefined ? {} : { timeout })
})

/** The frame types that move coins, by their names in lower case. */
const movingTypes = new Map<unknown, string>([
  ["CALL", "call"],
  ["CREATE", "create"],
  ["CREATE2", "create2"],
  ["SELFDESTRUCT", "selfdestruct"]
])

/** Calls of one frame between two steps: to yield costs as much as the call is deep. */
const callsOfStep = 8

/** Above the EVM's 1,024 frames; a deeper tree is an attack on the stack. */
const maxDepth = 1_100

/** Of these no coins are moved: by the EVM's rules, and Arbitrum's INVALID by those of `Retryable`. */
const stillTypes: ReadonlySet<unknown> = new Set(["DELEGATECALL", "CALLCODE", "STATICCALL", "INVALID"])

const movedBy = (frame: Hex.Json, path: ReadonlyArray<number>, transaction: number): InternalTransfer | undefined => {
  if (path.length === 0 || frame.value == null || stillTypes.has(frame.type)) return undefined
  const type = movingTypes.get(frame.type)
  const amount = Hex.quantity(frame.value, "frame.value")
  if (amount === 0n) return undefined
  if (type === undefined) throw new Hex.Malformed(`frame.type ${String(frame.type)} is not known`)
  const from = Hex.address(frame.from, "frame.from")
  return transferOf({ type, from, to: Hex.address(frame.to, "frame.to"), amount, path }, transaction)
}

/** Adds what a frame and those below it move to `found`, as far as no error undid it. */
export function* collect(
  json: unknown,
  address: Array<number>,
  transaction: number,
  found: Array<InternalTransfer>,
  parts: DecodedTransaction.Parts
): Generator<void, void> {
  const frame = parts.read(() => Hex.object(json, "frame"))
  if (frame === undefined || frame.error != null) return
  const transfer = parts.read(() => movedBy(frame, address, transaction))
  if (transfer !== undefined) found.push(transfer)
  if (frame.calls == null) return
  if (address.length >= maxDepth) {
    parts.note("frames must not be deeper than the EVM allows")
    return
  }
  const calls = parts.read(() => Hex.array(frame.calls, "frame.calls")) ?? []
  for (let index = 0; index < calls.length; index++) {
    address.push(index)
    yield* collect(calls[index], address, transaction, found, parts)
    address.pop()
    if (index % callsOfStep === 0) yield
  }
}

function* traceOf(
  result: unknown,
  { transaction }: Listed,
  place: number
): Generator<void, Result.Result<Trace, string>> {
  const parts = DecodedTransaction.parts()
  const { broken, read } = parts
  const frame = Predicate.isReadonlyObject(result) && typeof result.type === "string" ? result : undefined
  if (frame === undefined) return Result.fail("the trace is not of the callTracer")
  const transfers: Array<InternalTransfer> = []
  yield* collect(frame, [], place, transfers, parts)
  const ticket = transaction && read(() => Retryable.movesOf(transaction, frame))
  return Result.succeed({
    ...{ failed: frame.error != null, transfers, broken },
    ...(ticket === undefined ? {} : { ticket })
  })
}

const hashOf = (item: unknown): string | undefined =>
  Predicate.isReadonlyObject(item) && typeof item.txHash === "string" ? item.txHash.toLowerCase() : undefined

/** What an answer about a block has of each listed transaction: found by its hash, else by its place. */
export const itemsOf = (items: ReadonlyArray<unknown>, block: BlockAnswer): ReadonlyArray<unknown> => {
  const byHash = new Map(items.map((item) => [hashOf(item), item]))
  const inPlace = items.length === block.listed.length || items.length === hashedTransactions(block).length
  return block.listed.map(({ hashText }, place) => {
    const item = byHash.get(hashText)
    return item === undefined && inPlace && hashOf(items[place]) === undefined ? items[place] : item
  })
}

/**
 * A trace for each transaction. Fails where the tracer gave up on a transaction, and where the answer is not one of traces of this
 * block.
 */
export function* decode(answer: unknown, block: BlockAnswer): Generator<void, Result.Result<Traces, NotTraced>> {
  const items: ReadonlyArray<unknown> = Array.isArray(answer) ? answer : []
  const found = itemsOf(items, block)
  if (found.length > 0 && found.every((item) => item === undefined)) {
    return Result.fail(new NotTraced({ reason: `the ${items.length} traces are of none of the block's transactions` }))
  }
  const resultOf = (item: unknown) => {
    const json = Predicate.isReadonlyObject(item) ? item : {}
    // A tracer that failed says so in place of a result; some proxies give the frame itself as the item.
    return json.result ?? (typeof json.type === "string" ? json : undefined)
  }
  const results = found.map(resultOf)
  const tracesSome = results.some((result) => result !== undefined)
  const traces: Array<Traces[number]> = []
  for (const [place, item] of found.entries()) {
    yield
    const listed = block.listed[place]!
    const result = results[place]
    const reason = Predicate.isReadonlyObject(item) && typeof item.error === "string" ? item.error : undefined
    if (item === undefined || needsNone(listed)) traces.push(missing(listed))
    else if (result !== undefined || (tracesSome && reason === undefined)) {
      traces.push(yield* traceOf(result, listed, place))
    } else {
      return Result.fail(
        new NotTraced({ reason: `transaction ${place} could not be traced: ${reason ?? "no result and no reason"}` })
      )
    }
  }
  return Result.succeed(traces)
}
