import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Tokens from "@headwater/indexer/store/chain/Tokens"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import { stores } from "../../../../../test/Stores.ts"
import { chain } from "../Seed.ts"

const contract = (number: number) => new Uint8Array(20).fill(number) as AddressBytes

/** A node that knows every contract but those from 200 on, which say nothing; it can be switched off. */
const makeNode = () => {
  const asked: Array<number> = []
  const node = { asked, isUp: true }
  const fetch: Tokens.Fetch = (contracts) =>
    Effect.suspend(() => {
      if (!node.isUp) return Effect.fail(new NodeUnreachable({ node: "n", method: "eth_call", message: "off" }))
      asked.push(...contracts.map((bytes) => bytes[0]!))
      return Effect.succeed(
        contracts.map(([number]) =>
          number! >= 200
            ? { name: "", symbol: "", decimals: undefined }
            : { name: `Token ${number}`, symbol: `T${number}`, decimals: number! % 30 }
        )
      )
    })
  return { node, fetch }
}

for (const store of stores) {
  describe(`Tokens on ${store.name}`, () => {
    const open = Effect.gen(function* () {
      yield* ChainStore.open(chain, { record: "all", undoDepth: 10 })
      const { fetch, node } = makeNode()
      const tokens = yield* Tokens.make(Chain.nameOf(chain), fetch)
      return { node, fetch, tokens }
    })

    it.live("asks a node once for a contract, also for one that says nothing, and after a restart not again", () =>
      Effect.gen(function* () {
        const { fetch, node, tokens } = yield* open
        assert.isUndefined(tokens.known(contract(1)))
        yield* tokens.learn([contract(1), contract(201)], 5)
        yield* tokens.learn([contract(1), contract(2), contract(201)], 6)
        assert.deepStrictEqual(node.asked, [1, 201, 2])
        assert.deepStrictEqual(tokens.known(contract(2)), { name: "Token 2", symbol: "T2", decimals: 2 })
        const again = yield* Tokens.make(Chain.nameOf(chain), fetch)
        yield* again.learn([contract(1), contract(201)], 7)
        assert.deepStrictEqual(again.known(contract(201)), { name: "", symbol: "", decimals: undefined })
        assert.deepStrictEqual(node.asked, [1, 201, 2])
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("fails where the node does, and keeps nothing of it", () =>
      Effect.gen(function* () {
        const { node, tokens } = yield* open
        node.isUp = false
        const error = yield* Effect.flip(tokens.learn([contract(1)], 5))
        assert.strictEqual(error._tag, "NodeUnreachable")
        assert.isUndefined(tokens.known(contract(1)))
        node.isUp = true
        yield* tokens.learn([contract(1)], 5)
        assert.strictEqual(tokens.known(contract(1))?.symbol, "T1")
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("forgets what was learned in blocks that are undone", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const { node, tokens } = yield* open
        yield* tokens.learn([contract(1)], 5)
        yield* tokens.learn([contract(2)], 6)
        yield* transaction(tokens.undo(5))
        assert.isUndefined(tokens.known(contract(2)))
        yield* tokens.learn([contract(1), contract(2)], 6)
        assert.deepStrictEqual(node.asked, [1, 2, 2])
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("asks about many contracts in the order given", () =>
      Effect.gen(function* () {
        const { node, tokens } = yield* open
        yield* tokens.learn(
          Array.from({ length: 199 }, (_, i) => contract(i + 1)),
          5
        )
        assert.strictEqual(node.asked.length, 199)
        for (const number of [1, 100, 101, 199]) {
          assert.strictEqual(tokens.known(contract(number))?.name, `Token ${number}`)
        }
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )
  })
}
