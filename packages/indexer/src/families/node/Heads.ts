/**
 * The newest block of a chain by its nodes: what the preferred one says, unless that one stands still while another goes
 * on, or stays behind blocks that another gives; or with a quorum, what so many of them say.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SteadyTime from "../../SteadyTime.ts"
import type { Head } from "../Source.ts"
import type { Shared } from "./Failover.ts"
import type * as Proof from "./Proof.ts"
import { type NodeError, NodeInconsistent, NodeUnreachable } from "./NodeError.ts"

/** How a client is asked for its chain, in one family. */
export interface Questions<C> {
  readonly name: (client: C) => string
  readonly head: (client: C) => Effect.Effect<Head, NodeError>
  readonly hashAt: (client: C, height: number) => Effect.Effect<Uint8Array, NodeError>
  readonly block: (client: C, height: number, believed?: Proof.Believed) => Effect.Effect<Block, NodeError>
}

export interface Options {
  /** How many nodes have to say the same hash before a block is believed; 1 by default, at most as many as there are. */
  readonly quorum?: number
}

/** The part of a `Source` that several nodes answer. */
export interface Heads {
  readonly head: Effect.Effect<Head, NodeError>
  readonly hashAt: (height: number) => Effect.Effect<Uint8Array, NodeError>
  readonly blockAt: (height: number) => Effect.Effect<Block, NodeError>
  readonly byEach: (height: number) => ReadonlyArray<Effect.Effect<Block, NodeError>>
}

/** A head that has not risen for so many block times, within bounds, is compared with those of other nodes. */
const blockTimes = 4
const leastStillMillis = 15_000
const mostStillMillis = 60_000
/** How long a node may lack a block that another one has given. */
const behindMillis = 3_000
/** Between two looks at nodes that stand still or are behind. */
const lookMillis = 5_000
/** A quorum is looked for so many blocks below the height that enough nodes have reached. */
const forkDepth = 10

const hex = (hash: Uint8Array) => Buffer.from(hash).toString("hex")

export const make = <C>(chain: Chain, nodes: Shared<C>, questions: Questions<C>, options: Options = {}): Heads => {
  const quorum = Math.min(options.quorum ?? 1, nodes.each.length)
  const stillMillis = Math.min(Math.max(blockTimes * chain.blockSeconds * 1_000, leastStillMillis), mostStillMillis)
  const names = nodes.each.map(questions.name).join(", ")

  const headsOf = (clients: ReadonlyArray<C>) =>
    Effect.map(
      Effect.forEach(
        clients,
        (client) => Effect.map(Effect.result(questions.head(client)), (head) => ({ client, head })),
        { concurrency: "unbounded" }
      ),
      (all) => all.flatMap(({ client, head }) => (Result.isSuccess(head) ? [{ client, head: head.success }] : []))
    )

  let highest = -1
  let risenAt = 0
  let lookedAt = 0
  /** The highest block that some node has given, and one that the preferred node lacked when it was asked. */
  let given = -1
  let lacked: { readonly height: number; readonly at: number } | undefined
  /** Nodes that rest since they stood still or were behind. */
  const still = new Set<C>()

  /** Wakes the nodes that have caught up with a block of this height. */
  const wakeRisen = Effect.fnUntraced(function* (height: number) {
    for (const { client, head: other } of yield* headsOf([...still])) {
      if (other.height < height) continue
      still.delete(client)
      yield* nodes.wake(client)
      yield* Effect.logInfo(`${questions.name(client)} has caught up, and is asked again`)
    }
  })

  /** The head of the healthiest node. */
  const healthiest = nodes.withOne((one, client) => Effect.map(questions.head(one), (head) => ({ head, client })))

  /** That of one that stood still, and has caught up meanwhile, where the others have died: failing ones go before it. */
  const preferred = Effect.catch(healthiest, (error) =>
    Effect.gen(function* () {
      const before = still.size
      yield* wakeRisen(highest)
      return yield* still.size < before ? healthiest : error
    })
  )

  /** Lets the node rest that is at `head` where another one has the block at `least`; whether it does. */
  const leave = Effect.fnUntraced(function* (
    client: C,
    head: Head,
    { least, state }: { readonly least: number; readonly state: "stands still" | "is behind" }
  ) {
    const others = nodes.each.filter((other) => other !== client && !still.has(other))
    const ahead = (yield* headsOf(others)).find(({ head: other }) => other.height >= least)
    if (ahead === undefined) return false
    // The node may have been a moment behind.
    const again = yield* Effect.result(questions.head(client))
    if (Result.isSuccess(again) && again.success.height >= least) return false
    still.add(client)
    yield* nodes.rest(
      client,
      `it ${state} at block ${head.height}, while ${questions.name(ahead.client)} has block ${ahead.head.height}`
    )
    return true
  })

  /** Lets the node rest that is at `head`, long behind what another one has given; whether it does. */
  const leaveBehind = Effect.fnUntraced(function* (client: C, head: Head, now: number) {
    if (lacked === undefined || head.height >= lacked.height) {
      lacked = head.height < given ? { height: given, at: now } : undefined
      return false
    }
    if (now - lacked.at < behindMillis) return false
    const least = lacked.height
    lacked = undefined
    if (yield* leave(client, head, { least, state: "is behind" })) return true
    // No node has that block any more.
    given = head.height
    return false
  })

  const single = Effect.gen(function* (): Effect.fn.Return<Head, NodeError> {
    const { client, head } = yield* preferred
    if (nodes.each.length === 1) return head
    const now = yield* SteadyTime.millis
    if (still.size > 0 && now - lookedAt >= lookMillis) {
      lookedAt = now
      yield* wakeRisen(head.height)
    }
    if (yield* leaveBehind(client, head, now)) return (yield* preferred).head
    if (head.height > highest) {
      highest = head.height
      risenAt = now
      return head
    }
    if (now - risenAt < stillMillis) return head
    risenAt = now
    const isLeft = yield* leave(client, head, { least: head.height + 1, state: "stands still" })
    return isLeft ? (yield* preferred).head : head
  })

  const tooFew = (answered: number) =>
    new NodeUnreachable({
      node: names,
      method: "quorum",
      message: `${answered} of the ${quorum} nodes that quorum = ${quorum} asks for have answered: waiting for more`
    })

  const disagreement = (height: number, said: ReadonlyArray<readonly [C, Uint8Array]>) =>
    new NodeInconsistent({
      node: names,
      method: "quorum",
      message:
        `fewer than ${quorum} nodes (quorum) say the same of block ${height}: ` +
        said.map(([client, hash]) => `${questions.name(client)} ${hex(hash)}`).join(", ")
    })

  /** The hash that enough nodes say, with those nodes; fails where fewer have answered, or agree. */
  const agreed = Effect.fnUntraced(function* (height: number, clients: ReadonlyArray<C>) {
    const answers = yield* Effect.forEach(
      clients,
      (client) => Effect.map(Effect.result(questions.hashAt(client, height)), (hash) => [client, hash] as const),
      { concurrency: "unbounded" }
    )
    const said = answers.flatMap(
      ([client, hash]): ReadonlyArray<readonly [C, Uint8Array]> =>
        Result.isSuccess(hash) ? [[client, hash.success]] : []
    )
    const [, first] = answers.find(([, hash]) => Result.isFailure(hash) && hash.failure._tag === "BlockMissing") ?? []
    if (said.length < quorum) {
      return yield* first !== undefined && Result.isFailure(first) ? first.failure : tooFew(said.length)
    }
    for (const [, hash] of said) {
      const same = said.filter(([, other]) => Bytes.equal(other, hash)).map(([client]) => client)
      if (same.length >= quorum) return { hash, clients: same }
    }
    return yield* disagreement(height, said)
  })

  /** The newest block that enough nodes have, final as far as all of those nodes call it so. */
  const byQuorum = Effect.gen(function* (): Effect.fn.Return<Head, NodeError> {
    const heads = yield* headsOf(nodes.each)
    if (heads.length < quorum) return yield* tooFew(heads.length)
    const reached = heads.map(({ head }) => head.height).sort((a, b) => b - a)[quorum - 1]!
    const clients = heads.filter(({ head }) => head.height >= reached).map(({ client }) => client)
    for (let height = reached; ; height--) {
      const found = yield* Effect.result(agreed(height, clients))
      if (Result.isFailure(found)) {
        if (found.failure._tag !== "NodeInconsistent" || height === 0 || reached - height >= forkDepth)
          return yield* found.failure
        continue
      }
      const agreeing = heads.filter(({ client }) => found.success.clients.includes(client))
      const finals = agreeing.flatMap(({ head: { final, finalHash } }) =>
        final === undefined ? [] : { final, finalHash }
      )
      const lowest = finals.reduce<(typeof finals)[number]>(
        (lowest, one) => (one.final < lowest.final ? one : lowest),
        { final: height, finalHash: undefined }
      )
      return {
        height,
        hash: found.success.hash,
        ...(finals.length === agreeing.length ? lowest : { final: undefined })
      }
    }
  })

  const fromOne = (height: number, wanted: Uint8Array | undefined) =>
    nodes.withOne((one) =>
      Effect.filterOrFail(
        questions.block(one, height),
        (block) => wanted === undefined || Bytes.equal(block.hash, wanted),
        (block) =>
          new NodeInconsistent({
            node: questions.name(one),
            method: "quorum",
            message: `block ${height} is ${hex(block.hash)}, and ${quorum} nodes (quorum) say ${hex(wanted!)}`
          })
      )
    )

  /** The newest block that was read fits its hashes by no form that is known, whichever node gives it. */
  let isFormUnknown = false

  /**
   * A block of which every node, two at least, says the same that does not fit: then it is not the nodes that lie, but the
   * form that is not known. Undefined where they do not agree.
   */
  const agreedByAll = Effect.fnUntraced(function* (height: number) {
    const believed = new Set<string>()
    for (;;) {
      const answers = yield* Effect.forEach(
        nodes.each,
        (client) => Effect.result(questions.block(client, height, believed)),
        { concurrency: "unbounded" }
      )
      const proved = answers.find(Result.isSuccess)
      if (proved !== undefined) {
        isFormUnknown = believed.size > 0
        return proved.success
      }
      const failed = answers.flatMap((answer) =>
        Result.isFailure(answer) && answer.failure._tag === "ProofFailed" ? [answer.failure.content] : []
      )
      const [content] = failed
      const isAgreed = failed.length > 1 && failed.every((other) => other === content)
      if (content === undefined || !isAgreed || believed.has(content)) return undefined
      believed.add(content)
    }
  })

  const believing = Effect.fnUntraced(function* (height: number, wanted: Uint8Array | undefined) {
    const known = isFormUnknown ? yield* agreedByAll(height) : undefined
    if (known !== undefined && (wanted === undefined || Bytes.equal(known.hash, wanted))) return known
    const block = yield* Effect.result(fromOne(height, wanted))
    if (Result.isSuccess(block)) return block.success
    const error = block.failure
    if (error._tag !== "ProofFailed" || error.content === undefined || nodes.each.length < 2) return yield* error
    const agreed = yield* agreedByAll(height)
    if (agreed === undefined || (wanted !== undefined && !Bytes.equal(agreed.hash, wanted))) return yield* error
    for (const client of nodes.each) if (!still.has(client)) yield* nodes.wake(client)
    return agreed
  })

  const byEach: Heads["byEach"] = (height) => nodes.each.map((client) => questions.block(client, height))

  if (quorum > 1) {
    const hashAt = (height: number) => Effect.map(agreed(height, nodes.each), ({ hash }) => hash)
    return {
      head: byQuorum,
      hashAt,
      blockAt: (height) => Effect.flatMap(hashAt(height), (hash) => believing(height, hash)),
      byEach
    }
  }
  return {
    head: single,
    hashAt: (height) => nodes.withOne((one) => questions.hashAt(one, height)),
    blockAt: (height) =>
      Effect.tap(believing(height, undefined), () =>
        Effect.sync(() => {
          given = Math.max(given, height)
        })
      ),
    byEach
  }
}
