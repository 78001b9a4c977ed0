/** The nonce or sequence of a transaction that is prepared, and what it may cost: kept for it for a while. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import {
  leavesTooLittle,
  maxReserved,
  type Promised,
  type ReservedNonces,
  type Spending
} from "@headwater/indexer/store/wallets/ReservedNonces"
import * as Effect from "effect/Effect"
import { conflictingField } from "../contract/Errors.ts"

export interface Reserving {
  readonly nonces: ReservedNonces
  readonly reservationSeconds: number
}

interface Wanted extends Spending {
  readonly chain: Chain
  readonly account: number
  readonly sender: AddressBytes
  /** The sender's next one, behind what waits. */
  readonly next: number
  /** The one that the request names. */
  readonly named: number | undefined
  /** Whether one that is not named is kept. */
  readonly reserve: boolean
}

/** Numbers that a refusal names. */
const mostNamed = 10

const unpayable = ({ available, chain, cost }: Wanted, promised: Promised) => {
  const named = promised.nonces.slice(0, mostNamed).join(", ") + (promised.nonces.length > mostNamed ? ", …" : "")
  const coins = (amount: bigint) => Amount.withUnit(chain, amount)
  return conflictingField(
    "amount",
    `the sender can spend ${coins(available)}, of which transactions that are prepared or sent, and that the node ` +
      `does not count yet (numbers ${named}) may take ${coins(promised.cost)}, and needs ${coins(cost)}: ` +
      "name the number of one of them to take its place, or come back"
  )
}

/**
 * The number of a transaction: the one that is named, or the first from `next` on that no other preparation of the account keeps,
 * with the field that says until when it is kept. Fails where the account's other transactions leave too little.
 */
export const numberOf = Effect.fnUntraced(function* ({ nonces, reservationSeconds }: Reserving, wanted: Wanted) {
  const { account, cost, keepsCost, named, next, reserve, sender, waiting } = wanted
  const millis = reservationSeconds * 1_000
  const keptUntil = (until: number) => ({ reservedUntil: Math.floor(until / 1_000) })
  if (named !== undefined || !reserve) {
    const nonce = named ?? next
    const promised = yield* Effect.orDie(nonces.promisedBeside(account, sender, next, nonce, waiting))
    if (leavesTooLittle(promised, wanted)) return yield* unpayable(wanted, promised)
    const takesOver = named !== undefined && keepsCost
    const until = takesOver ? yield* Effect.orDie(nonces.takeOver(account, sender, nonce, millis, cost)) : undefined
    return { nonce, kept: until === undefined ? {} : keptUntil(until) }
  }
  const taken = yield* Effect.orDie(nonces.reserve(account, sender, next, millis, wanted))
  if (taken === "full") {
    return yield* conflictingField(
      "sender",
      `${maxReserved} transactions are prepared and not sent, from number ${next} on: send them, or name a number`
    )
  }
  return "promised" in taken
    ? yield* unpayable(wanted, taken.promised)
    : { nonce: taken.nonce, kept: keptUntil(taken.until) }
})
