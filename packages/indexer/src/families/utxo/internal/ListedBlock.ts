/** A block of a node's chain as the ids of its transactions. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { BlockMissing, type NodeError } from "../../node/NodeError.ts"
import type { BlockName } from "../BlockExplorer.ts"
import type { Capabilities } from "./Capabilities.ts"
import * as HashAt from "./HashAt.ts"
import { consistent, orMissing } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

export interface ListedBlock {
  /** 64 hex digits in lower case, as the ids. */
  readonly hash: string
  readonly height: number
  /** In seconds since the Unix epoch. */
  readonly time: number
  readonly ids: ReadonlyArray<string>
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** Reads blocks; fails with `BlockMissing` where the node's chain has none of that name. */
export const reading = ({ decoded, listed }: Pick<Capabilities, "decoded" | "listed">) =>
  Effect.fnUntraced(function* (one: JsonRpc, name: BlockName): Effect.fn.Return<ListedBlock, NodeError> {
    const hash = "hash" in name ? name.hash : yield* HashAt.hex(one, name.height)
    const answer = yield* orMissing(
      one,
      hash
    )(one.call("getblock", [hash, ...(listed ?? decoded ?? [])], "decimalText"))
    const block = yield* consistent(one, "getblock", () => {
      const json = NodeJson.record(answer, () => "the block")
      const ids = NodeJson.list(json.tx, () => "tx").map((entry, index) => {
        const id = Predicate.isReadonlyObject(entry) ? entry.txid : entry
        return text(NodeJson.hash(id, () => `tx[${index}]`))
      })
      const height = NodeJson.count(json.height, () => "height")
      return { hash, height, time: NodeJson.count(json.time, () => "time"), ids }
    })
    // Nodes know blocks by their hash that have left the chain.
    if ((yield* HashAt.hex(one, block.height)) !== hash) return yield* new BlockMissing({ node: one.node, block: hash })
    return block
  })
