/** Batches whose answers may be too large together. */
import * as Effect from "effect/Effect"
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
  Effect.catchIf(BytesInFlight.attempt(rpc.batch(calls, numbers)), isTooLarge, () => {
    const parts = Array.from({ length: Math.ceil(calls.length / partCalls) }, (_, part) =>
      calls.slice(part * partCalls, (part + 1) * partCalls)
    )
    return Effect.map(
      Effect.forEach(parts, (part) => BytesInFlight.part(rpc.batch(part, numbers))),
      (answers) => answers.flat(1)
    )
  })
