/** Transactions in blocks with what they spend: those of one block, and those of which it is known where they are. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as BatchInParts from "../../node/BatchInParts.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"
import type { OffsetPage } from "../../OffsetPage.ts"
import type { BlockName } from "../BlockExplorer.ts"
import {
  type completing,
  type ExplorerTransaction,
  type Given,
  type NotShown,
  noIndex,
  type Refused
} from "../ExplorerTransaction.ts"
import type { Capabilities } from "./Capabilities.ts"
import type { ListedBlock, reading } from "./ListedBlock.ts"
import { consistent, orMissing } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

/** A transaction of which it is known where it is. */
export interface Mined extends Pick<ExplorerTransaction, "time"> {
  /** 64 hex digits in lower case. */
  readonly id: string
  readonly block: NonNullable<ExplorerTransaction["block"]>
}

/** Reads transactions of a node's blocks, each time with at most so many calls. */
export const make = (
  { decoded, prevouts, txindex }: Pick<Capabilities, "decoded" | "prevouts" | "txindex">,
  listedBy: ReturnType<typeof reading>,
  complete: ReturnType<typeof completing>["complete"]
) => {
  /** As the node was found at the start; one that had no index then may have been given one (Bitcoin Core 0.21 says so). */
  const isIndexed = (one: JsonRpc): Effect.Effect<boolean, NodeError> =>
    txindex
      ? Effect.succeed(true)
      : Effect.match(one.call("getindexinfo", ["txindex"]), {
          onFailure: () => false,
          onSuccess: (info) =>
            Predicate.isReadonlyObject(info) && Predicate.isReadonlyObject(info.txindex) && info.txindex.synced === true
        })

  const indexed = Effect.fnUntraced(function* (
    one: JsonRpc,
    ids: ReadonlyArray<string>
  ): Effect.fn.Return<ReadonlyArray<Given>, NodeError | NotShown> {
    if (!(yield* isIndexed(one))) return yield* noIndex
    const calls = ids.map((id) => ({ method: "getrawtransaction", params: [id] }))
    const answers = yield* BatchInParts.batch(one, calls)
    return ids.map((id, index) => ({ id, hex: answers[index], inputs: undefined }))
  })

  /** The transactions as the block shows them, where the node shows what they spend; else one by one. */
  const givenBy = Effect.fnUntraced(function* (
    one: JsonRpc,
    { hash, height }: ListedBlock,
    ids: ReadonlyArray<string>,
    offset: number
  ): Effect.fn.Return<ReadonlyArray<Given>, NodeError | NotShown> {
    // The first transaction of a chain is in no index.
    if (decoded !== undefined && (prevouts !== false || height === 0)) {
      const answer = yield* orMissing(one, hash)(one.call("getblock", [hash, ...decoded], "decimalText"))
      const shown = yield* consistent(one, "getblock", () => {
        const { tx } = NodeJson.record(answer, () => "the block")
        return NodeJson.list(tx, () => "tx")
          .slice(offset, offset + ids.length)
          .map((entry, index) => NodeJson.record(entry, () => `tx[${offset + index}]`))
      })
      if (shown.every(({ hex }) => hex !== undefined)) {
        return shown.map(({ hex, vin }, index) => ({ id: ids[index]!, hex, inputs: vin }))
      }
    }
    return yield* indexed(one, ids)
  })

  const transactionsOf = Effect.fnUntraced(function* (
    one: JsonRpc,
    name: BlockName,
    { limit, offset }: OffsetPage,
    mostCalls: number
  ): Effect.fn.Return<
    { readonly items: ReadonlyArray<ExplorerTransaction>; readonly total: number },
    NodeError | Refused
  > {
    const block = yield* listedBy(one, name)
    const ids = block.ids.slice(offset, offset + limit)
    const { hash, height, time } = block
    const given = yield* givenBy(one, block, ids, offset)
    const items = yield* complete(one, given, mostCalls, (index) => ({
      time,
      block: { hash, height, position: offset + index }
    }))
    // The coins of a chain's first block cannot be spent.
    const isFirst = height === 0
    return {
      total: block.ids.length,
      items: isFirst ? items.map((item) => ({ ...item, isSpent: item.isSpent.map(() => false) })) : items
    }
  })

  const mined = Effect.fnUntraced(function* (
    one: JsonRpc,
    wanted: ReadonlyArray<Mined>,
    mostCalls: number
  ): Effect.fn.Return<ReadonlyArray<ExplorerTransaction>, NodeError | Refused> {
    const given = yield* indexed(
      one,
      wanted.map(({ id }) => id)
    )
    return yield* complete(one, given, mostCalls, (index) => wanted[index]!)
  })

  return { transactionsOf, mined }
}
