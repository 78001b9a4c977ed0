/** Callbacks that are not made, since an input that may be the address's own spends coins that nobody has shown. */
import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import type { Subscription, Unresolved } from "@headwater/core/events/Matcher"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"

/** Lines for one block. */
const logged = 20

const unknown =
  "an input may spend coins of the address that are neither recorded nor shown by the node. The callback follows once a " +
  "node has an index of transactions (txindex=1); docs/chains/utxo.md, Unresolved inputs, says how to avoid this"
const partly =
  "a part of the transaction is not understood. The callback follows once a newer version of Headwater replays the block"

/** Warns the operator, for each transaction and address, that there is no callback, and names the remedy. */
export const warn = Effect.fnUntraced(
  function* (chain: Chain, { height }: Pick<Block, "height">, unresolved: ReadonlyArray<Unresolved<Subscription>>) {
    const lines = new Set(
      unresolved.map(
        ({ address, notUnderstood, transactionId }) =>
          `No callback is made yet for address ${Address.encode(chain, address)} in transaction ` +
          `${Hash.encode(chain, transactionId)} of block ${height}: ${notUnderstood ? partly : unknown}`
      )
    )
    for (const line of [...lines].slice(0, logged)) yield* Effect.logWarning(line)
    if (lines.size > logged) {
      yield* Effect.logWarning(`${lines.size - logged} more callbacks are not made in block ${height}, for this reason`)
    }
  },
  (self, chain: Chain) => Effect.annotateLogs(self, { chain: nameOf(chain) })
)
