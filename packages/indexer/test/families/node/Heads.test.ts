import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Failover from "@headwater/indexer/families/node/Failover"
import * as Heads from "@headwater/indexer/families/node/Heads"
import {
  BlockMissing,
  type NodeError,
  NodeRejected,
  NodeUnreachable,
  ProofFailed
} from "@headwater/indexer/families/node/NodeError"
import * as Proof from "@headwater/indexer/families/node/Proof"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"

const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

/** A node whose chain has blocks 0 to `height`, which another fork replaces from `forkedFrom` on. */
interface Node {
  readonly name: string
  height: number
  final?: number
  down?: boolean
  forkedFrom?: number
  /** What it says that does not fit; `true` where the form is certain. */
  lies?: string | true
  /** The height of a block that the node refuses. */
  refuses?: number
  /** The height of a block that the node does not have yet. */
  missing?: number
  asked: number
}

const node = (name: string, height: number, more: Partial<Node> = {}): Node => ({ name, height, asked: 0, ...more })

const hashOf = ({ forkedFrom = Number.POSITIVE_INFINITY, name }: Node, height: number) => {
  const hash = new Uint8Array(32).fill(height + 1)
  if (height >= forkedFrom) hash.set(new TextEncoder().encode(name), 0)
  return hash
}

interface Client {
  readonly name: string
  readonly ask: <A>(read: (node: Node) => A, height?: number) => Effect.Effect<A, NodeError>
}

const over = (nodes: readonly [Node, ...Array<Node>], options: Heads.Options = {}) => {
  const failover = Failover.make(nodes)
  const clientOf = (of: Failover.Failover<Node>): Client => ({
    get name() {
      return of.current().name
    },
    ask: (read, height) =>
      of.ask((node) => {
        node.asked++
        if (height !== undefined && height === node.refuses) {
          const refused = { node: node.name, method: "block", code: -32000, message: `${node.name} refuses ${height}` }
          return Effect.fail({ error: new NodeRejected(refused), retry: false, waitMillis: 0 })
        }
        const error = new NodeUnreachable({ node: node.name, method: "", message: "down" })
        return node.down === true ? Effect.fail({ error, retry: true, waitMillis: 0 }) : Effect.sync(() => read(node))
      })
  })
  const shared = Failover.share(failover, clientOf)
  const heads = Heads.make<Client>(
    chain,
    shared,
    {
      name: ({ name }) => name,
      head: (client) =>
        client.ask((node) => ({ height: node.height, hash: hashOf(node, node.height), final: node.final })),
      hashAt: (client, height) => client.ask((node) => hashOf(node, height)),
      block: (client, height, believed) =>
        Effect.flatMap(
          client.ask((node) => node, height),
          (node): Effect.Effect<Block, NodeError> => {
            const { lies, missing, name } = node
            if (height === missing) return Effect.fail(new BlockMissing({ node: name, block: String(height) }))
            const lie = { node: name, method: "block", message: "the root does not fit" }
            if (lies === true) return Effect.fail(new ProofFailed(lie))
            if (lies !== undefined && believed?.has(lies) !== true)
              return Effect.fail(new ProofFailed({ ...lie, content: lies }))
            return Effect.succeed({
              ...{ height, hash: hashOf(node, height), parent: hashOf(node, height - 1), time: 0 },
              ...{ transactions: [], transfers: [], spends: [] },
              ...(lies === undefined ? {} : { unproven: [Proof.unknown("root", lies)] })
            })
          }
        )
    },
    options
  )
  return { ...heads, resting: shared.resting }
}

/** Runs an effect, and gives the lines that it has logged. */
const logged = <A, E>(effect: Effect.Effect<A, E>) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  return Effect.map(Effect.provide(effect, Logger.layer([logger])), (result) => ({ result, lines }))
}

const heightOf = ({ head }: Heads.Heads) => Effect.map(head, ({ height }) => height)

describe("Heads", () => {
  it.effect("leaves a node that stands still while another goes on, and returns once it has caught up", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9), node("second", 9)]
      const heads = over([first, second])
      assert.strictEqual(yield* heightOf(heads), 9)
      second.height = 12
      yield* TestClock.adjust("14 seconds")
      assert.strictEqual(yield* heightOf(heads), 9)
      assert.strictEqual(second.asked, 0)
      // Four block times of 12 s.
      yield* TestClock.adjust("34 seconds")
      const { lines, result } = yield* logged(heightOf(heads))
      assert.strictEqual(result, 12)
      const reason = "it stands still at block 9, while second has block 12"
      assert.deepStrictEqual(lines, [`first is not asked for a while: ${reason}`])
      assert.deepStrictEqual(yield* heads.resting, [{ node: "first", reason }])
      second.height = 19
      assert.strictEqual(yield* heightOf(heads), 19)
      // It answers again, and is still behind.
      first.height = 15
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* heightOf(heads), 19)
      first.height = 20
      second.height = 20
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* heightOf(heads), 20)
      assert.deepStrictEqual(yield* heads.resting, [])
      first.height = 21
      assert.strictEqual(yield* heightOf(heads), 21)
    })
  )

  it.effect("asks a node that stood still again where the others have died, once it has caught up", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9), node("second", 12)]
      const heads = over([first, second])
      yield* heightOf(heads)
      yield* TestClock.adjust("48 seconds")
      assert.strictEqual(yield* heightOf(heads), 12)
      assert.strictEqual(yield* heightOf(heads), 12)
      second.down = true
      const found = Effect.gen(function* () {
        const found = yield* Effect.forkChild(Effect.result(heightOf(heads)))
        yield* TestClock.adjust("10 seconds")
        return yield* Fiber.join(found)
      })
      assert.isTrue(Result.isFailure(yield* found))
      first.height = 12
      assert.deepStrictEqual(yield* found, Result.succeed(12))
    })
  )

  it.effect("leaves a node that lacks for long what another has given, and none that is a moment behind", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9), node("second", 10)]
      const heads = over([first, second])
      assert.strictEqual(yield* heightOf(heads), 9)
      const told = (height: number) => {
        first.missing = height
        return heads.blockAt(height)
      }
      // Each block comes a moment later.
      for (let height = 10; height < 20; height++) {
        second.height = height
        yield* told(height)
        assert.strictEqual(yield* heightOf(heads), height - 1)
        yield* TestClock.adjust("2 seconds")
        first.height = height
      }
      // It goes on, three seconds behind.
      second.height = 20
      yield* told(20)
      assert.strictEqual(yield* heightOf(heads), 19)
      yield* TestClock.adjust("3 seconds")
      const { lines, result } = yield* logged(heightOf(heads))
      assert.strictEqual(result, 20)
      const reason = "it is behind at block 19, while second has block 20"
      assert.deepStrictEqual(lines, [`first is not asked for a while: ${reason}`])
      first.height = 20
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* heightOf(heads), 20)
      assert.deepStrictEqual(yield* heads.resting, [])
      assert.strictEqual((yield* heads.head).height, 20)
    })
  )

  it.effect("follows all nodes onto a shorter chain", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9), node("second", 9)]
      const heads = over([first, second])
      yield* heads.blockAt(9)
      first.height = 8
      second.height = 8
      for (const wait of ["0 seconds", "3 seconds", "3 seconds"] as const) {
        yield* TestClock.adjust(wait)
        assert.strictEqual(yield* heightOf(heads), 8)
      }
      assert.deepStrictEqual(yield* heads.resting, [])
      // The other one is asked once.
      assert.strictEqual(second.asked, 1)
    })
  )

  it.effect("rests by time that passes, also where a clock that was ahead is put right", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9, { down: true }), node("second", 9)]
      const heads = over([first, second])
      const [hour, day] = [3_600_000, 86_400_000]
      yield* TestClock.setTime(day)
      assert.strictEqual(yield* heightOf(heads), 9)
      yield* TestClock.setTime(day - hour)
      yield* TestClock.adjust("2 seconds")
      first.down = false
      first.height = 10
      second.down = true
      assert.strictEqual(yield* heightOf(heads), 10)
      // And a node that stands still is left.
      second.down = false
      second.height = 20
      yield* TestClock.setTime(day - 2 * hour)
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* heightOf(heads), 20)
    })
  )

  it.effect("blames no node of a chain that rests, and none that goes on while it is looked at", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9), node("second", 9)]
      const heads = over([first, second])
      yield* heads.head
      for (let looks = 0; looks < 5; looks++) {
        yield* TestClock.adjust("50 seconds")
        assert.strictEqual(yield* heightOf(heads), 9)
      }
      assert.deepStrictEqual(yield* heads.resting, [])
      assert.isAbove(second.asked, 2)
    })
  )

  it.effect("asks the next node for a block that fails its proof, names the liar, and lets the liar rest", () =>
    Effect.gen(function* () {
      const [liar, honest] = [node("liar", 9, { lies: true }), node("honest", 9)]
      const heads = over([liar, honest])
      const { lines, result } = yield* logged(heads.blockAt(7))
      assert.strictEqual(result.height, 7)
      assert.deepStrictEqual(lines, ["liar is not asked for a while: the root does not fit"])
      const { asked } = liar
      yield* Effect.forEach([1, 2, 3], heads.blockAt)
      assert.strictEqual(liar.asked, asked)
      assert.deepStrictEqual(yield* heads.resting, [{ node: "liar", reason: "the root does not fit" }])
      delete liar.lies
      yield* TestClock.adjust("11 minutes")
      yield* heads.blockAt(8)
      assert.isAbove(liar.asked, asked)
      honest.lies = true
      liar.lies = true
      assert.strictEqual((yield* Effect.flip(heads.blockAt(8)))._tag, "ProofFailed")
    })
  )

  it.effect("takes what does not fit for a form that is not known where every node says the same", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9, { lies: "a root" }), node("second", 9, { lies: "a root" })]
      const heads = over([first, second])
      const block = yield* heads.blockAt(7)
      assert.deepStrictEqual(block.unproven, [Proof.unknown("root", "a root")])
      assert.deepStrictEqual(yield* heads.resting, [])
      // The next block is asked of both at once: neither is named as a liar again.
      const { lines } = yield* logged(heads.blockAt(8))
      assert.deepStrictEqual(lines, [])
      second.lies = "another root"
      const error = yield* Effect.flip(heads.blockAt(8))
      assert.strictEqual(error._tag, "ProofFailed")
      first.lies = true
      second.lies = true
      assert.strictEqual((yield* Effect.flip(heads.blockAt(8)))._tag, "ProofFailed")
      delete second.lies
      assert.isUndefined((yield* heads.blockAt(8)).unproven)
      // One that refuses says nothing, and one alone is not believed.
      first.lies = "a root"
      second.refuses = 8
      yield* Effect.flip(heads.blockAt(8))
      const alone = over([node("alone", 9, { lies: "a root" })])
      assert.strictEqual((yield* Effect.flip(alone.blockAt(8)))._tag, "ProofFailed")
    })
  )

  it.effect("wakes no node that stands still for a form that is not known", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9, { lies: "a root" }), node("second", 12, { lies: "a root" })]
      const heads = over([first, second])
      yield* heightOf(heads)
      yield* TestClock.adjust("48 seconds")
      assert.strictEqual(yield* heightOf(heads), 12)
      const { resting } = heads
      const before = yield* resting
      yield* heads.blockAt(7)
      assert.deepStrictEqual([yield* resting, before.length], [before, 1])
    })
  )

  it.effect("asks the next node for a block that one refuses, and goes on with the first", () =>
    Effect.gen(function* () {
      const [first, second] = [node("first", 9, { refuses: 7 }), node("second", 9)]
      const heads = over([first, second])
      const { lines, result } = yield* logged(heads.blockAt(7))
      assert.strictEqual(result.height, 7)
      assert.deepStrictEqual(lines, [])
      assert.deepStrictEqual([first.asked, second.asked], [1, 1])
      yield* heads.blockAt(8)
      assert.deepStrictEqual([first.asked, second.asked], [2, 1])
      second.refuses = 7
      assert.strictEqual((yield* Effect.flip(heads.blockAt(7))).message, "second refuses 7")
    })
  )

  describe("with a quorum", () => {
    it.effect("believes the newest block that so many nodes have", () =>
      Effect.gen(function* () {
        const [a, b, c] = [node("a", 9, { final: 5 }), node("b", 7, { final: 4 }), node("c", 3, { final: 1 })]
        const two = yield* over([a, b, c], { quorum: 2 }).head
        assert.deepStrictEqual([two.height, two.final], [7, 4])
        const three = yield* over([a, b, c], { quorum: 3 }).head
        assert.deepStrictEqual([three.height, three.final], [3, 1])
        // Of a fork at the tip, the block below.
        b.forkedFrom = 6
        assert.strictEqual(yield* heightOf(over([a, b], { quorum: 2 })), 5)
        c.final = undefined as never
        assert.isUndefined((yield* over([a, c], { quorum: 2 }).head).final)
      })
    )

    it.effect("waits where fewer answer, and where fewer agree, and says so", () =>
      Effect.gen(function* () {
        const [a, b, c] = [node("a", 90), node("b", 90, { down: true }), node("c", 90, { down: true })]
        const heads = over([a, b, c], { quorum: 2 })
        const few = yield* Effect.flip(heads.head)
        assert.strictEqual(few._tag, "NodeUnreachable")
        assert.include(few.message, "1 of the 2 nodes that quorum = 2 asks for have answered")
        b.down = false
        assert.strictEqual(yield* heightOf(heads), 90)
        b.forkedFrom = 1
        const split = yield* Effect.flip(heads.head)
        assert.strictEqual(split._tag, "NodeInconsistent")
        assert.match(split.message, /fewer than 2 nodes \(quorum\) say the same of block 80: a 51.*, b 62/)
        assert.strictEqual((yield* Effect.flip(heads.blockAt(5)))._tag, "NodeInconsistent")
      })
    )

    it.effect("takes no block of a node that has another one than the others", () =>
      Effect.gen(function* () {
        const [liar, b, c] = [node("liar", 90, { forkedFrom: 5 }), node("b", 90), node("c", 90)]
        const heads = over([liar, b, c], { quorum: 2 })
        assert.deepStrictEqual((yield* heads.blockAt(7)).hash, hashOf(b, 7))
        assert.deepStrictEqual(yield* heads.hashAt(7), hashOf(b, 7))
      })
    )

    it.effect("never asks for more nodes than there are", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* heightOf(over([node("a", 9)], { quorum: 2 })), 9)
      })
    )
  })
})
