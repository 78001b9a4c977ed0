/** Subscriptions to coins, and a line for each movement that they were told. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"

export const subscribe = Effect.fnUntraced(function* (chain: Chain, address: AddressBytes, confirmations = 1) {
  return yield* (yield* Subscriptions).create({
    ...{ account: 1, chain, address, callbackUrl: "https://receiver.test/", secret: undefined },
    ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations, allowDuplicates: true }
  })
})

/** Of `data.item` of a callback. */
export interface Item {
  readonly address: string
  readonly transactionId: string
  readonly direction: string
  readonly amount: string
}

export const summary = ({ address, amount, direction, transactionId }: Item) =>
  `${address} ${transactionId} ${direction} ${amount}`

/** Every callback that there is. */
export const told = Effect.gen(function* () {
  const { query } = yield* Database
  const rows = yield* query((db) => db.selectFrom("callback").select("body").orderBy("id"))
  return rows.map(({ body }) => summary((JSON.parse(body) as { readonly data: { readonly item: Item } }).data.item))
})
