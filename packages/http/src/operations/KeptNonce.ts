/** The nonce or sequence of a transaction that is prepared, and what it may cost: kept for it for a while. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import { maxReserved, type Promised, type Spending, shortOf } from "@headwater/indexer/store/wallets/PromisedSpending"
import type { ReservedNonces } from "@headwater/indexer/store/wallets/ReservedNonces"
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
  readonly tokens?: (NonNullable<Spending["tokens"]> & { readonly decimals: number }) | undefined
}

/** Numbers that a refusal names. */
const mostNamed = 10

const unpayable = (wanted: Wanted, promised: Promised) => {
  const { chain, tokens } = wanted
  const short = shortOf(promised, wanted)!
  const numbers = promised.nonces[short]
  const named = numbers.slice(0, mostNamed).join(", ") + (numbers.length > mostNamed ? ", …" : "")
  const [available, taken, needed] =
    short === "tokens"
      ? [tokens!.available, promised.tokens, tokens!.amount].map((amount) =>
          Amount.withUnit({ decimals: tokens!.decimals, unit: "tokens" }, amount)
        )
      : [wanted.available, promised.cost, wanted.cost].map((amount) => Amount.withUnit(chain, amount))
  return conflictingField(
    "amount",
    `the sender can spend ${available}, of which transactions that are prepared or sent, and that the node ` +
      `does not count yet (numbers ${named}) may take ${taken}, and needs ${needed}: ` +
      "name the number of one of them to take its place, or come back"
  )
}

/**
 * The number of a transaction: the one that is named, or the first from `next` on that no other preparation of the account keeps,
 * with the field that says until when it is kept. Fails where the account's other transactions leave too little.
 */
export const numberOf = Effect.fnUntraced(function* ({ nonces, reservationSeconds }: Reserving, wanted: Wanted) {
  const { account, keepsCost, named, next, reserve, sender } = wanted
  const millis = reservationSeconds * 1_000
  const keptUntil = (until: number) => ({ reservedUntil: Math.floor(until / 1_000) })
  if (named !== undefined || !reserve) {
    const nonce = named ?? next
    if (named !== undefined && keepsCost) {
      const taken = yield* Effect.orDie(nonces.takeOver(account, sender, { next, nonce }, millis, wanted))
      if ("promised" in taken) return yield* unpayable(wanted, taken.promised)
      return { nonce, kept: taken.until === undefined ? {} : keptUntil(taken.until) }
    }
    const promised = yield* Effect.orDie(nonces.promisedBeside(account, sender, next, nonce, wanted))
    return shortOf(promised, wanted) === undefined ? { nonce, kept: {} } : yield* unpayable(wanted, promised)
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
