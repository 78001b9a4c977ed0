/**
 * Hashes of blocks long past, of which a node is asked for several at a time where blocks are read one after another: that
 * saves nearly half of the requests. Each hash is used once, so that a block that has left the chain meanwhile is not asked for
 * again.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"
import * as HashAt from "./HashAt.ts"
import { consistent } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

/** Hashes of one request. */
const atOnce = 16
/** Blocks below the node's head, as last seen, that are asked for one by one: some of them may yet leave the chain. */
const nearHead = 100
/** Blocks after which a node is tried again that did not answer for several. */
const restBlocks = 1_000

interface Ahead {
  readonly node: string
  /** Undefined where the node has not said it. */
  readonly hex: Deferred.Deferred<string | undefined>
}

export const make = () => {
  const ahead = new Map<number, Ahead>()
  let last: number | undefined
  let from = 0

  const ask = Effect.fnUntraced(function* (rpc: JsonRpc, heights: ReadonlyArray<number>) {
    const answers = yield* rpc.batch(heights.map((height) => ({ method: "getblockhash", params: [height] })))
    return yield* consistent(rpc, "getblockhash", () =>
      answers.map((answer) => Buffer.from(NodeJson.hash(answer, () => "the hash")).toString("hex"))
    )
  })

  /** Asks for the hashes of the block at a height and of those after it. */
  const askFrom = Effect.fnUntraced(function* (rpc: JsonRpc, height: number) {
    const heights = Array.from({ length: atOnce }, (_, i) => height + i)
    const asked = heights.map(() => Deferred.makeUnsafe<string | undefined>())
    ahead.clear()
    for (const [i, hex] of asked.entries()) ahead.set(heights[i]!, { node: rpc.node, hex })
    // Whoever waits is answered although this is interrupted.
    const answered = (exit: Exit.Exit<ReadonlyArray<string>, NodeError>) =>
      Effect.forEach(asked, (hex, i) => Deferred.succeed(hex, Exit.isSuccess(exit) ? exit.value[i] : undefined), {
        discard: true
      })
    yield* ask(rpc, heights).pipe(
      Effect.onExit(answered),
      Effect.catch(() =>
        Effect.sync(() => {
          from = height + restBlocks
        })
      )
    )
  })

  /** The hash of a block that a node with this head is about to be asked for, as hex. */
  return Effect.fnUntraced(function* (rpc: JsonRpc, height: number, head: number) {
    const isNext = last !== undefined && height === last + 1
    last = height
    const isPast = height >= from && height + atOnce + nearHead <= head
    if (isNext && isPast && ahead.get(height)?.node !== rpc.node) yield* askFrom(rpc, height)
    const known = ahead.get(height)
    if (known?.node === rpc.node) {
      ahead.delete(height)
      const hex = yield* Deferred.await(known.hex)
      if (hex !== undefined) return hex
    }
    return yield* HashAt.hex(rpc, height)
  })
}
