/** All transactions of a wallet's addresses, each once: what a list by offset needs to say how many there are. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { ChainReader, PlacedTransaction, Position } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { Conflict } from "../contract/Errors.ts"

/** Transactions of a wallet that are looked through for one answer. */
const most = 10_000

const atOnce = 500

const tooMany = new Conflict({
  message: `The wallet has more than ${most} transactions: list those of its addresses instead`
})

/** Newest first. */
const of = Effect.fnUntraced(function* (record: ChainReader, addresses: ReadonlyArray<AddressBytes>) {
  const found = new Map<string, PlacedTransaction>()
  for (const address of addresses) {
    let after: Position | undefined
    while (true) {
      const page = yield* Effect.orDie(record.transactions(address, { order: "descending", limit: atOnce, after }))
      for (const one of page.transactions) found.set(`${one.height} ${one.index}`, one)
      if (found.size > most) return yield* tooMany
      if (page.next === undefined) break
      after = page.next
    }
  }
  return [...found.values()].sort((a, b) => b.height - a.height || b.index - a.index)
})

/** As {@link of}, of one moment: what a reorganisation changed meanwhile is read again. */
export const atOneMoment = Effect.fnUntraced(function* (record: ChainReader, addresses: ReadonlyArray<AddressBytes>) {
  while (true) {
    const before = yield* Effect.orDie(record.tip)
    const found = yield* of(record, addresses)
    const after = yield* Effect.orDie(record.tip)
    if (before?.reorganisations === after?.reorganisations) return found
  }
})
