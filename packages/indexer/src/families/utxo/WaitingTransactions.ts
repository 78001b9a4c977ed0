/**
 * The transactions that wait at a UTXO chain's node, by the addresses that they may name. Each is asked for once and
 * remembered while it waits: a read looks at those that are new, a bounded number of them.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import { mayUnlock } from "@headwater/core/utxo/Unlocking"
import * as Effect from "effect/Effect"
import type { NodeError } from "../node/NodeError.ts"
import type { Mempool, MempoolTransaction } from "../SideSources.ts"

export interface Candidates {
  /** As 64 hex digits, of the transactions that pay the address or may spend its coins. */
  readonly ids: ReadonlyArray<string>
  /** How many others were not looked at yet: the next look goes on with them. */
  readonly left: number
}

export interface WaitingTransactions {
  /** Looks at no more than so many transactions that are new. */
  readonly naming: (address: AddressBytes, mostCalls: number) => Effect.Effect<Candidates, NodeError>
}

/** Whether a transaction may name an address. An input tells that where its node does not say what it spends. */
type MayName = (address: AddressBytes) => boolean

const mayNameOf = ({ spends, transfers }: MempoolTransaction): MayName => {
  const named = new Set(
    transfers.flatMap(({ from, to }) => [from, to].flatMap((side) => (side ? Bytes.key(side) : [])))
  )
  const shown = new Set(transfers.flatMap(({ from, position }) => (from === undefined ? [] : [position])))
  const unshown = spends.filter(({ position }) => !shown.has(position))
  const spending = unshown.length === 0 ? () => false : mayUnlock(unshown.map(({ unlocking }) => unlocking?.()))
  return (address) => named.has(Bytes.key(address)) || spending(address)
}

/** Transactions that are asked for at a time. */
const atOnce = 100

export const make = (mempool: Mempool): WaitingTransactions => {
  const known = new Map<string, MayName>()

  const look = Effect.fnUntraced(function* (most: number) {
    const ids = new Set(yield* mempool.ids)
    for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
    const fresh = [...ids].filter((id) => !known.has(id))
    const looked = fresh.slice(0, most)
    for (let from = 0; from < looked.length; from += atOnce) {
      const found = yield* mempool.transactions(looked.slice(from, from + atOnce))
      for (const transaction of found) known.set(Buffer.from(transaction.id).toString("hex"), mayNameOf(transaction))
    }
    return fresh.length - looked.length
  })

  return {
    naming: Effect.fn("WaitingTransactions.naming")(function* (address, mostCalls) {
      const left = yield* look(mostCalls)
      return { left, ids: [...known].flatMap(([id, mayName]) => (mayName(address) ? [id] : [])) }
    })
  }
}
