/** The transactions of one sender that wait for a block at a node, and those that wait behind a missing one. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import * as Hex from "./Hex.ts"
import { read } from "./NodeAnswer.ts"
import * as WaitingTransactions from "./WaitingTransactions.ts"

const poolMethod = "txpool_contentFrom"

/** Transactions of one account that wait for a block, in their order, and the method that shows them. */
export interface Waiting {
  readonly method: string
  readonly transactions: ReadonlyArray<Hex.Json>
}

/** What waits of an account: by the node's list, else by its pending block; undefined where neither has all of it. */
export const of = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  address: AddressBytes,
  nonces: WaitingTransactions.Nonces
) {
  const asked = [
    { method: poolMethod, params: [Hex.encode(address)], list: WaitingTransactions.ofPool },
    { method: "eth_getBlockByNumber", params: ["pending", true], list: WaitingTransactions.ofBlock(address) }
  ]
  for (const { list, method, params } of asked) {
    const answer = yield* Effect.result(rpc.call(method, params))
    if (Result.isFailure(answer)) {
      if (answer.failure._tag === "NodeRejected") continue
      return yield* answer.failure
    }
    const transactions = yield* read(rpc, method, () => WaitingTransactions.ofNonces(list(answer.success), nonces))
    if (transactions !== undefined) return { method, transactions } satisfies Waiting
  }
  return undefined
})

/**
 * What the transaction offers that has a nonce, behind a missing one too, where no block can have it yet: nodes take another one in
 * its place for more alone. Undefined where none has the nonce, or no list of what waits is had: some of those who stand before
 * nodes refuse it by an HTTP status, and all else can be prepared without it.
 */
export const offerAt = (
  rpc: JsonRpc,
  address: AddressBytes,
  nonce: number
): Effect.Effect<WaitingTransactions.Offer | undefined> =>
  Effect.flatMap(rpc.call(poolMethod, [Hex.encode(address)]), (answer) =>
    read(rpc, poolMethod, () => {
      const nonces = { from: nonce, before: nonce + 1 }
      const [found] = WaitingTransactions.ofNonces(WaitingTransactions.ofPool(answer), nonces) ?? []
      return found && WaitingTransactions.offerOf(found)
    })
  ).pipe(Effect.orElseSucceed(() => undefined))
