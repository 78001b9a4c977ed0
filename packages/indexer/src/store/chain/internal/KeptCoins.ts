/**
 * The outputs that the UTXO set has, as far as a process remembers them: where the set keeps the outputs of watched addresses
 * alone, next to none of a block's thousands of inputs needs to be looked for in the store.
 */
import type { Spend } from "@headwater/core/Block"
import * as Watched from "@headwater/core/events/Watched"
import type { Coin, Outpoint } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { rowsAtOnce } from "../../database/Statements.ts"

export interface KeptCoins {
  /**
   * Those of the inputs whose outputs the set may have; all of them where that is not remembered, and then the set may be
   * read. In a transaction.
   */
  readonly among: (spends: ReadonlyArray<Spend>) => Effect.Effect<ReadonlyArray<Spend>, DatabaseError, Database>
  /** As `among`, by what is remembered alone. */
  readonly known: (spends: ReadonlyArray<Spend>) => ReadonlyArray<Spend>
  /** Somebody else has changed the chain. */
  readonly forget: () => void
  /** Takes note of outputs that the set has from now on. What is not entered after all does no harm. */
  readonly add: (coins: ReadonlyArray<Pick<Coin, "outpoint">>) => void
}

/** Fewer inputs are looked for sooner than the set is read. */
const fewInputs = 500
/** As many inputs are looked for in the time that it takes to ask the store at all. */
const inputsOfQuery = 50
/** Outputs that are remembered, with some 20 bytes each. */
const mostKept = 2 ** 21

const bytes = new Uint8Array(36)
const view = new DataView(bytes.buffer)

/** An output as blocks name it, see `Spend.outpointSpan`, in bytes that the next call overwrites. */
const bytesOf = ({ index, transactionId }: Outpoint): Uint8Array => {
  for (let at = 0; at < 32; at++) bytes[at] = transactionId[31 - at] ?? 0
  view.setUint32(32, index, true)
  return bytes
}

/** What is remembered of the chain that has this number in the store; `few` inputs are looked for without. */
export const make = (chain: number, few = fewInputs): KeptCoins => {
  let kept: Watched.Watched | undefined
  /** Inputs that were looked for since the set was read; and how many it takes until a reading is tried. */
  let looked = 0
  let next = few

  /** Reads all outputs of the set; undefined where there are more than `most`. */
  const read = Effect.fnUntraced(function* (most: number) {
    const { query } = yield* Database
    const key = crypto.getRandomValues(new Uint32Array(2))
    const found = Watched.make([key[0]!, key[1]!])
    for (let after: Outpoint = { transactionId: new Uint8Array(), index: -1 }; ; ) {
      const rows = yield* query((db) =>
        db
          .selectFrom("unspent_output")
          .select(["transaction_id", "output_index"])
          .where("chain", "=", chain)
          .where(sql<boolean>`(transaction_id, output_index) > (${after.transactionId}, ${after.index})`)
          .orderBy("transaction_id")
          .orderBy("output_index")
          .limit(rowsAtOnce)
      )
      for (const { output_index, transaction_id } of rows) {
        found.add(bytesOf({ transactionId: transaction_id, index: output_index }))
      }
      if (rows.length < rowsAtOnce) return found
      if (found.size() > most) return undefined
      const last = rows.at(-1)!
      after = { transactionId: last.transaction_id, index: last.output_index }
    }
  })

  const known: KeptCoins["known"] = (spends) => {
    const all = kept
    if (all === undefined) return spends
    if (all.size() === 0) return []
    return spends.filter((spend) =>
      spend.outpointSpan ? all.hasAt(spend.outpointSpan) : all.has(bytesOf(spend.outpoint))
    )
  }

  return {
    known,
    forget: () => {
      kept = undefined
    },
    among: Effect.fnUntraced(function* (spends) {
      if (kept === undefined) {
        if (spends.length === 0) return spends
        looked += Math.max(spends.length, inputsOfQuery)
        if (looked < next) return spends
        // Reading the set never takes more than the looking did until now.
        kept = yield* read(Math.min(looked, mostKept))
        next = kept === undefined ? looked * 2 : few
        if (kept === undefined) return spends
        looked = 0
      }
      return known(spends)
    }),
    add: (coins) => {
      if (kept === undefined) return
      for (const { outpoint } of coins) kept.add(bytesOf(outpoint))
      if (kept.size() > mostKept) kept = undefined
    }
  }
}
