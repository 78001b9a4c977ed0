import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as AddressHistory from "@headwater/http/operations/utxo/AddressHistory"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"

const address = "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu"

/** The code of each operation's refusal, where all addresses are recorded and the coins of this one are unknown. */
const refusals = Effect.fnUntraced(
  function* (watchedBy: ReadonlyArray<unknown>, isDeactivated: boolean) {
    const record = {
      ...{ chain: Chain.ofName("bitcoin/mainnet")!, name: "bitcoin/mainnet" },
      completeness: () => Effect.succeed(new Map()),
      watchedBy: () => Effect.succeed(watchedBy),
      isDeactivatedBy: () => Effect.succeed(isDeactivated)
    }
    const freshness = { recorded: () => Effect.succeed({ node: {} }) }
    const operations = yield* AddressHistory.make(record as never, freshness as never, { nodeCalls: 10, record: "all" })
    const request = { account: 1, address, limit: 10, offset: 0 } as never
    const codeOf = (operation: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) =>
      Effect.map(Effect.flip(operation), ({ _tag, message }) => {
        // Something is recorded of every address here.
        if (_tag === "address_not_synced") assert.match(message, /not known yet/)
        return _tag
      })
    return yield* Effect.all([
      codeOf(operations.utxoBalance(request)),
      codeOf(operations.utxoUnspent(request)),
      codeOf(operations.utxoLatestBalance(request))
    ])
  },
  Effect.provideService(Database, {} as never)
)

describe("Coins of an address that are not known", () => {
  it.effect("are refused with 405 where the account has stopped syncing the address, which would make them known", () =>
    Effect.gen(function* () {
      const [inactive, unknown] = ["sync_address_not_active", "address_not_synced"]
      assert.deepStrictEqual(yield* refusals([], true), [inactive, inactive, unknown])
      assert.deepStrictEqual(yield* refusals([], false), [unknown, unknown, unknown])
      assert.deepStrictEqual(yield* refusals([address], true), [unknown, unknown, unknown])
    })
  )
})
