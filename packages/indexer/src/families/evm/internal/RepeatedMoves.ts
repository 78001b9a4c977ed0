/**
 * Moves that a node has made up. A contract that ends itself in its own favour moves nothing since EIP-6780; of such an end revm,
 * which is in reth, op-reth and anvil, told until July 2026 whatever was moved before (revm #3805). So a payment is there twice, or
 * as often as its payer likes. What moved is in the balances.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { InternalTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { isRefusedForNow, type NodeError } from "../../node/NodeError.ts"
import type { BlockAnswer, Listed, Transaction } from "./BlockAnswer.ts"
import * as CallTracer from "./CallTracer.ts"
import * as Hex from "./Hex.ts"
import { read } from "./NodeAnswer.ts"
import { NotTraced, type Trace, type Traces } from "./Trace.ts"
import type { TracingNode } from "./TracingNode.ts"

/** The recipient of a transaction that creates a contract is not known here. */
interface Move extends Pick<InternalTransfer, "from" | "amount"> {
  readonly to: AddressBytes | undefined
}

/** A transaction that was traced. */
interface Traced extends Pick<Transaction, "from" | "to" | "value"> {
  /** What the same node's {@link balances} are of it. */
  readonly states: Effect.Effect<unknown, NodeError>
  /** Who gets its fee; undefined where nobody knows. */
  readonly miner: AddressBytes | undefined
}

/** What a transaction moves itself. */
const topOf = ({ from, to, value }: Traced): Move | undefined => (value > 0n ? { from, to, amount: value } : undefined)

const repeats = (move: InternalTransfer, before: Move): boolean =>
  move.amount === before.amount &&
  Bytes.equal(move.from, before.from) &&
  (before.to === undefined || Bytes.equal(move.to, before.to))

/**
 * The ends of contracts that tell the move before them once more; `top` is what the transaction moves. What an account pays itself
 * is no such move: revm writes nothing down of that.
 */
const repeated = (top: Move | undefined, transfers: ReadonlyArray<InternalTransfer>): ReadonlySet<InternalTransfer> => {
  const found = new Set<InternalTransfer>()
  let before = top
  for (const move of transfers) {
    if (move.operationType === "selfdestruct" && before !== undefined && repeats(move, before)) found.add(move)
    if (!Bytes.equal(move.from, move.to)) before = move
  }
  return found
}

/** What moves change of balances; those that were none are taken out by `times` of -1. */
const balanceChanges = () => {
  const changes = new Map<string, bigint>()
  const of = (address: AddressBytes) => changes.get(Bytes.key(address)) ?? 0n
  const add = ({ amount, from, to }: Move, times: 1n | -1n) => {
    changes.set(Bytes.key(from), of(from) - amount * times)
    if (to !== undefined) changes.set(Bytes.key(to), of(to) + amount * times)
  }
  return { of, add }
}

/** The change of a balance by the states before and after a transaction; the second one has of an account what is another. */
const changeIn = (answer: unknown, address: AddressBytes): bigint => {
  const { post, pre } = Hex.object(answer, "result")
  const accountIn = (state: unknown, name: string) => {
    const found = Hex.object(state, name)[Hex.encode(address)]
    return found === undefined ? undefined : Hex.object(found, name)
  }
  const balanceOf = (account: Hex.Json | undefined) =>
    account?.balance == null ? undefined : Hex.quantity(account.balance, "balance")
  const had = balanceOf(accountIn(pre, "pre")) ?? 0n
  const after = accountIn(post, "post")
  // One that is gone after the transaction has left all of it.
  return (after === undefined ? 0n : (balanceOf(after) ?? had)) - had
}

/**
 * The address whose balance tells of a move: the recipient, of payers that have ended nodes differ about what is left (go-ethereum
 * #33049). Fees are taken from the sender, and go to the miner. Of whom the sender of a new contract pays all moves are not known.
 */
const tellingOf = ({ from: sender, miner, to: called }: Traced, { from, to }: InternalTransfer) => {
  const isOfFees = (address: AddressBytes) =>
    Bytes.equal(sender, address) || (miner !== undefined && Bytes.equal(miner, address))
  return called === undefined && Bytes.equal(sender, from)
    ? undefined
    : [to, from].find((address) => !isOfFees(address))
}

/** How a node is asked for the accounts that a transaction changes, before and after: code and storage would be far more. */
export const balances = {
  tracer: "prestateTracer",
  tracerConfig: { diffMode: true, disableCode: true, disableStorage: true }
}

/** The transfers of a trace without those that are told once more. */
export const without = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  traced: Traced,
  transfers: ReadonlyArray<InternalTransfer>
): Effect.fn.Return<ReadonlyArray<InternalTransfer>, NodeError> {
  const top = topOf(traced)
  const doubtful = repeated(top, transfers)
  if (doubtful.size === 0) return transfers
  const answer = yield* traced.states
  return yield* read(rpc, balances.tracer, () => {
    const changes = balanceChanges()
    for (const move of top === undefined ? transfers : [top, ...transfers]) changes.add(move, 1n)
    const told = new Map([...doubtful].map((move) => [move, tellingOf(traced, move)]))
    const excessOf = (address: AddressBytes) => changes.of(address) - changeIn(answer, address)
    // Of ends that are alike the first one stays: it leaves nothing for those behind it.
    for (const [move, address] of [...told].reverse()) {
      if (address !== undefined && excessOf(address) * (address === move.to ? 1n : -1n) < move.amount) continue
      changes.add(move, -1n)
      told.delete(move)
    }
    // Ends of several amounts that do not come to what moved are left out together: less is told, and never more.
    return transfers.filter((move) => {
      const address = told.get(move)
      return address === undefined ? !doubtful.has(move) : excessOf(address) === 0n
    })
  })
})

/** Whether a trace may tell a move once more; of one that begins with an end, the transaction's own. */
const mayRepeat = (trace: Traces[number]): boolean => {
  if (trace === undefined || Result.isFailure(trace)) return false
  const { transfers } = trace.success
  const first = transfers.find(({ from, to }) => !Bytes.equal(from, to))
  return first?.operationType === "selfdestruct" || repeated(undefined, transfers).size > 0
}

/** Of traces some of which {@link mayRepeat}. */
const judged = Effect.fnUntraced(function* (
  node: TracingNode,
  whole: Effect.Effect<BlockAnswer, NotTraced>,
  traces: Traces
): Effect.fn.Return<Traces, NotTraced> {
  const block = yield* whole
  const method = "debug_traceBlockByHash"
  // Once for all of them: for a transaction alone a node runs all before it in the block again.
  const items = yield* Effect.cached(
    Effect.flatMap(node.rpc.call(method, [block.hashText, balances]), (answer) =>
      read(node.rpc, method, () => CallTracer.itemsOf(Hex.array(answer, "result"), block))
    )
  )
  const statesOf = (index: number) =>
    Effect.flatMap(items, (all) => read(node.rpc, method, () => Hex.object(all[index], `the item ${index}`).result))
  const tracedOf = ({ unknown, transaction = unknown }: Listed, index: number) =>
    read(node.rpc, "eth_getBlockByNumber", (): Traced => {
      if (transaction === undefined) throw new Hex.Malformed("the transaction is not understood")
      return { ...transaction, states: statesOf(index), miner: Hex.address(block.json.miner, "block.miner") }
    })
  return yield* Effect.forEach(traces, (trace, index): Effect.Effect<Traces[number], NotTraced> => {
    if (!mayRepeat(trace)) return Effect.succeed(trace)
    const { success } = trace as Result.Success<Trace, string>
    const left = Effect.flatMap(tracedOf(block.listed[index]!, index), (traced) =>
      without(node.rpc, traced, success.transfers)
    )
    return Effect.matchEffect(left, {
      onSuccess: (transfers) => Effect.succeed(Result.succeed({ ...success, transfers })),
      onFailure: (error) => {
        const reason = `whether coins moved twice is not known: ${error.message}`
        // That the node has no answer now is nothing of the transaction: its block is traced again.
        return error._tag === "NodeUnreachable" || isRefusedForNow(error)
          ? new NotTraced({ reason })
          : Effect.succeed(Result.fail(reason))
      }
    })
  })
})

/**
 * The traces of a block by a node without what they tell once more, within the time for a block where one waits for them; a trace
 * whose balances the node does not show is not understood.
 */
export const removed = (
  node: TracingNode,
  whole: Effect.Effect<BlockAnswer, NotTraced>,
  traces: Traces,
  isWaitedFor: boolean
) => (traces.some(mayRepeat) ? node.inTime(judged(node, whole, traces), isWaitedFor) : Effect.succeed(traces))
