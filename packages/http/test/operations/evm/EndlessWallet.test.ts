import { assert, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Assets from "@headwater/http/operations/evm/Assets"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const extendedPublicKey =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"

it.effect("ends the reading of a wallet whose every address is used, and says why", () =>
  Effect.gen(function* () {
    const database = {} as Database["Service"]
    const record = yield* Effect.provideService(ChainReader.make(chain), Database, database)
    let calls = 0
    const node: Assets.WalletNode = {
      accountsAt: (addresses) =>
        Effect.sync(() => {
          calls += 2 * addresses.length
          return addresses.map(() => ({ balance: 1n, nonce: 1 }))
        }),
      tokenBalancesAt: () => Effect.die("no token is asked for")
    }
    const tip = { height: 1, hash: new Uint8Array(32), reorganisations: 0 }
    const freshness = {
      recorded: () => Effect.succeed({ node, tip }),
      orUnavailable: <A>(self: A) => self
    }
    const assets = Assets.make(record, freshness as never, () => node, {
      ...{ record: "watched", gapLimit: 20, nodeCalls: 500 },
      extend: () => Effect.succeed(false),
      isSynced: () => Effect.succeed(false)
    })
    const refused = yield* Effect.flip(assets({ account: 1, paying: undefined as never, extendedPublicKey }))
    assert.strictEqual(refused._tag, "invalid_data")
    assert.strictEqual(
      refused.message,
      "A request may take 500 calls of the chain's node (the operator's limit nodeCalls): a wallet with so many used " +
        "addresses or tokens needs more"
    )
    assert.isAtMost(calls, 500)
  })
)
