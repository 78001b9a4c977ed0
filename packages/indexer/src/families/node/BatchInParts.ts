/** Batches whose answers may be too large together. */
import * as Effect from "effect/Effect"
import { chunksOf } from "../../Chunks.ts"
import * as BytesInFlight from "./BytesInFlight.ts"
import type { Call, JsonRpc, Numbers } from "./JsonRpc.ts"
import { isTooLarge, type NodeError } from "./NodeError.ts"

/** Calls of one part. */
const partCalls = 20

/** As `JsonRpc.batch`; answers that are too large together are asked for in parts, one after another. */
export const batch = (
  rpc: JsonRpc,
  calls: ReadonlyArray<Call>,
  numbers?: Numbers
): Effect.Effect<ReadonlyArray<unknown>, NodeError> =>
  Effect.catchIf(BytesInFlight.attempt(rpc.batch(calls, numbers)), isTooLarge, () =>
    Effect.map(
      Effect.forEach(chunksOf(calls, partCalls), (part) => BytesInFlight.part(rpc.batch(part, numbers))),
      (answers) => answers.flat(1)
    )
  )
