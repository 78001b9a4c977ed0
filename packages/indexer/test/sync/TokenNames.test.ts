import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TokenTransfer } from "@headwater/core/Block"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import type { Source } from "@headwater/indexer/families/Source"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as TokenNames from "@headwater/indexer/sync/TokenNames"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../test/Stores.ts"
import * as Seed from "../store/Seed.ts"
import { address, FakeChain } from "./FakeChain.ts"

const { chain } = Seed

const contract = (number: number) => new Uint8Array(20).fill(number) as AddressBytes

/** A chain whose node is asked for tokens. */
class TokenChain extends FakeChain {
  /** Contracts, as they were asked for. */
  readonly asked: Array<ReadonlyArray<number>> = []
  /** The heights for which they were. */
  readonly heights: Array<number | undefined> = []
  /** Runs before the node answers. */
  meanwhile: Effect.Effect<void, NodeUnreachable> = Effect.void

  /** Mines a block that moves a token of each contract to the address with the contract's number. */
  move(...contracts: ReadonlyArray<number>): Block {
    const empty = this.mine([])
    const transfers = contracts.map(
      (number, position): TokenTransfer => ({
        ...{ kind: "token", transaction: 0, position, batchIndex: 0, token: "fungible", tokenId: undefined },
        ...{ contract: contract(number), from: address(0), to: address(number), amount: 1n }
      })
    )
    const block = { ...empty, transactions: [new Uint8Array(32).fill(this.blocks.length)], transfers }
    this.blocks.splice(-1, 1, block)
    return block
  }

  override get source(): Source {
    return {
      ...super.source,
      tokenMetadata: (contracts, height) =>
        Effect.andThen(
          Effect.suspend(() => {
            this.asked.push(contracts.map(([number]) => number!))
            this.heights.push(height)
            return this.meanwhile
          }),
          Effect.sync(() =>
            contracts.map(([number]) => ({ name: `Token ${number}`, symbol: `T${number}`, decimals: 2 }))
          )
        )
    }
  }
}

const subscribe = Effect.fnUntraced(function* (number: number) {
  const subscriptions = yield* Subscriptions
  yield* subscriptions.create({
    ...{ account: 1, chain, event: "ADDRESS_TOKENS_TRANSACTION_CONFIRMED", address: address(number) },
    ...{ callbackUrl: "https://example.com", secret: undefined, confirmations: 1, allowDuplicates: false }
  })
})

const symbols = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query((db) => db.selectFrom("callback").select("body").orderBy("id")),
    (rows) => rows.map(({ body }) => JSON.parse(body).data.item.token.symbol as string)
  )
)

const open = Effect.gen(function* () {
  const node = new TokenChain(chain)
  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
  const { step } = yield* Follow.make(node.source, store, {
    ...{ start: 0, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 64 }
  })
  yield* step
  return { node, step, store }
})

it.effect("takes as many unknown contracts as blocks may have", () =>
  Effect.gen(function* () {
    const unknown = Array.from({ length: 200_000 }, (_, height) => ({ contract: contract(1), height }))
    const asked: Array<number | undefined> = []
    const source = {
      tokenMetadata: (contracts: ReadonlyArray<AddressBytes>, height?: number) =>
        Effect.sync(() => {
          asked.push(height)
          return contracts.map(() => ({ name: "", symbol: "", decimals: 2 }))
        })
    }
    const store = { unknownTokens: () => Effect.succeed(unknown) }
    const learned = yield* TokenNames.withTokens(source as never, store as never, [], (learned) =>
      Effect.succeed(learned?.length)
    )
    assert.strictEqual(learned, unknown.length)
    assert.deepStrictEqual(asked, [199_999])
  })
)

for (const store of takenStores(import.meta.url)) {
  const layer = Layer.mergeAll(Subscriptions.layer, ChainStatus.layer).pipe(Layer.provideMerge(store.layer))

  describe(`TokenNames on ${store.name}`, () => {
    it.live("a node is asked before the commit, once for each contract that a callback will name", () =>
      Effect.gen(function* () {
        const { node, step } = yield* open
        yield* subscribe(1)
        yield* subscribe(2)
        node.move(1, 9)
        node.move(2, 1)
        yield* step
        node.move(1, 2)
        yield* step
        assert.deepStrictEqual(node.asked.flat(), [1, 2])
        // The last block that speaks of them, which the node has to have.
        assert.strictEqual(node.heights.at(-1), 2)
        assert.deepStrictEqual(yield* symbols, ["T1", "T2", "T1", "T1", "T2"])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("nothing is committed while the node does not say", () =>
      Effect.gen(function* () {
        const { node, step, store } = yield* open
        yield* subscribe(1)
        node.move(1)
        node.meanwhile = Effect.fail(new NodeUnreachable({ node: "n", method: "eth_call", message: "off" }))
        assert.strictEqual((yield* Effect.flip(step))._tag, "NodeUnreachable")
        assert.strictEqual((yield* store.cursor)!.height, 0)
        node.meanwhile = Effect.void
        yield* step
        assert.deepStrictEqual(yield* symbols, ["T1"])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("an address that becomes watched while the node is asked has the node asked again, and no empty name", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Subscriptions | Database>()
        const { node, step } = yield* open
        yield* subscribe(1)
        node.move(1, 2, 3)
        const late = [2, 3]
        node.meanwhile = Effect.suspend(() => {
          const next = late.shift()
          return next === undefined ? Effect.void : Effect.orDie(subscribe(next)).pipe(Effect.provideContext(context))
        })
        yield* step
        assert.deepStrictEqual(node.asked, [[1], [1, 2], [1, 2, 3]])
        assert.deepStrictEqual(yield* symbols, ["T1", "T2", "T3"])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("that it goes on is a failure after some times, from which the next step begins anew", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Subscriptions | Database>()
        const { node, step, store } = yield* open
        yield* subscribe(1)
        node.move(1, 2, 3, 4, 5, 6)
        let next = 2
        node.meanwhile = Effect.suspend(() => Effect.orDie(subscribe(next++)).pipe(Effect.provideContext(context)))
        assert.strictEqual((yield* Effect.flip(step))._tag, "TokensUnknown")
        assert.strictEqual((yield* store.cursor)!.height, 0)
        node.meanwhile = Effect.void
        yield* step
        assert.deepStrictEqual(yield* symbols, ["T1", "T2", "T3", "T4", "T5"])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("a replay asks as well", () =>
      Effect.gen(function* () {
        const { node, step, store } = yield* open
        const { query } = yield* Database
        yield* subscribe(1)
        const { height } = node.move(1)
        yield* step
        yield* query((db) => db.deleteFrom("callback"))
        yield* query((db) => db.deleteFrom("token"))
        const again = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
        const range = { from: height, to: height, callbacks: true }
        const next = yield* Replay.begin(chain, range)
        yield* Replay.run(node.source, again, range, next, { concurrency: 1, internalFrom: 0, forgotten: true })
        assert.deepStrictEqual(node.asked, [[1], [1]])
        assert.deepStrictEqual(yield* symbols, ["T1"])
        assert.deepStrictEqual(yield* store.unknownTokens([node.tip]), [])
        const kept = yield* query((db) => db.selectFrom("token").select("height"))
        assert.deepStrictEqual(kept, [{ height }])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
