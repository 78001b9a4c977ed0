import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { ConsumedBlock, Event } from "@headwater/indexer/store/consumers/BlockEvents"
import * as ConsumedAddresses from "@headwater/indexer/store/consumers/ConsumedAddresses"
import * as ConsumerProjection from "@headwater/indexer/store/consumers/ConsumerProjection"
import * as ConsumerChanges from "@headwater/indexer/store/consumers/ConsumerChanges"
import * as Consumers from "@headwater/indexer/store/consumers/Consumers"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"
import * as Plans from "../Plans.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const watched = [address(0), address(1)]

const open = (consumed: Partial<ConsumedAddresses.Consumed> = {}) =>
  Effect.provideService(ChainStore.open(chain, { record: "watched", undoDepth: 64 }), ConsumedAddresses.Current, {
    ...{ addresses: ConsumedAddresses.make(watched), onRecorded: Effect.void },
    ...consumed
  })

const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`

const wordOf = ({ item, kind }: Event) =>
  kind === "coin" ? `coin ${item.direction} ${item.amount}` : kind === "internal" ? `internal ${item.direction}` : kind

/** What a consumer should know of a block: its hash, and of each event kind, direction and amount; by the event's id. */
const wordsOf = ({ events, hash }: ConsumedBlock): ReadonlyArray<readonly [string, string]> => [
  [hash, hash],
  ...events.map((event) => [event.id, `${hash} ${wordOf(event)}`] as const)
]

const isWatched = (bytes: Uint8Array | undefined) =>
  watched.some((one) => bytes !== undefined && hexOf(one) === hexOf(bytes))

/** The words, from the block itself. */
const wordsOfBlock = ({ hash, transfers }: Block): ReadonlyArray<string> => {
  const words = transfers.flatMap(({ amount, from, kind, to }) => {
    const ether = `0.${String(amount).padStart(18, "0")}`.replace(/0+$/, "")
    const word = (direction: string) => (kind === "coin" ? `coin ${direction} ${ether}` : `${kind} ${direction}`)
    return [...(isWatched(from) ? [word("outgoing")] : []), ...(isWatched(to) ? [word("incoming")] : [])]
  })
  return [hexOf(hash), ...words.map((word) => `${hexOf(hash)} ${word}`)]
}

/** As by a node that cannot trace. */
const untraced = (block: Block): Block => ({ ...block, missing: [{ part: "internal", reason: "no trace" }] })

/** As by a node that can: each coin has an internal transfer below. */
const traced = ({ missing: _, ...block }: Block): Block => ({
  ...block,
  transfers: block.transfers.flatMap((transfer) => [
    transfer,
    {
      ...{ kind: "internal" as const, transaction: transfer.transaction, operation: "call_0", operationType: "call" },
      ...{ from: address(1), to: address(2), amount: transfer.amount }
    }
  ])
})

/**
 * A program with a table. One that joins the store's transactions has in its table what it has acknowledged; another one has
 * what it was told, as far as it had written that when it was killed.
 */
class Program {
  readonly name: string
  readonly joins: boolean
  readonly limits: ConsumerChanges.Limits
  table: ReadonlyMap<string, string> = new Map()
  kept: ReadonlyMap<string, string> = new Map()
  consumer: Consumers.Consumer | undefined
  progress: Consumers.Progress | undefined

  constructor(name: string, joins: boolean, limits: ConsumerChanges.Limits) {
    this.name = name
    this.joins = joins
    this.limits = limits
  }

  /** Begins, or begins again after a kill. */
  get begin() {
    return Effect.map(Consumers.open(chain, this.name, 1), (consumer) => {
      this.consumer = consumer
      this.progress = consumer.acknowledged
      if (this.joins) this.table = this.kept
    })
  }

  /** Reads once; what there was. */
  get next() {
    return Effect.gen({ self: this }, function* () {
      const change = yield* ConsumerChanges.next(this.consumer!, this.progress!, this.limits)
      if (change !== undefined && !this.joins) yield* Consumers.tell(this.consumer!, this.progress!, change.progress)
      return change
    })
  }

  /** Reads once, and writes; whether there was anything. */
  get read() {
    return Effect.map(this.next, (change) => {
      if (change === undefined) return false
      const table = new Map(this.table)
      for (const [id, words] of change.undone.flatMap(wordsOf)) {
        if (this.joins) assert.strictEqual(table.get(id), words, "undone as it was told")
        table.delete(id)
      }
      const completed = change.completed.flatMap((block) => wordsOf(block).slice(1))
      for (const [id, words] of [...change.blocks.flatMap(wordsOf), ...completed]) {
        // Told again, an event is passed over.
        if (this.joins) assert.isFalse(table.has(id), "told once")
        table.set(id, words)
      }
      this.table = table
      this.progress = change.progress
      return true
    })
  }

  get acknowledge() {
    return Effect.map(Consumers.acknowledge(this.consumer!, this.progress!), () => {
      this.kept = this.table
    })
  }

  get readAll() {
    return Effect.gen({ self: this }, function* () {
      let more = true
      while (more) more = yield* this.read
    })
  }

  /** Has read and written what these blocks have, and nothing else. */
  has(blocks: ReadonlyArray<Block>) {
    assert.sameMembers([...this.table.values()], blocks.flatMap(wordsOfBlock), this.name)
  }
}

type Step = {
  readonly kind: "mine" | "complete" | "reorganise" | "rewind" | "read" | "acknowledge" | "kill"
  readonly pick: number
}

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(["mine", "mine", "complete", "complete", "reorganise", "rewind"] as const),
      ...(["read", "read", "read", "acknowledge", "kill"] as const)
    ),
    pick: fc.nat({ max: 1_000_000 })
  }),
  { minLength: 15, maxLength: 50 }
)

describe.each(takenStores(import.meta.url))("Consumers on $name", ({ layer, name }) => {
  it.effect("are told of random histories what happened, whatever they acknowledge and whenever they are killed", () =>
    Effect.gen(function* () {
      const history = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
        const node = new FakeChain(chain)
        const store = yield* open()
        const programs = [
          new Program("one that joins", true, { blocks: 2, characters: 1_000_000 }),
          new Program("one with a database of its own", false, { blocks: 64, characters: 600 })
        ]
        const pay = (pick: number) =>
          Array.from({ length: pick % 4 }, (_, i) => ({ from: (pick >> i) % 5, to: (pick >> (i + 2)) % 7 }))
        const enterFrom = (height: number) => store.commit(node.blocks.slice(height))
        const mine = (pick: number) => {
          node.mine(pay(pick))
          if (pick % 3 > 0) node.blocks.push(untraced(node.blocks.pop()!))
        }
        /** The blocks whose missing part was filled in. */
        const completed = new Set<Block>()
        const chainNow = () => node.blocks.slice(1).map((block) => (completed.has(block) ? traced(block) : block))
        // What consumers have passed is forgotten at a block 100.
        for (let height = 1; height < 90; height++) node.mine([])
        yield* enterFrom(0)
        for (const program of programs) yield* program.begin
        for (const { kind, pick } of steps) {
          const program = programs[pick % 2]!
          const { height } = node.tip
          if (kind === "mine") {
            for (let i = 0; i <= pick % 3; i++) mine(pick + i)
            yield* enterFrom(height + 1)
          } else if (kind === "complete") {
            const lacking = node.blocks.filter((block) => block.missing !== undefined && !completed.has(block))
            const block = lacking[pick % Math.max(1, lacking.length)]
            if (block === undefined) continue
            completed.add(block)
            const again = { callbacks: false, internalFrom: Number.MAX_SAFE_INTEGER }
            yield* store.reprocess(traced(block), again)
            // By another process, or by an operator.
            yield* store.reprocess(traced(block), again)
          } else if (kind === "reorganise" || kind === "rewind") {
            const fork = height - 1 - (pick % 7)
            yield* store.undo(fork)
            for (const block of completed) if (block.height > fork) completed.delete(block)
            if (kind === "reorganise") {
              node.drop(height - fork)
              for (let i = 0; i < pick % 4; i++) mine(pick + i)
            }
            if (node.tip.height > fork) yield* enterFrom(fork + 1)
          } else if (kind === "read") yield* program.read
          else if (kind === "acknowledge") yield* program.acknowledge
          else {
            // Killed before it has written anything of what it is told, or after.
            if (pick % 3 === 0) yield* program.next
            yield* program.begin
          }
        }
        node.mine(pay(3))
        yield* enterFrom(node.tip.height)
        for (const program of programs) {
          yield* program.readAll
          program.has(chainNow())
          yield* program.acknowledge
        }
        const { height } = node.tip
        do node.mine([])
        while (node.tip.height % 100 > 0)
        yield* enterFrom(height + 1)
        const { query } = yield* Database
        const left = yield* query((db) =>
          db.selectFrom("consumed_block").select("number").where("left_number", "is not", null)
        )
        assert.isAtMost(left.length, 1, "what has left is forgotten once all have passed it")
      })
      const context = yield* Effect.context<never>()
      const property = fc.asyncProperty(steps, (steps) =>
        Effect.runPromiseWith(context)(
          history(steps).pipe(
            Effect.scoped,
            Effect.provide(Layer.fresh(layer)),
            // A step back leaves two or three blocks.
            Effect.provideService(ConsumerProjection.StepCharacters, 3_500)
          )
        )
      )
      const numRuns = Number(process.env.HEADWATER_PROPERTY_RUNS ?? (name === "sqlite" ? 4 : 2))
      yield* Effect.promise(() => fc.assert(property, { numRuns }))
    })
  )

  if (name === "sqlite")
    it.effect("look at nothing that they know already", () =>
      Effect.gen(function* () {
        const consumer = yield* Consumers.open(chain, "one", "first")
        const [plan] = yield* Plans.of(name, ConsumerChanges.next(consumer, consumer.acknowledged))
        assert.include(plan, "consumed_block_left (chain=? AND left_number=?)")
        // All blocks of the chain, at each look.
        assert.notInclude(plan, "(chain=?)")
      }).pipe(Effect.provide(layer))
    )

  it.effect("begin at a height, at the first block or behind the last one, and not where nothing is kept", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      const store = yield* open({ keepBlocks: 70 })
      for (let height = 1; height <= 120; height++) node.mine([{ from: 0, to: 3 }])
      const early = yield* Consumers.open(chain, "early", "first")
      yield* store.commit(node.blocks.slice(0, 60))
      const heights = (consumer: Consumers.Consumer) =>
        Effect.map(ConsumerChanges.next(consumer, consumer.acknowledged), (change) =>
          change?.blocks.map(({ height }) => height)
        )
      assert.strictEqual((yield* heights(early))?.[0], 0)
      assert.deepStrictEqual(yield* heights(yield* Consumers.open(chain, "from 58", 58)), [58, 59])
      const latest = yield* Consumers.open(chain, "latest", "latest")
      assert.isUndefined(yield* heights(latest))
      yield* store.commit(node.blocks.slice(60))
      assert.strictEqual((yield* heights(latest))?.[0], 60)
      assert.strictEqual((yield* heights(yield* Consumers.open(chain, "first", "first")))?.[0], 30)
      const tooEarly = yield* Effect.flip(Consumers.open(chain, "too early", 29))
      assert.deepInclude(tooEarly, { _tag: "EventsNotKept", consumer: "too early", from: 29, to: 29 })
      // A consumer that was away longer than blocks are kept is told so, in place of a part of them.
      const behind = yield* Effect.flip(heights(early))
      assert.deepInclude(behind, { _tag: "EventsNotKept", consumer: "early" })
      yield* Consumers.forget("early")
      assert.strictEqual((yield* heights(yield* Consumers.open(chain, "early", "first")))?.[0], 30)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("may have written what they did not acknowledge: what of that has left is told as undone", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      const store = yield* open()
      yield* store.commit(node.blocks)
      const before = yield* Consumers.open(chain, "one", "first")
      node.mine([{ from: 3, to: 0 }])
      yield* store.commit(node.blocks.slice(1))
      const told = (yield* ConsumerChanges.next(before, before.acknowledged))!
      yield* Consumers.tell(before, before.acknowledged, told.progress)
      // The program is killed, and the block leaves the chain.
      yield* store.undo(0)
      node.drop(1)
      node.mine([])
      yield* store.commit(node.blocks.slice(1))
      const after = yield* Consumers.open(chain, "one", "first")
      const again = (yield* ConsumerChanges.next(after, after.acknowledged))!
      assert.deepStrictEqual(again.undone, told.blocks.slice(1))
      assert.deepStrictEqual(
        again.blocks.flatMap(wordsOf).map(([, word]) => word),
        node.blocks.flatMap(wordsOfBlock)
      )
      yield* Consumers.tell(after, after.acknowledged, again.progress)
      yield* Consumers.acknowledge(after, again.progress)
      // Where it was told before, it is not told any more.
      const elsewhere = yield* Effect.flip(Consumers.tell(before, told.progress, told.progress))
      assert.deepInclude(elsewhere, { _tag: "ConsumerElsewhere", consumer: "one" })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect(
    "are told what is undone newest first, a part at a time where it is much, and each part may be acknowledged",
    () =>
      Effect.gen(function* () {
        const node = new FakeChain(chain)
        while (node.tip.height < 2_200) node.mine([])
        const store = yield* open()
        for (let from = 0; from <= 2_200; from += 500) yield* store.commit(node.blocks.slice(from, from + 500))
        const program = new Program("one", true, { blocks: 5_000, characters: 1_000_000 })
        yield* program.begin
        yield* program.readAll
        yield* program.acknowledge
        // Blocks that came and left unseen are of no concern.
        yield* store.undo(2_190)
        yield* store.commit(node.blocks.slice(2_191))
        yield* store.rewind(9)
        const parts: Array<readonly [number, number | undefined, number | undefined]> = []
        while (true) {
          // Killed before each part, and after it: what is acknowledged is told no more.
          yield* program.begin
          const change = yield* program.next
          if (change === undefined) break
          const heights = change.undone.map(({ height }) => height)
          parts.push([heights.length, heights[0], heights.at(-1)])
          assert.deepStrictEqual(yield* program.next, change)
          yield* program.read
          yield* program.acknowledge
        }
        assert.deepStrictEqual(parts, [
          [10, 2191, 2200],
          [990, 1201, 2190],
          [1000, 201, 1200],
          [191, 10, 200]
        ])
        yield* store.commit(node.blocks.slice(10, 12))
        yield* program.readAll
        program.has(node.blocks.slice(1, 12))
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("that know skipped blocks' successors are told of both where a rewind brings the skipped ones back", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      while (node.tip.height < 12) node.mine([{ from: 3, to: 0 }])
      const store = yield* open()
      yield* store.commit(node.blocks.slice(0, 5))
      yield* store.skip(4, 10)
      yield* store.commit(node.blocks.slice(11))
      const program = new Program("one", true, { blocks: 64, characters: 1_000_000 })
      yield* program.begin
      yield* program.readAll
      program.has([...node.blocks.slice(1, 5), ...node.blocks.slice(11)])
      yield* store.rewind(4)
      yield* program.readAll
      yield* store.commit(node.blocks.slice(5))
      yield* program.readAll
      program.has(node.blocks.slice(1))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("are not told of blocks that another program has committed, but of the lack", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      for (let height = 1; height <= 9; height++) node.mine([{ from: 0, to: 3 }])
      const consumer = yield* Consumers.open(chain, "one", "first")
      yield* Effect.scoped(Effect.flatMap(open(), (store) => store.commit(node.blocks.slice(0, 4))))
      const first = (yield* ConsumerChanges.next(consumer, consumer.acknowledged))!
      const daemon = ChainStore.open(chain, { record: "watched", undoDepth: 64 })
      yield* Effect.scoped(Effect.flatMap(daemon, (store) => store.commit(node.blocks.slice(4, 6))))
      assert.isUndefined(yield* ConsumerChanges.next(consumer, first.progress))
      yield* Effect.scoped(Effect.flatMap(open(), (store) => store.commit(node.blocks.slice(6))))
      const lack = yield* Effect.flip(ConsumerChanges.next(consumer, first.progress))
      assert.deepInclude(lack, { _tag: "EventsNotKept", from: 4, to: 5 })
      // What the daemon undoes, consumers are told of.
      yield* Effect.scoped(Effect.flatMap(daemon, (store) => store.undo(1)))
      const undone = (yield* ConsumerChanges.next(consumer, first.progress))!
      assert.deepStrictEqual(
        undone.undone.flatMap(wordsOf).map(([, word]) => word),
        node.blocks.slice(2, 4).flatMap(wordsOfBlock)
      )
      assert.strictEqual(undone.progress.height, 1)
    }).pipe(Effect.provide(layer))
  )
})
