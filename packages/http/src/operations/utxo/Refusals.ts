/** What a UTXO chain's nodes do not show of transactions, in the words of the interface. */
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { Refused } from "@headwater/indexer/families/utxo/ExplorerTransaction"
import * as Effect from "effect/Effect"
import { type Conflict, type NodeUnavailable, Unimplemented } from "../../contract/Errors.ts"
import type { Freshness } from "../Freshness.ts"
import * as NodeCalls from "../NodeCalls.ts"

/** Answers 501 for what the nodes do not show, 409 for what would take too many calls, and 503 for a node that fails. */
export const make =
  (freshness: Pick<Freshness, "orUnavailable">, nodeCalls: number) =>
  <A, E>(
    asked: Effect.Effect<A, E | NodeError | Refused>
  ): Effect.Effect<A, Exclude<E, NodeError | Refused> | Unimplemented | Conflict | NodeUnavailable> =>
    asked.pipe(
      Effect.catchIf(
        (error): error is E & Refused =>
          ["NotShown", "TooManyCalls"].includes((error as { readonly _tag: string })._tag),
        (error) =>
          Effect.fail(
            (error as Refused)._tag === "NotShown"
              ? new Unimplemented({ message: error.message })
              : NodeCalls.exceeded(nodeCalls, "what so many inputs spend, or so many outputs,")
          )
      ),
      freshness.orUnavailable
    ) as never
