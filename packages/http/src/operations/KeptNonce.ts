/** The nonce or sequence of a transaction that is prepared, kept for it for a while. */
import type { AddressBytes } from "@headwater/core/address/Address"
import { maxReserved, type ReservedNonces } from "@headwater/indexer/store/wallets/ReservedNonces"
import * as Effect from "effect/Effect"
import { conflictingField } from "../contract/Errors.ts"

export interface Reserving {
  readonly nonces: ReservedNonces
  readonly reservationSeconds: number
}

/** The first one from `next` on that no other preparation of the account keeps, with the field that says until when it is kept. */
export const keep = Effect.fnUntraced(function* (
  { nonces, reservationSeconds }: Reserving,
  account: number,
  sender: AddressBytes,
  next: number
) {
  const taken = yield* Effect.orDie(nonces.reserve(account, sender, next, reservationSeconds * 1_000))
  return taken === "full"
    ? yield* conflictingField(
        "sender",
        `${maxReserved} transactions are prepared and not sent, from number ${next} on: send them, or name a number`
      )
    : { nonce: taken.nonce, kept: { reservedUntil: Math.floor(taken.until / 1_000) } }
})
