/** How a part of a block is proved: fits, is left without proof for a reason, or is a mismatch, which is thrown. */
import type { UnprovenPart } from "@headwater/core/Block"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import * as Hex from "./Hex.ts"

/** The parts that may be without proof. */
export const part = {
  header: "header",
  transactions: "transactions",
  senders: "senders",
  receipts: "receipts",
  outcomes: "outcomes",
  created: "created contracts",
  withdrawals: "withdrawals",
  stateSync: "state-sync transactions",
  internal: "internal transactions"
} as const

/** What is left without proof of a part, if anything. */
export type Proved = UnprovenPart | undefined

/** What cannot be read of a field that nothing else needs is not understood; a mismatch that is not believed is thrown on. */
export const understood = (
  name: string,
  result: Result.Result<Proved, unknown>,
  believed: Proof.Believed = Proof.believeNothing
): Proved => {
  if (Result.isSuccess(result)) return result.success
  const { failure } = result
  if (failure instanceof Hex.Malformed) return Proof.unknown(name, failure.message)
  if (failure instanceof Hex.Mismatch && failure.content !== undefined && believed.has(failure.content)) {
    return Proof.unknown(name, `${failure.message}, and every node gives the same`)
  }
  throw failure
}

/** Proves a part in one go. */
export const attempt = (name: string, prove: () => Proved, believed?: Proof.Believed): Proved =>
  understood(name, Result.try(prove), believed)

/** What is hashed by rules that a fork may change fits the hash, or is a mismatch that names both. */
export const fits = (hashed: Uint8Array, hash: Uint8Array, message: string): void => {
  if (Hex.equal(hashed, hash)) return
  throw new Hex.Mismatch({ message, content: `${Hex.encode(hashed)} ${Hex.encode(hash)}` })
}

/** Proves items one by one; the first of each part that is left without proof stands for the others. */
export function* each<A>(
  items: ReadonlyArray<A>,
  name: string,
  prove: (item: A, index: number) => Proved
): Generator<void, Proved> {
  const unproven = yield* TimeSlice.map(items, (item, index) => attempt(name, () => prove(item, index)))
  return unproven.find((one) => one !== undefined)
}

/** What is left without proof of several parts. */
export const unprovenOf = (...parts: ReadonlyArray<Proved>): ReadonlyArray<UnprovenPart> =>
  parts.filter((one) => one !== undefined)
