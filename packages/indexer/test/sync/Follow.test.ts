import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as Capability from "@headwater/indexer/families/Capability"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import {
  BlockMissing,
  type NodeError,
  NodeInconsistent,
  NodeRejected,
  NodeUnreachable,
  ProofFailed
} from "@headwater/indexer/families/node/NodeError"
import * as Proof from "@headwater/indexer/families/node/Proof"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import { DatabaseError } from "@headwater/indexer/store/database/DatabaseError"
import * as Fence from "@headwater/indexer/store/database/Fence"
import * as CatchingUp from "@headwater/indexer/sync/CatchingUp"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { stores, takenStores } from "../../../../test/Stores.ts"
import { RpcError } from "../FakeNode.ts"
import { alice, bob, carol, recorded, sourceOf, withoutWaiting, word } from "../families/evm/EvmBlocks.ts"
import * as EvmNode from "../families/evm/EvmNode.ts"
import * as Seed from "../store/Seed.ts"
import { address, FakeChain, type Payment } from "./FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const followOptions: Follow.Options = { start: 0, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 64 }

let counter = 0
const subscribe = Effect.fnUntraced(function* (
  event: EventType,
  of: number | AddressBytes | undefined,
  confirmations = 1
) {
  const reference = `ref${counter++}`
  const { transaction } = yield* Database
  const subscribed = typeof of === "number" ? address(of) : (of ?? null)
  yield* transaction(
    Effect.flatMap(ChainRow.present(chain), (row) =>
      Seed.subscriptionRow(chain, reference, event, subscribed, { confirmations, from: row!.height })
    )
  )
  return reference
})

interface Sent {
  readonly reference: string
  readonly hash: string
  readonly detail: string
}

const callbacks = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) => db.selectFrom("callback").select(["body", "state"]).orderBy("id"))
  return rows
    .filter((row) => row.state === "due")
    .map(({ body }): Sent => {
      const { data, referenceId } = JSON.parse(body)
      const { amount, currentConfirmations, direction, hash, minedInBlock } = data.item
      return {
        reference: referenceId,
        hash: minedInBlock?.hash ?? hash,
        detail: [direction, amount, currentConfirmations].join(" ")
      }
    })
})

const empty = Effect.gen(function* () {
  const { query } = yield* Database
  const tables = ["chain", "block", "subscription", "waiting", "callback", "reorganisation"] as const
  for (const table of tables) yield* query((db) => db.deleteFrom(table))
})

const setup = Effect.fnUntraced(function* (fake: FakeChain) {
  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: followOptions.undoDepth })
  return { store, follow: yield* Follow.make(fake.source, store, followOptions) }
})

type Operation =
  | { readonly kind: "mine"; readonly blocks: ReadonlyArray<ReadonlyArray<Payment>> }
  | { readonly kind: "fork"; readonly depth: number; readonly blocks: ReadonlyArray<ReadonlyArray<Payment>> }
  | { readonly kind: "restart" }

const payment = fc.record({ from: fc.nat(4), to: fc.nat(4) })
const block = fc.array(payment, { maxLength: 3 })
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant("mine" as const), blocks: fc.array(block, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant("fork" as const), depth: fc.nat(6), blocks: fc.array(block, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant("restart" as const) })
)

const wanted = [
  { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", of: 0, confirmations: 1 },
  { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", of: 1, confirmations: 3 },
  { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", of: 2, confirmations: 4 },
  { event: "BLOCK_MINED", of: undefined, confirmations: 1 }
] as const

const hex = (hash: Uint8Array) => `0x${Buffer.from(hash).toString("hex")}`

/** What nothing but the final chain and the heights that its blocks have reached say. */
const expected = (fake: FakeChain, references: ReadonlyArray<string>): ReadonlyArray<Sent> =>
  wanted.flatMap(({ confirmations, event, of }, i) =>
    fake.blocks.flatMap((block) => {
      const reached = fake.tip.height - block.height + 1
      const sent = (detail: string): Sent => ({ reference: references[i]!, hash: hex(block.hash), detail })
      if (event === "BLOCK_MINED") return [sent("  ")]
      const counts =
        event === "ADDRESS_COINS_TRANSACTION_CONFIRMED"
          ? reached >= confirmations
            ? [""]
            : []
          : Array.from({ length: Math.min(reached, confirmations) }, (_, n) => String(n + 1))
      return block.transfers.flatMap((transfer) => {
        const amount = (Number(transfer.amount) / 1e18).toFixed(18).replace(/0+$/, "")
        const directions = [
          ...(Buffer.compare(transfer.from!, address(of)) === 0 ? ["outgoing"] : []),
          ...(Buffer.compare(transfer.to!, address(of)) === 0 ? ["incoming"] : [])
        ]
        return directions.flatMap((direction) => counts.map((count) => sent(`${direction} ${amount} ${count}`)))
      })
    })
  )

const sorted = (list: ReadonlyArray<Sent>) => list.map((sent) => JSON.stringify(sent)).sort()

for (const store of takenStores(import.meta.url)) {
  const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? (store.name === "sqlite" ? 40 : 10))
  describe(`Follow on ${store.name}`, () => {
    const layer = Layer.merge(store.layer, ChainStatus.layer)

    it.live(`enqueues exactly what the chain says, whatever it does (${runs} random chains)`, () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Database | ChainStatus>()
        const property = fc.asyncProperty(fc.array(operation, { maxLength: 12 }), (operations) =>
          Effect.runPromiseWith(context)(
            Effect.gen(function* () {
              yield* empty
              const fake = new FakeChain(chain)
              let { follow } = yield* setup(fake)
              const references: Array<string> = []
              for (const { confirmations, event, of } of wanted) {
                references.push(yield* subscribe(event, of, confirmations))
              }
              yield* follow.step
              for (const operation of operations) {
                if (operation.kind === "restart") follow = (yield* setup(fake)).follow
                else {
                  const before = fake.tip.height
                  if (operation.kind === "fork") fake.drop(operation.depth)
                  for (const payments of operation.blocks) fake.mine(payments)
                  while (fake.tip.height < before) fake.mine([])
                  yield* follow.step
                }
              }
              assert.deepStrictEqual(sorted(yield* callbacks), sorted(expected(fake, references)))
            }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error"))
          )
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: runs }))
      }).pipe(Effect.provide(layer))
    )

    it.live(
      "asks no node for our block where the newest one names it as its parent, and undoes nothing on that word",
      () =>
        Effect.gen(function* () {
          yield* empty
          const fake = new FakeChain(chain)
          let asked = 0
          let parentOf = (): Uint8Array => fake.tip.parent
          const source = {
            ...fake.source,
            head: Effect.map(
              Effect.suspend(() => fake.source.head),
              (head) => ({ ...head, parent: parentOf() })
            ),
            hashAt: (height: number) => Effect.tap(fake.source.hashAt(height), () => Effect.sync(() => asked++))
          }
          const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: followOptions.undoDepth })
          const { step } = yield* Follow.make(source, store, followOptions)
          yield* step
          for (let i = 0; i < 5; i++) {
            fake.mine([])
            yield* step
          }
          assert.strictEqual(asked, 0)
          parentOf = () => new Uint8Array(32)
          fake.mine([])
          yield* step
          assert.strictEqual(asked, 1)
          assert.deepStrictEqual((yield* store.cursor)?.hash, fake.tip.hash)
          parentOf = () => fake.tip.parent
          fake.drop(1)
          fake.mine([])
          fake.mine([])
          yield* step
          assert.deepStrictEqual((yield* store.cursor)?.hash, fake.tip.hash)
          const { read } = yield* Database
          assert.lengthOf(yield* read((db) => db.selectFrom("reorganisation").selectAll()), 1)
        }).pipe(Effect.scoped, Effect.provide(layer), Effect.provideService(References.MinimumLogLevel, "Error"))
    )

    it.live("ends where somebody else begins to follow, also while no block comes", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(chain)
        const { follow } = yield* setup(fake)
        const fence = yield* ChainRow.follow(chain)
        const fiber = yield* Effect.forkChild(Effect.provideService(follow.run, Fence.Current, fence))
        const statuses = yield* ChainStatus
        yield* Effect.sync(() => statuses.get(chain)?.state).pipe(
          Effect.delay("1 millis"),
          Effect.repeat({ until: (state) => state === "following" })
        )
        const { epoch } = yield* ChainRow.follow(chain)
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.deepInclude({ ...error }, { _tag: "FollowedElsewhere", chain: "ethereum/devnet", present: epoch })
        // Nothing is wrong with the chain.
        assert.strictEqual(statuses.get(chain)?.state, "following")
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("sends first callbacks of a subscription in chain order", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(chain)
        const { follow } = yield* setup(fake)
        yield* follow.step
        yield* subscribe("ADDRESS_COINS_TRANSACTION_CONFIRMED", 0, 2)
        const mined = Array.from({ length: 6 }, () =>
          fake.mine([
            { from: 0, to: 9 },
            { from: 9, to: 0 }
          ])
        )
        yield* follow.step
        const order = (yield* callbacks).map(({ detail, hash }) => `${hash} ${detail.split(" ")[0]}`)
        assert.deepStrictEqual(
          order,
          mined.slice(0, 5).flatMap(({ hash }) => [`${hex(hash)} outgoing`, `${hex(hash)} incoming`])
        )
      }).pipe(Effect.provide(layer))
    )

    it.live("undoes the very first block it ever committed", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(chain)
        for (let i = 0; i < 5; i++) fake.mine([])
        const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
        const follow = yield* Follow.make(fake.source, chainStore, { ...followOptions, start: "latest" })
        yield* subscribe("BLOCK_MINED", undefined)
        yield* follow.step
        assert.strictEqual((yield* chainStore.cursor)?.height, 5)
        fake.drop(2)
        for (let i = 0; i < 3; i++) fake.mine([])
        yield* follow.step
        assert.deepStrictEqual(
          (yield* callbacks).map(({ hash }) => hash),
          fake.blocks.slice(5).map((block) => hex(block.hash))
        )
      }).pipe(Effect.provide(layer))
    )

    it.live("goes on where a node cannot trace blocks, and a replay brings their events, once", () =>
      Effect.gen(function* () {
        const blocks = Array.from({ length: 7 }, (_, i) => {
          const value = `0x${(100 + i).toString(16)}`
          const calls = [{ type: "CALL", from: bob, to: carol, value }]
          const [hash, parentHash] = [word(`c${i}`), word(i === 0 ? "b0" : `c${i - 1}`)]
          return recorded([{ tx: { value }, trace: { calls } }], { number: value, hash, parentHash })
        })
        const lost = new Set([word("c2"), word("c3"), word("c5")])
        const answers = EvmNode.answers(blocks)
        const { source } = yield* sourceOf(
          (method, params) => {
            if (method === "debug_traceBlockByHash" && lost.has(params[0] as string)) {
              throw new RpcError(-32000, "required historical state unavailable (reexec=128)")
            }
            return answers(method, params)
          },
          { internal: true },
          chain
        )
        const patient = { ...source, blockAt: (height: number) => withoutWaiting(source.blockAt(height)) }
        const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
        const { step } = yield* Follow.make(patient, chainStore, { ...followOptions, start: 100 })
        const bytes = (text: string) => Uint8Array.from(Buffer.from(text.slice(2), "hex")) as AddressBytes
        yield* subscribe("ADDRESS_COINS_TRANSACTION_CONFIRMED", bytes(alice))
        yield* subscribe("ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", bytes(carol))

        const lines: Array<string> = []
        const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
        yield* Effect.provide(step, Logger.layer([logger]) satisfies Layer.Layer<never>)
        assert.strictEqual((yield* chainStore.cursor)?.height, 106)
        const told = lines.join("\n")
        assert.match(
          told,
          /lacks? (its|their) internal transactions: 102.* \(debug_traceBlockByHash: required historical state/
        )
        assert.deepInclude(yield* MissingParts.missingInternal(chain), { blocks: 3, from: 102, to: 105 })

        const sent = Effect.map(callbacks, (sent) =>
          sent.map(({ detail, hash }) => `${hash} ${detail.split(" ")[0]}`).sort()
        )
        const coins = blocks.map(({ block }) => `${block.hash} outgoing`)
        const internal = blocks.map(({ block }) => `${block.hash} incoming`)
        const traced = internal.filter((_, i) => ![2, 3, 5].includes(i))
        assert.deepStrictEqual(yield* sent, [...coins, ...traced].sort())

        lost.clear()
        const range = { from: 102, to: 105, callbacks: true }
        const options = { concurrency: 2, internalFrom: 0, forgotten: true }
        const next = yield* Replay.begin(chain, range)
        assert.strictEqual((yield* Replay.run(source, chainStore, range, next, options)).callbacks, 3)
        assert.deepStrictEqual(yield* sent, [...coins, ...internal].sort())
        assert.isUndefined(yield* MissingParts.missingInternal(chain))
        yield* Replay.begin(chain, range)
        assert.strictEqual((yield* Replay.run(source, chainStore, range, next, options)).callbacks, 0)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )
  })
}

describe("Follow with a broken node", () => {
  const layer = Layer.merge(stores[0]!.layer, ChainStatus.layer)
  const status = Effect.map(ChainStatus, (statuses) => statuses.get(chain)!)

  it.live("commits nothing from a node that goes back, and says so", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 10; i++) fake.mine([])
      const { follow, store } = yield* setup(fake)
      yield* follow.step
      const before = fake.blocks
      fake.blocks = before.slice(0, 6)
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 10)
      assert.match((yield* status).message ?? "", /went back to block 5/)
      // Another branch below our height is no reason to leave ours either.
      fake.mine([])
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 10)
      fake.blocks = before
      fake.mine([])
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 11)
      assert.strictEqual((yield* status).message, undefined)
    }).pipe(Effect.provide(layer))
  )

  it.live("commits what nothing proves, and the status names it with its newest block", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 5; i++) fake.mine([])
      const part = Proof.unknown("transactions", "transaction 0 is of the unknown type 0x77")
      fake.blockFault = (height) =>
        height % 2 === 1 ? Effect.succeed({ ...fake.blocks[height]!, unproven: [part] }) : undefined
      const { follow, store } = yield* setup(fake)
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 5)
      assert.deepStrictEqual((yield* status).unproven, [{ ...part, height: 5, blocks: 3 }])
    }).pipe(Effect.provide(layer))
  )

  it.live("refuses a block whose parent does not fit, and recovers", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 5; i++) fake.mine([])
      const { follow, store } = yield* setup(fake)
      yield* follow.step
      for (let i = 0; i < 3; i++) fake.mine([])
      fake.blockFault = (height) =>
        height === 7 ? Effect.succeed({ ...fake.blocks[7]!, parent: new Uint8Array(32).fill(9) }) : undefined
      const error = yield* Effect.flip(follow.step)
      assert.instanceOf(error, NodeInconsistent)
      assert.strictEqual((yield* store.cursor)?.height, 6)
      fake.blockFault = undefined
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 8)
    }).pipe(Effect.provide(layer))
  )

  it.live("tries again when the node does not answer, and tells the state meanwhile", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      const { follow, store } = yield* setup(fake)
      fake.headFault = () =>
        Effect.fail(new NodeUnreachable({ node: "fake", method: "head", message: "connection refused" }))
      const fiber = yield* Effect.forkChild(follow.run)
      while ((yield* status)?.state !== "failing") yield* Effect.sleep("10 millis")
      assert.match((yield* status).message ?? "", /connection refused/)
      fake.headFault = undefined
      while ((yield* status).state !== "following") yield* Effect.sleep("10 millis")
      assert.strictEqual((yield* store.cursor)?.height, 0)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer))
  )

  it.live("keeps the state of a chain that was observed until now, and is starting otherwise", () =>
    Effect.gen(function* () {
      const statuses = yield* ChainStatus
      const fake = new FakeChain(chain)
      const { follow } = yield* setup(fake)
      fake.headFault = () => Effect.never
      for (const [state, head] of [
        ["starting", undefined],
        ["following", 5]
      ] as const) {
        statuses.update(chain, { state: "following", head }, 0)
        const fiber = yield* Effect.forkChild(follow.run, { startImmediately: true })
        yield* Effect.sleep("20 millis")
        assert.strictEqual((yield* status).state, state)
        yield* Fiber.interrupt(fiber)
      }
    }).pipe(Effect.provide(layer))
  )

  it.live("fails until something succeeds, and since when it fails stays", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      const { follow } = yield* setup(fake)
      yield* follow.step
      fake.mine([])
      let asked = 0
      const seen: Array<string> = []
      let since: number | undefined
      fake.blockFault = () =>
        Effect.flatMap(status, (now) => {
          if (asked++ > 0) {
            seen.push(now.state)
            since ??= now.since
            assert.strictEqual(now.since, since)
          }
          return Effect.fail(new NodeUnreachable({ node: "fake", method: "blockAt", message: "pruned" }))
        }) as never
      const fiber = yield* Effect.forkChild(follow.run)
      while (asked < 4) yield* Effect.sleep("10 millis")
      assert.deepStrictEqual(new Set(seen), new Set(["failing"]))
      // A chain that is started again has not succeeded by that.
      yield* Fiber.interrupt(fiber)
      const again = yield* Effect.forkChild(follow.run)
      while (asked < 6) yield* Effect.sleep("10 millis")
      assert.deepStrictEqual(new Set(seen), new Set(["failing"]))
      fake.blockFault = undefined
      while ((yield* status).state !== "following") yield* Effect.sleep("10 millis")
      assert.strictEqual((yield* status).message, undefined)
      yield* Fiber.interrupt(again)
    }).pipe(Effect.provide(layer))
  )

  it.live("never undoes what the node has called final", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 10; i++) fake.mine([])
      fake.final = 7
      const { follow, store } = yield* setup(fake)
      yield* follow.step
      // The first step has no block to compare yet.
      yield* follow.step
      fake.drop(5)
      for (let i = 0; i < 8; i++) fake.mine([])
      fake.final = undefined
      const error = yield* Effect.flip(follow.step)
      assert.strictEqual(error._tag, "UnrecoverableFork")
      assert.strictEqual((yield* store.cursor)?.height, 10)
    }).pipe(Effect.provide(layer))
  )

  it.live("does not stop for a node that says hashes of no blocks", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 20; i++) fake.mine([])
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 5 })
      let lies = false
      const source = {
        ...fake.source,
        hashAt: (height: number) => (lies ? Effect.succeed(new Uint8Array(32)) : fake.source.hashAt(height))
      }
      const follow = yield* Follow.make(source, store, { ...followOptions, undoDepth: 5 })
      yield* follow.step
      for (let i = 0; i < 3; i++) fake.mine([])
      lies = true
      const error = yield* Effect.flip(follow.step)
      assert.strictEqual(error._tag, "NodeInconsistent")
      lies = false
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 23)
    }).pipe(Effect.provide(layer))
  )

  it.live("never undoes what was final, however young the store", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 10; i++) fake.mine([])
      fake.final = 10
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      const follow = yield* Follow.make(fake.source, store, { ...followOptions, start: "latest" })
      yield* follow.step
      assert.strictEqual(yield* store.final, 10)
      fake.drop(1)
      fake.mine([])
      fake.mine([])
      const error = yield* Effect.flip(follow.step)
      assert.strictEqual(error._tag, "UnrecoverableFork")
      assert.match(error.message, /disagrees with block 10, although block 10 was final\. No block is known that both/)
      assert.match(error.message, /begin with a new store, or without ethereum\/devnet in this one/)
      assert.strictEqual((yield* store.cursor)?.height, 10)
    }).pipe(Effect.provide(layer))
  )

  it.live("undoes nothing for a node that has come to be of another network, and goes on once it is back", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 3; i++) fake.mine([])
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      let network = Capability.has(Capability.network, "ethereum/devnet")
      const source = { ...fake.source, network: Effect.sync(() => network) }
      const follow = yield* Follow.make(source, store, { ...followOptions, start: "latest" })
      yield* follow.step
      const own = fake.blocks.slice()
      fake.drop(2)
      for (let i = 0; i < 5; i++) fake.mine([])
      network = Capability.networkWrong("the node is on another one")
      const error = yield* Effect.flip(follow.step)
      assert.strictEqual(error._tag, "NodeInconsistent")
      assert.match(
        error.message,
        /nothing is undone for them, since the node is on another one: .*correct the node's URL/
      )
      assert.strictEqual((yield* store.cursor)?.height, 3)
      fake.blocks.splice(0, fake.blocks.length, ...own)
      network = Capability.has(Capability.network, "ethereum/devnet")
      fake.mine([])
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 4)
    }).pipe(Effect.provide(layer))
  )

  it.live("names finality and the remedy where the network was reset", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 10; i++) fake.mine([])
      fake.final = 9
      const { follow, store } = yield* setup(fake)
      yield* follow.step
      assert.strictEqual(yield* store.final, 9)
      // A network that begins anew from its block 4.
      fake.drop(6)
      for (let i = 0; i < 3; i++) fake.mine([])
      fake.final = undefined
      yield* follow.step
      const { message, state } = yield* status
      assert.strictEqual(state, "failing")
      assert.match(message ?? "", /went back to block 7.* is another one, although block 9 was final\. /)
      assert.match(message ?? "", /else headwater rewind ethereum\/devnet 4 goes back to the last block that both/)
      assert.strictEqual((yield* store.cursor)?.height, 10)
    }).pipe(Effect.provide(layer))
  )

  it.effect("tells that it catches up, how fast and for how long", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 400; i++) fake.mine([])
      // A node that needs a second for each block.
      let fetched = 0
      fake.blockFault = (height) => {
        fetched = height
        return Effect.delay(Effect.succeed(fake.blocks[height]!), "1 second")
      }
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      const follow = yield* Follow.make(fake.source, store, { ...followOptions, concurrency: 1 })
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const running = yield* Effect.forkChild(
        Effect.provide(follow.run, Logger.layer([logger]) satisfies Layer.Layer<never>)
      )
      const committed = Effect.fnUntraced(function* (height: number) {
        const statuses = yield* ChainStatus
        const reached = () => statuses.get(chain)?.height ?? -1
        for (let i = 0; reached() < height; i++) {
          assert.isBelow(i, 2_000)
          yield* TestClock.adjust("500 millis")
          // The store answers in real time: the clock of the test waits, but for a commit that waits for that clock.
          const before = reached()
          for (let waits = 0; waits < 20 && before < fetched - 1 && reached() === before; waits++) {
            yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
          }
        }
      })
      yield* committed(45)
      const now = yield* status
      assert.strictEqual(now.state, "syncing")
      const told = CatchingUp.of(now)!
      assert.strictEqual(told.blocks, 400 - now.height!)
      // The store's time is real, so that commits come in groups.
      assert.closeTo(told.perSecond!, 1, 0.9)
      assert.match(lines.join("\n"), /Catching up: \d+ blocks behind, [\d.]+ blocks\/s, \d+m.* left/)
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(layer))
  )

  /** Follows with the time standing still: holds how often the node was asked for its head, and how far the chain has come. */
  const failing = Effect.fnUntraced(function* (
    fake: FakeChain,
    store: ChainStore.ChainStore,
    lines: Array<string> = []
  ) {
    let looks = 0
    const head = Effect.suspend(() => {
      looks++
      return fake.source.head
    })
    const follow = yield* Follow.make({ ...fake.source, head }, store, { ...followOptions, concurrency: 1 })
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    yield* Effect.forkScoped(Effect.provide(follow.run, Logger.layer([logger]) satisfies Layer.Layer<never>))
    const statuses = yield* ChainStatus
    return Effect.fnUntraced(function* (expected: number, height?: number) {
      const now = () => ({ looks, height: statuses.get(chain)?.height })
      const isFailing = () => statuses.get(chain)?.state === "failing"
      // The store answers in real time.
      for (let i = 0; i < 400 && !(looks >= expected && now().height === height && isFailing()); i++) yield* aMoment
      yield* aMoment
      assert.deepStrictEqual(now(), { looks: expected, height })
    })
  })
  const aMoment = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))

  it.effect("waits no longer after a failure than after the first one where blocks were committed meanwhile", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 20; i++) fake.mine([])
      let given = 5
      fake.blockFault = (height) =>
        height > given
          ? Effect.fail(new NodeUnreachable({ node: "fake", method: "block", message: "gone" }))
          : undefined
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      const looked = yield* failing(fake, store)
      yield* looked(1, 5)
      for (const [index, seconds] of [0.5, 1, 2, 4].entries()) {
        yield* TestClock.adjust(seconds * 1_000)
        yield* looked(index + 2, 5)
      }
      given = 10
      yield* TestClock.adjust("8 seconds")
      yield* looked(6, 10)
      yield* TestClock.adjust("500 millis")
      yield* looked(7, 10)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("asks a store that is away every two seconds, and says so once", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 3; i++) fake.mine([])
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" })
      const lines: Array<string> = []
      const looked = yield* failing(fake, { ...store, cursor: Effect.fail(new DatabaseError({ cause })) }, lines)
      yield* looked(1)
      for (const [index, seconds] of [0.5, 1, 2, 2, 2, 2].entries()) {
        yield* TestClock.adjust(seconds * 1_000)
        yield* looked(index + 2)
      }
      assert.deepStrictEqual(lines, [cause.message])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("leaves an orphaned tip also where the node's final block has meanwhile passed it", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 10; i++) fake.mine([])
      const { follow, store } = yield* setup(fake)
      yield* follow.step
      fake.drop(2)
      for (let i = 0; i < 40; i++) fake.mine([])
      fake.final = 30
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 48)
      yield* follow.step
      assert.strictEqual(yield* store.final, 30)
    }).pipe(Effect.provide(layer))
  )

  it.live(
    "takes nothing for final on the word of two nodes behind one load balancer that are on different branches",
    () =>
      Effect.gen(function* () {
        const fake = new FakeChain(chain)
        for (let i = 0; i < 10; i++) fake.mine([])
        const { follow, store } = yield* setup(fake)
        yield* follow.step
        const left = yield* fake.source.hashAt(10)
        fake.drop(2)
        for (let i = 0; i < 40; i++) fake.mine([])
        fake.final = 30
        // The node that is asked for our block has stayed on its branch, and has nothing above it.
        const mixed = {
          ...fake.source,
          hashAt: (height: number) => (height === 10 ? Effect.succeed(left) : fake.source.hashAt(height))
        }
        const balanced = yield* Follow.make(mixed, store, followOptions)
        yield* Effect.ignore(balanced.step)
        assert.isUndefined(yield* store.final)
        yield* follow.step
        assert.strictEqual((yield* store.cursor)?.height, 48)
        assert.strictEqual(yield* store.final, 30)
      }).pipe(Effect.provide(layer))
  )

  it.live("takes nothing for final by a block that is not ours, as another node behind a load balancer has it", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 10; i++) fake.mine([])
      const { follow, store } = yield* setup(fake)
      const headWith = (finalHash: Uint8Array) => () =>
        Effect.succeed({ height: 10, hash: fake.tip.hash, final: 7, finalHash })
      fake.headFault = headWith(fake.blocks[6]!.hash)
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 10)
      assert.isUndefined(yield* store.final)
      fake.headFault = headWith(fake.blocks[7]!.hash)
      yield* follow.step
      assert.strictEqual(yield* store.final, 7)
    }).pipe(Effect.provide(layer))
  )

  it.live("names the way out of a gap, and behind skipped blocks brings every confirmation that has come", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 4; i++) fake.mine([])
      const { follow, store } = yield* setup(fake)
      yield* follow.step
      yield* subscribe("ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 0, 4)
      yield* subscribe("ADDRESS_COINS_TRANSACTION_CONFIRMED", 0, 3)
      fake.mine([{ from: 1, to: 0 }])
      yield* follow.step
      for (let i = 0; i < 30; i++) fake.mine(i === 10 ? [{ from: 2, to: 0 }] : [])
      fake.blockFault = (height) =>
        height > 5 && height < 10 ? Effect.fail(new BlockMissing({ node: "fake", block: String(height) })) : undefined
      const fiber = yield* Effect.forkChild(follow.run)
      for (let i = 0; (yield* ChainStatus).get(chain)?.state !== "failing"; i++) {
        assert.isBelow(i, 500)
        yield* Effect.sleep("10 millis")
      }
      yield* Fiber.interrupt(fiber)
      assert.match(
        (yield* status).message ?? "",
        /^fake does not have block 6. If none of the nodes has it any more, headwater skip ethereum\/devnet is the way out$/
      )
      yield* store.skip(5, 9)
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 35)
      const of = (height: number) => `${hex(fake.blocks[height]!.hash)} incoming`
      const sent = (yield* callbacks).map(
        ({ detail, hash }) => `${hash} ${detail.split(" ").at(0)} ${detail.split(" ").at(-1)}`
      )
      assert.deepStrictEqual(
        sent.filter((line) => line.startsWith(of(5))).sort(),
        [`${of(5)} `, ...[1, 2, 3, 4].map((n) => `${of(5)} ${n}`)].sort()
      )
      assert.lengthOf(
        sent.filter((line) => line.startsWith(of(16))),
        5
      )
    }).pipe(Effect.provide(layer))
  )

  it.live("names the way out where nodes refuse a block, give one that contradicts itself or fails its proof", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 5; i++) fake.mine([])
      const { follow } = yield* setup(fake)
      yield* follow.step
      for (let i = 0; i < 30; i++) fake.mine([])
      const said = { node: "fake", method: "blockAt", message: "no such state" }
      const messageFor = (error: NodeError) =>
        Effect.gen(function* () {
          fake.blockFault = (height) => (height === 6 ? Effect.fail(error) : undefined)
          const fiber = yield* Effect.forkChild(follow.run)
          for (let i = 0; (yield* status).message?.startsWith(error.message) !== true; i++) {
            assert.isBelow(i, 500)
            yield* Effect.sleep("10 millis")
          }
          yield* Fiber.interrupt(fiber)
          return (yield* status).message
        })
      const wayOut = "headwater skip ethereum/devnet is the way out"
      const rejected = yield* messageFor(new NodeRejected({ ...said, code: -32000, message: "refused" }))
      assert.strictEqual(rejected, `refused. If none of the nodes ever gives block 6 otherwise, ${wayOut}`)
      const inconsistent = yield* messageFor(new NodeInconsistent({ ...said, message: "contradicts" }))
      assert.strictEqual(inconsistent, `contradicts. If none of the nodes ever gives block 6 otherwise, ${wayOut}`)
      assert.strictEqual(
        yield* messageFor(new ProofFailed({ ...said, message: "hash of another header" })),
        "hash of another header. If none of the nodes ever gives block 6 otherwise, " +
          `verify = "links" believes them without the proof, or ${wayOut}`
      )
      const limited = yield* messageFor(new NodeRejected({ ...said, code: -32005, message: "daily limit" }))
      assert.strictEqual(limited, "daily limit")
      // Nobody has answered: there is nothing to skip.
      const unreachable = yield* messageFor(new NodeUnreachable({ ...said, message: "down" }))
      assert.strictEqual(unreachable, "down")
    }).pipe(Effect.provide(layer))
  )

  it.live("enters an announced block without a look at the head, and looks where something else comes", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      const heads: Array<number> = []
      let announced: { readonly height?: number; readonly hash: Uint8Array } | undefined
      const source = {
        ...fake.source,
        head: Effect.tap(fake.source.head, ({ height }) => Effect.sync(() => void heads.push(height))),
        announcedHead: () => announced
      }
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: followOptions.undoDepth })
      const follow = yield* Follow.make(source, store, followOptions)
      const { get } = yield* ChainStatus
      /** The heights that were looked at, after a step with this announcement, and the height that is committed. */
      const step = Effect.fnUntraced(function* (head: typeof announced) {
        announced = head
        heads.length = 0
        yield* follow.step
        assert.deepInclude(get(chain), { state: "following", height: fake.tip.height })
        assert.deepStrictEqual((yield* store.cursor)?.hash, fake.tip.hash)
        return [...heads]
      })
      // Nothing is entered unlooked before the first look.
      assert.deepStrictEqual(yield* step(fake.tip), [0])
      for (const height of [1, 2, 3]) {
        fake.mine([])
        // Some families announce no heights.
        const { hash } = fake.tip
        assert.deepStrictEqual(yield* step(height === 2 ? { hash } : fake.tip), [], `block ${height}`)
        assert.strictEqual(get(chain)?.head, height)
      }
      // The committed one, two that are further on, one that is not the block that is given, one that is not there, none.
      assert.deepStrictEqual(yield* step({ hash: fake.tip.hash }), [3])
      fake.mine([])
      fake.mine([])
      assert.deepStrictEqual(yield* step(fake.tip), [5])
      fake.mine([])
      fake.mine([])
      assert.deepStrictEqual(yield* step({ hash: fake.tip.hash }), [7])
      fake.mine([])
      assert.deepStrictEqual(yield* step({ height: 8, hash: new Uint8Array(32).fill(0xf6) }), [8])
      assert.deepStrictEqual(yield* step({ hash: new Uint8Array(32).fill(0xf7) }), [8])
      fake.mine([])
      assert.deepStrictEqual(yield* step(undefined), [9])
      // One of another branch.
      fake.drop(2)
      fake.mine([])
      fake.mine([])
      fake.mine([])
      fake.final = 2
      assert.deepStrictEqual(yield* step(fake.tip), [10])
      assert.strictEqual((yield* store.cursor)?.final, 2)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(ChainStatus.layer, stores[0]!.layer)), withoutWaiting)
  )

  it.effect("asks a node for its head from time to time while blocks come announced", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      let looks = 0
      const source = {
        ...fake.source,
        head: Effect.tap(fake.source.head, () => Effect.sync(() => void looks++)),
        announcedHead: () => fake.tip
      }
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: followOptions.undoDepth })
      const follow = yield* Follow.make(source, store, followOptions)
      yield* follow.step
      for (let second = 0; second < 30; second++) {
        fake.mine([])
        fake.final = fake.tip.height - 1
        yield* TestClock.adjust("1 second")
        yield* follow.step
        assert.strictEqual((yield* store.cursor)?.height, fake.tip.height)
      }
      assert.strictEqual(looks, 4)
      assert.isAtLeast((yield* store.final)!, fake.tip.height - 12)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(ChainStatus.layer, stores[0]!.layer)))
  )

  it.effect("a node that is a moment behind the one whose block was announced has not gone back", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      fake.mine([])
      const behind = fake.tip
      let isBehind = false
      const source = {
        ...fake.source,
        head: Effect.suspend(() => (isBehind ? Effect.succeed({ ...behind, final: undefined }) : fake.source.head)),
        announcedHead: () => fake.tip
      }
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: followOptions.undoDepth })
      const follow = yield* Follow.make(source, store, followOptions)
      const { get } = yield* ChainStatus
      yield* follow.step
      fake.mine([])
      yield* follow.step
      isBehind = true
      // Announced once more, by another node.
      yield* follow.step
      assert.deepInclude(get(chain), { state: "following", height: 2, head: 2 })
      yield* TestClock.adjust("10 seconds")
      yield* follow.step
      assert.match(get(chain)?.message ?? "", /went back to block 1; block 2 is committed/)
      isBehind = false
      yield* follow.step
      assert.deepInclude(get(chain), { state: "following", height: 2, message: undefined })
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(ChainStatus.layer, stores[0]!.layer)))
  )

  it.effect("an announced block is refused as any other where the chain is followed elsewhere", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: followOptions.undoDepth })
      let isElsewhere = false
      const refused = new DatabaseError({ cause: new Follow.FollowedElsewhere({ chain: "c/n", epoch: 1, present: 2 }) })
      /** The other one commits each block, too, and sooner than a look. */
      const commit: typeof store.commit = (...block) =>
        isElsewhere ? Effect.andThen(store.commit(...block), Effect.fail(refused)) : store.commit(...block)
      const source = { ...fake.source, announcedHead: () => fake.tip }
      const follow = yield* Follow.make(source, { ...store, commit }, followOptions)
      yield* follow.step
      isElsewhere = true
      fake.mine([])
      assert.strictEqual(yield* Effect.flip(follow.step), refused)
      fake.mine([])
      assert.instanceOf(yield* Effect.flip(follow.run), Follow.FollowedElsewhere)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(ChainStatus.layer, stores[0]!.layer)))
  )

  it.live("goes on from a block that the node has forgotten, by the parent of the next one", () =>
    Effect.gen(function* () {
      const fake = new FakeChain(chain)
      for (let i = 0; i < 10; i++) fake.mine([])
      const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      const forgetful = {
        ...fake.source,
        hashAt: (height: number) =>
          height <= 10
            ? Effect.fail(new BlockMissing({ node: "fake", block: String(height) }))
            : fake.source.hashAt(height)
      }
      const follow = yield* Follow.make(forgetful, store, followOptions)
      yield* follow.step
      fake.mine([])
      yield* follow.step
      assert.strictEqual((yield* store.cursor)?.height, 11)
    }).pipe(Effect.provide(layer))
  )

  for (const start of [0, 18, 21]) {
    it.live(`stops where a fork is deeper than the kept history, and keeps its data, begun at ${start}`, () =>
      Effect.gen(function* () {
        const fake = new FakeChain(chain)
        for (let i = 0; i < 100; i++) fake.mine([])
        const { store } = yield* setup(fake)
        const { step } = yield* Follow.make(fake.source, store, { ...followOptions, start })
        yield* step
        fake.drop(80)
        for (let i = 0; i < 90; i++) fake.mine([])
        const error = yield* Effect.flip(step)
        assert.match(error.message, /more than 64 blocks/)
        assert.match(
          error.message,
          start <= 20 ? /headwater rewind ethereum\/devnet 20 / : /No block is known that both/
        )
        assert.strictEqual((yield* store.cursor)?.height, 100)
      }).pipe(Effect.provide(layer))
    )
  }
})
