/**
 * How signed transactions get to a chain's nodes, and what the nodes know of them since. A family has one such value; who
 * broadcasts and who follows what became of it ask that alone.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { NodeError } from "./node/NodeError.ts"

/** The transaction is not sent; the message is the part of it and the rule that it breaks. */
export class BroadcastRefused extends Schema.TaggedError<BroadcastRefused>()("BroadcastRefused", {
  /** `invalid`: whatever the state of the chain; `state`: as the chain is at present. */
  reason: Schema.Literals(["invalid", "state"]),
  message: Schema.String
}) {}

export const invalid = (message: string) => new BroadcastRefused({ reason: "invalid", message })
export const contradicted = (message: string) => new BroadcastRefused({ reason: "state", message })

/** What came of giving a transaction to the nodes. */
export type Sent =
  /** At least one has it. */
  | { readonly state: "taken" }
  /** Every one has refused it. */
  | { readonly state: "refused"; readonly message: string }
  /**
   * None is known to have it, and one at least did not say so: it may have it all the same. `isRefused`: another one has refused
   * it.
   */
  | { readonly state: "unanswered"; readonly message: string; readonly isRefused?: true }

/** What the nodes know of a transaction. */
export type Standing =
  /** In a block; `error` where the block has it as failed. */
  | { readonly state: "mined"; readonly height: number; readonly hash: Uint8Array; readonly error?: string }
  /** At least one node has it, and no block. */
  | { readonly state: "waiting" }
  /** No node has it, and the chain will not: another one took its place, or its time is over. */
  | { readonly state: "replaced" | "dropped"; readonly message: string }
  /**
   * No node has it; with `mayCome` a block may all the same, until its time is over, or one that no node shows. `hidden`: the
   * node lacks what another one may prove.
   */
  | { readonly state: "absent"; readonly mayCome?: boolean; readonly hidden?: boolean }
  /** No node is known to have it, and blocks that may are still being looked through: asked again, the search goes on. */
  | { readonly state: "searching" }

/** A transaction's place in the row of its sender's transactions: a nonce, or a sequence. */
export interface Numbered {
  readonly sender: AddressBytes
  readonly number: number
  /** The most that it takes of its sender, in the coin's smallest unit. */
  readonly cost: bigint
  /** Tokens of one contract that it moves from its sender, in their smallest unit. */
  readonly tokens?: { readonly contract: AddressBytes; readonly amount: bigint } | undefined
}

export interface Broadcasting {
  /** The id of a signed transaction, which is of this chain and breaks no rule that needs no node's answer. */
  readonly idOf: (raw: Uint8Array) => Effect.Effect<Uint8Array, BroadcastRefused | NodeError>
  /** Where the chain counts a sender's transactions: undefined for one that is not counted. Of bytes that have an id. */
  readonly numberOf?: (raw: Uint8Array) => Effect.Effect<Numbered | undefined>
  /** Fails where the transaction cannot be mined as the chain is now, or pays a fee beyond all measure. */
  readonly check: (raw: Uint8Array) => Effect.Effect<void, BroadcastRefused | NodeError>
  /** Gives a transaction to every node, at once. To give the same one again changes nothing. */
  readonly send: (raw: Uint8Array) => Effect.Effect<Sent>
  /**
   * Asks every node; fails where one that does not answer may know more than the others. `since` is a height of the chain at
   * which the transaction was not mined yet: without it `absent` and `replaced` are no proof that it never was.
   */
  readonly standing: (raw: Uint8Array, since?: number) => Effect.Effect<Standing, NodeError>
  /**
   * Where a transaction is by its id alone, as the nodes that answer know it. Nodes without an index of transactions find those
   * with an unspent output, and those of the block at the height `upTo` and of some before that.
   */
  readonly find: (transactionId: Uint8Array, upTo: number) => Effect.Effect<Located, NodeError>
}

/** Where a transaction is: of a node that knows none by ids, `absent` is no proof that no block has it. */
export type Located = LocatedMined | NotMined
type Mined = Extract<Standing, { readonly state: "mined" }>
interface LocatedMined extends Mined {
  /** Other blocks that have it, at nodes that are on other branches. */
  readonly others?: ReadonlyArray<Mined>
}
interface NotMined {
  readonly state: "absent" | "waiting"
  /** Another node could not say: it may be the one that finds transactions by their ids. */
  readonly isPartial?: true
}

/** Asks every node: what those know that answer, as `best` that a block has the transaction, or else that it waits, and the first failure. */
const askEvery = <N, A extends { readonly state: string }>(
  nodes: ReadonlyArray<N>,
  ask: (node: N) => Effect.Effect<A, NodeError>
) =>
  Effect.map(
    Effect.forEach(nodes, (node) => Effect.result(ask(node)), { concurrency: "unbounded" }),
    (answers) => {
      const known = answers.filter(Result.isSuccess).map(({ success }) => success)
      const best = known.find(({ state }) => state === "mined") ?? known.find(({ state }) => state === "waiting")
      return { known, best, failed: answers.find(Result.isFailure)?.failure }
    }
  )

/** What those nodes know that answer, as one; fails where none does. */
export const ofAny = <N>(nodes: ReadonlyArray<N>, ask: (node: N) => Effect.Effect<Located, NodeError>) =>
  Effect.flatMap(askEvery(nodes, ask), ({ best, failed, known }): Effect.Effect<Located, NodeError> => {
    if (best?.state === "mined") {
      const others = known.filter((one) => one.state === "mined" && !Bytes.equal(one.hash, best.hash))
      return Effect.succeed({ ...best, ...(others.length === 0 ? {} : { others: others as ReadonlyArray<Mined> }) })
    }
    if (known.length === 0) return Effect.fail(failed!)
    return Effect.succeed({ state: best?.state ?? "absent", ...(failed === undefined ? {} : { isPartial: true }) })
  })

/** The answer of one node. */
export type Answer =
  | { readonly state: "taken" }
  | { readonly state: "refused" | "unanswered"; readonly message: string }

/** Gives something to every node; what `give` fails with was no answer. */
export const toEvery = <N>(nodes: ReadonlyArray<N>, give: (node: N) => Effect.Effect<Answer, NodeError>) =>
  Effect.map(
    Effect.forEach(
      nodes,
      (node) => Effect.catch(give(node), ({ message }) => Effect.succeed<Answer>({ state: "unanswered", message })),
      { concurrency: "unbounded" }
    ),
    (answers): Sent => {
      const first =
        answers.find(({ state }) => state === "taken") ??
        answers.find(({ state }) => state === "unanswered") ??
        answers[0]!
      const isRefused = first.state === "unanswered" && answers.some(({ state }) => state === "refused")
      return isRefused ? { ...first, isRefused } : first
    }
  )

/** What every node knows, as one; what fails may know more than those that have nothing. */
export const ofEvery = <N>(nodes: ReadonlyArray<N>, ask: (node: N) => Effect.Effect<Standing, NodeError>) =>
  Effect.flatMap(askEvery(nodes, ask), ({ best, failed, known }): Effect.Effect<Standing, NodeError> => {
    if (best !== undefined) return Effect.succeed(best)
    if (failed !== undefined) return Effect.fail(failed)
    const isOver = known.some(({ state }) => state === "replaced" || state === "dropped")
    const telling = known.filter((one) => !isOver || one.state !== "absent" || one.hidden !== true)
    const open =
      telling.find(({ state }) => state === "searching") ??
      telling.find((one) => one.state === "absent" && one.mayCome === true) ??
      telling.find(({ state }) => state === "absent")
    return Effect.succeed(open ?? telling[0]!)
  })

/** How many times the fee that is usual at present a transaction may pay, where the settings say nothing. */
export const defaultMaximumFee = 100

/** Why a fee is beyond measure; undefined where it is not. All fees in the same unit; none up to `small` ever is. */
export const feeFault = (
  fee: bigint,
  usual: bigint,
  maximum: number,
  unit: string,
  small?: { readonly fee: bigint; readonly words: string }
): string | undefined => {
  const most = (usual * BigInt(Math.round(maximum * 1_000))) / 1_000n
  if (fee <= most) return undefined
  const isSmall = small !== undefined && small.fee > most
  if (isSmall && fee <= small.fee) return undefined
  const bound = isSmall
    ? `${small.fee} ${unit}, which is ${small.words}`
    : `${most} ${unit}, which is ${maximum} times the present one`
  return `the fee must be at most ${bound}, and is ${fee}: the operator's setting maximumFee`
}
