/** What becomes of broadcast transactions, by what nodes say of them: each outcome, its callback, and its end. */
import { assert, describe, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import type { Standing } from "@headwater/indexer/families/Broadcasting"
import { type NodeError, NodeInconsistent, NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as AccountExport from "@headwater/indexer/store/accounts/AccountExport"
import * as AccountRemoval from "@headwater/indexer/store/accounts/AccountRemoval"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { defaultMaxima, Limits, subscriptionsOf } from "@headwater/indexer/store/accounts/Limits"
import * as Broadcasts from "@headwater/indexer/store/broadcasts/Broadcasts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Fence from "@headwater/indexer/store/database/Fence"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as BroadcastFollow from "@headwater/indexer/sync/BroadcastFollow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../test/Stores.ts"
import * as Seed from "../store/Seed.ts"
import { FakeChain } from "./FakeChain.ts"

const chain = Seed.chain
const raw = Uint8Array.of(1, 2, 3)
const transactionId = new Uint8Array(32).fill(7)
const callback = { url: "https://receiver.test/", secret: undefined }

for (const store of takenStores(import.meta.url)) {
  const services = Outbox.layer.pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Accounts.layer),
    Layer.provideMerge(store.layer)
  )
  describe(`Broadcast transactions on ${store.name}`, () => {
    const startOn = Effect.fnUntraced(function* (chain: Chain.Chain) {
      const fake = new FakeChain(chain)
      const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      yield* chainStore.commit([fake.tip])
      const account = yield* Seed.account
      const node = {
        ...{ asked: 0, since: undefined as number | undefined, standing: undefined as Standing | undefined },
        /** The transactions that the node was asked about, in turn. */
        raws: [] as Array<Uint8Array>,
        /** The first byte of transactions about which the node says what nobody understands. */
        confused: 0,
        /** What happens between the node's answer and its arrival. */
        meanwhile: Effect.void as Effect.Effect<unknown>
      }
      const follow = yield* BroadcastFollow.make(
        chain,
        {
          idOf: () => Effect.succeed(transactionId),
          check: () => Effect.void,
          send: () => Effect.die(new Error("nothing is sent by who follows")),
          find: () => Effect.die(new Error("what was broadcast is not looked for by its id alone")),
          standing: (raw, since) =>
            Effect.suspend((): Effect.Effect<Standing, NodeError> => {
              node.asked++
              node.raws.push(raw)
              node.since = since
              if (raw[0] === node.confused) {
                return Effect.fail(new NodeInconsistent({ node: "node", method: "m", message: "nonsense" }))
              }
              return node.standing === undefined
                ? Effect.fail(new NodeUnreachable({ node: "node", method: "m", message: "down" }))
                : Effect.as(node.meanwhile, node.standing)
            })
        },
        { pollInterval: "1 second" } as never
      )
      const mineBlocks = Effect.fnUntraced(function* (count: number) {
        const blocks = Array.from({ length: count }, () => fake.mine([]))
        yield* chainStore.commit(blocks)
        return blocks.at(-1)!
      })
      const mine = mineBlocks(1)
      const outcome = Effect.map(Broadcasts.find(chain, account, transactionId), (row) => row?.outcome)
      /** A block, and what has become of the transaction then, where the node says this of it. */
      const next = Effect.fnUntraced(function* (standing: Standing | undefined) {
        node.standing = standing
        yield* mine
        yield* Effect.ignore(follow.step)
        return yield* outcome
      })
      const begin = Broadcasts.begin({ account, chain, transactionId, raw, since: 0, callback })
      const events = Effect.fnUntraced(function* (subscription: number | null) {
        return (yield* Seed.rows(subscription!)).map(({ body, event, state }) => [
          event.replace("BROADCAST_TRANSACTION_", ""),
          state,
          JSON.parse(body).data.item.errorMessage
        ])
      })
      return { account, begin, chainStore, events, fake, follow, mine, mineBlocks, next, node, outcome }
    })
    const start = startOn(chain)

    layer(Layer.empty, { excludeTestServices: true })((it) => {
      it.effect("are told once for each turn, and asked about once for each block", () =>
        Effect.gen(function* () {
          const { begin, events, fake, follow, next, node } = yield* start
          const { id, outcome: first, subscription } = yield* begin
          assert.strictEqual(first, "unknown")
          assert.strictEqual(yield* next(undefined), "unknown")
          assert.strictEqual(yield* next({ state: "absent" }), "unknown")
          assert.strictEqual(yield* next({ state: "waiting" }), "sent")
          const { asked } = node
          yield* follow.step
          assert.strictEqual(node.asked, asked)
          // Blocks are searched: that goes on without a new one, from where the transaction was begun on.
          assert.strictEqual(yield* next({ state: "searching" }), "sent")
          yield* follow.step
          assert.deepStrictEqual([node.asked, node.since], [asked + 2, 0])
          const gone = { state: "replaced", message: "another one has its nonce" } as const
          assert.strictEqual(yield* next(gone), "sent")
          // That a node is down says nothing.
          assert.strictEqual(yield* next(undefined), "sent")
          assert.strictEqual(yield* next(gone), "replaced")
          // The one in its place has left the chain.
          assert.strictEqual(yield* next({ state: "waiting" }), "sent")
          assert.deepStrictEqual(yield* events(subscription), [
            ["SUCCESS", "due", undefined],
            ["FAIL", "due", gone.message],
            ["SUCCESS", "due", undefined]
          ])
          const block = fake.tip
          assert.strictEqual(
            yield* next({ state: "mined", height: block.height, hash: block.hash, error: "reverted" }),
            "failed"
          )
          assert.lengthOf(yield* events(subscription), 3)
          const again = yield* begin
          assert.deepStrictEqual([again.id, again.subscription, again.outcome], [id, subscription, "failed"])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are missed by nobody who has looked before another one did, or follows the chain no more", () =>
        Effect.gen(function* () {
          const { account, begin, next } = yield* start
          const { id } = yield* begin
          const fence = yield* ChainRow.follow(chain)
          assert.strictEqual(yield* next({ state: "waiting" }), "sent")
          const found = Effect.map(Broadcasts.find(chain, account, transactionId), (row) => row!)
          const looked = (yield* found).next_look! - 1
          yield* Broadcasts.miss(id, looked - 1, 2)
          assert.deepInclude(yield* found, { absences: 0, next_look: looked + 1 })
          yield* ChainRow.follow(chain)
          const late = Broadcasts.miss(id, looked + 1, 1)
          const refused = yield* Effect.flip(Effect.provideService(late, Fence.Current, fence))
          assert.isDefined(Fence.refusal(refused))
          assert.strictEqual((yield* found).absences, 0)
          yield* late
          assert.strictEqual((yield* found).absences, 1)
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are not told as lost that were sent again while the nodes were asked", () =>
        Effect.gen(function* () {
          const { begin, events, next, node } = yield* start
          const { id, subscription } = yield* begin
          assert.strictEqual(yield* next({ state: "absent" }), "unknown")
          const context = yield* Effect.context<Database | Subscriptions>()
          node.meanwhile = Effect.andThen(begin, Broadcasts.record(chain, id, { outcome: "sent" })).pipe(
            Effect.provide(context),
            Effect.orDie
          )
          assert.strictEqual(yield* next({ state: "absent" }), "sent")
          node.meanwhile = Effect.void
          assert.strictEqual(yield* next({ state: "waiting" }), "sent")
          assert.deepStrictEqual(yield* events(subscription), [["SUCCESS", "due", undefined]])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "go back with the block that has them, and are final once no block that old leaves the chain, without a node",
        () =>
          Effect.gen(function* () {
            const { begin, chainStore, events, fake, follow, mine, mineBlocks, next, node, outcome } = yield* start
            const { subscription } = yield* begin
            const block = yield* mine
            const mined = { state: "mined", height: block.height, hash: block.hash } as const
            assert.strictEqual(yield* next(mined), "mined")
            const { asked } = node
            assert.strictEqual(yield* next(undefined), "mined")
            assert.strictEqual(node.asked, asked)
            fake.drop(3)
            yield* chainStore.undo(0)
            yield* mine
            yield* mine
            yield* mine
            assert.strictEqual(yield* next({ state: "waiting" }), "sent")
            const instead = yield* mine
            assert.strictEqual(yield* next({ state: "mined", height: instead.height, hash: instead.hash }), "mined")
            yield* mineBlocks(chain.undoDepth + 1)
            yield* follow.step
            // Blocks of the fake chain are years old.
            yield* Broadcasts.prune(-10 * 31_536_000_000)
            assert.isUndefined(yield* outcome)
            assert.lengthOf(yield* events(subscription), 0)
            const { query } = yield* Database
            assert.lengthOf(yield* query((db) => db.selectFrom("subscription").selectAll()), 0)
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("tell in subscriptions that nobody has made: in no list, no count and no limit", () =>
        Effect.gen(function* () {
          const { account, begin } = yield* start
          const subscriptions = yield* Subscriptions
          const own = yield* subscriptions.create({
            ...{ account, chain, event: "BLOCK_MINED", address: undefined, confirmations: 1, allowDuplicates: false },
            ...{ callbackUrl: callback.url, secret: undefined }
          })
          const { subscription } = yield* begin
          const { read } = yield* Database
          const [row] = yield* read((db) => db.selectFrom("subscription").selectAll().where("id", "=", subscription!))
          const key = { account, chain, referenceId: row!.reference_id }
          assert.strictEqual((yield* subscriptions.get(key)).event, "BROADCAST_TRANSACTION")
          const shown = Effect.gen(function* () {
            const { subscriptions: page, total } = yield* subscriptions.list(
              { account, chain },
              { limit: 9, offset: 0 }
            )
            const after = yield* subscriptions.listAfter({ account, chain }, { after: 0, limit: 9 })
            return [total, page.map(({ id }) => id), after.map(({ id }) => id), yield* subscriptionsOf(account)]
          })
          assert.deepStrictEqual(yield* shown, [1, [own.id], [own.id], 1])
          yield* subscriptions.remove(key)
          assert.deepStrictEqual(yield* shown, [1, [own.id], [own.id], 1])
          const again = yield* Broadcasts.begin({
            ...{ account, chain, raw, since: 0, callback },
            transactionId: new Uint8Array(32).fill(8)
          })
          const [other] = yield* read((db) =>
            db.selectFrom("subscription").selectAll().where("id", "=", again.subscription!)
          )
          yield* subscriptions.removeMany({ account, chain }, [other!.reference_id])
          assert.deepStrictEqual(yield* shown, [1, [own.id], [own.id], 1])
        }).pipe(
          Effect.provide(services.pipe(Layer.provide(Layer.succeed(Limits, { ...defaultMaxima, subscriptions: 1 })))),
          Effect.scoped
        )
      )

      it.effect("do not wait for others of which a node says what nobody understands", () =>
        Effect.gen(function* () {
          const { account, follow, mine, node } = yield* start
          const begin = (first: number, last: number) =>
            Broadcasts.begin({
              ...{ account, chain, raw: Uint8Array.of(first), since: 0, callback: undefined },
              transactionId: new Uint8Array(32).fill(last)
            })
          for (let i = 0; i < 120; i++) yield* begin(9, i)
          yield* begin(1, 199)
          node.confused = 9
          node.standing = { state: "waiting" }
          yield* mine
          assert.strictEqual((yield* Effect.flip(follow.step))._tag, "NodeInconsistent")
          const found = yield* Broadcasts.find(chain, account, new Uint8Array(32).fill(199))
          assert.strictEqual(found!.outcome, "sent")
          assert.strictEqual(node.asked, 121)
          // A node that is away is asked about some, and not about all.
          node.asked = 0
          node.confused = 0
          node.standing = undefined
          assert.strictEqual((yield* Effect.flip(follow.step))._tag, "NodeUnreachable")
          // Fifty on a quiet machine; fewer are begun in a turn of a busy one, and then those of another.
          assert.isAtLeast(node.asked, 50)
          assert.isBelow(node.asked, 100)
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are looked for from where the nodes were, however far behind the record is", () =>
        Effect.gen(function* () {
          const { account, next, node } = yield* start
          yield* Broadcasts.begin({ account, chain, transactionId, raw, since: 700, callback })
          yield* next({ state: "absent" })
          assert.strictEqual(node.since, 700)
          assert.strictEqual(yield* next({ state: "absent" }), "dropped")
          yield* next({ state: "absent" })
          assert.strictEqual(node.since, 700)
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("have their turn beside those of another account, however many these are", () =>
        Effect.gen(function* () {
          const { account, next, node } = yield* start
          for (let i = 0; i < 70; i++) {
            const transactionId = new Uint8Array(32).fill(9).fill(i, 0, 1)
            yield* Broadcasts.begin({ account, chain, transactionId, raw, since: 0, callback: undefined })
          }
          const own = { account: yield* Seed.account, raw: Uint8Array.of(5), since: 0, callback: undefined }
          yield* Broadcasts.begin({ ...own, chain, transactionId })
          yield* next({ state: "waiting" })
          assert.strictEqual(node.raws.length, 71)
          assert.isBelow(
            node.raws.findIndex(([first]) => first === 5),
            8
          )
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are asked about, ever less often, as long as a block may leave the chain, however soon blocks come",
        () =>
          Effect.gen(function* () {
            const { begin, fake, mineBlocks, next, node } = yield* startOn(
              Result.getOrThrow(Chain.find("polygon", "devnet"))
            )
            yield* begin
            yield* next({ state: "waiting" })
            let outcome = "sent" as string | undefined
            while (outcome === "sent") outcome = yield* next({ state: "absent" })
            assert.strictEqual(outcome, "dropped")
            node.asked = 0
            for (let blocks = 0; blocks < 400; blocks++) yield* next({ state: "absent" })
            assert.isAtLeast(node.asked, 100)
            assert.isBelow(node.asked, 270)
            // Somebody else sends it again after minutes.
            const { hash, height } = fake.tip
            for (let blocks = 0; blocks < 8; blocks++) outcome = yield* next({ state: "mined", height, hash })
            assert.strictEqual(outcome, "mined")
            node.asked = 0
            // A look that became due among several blocks is made behind them.
            for (let blocks = 0; blocks < 700; blocks += 10) {
              yield* mineBlocks(9)
              yield* next({ state: "absent" })
            }
            assert.strictEqual(node.asked, 0)
            const { read } = yield* Database
            const [row] = yield* read((db) => db.selectFrom("broadcast").select("next_look"))
            assert.isNull(row!.next_look)
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are lost on chains with short blocks once no node had them for 24 seconds", () =>
        Effect.gen(function* () {
          const { begin, next } = yield* startOn(Result.getOrThrow(Chain.find("base", "devnet")))
          yield* begin
          yield* next({ state: "waiting" })
          // Some of the machines behind a node's address know it some blocks later than others.
          for (let looks = 1; looks < 120; looks++) assert.strictEqual(yield* next({ state: "absent" }), "sent")
          assert.strictEqual(yield* next({ state: "absent" }), "dropped")
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are not told as refused where another request has had them taken", () =>
        Effect.gen(function* () {
          const { begin, events, outcome } = yield* start
          // Two requests at once, by processes with nodes of their own.
          const { id, subscription } = yield* begin
          yield* begin
          yield* Broadcasts.record(chain, id, { outcome: "sent" })
          assert.isFalse(yield* Broadcasts.refuse(chain, id, "too low a fee"))
          assert.strictEqual(yield* outcome, "sent")
          assert.deepStrictEqual(yield* events(subscription), [["SUCCESS", "due", undefined]])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are told as refused whatever the words of the refusal", () =>
        Effect.gen(function* () {
          const { begin, events, outcome } = yield* start
          const { id, subscription } = yield* begin
          assert.isTrue(yield* Broadcasts.refuse(chain, id, "execution reverted: a\0b"))
          assert.strictEqual(yield* outcome, "failed")
          assert.deepStrictEqual(yield* events(subscription), [["FAIL", "due", "execution reverted: ab"]])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("look through no other subscription of the account: there may be very many of broadcasts", () => {
        const without = (database: Database["Service"]): Database["Service"] => ({
          ...database,
          selectEach: () => Effect.die(new Error("those that are alike are looked for")),
          transaction: (effect) => database.transaction(Effect.updateService(effect, Database, without)) as never
        })
        const withoutLooking = Layer.effect(Database, Effect.map(Database, without))
        return Effect.gen(function* () {
          const { begin } = yield* start
          assert.isNotNull((yield* begin).subscription)
        }).pipe(
          Effect.provide(
            Subscriptions.layer.pipe(
              Layer.provideMerge(Accounts.layer),
              Layer.provideMerge(Layer.provide(withoutLooking, store.layer))
            )
          ),
          Effect.scoped
        )
      })

      it.effect("that were refused stay so, and may be sent again; each account has its own", () =>
        Effect.gen(function* () {
          const { account, begin, events, next } = yield* start
          const row = yield* begin
          yield* Broadcasts.record(chain, row.id, { outcome: "failed", error: "underpriced" })
          assert.strictEqual(yield* next({ state: "absent" }), "failed")
          assert.strictEqual(yield* next({ state: "absent" }), "failed")
          assert.deepStrictEqual(yield* events(row.subscription), [["FAIL", "due", "underpriced"]])
          assert.strictEqual((yield* begin).outcome, "unknown")
          assert.strictEqual(yield* next({ state: "waiting" }), "sent")
          assert.lengthOf(yield* events(row.subscription), 2)

          const other = yield* Seed.account
          assert.isUndefined(yield* Broadcasts.find(chain, other, transactionId))
          const own = yield* Broadcasts.begin({
            account: other,
            chain,
            transactionId,
            raw,
            since: 0,
            callback: undefined
          })
          assert.notStrictEqual(own.id, row.id)
          // A request that names a URL later is told what is known then.
          yield* Broadcasts.record(chain, own.id, { outcome: "sent" })
          const named = yield* Broadcasts.begin({ account: other, chain, transactionId, raw, since: 0, callback })
          assert.deepStrictEqual(yield* events(named.subscription), [["SUCCESS", "due", undefined]])

          const lines: Array<AccountExport.Line> = []
          yield* AccountExport.run(account, (line) => Effect.sync(() => lines.push(line)))
          const { outcome, transaction_id } = lines.find(({ kind }) => kind === "broadcast")!
          assert.deepStrictEqual([outcome, transaction_id], ["sent", `0x${"07".repeat(32)}`])
          yield* AccountRemoval.remove(account)
          assert.isUndefined(yield* Broadcasts.find(chain, account, transactionId))
          assert.isDefined(yield* Broadcasts.find(chain, other, transactionId))
        }).pipe(Effect.provide(services), Effect.scoped)
      )
    })
  })
}
