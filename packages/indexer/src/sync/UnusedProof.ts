/**
 * Asks the node of an account chain about each address that has come to be watched, beside the commits of blocks and
 * holding up none: where nothing ever happened to the address before, its history is recorded from the beginning.
 *
 * The node is asked for the state at the block at which the watching began, since an address is often paid soon after;
 * a node that has forgotten that state is asked for the last committed block.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import type { NodeError } from "../families/node/NodeError.ts"
import type { UnusedAt } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as AccountUse from "../store/chain/AccountUse.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import { type Pace, retryForever } from "./RetryForever.ts"

export type Options = Pace

export interface UnusedProof {
  /** Asks for every address that was not asked for yet, once the chain has come near to the node's head. */
  readonly step: Effect.Effect<void, NodeError | DatabaseError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** Addresses of one question, which is three calls for each. */
const batchSize = 100
/** Blocks that the chain may be behind its node: of those far behind, a node that keeps little has no state. */
const near = 32

export const make = Effect.fn("UnusedProof.make")(function* (
  source: Source,
  unusedAt: UnusedAt,
  store: ChainStore,
  options: Options
) {
  const database = yield* Database
  const { chain } = source

  const ask = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<AddressBytes>,
    block: { readonly height: number; readonly hash: Uint8Array }
  ) {
    const answers = yield* unusedAt(addresses, block)
    yield* AccountUse.enter(
      chain,
      block,
      addresses.map((address, i) => ({ address, unused: answers[i]! }))
    )
  })

  /** `since`: the last block before the addresses were watched. */
  const prove = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<AddressBytes>,
    since: number,
    cursor: { readonly height: number; readonly hash: Uint8Array }
  ) {
    const hash = since === cursor.height ? undefined : yield* store.hashAt(since)
    if (hash === undefined) return yield* ask(addresses, cursor)
    yield* Effect.catchTag(
      ask(addresses, { height: since, hash }),
      ["NodeRejected", "NodeInconsistent", "BlockMissing"],
      () => ask(addresses, cursor)
    )
  })

  const step = Effect.gen(function* () {
    let [after, rows] = [new Uint8Array(), yield* AccountUse.unasked(chain, batchSize)]
    if (rows.length === 0) return
    const { height: head } = yield* source.head
    while (rows.length > 0) {
      const cursor = yield* store.cursor
      if (cursor?.hash === undefined || head > cursor.height + near) return
      const { hash, height } = cursor
      const bySince = Map.groupBy(rows, ({ history }) => Math.min(history - 1, height))
      for (const [since, some] of bySince) {
        yield* prove(
          some.map(({ address }) => address),
          since,
          { height, hash }
        )
      }
      after = Uint8Array.from(rows.at(-1)!.address)
      rows = yield* AccountUse.unasked(chain, batchSize, after)
    }
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("UnusedProof.step"))

  const run: UnusedProof["run"] = retryForever(chain, "Asking for the use of addresses", options, step)

  return { step, run } satisfies UnusedProof
})
