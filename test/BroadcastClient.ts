/** Broadcasts through a daemon, and what becomes of them: by its answers, and by the callbacks that its receiver has. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import type * as Receiver from "./Receiver.ts"

export const success = "BROADCAST_TRANSACTION_SUCCESS"
export const fail = "BROADCAST_TRANSACTION_FAIL"
export const secret = "a secret of the test"

/** A signed transaction as it is broadcast, and its id. */
export interface Signed {
  readonly id: string
  readonly hex: string
}

export interface Options {
  /** `blockchain/network`. */
  readonly place: string
  /** Makes a block where only further ones can show an outcome: that no node has a transaction is believed at the second. */
  readonly grow: Effect.Effect<unknown>
}

/** Waits until the daemon has connected to its nodes, and has a first block. */
export const make = Effect.fnUntraced(function* (
  headwater: Effect.Success<ReturnType<typeof Headwater.start>>,
  receiver: Effect.Success<ReturnType<typeof Receiver.start>>,
  { grow, place }: Options
) {
  const path = `/broadcast-transactions/${place}`
  const post = (hex: string, item: Record<string, unknown> = {}) =>
    headwater.post(path, { signedTransactionHex: hex, ...item })
  const outcomeOf = ({ id }: Pick<Signed, "id">) =>
    Effect.map(headwater.get(`${path}/${id}`), ({ body }) => body.data?.item)
  const broadcast = Effect.fnUntraced(function* ({ hex, id }: Signed) {
    const { body, status } = yield* post(hex, { callbackUrl: `${receiver.url}/`, callbackSecretKey: secret })
    assert.deepStrictEqual([status, body.data?.item], [200, { transactionId: id }], JSON.stringify(body))
  })
  /** Waits until the transaction has this outcome. */
  const becomes = Effect.fnUntraced(function* (transaction: Signed, outcome: string) {
    for (let i = 0; i < 600; i++) {
      if (["dropped", "replaced"].includes(outcome) && i % 4 === 0) yield* grow
      const item = yield* outcomeOf(transaction)
      if (item?.outcome === outcome) return item
      yield* Effect.sleep("100 millis")
    }
    return yield* Effect.die(new Error(`${transaction.id} did not become ${outcome}\n${headwater.log().slice(-3_000)}`))
  })
  const told = ({ id }: Signed) => receiver.accepted().filter(({ body }) => body.data.item.transactionId === id)
  /** Waits until these events were told, in this order. */
  const until = (transaction: Signed, ...wanted: ReadonlyArray<string>) =>
    receiver.until(() => wanted.every((event, i) => told(transaction)[i]?.body.data.event === event))
  yield* Headwater.until(post("00"), ({ status }) => status !== 503)
  return { becomes, broadcast, outcomeOf, post, told, until }
})
