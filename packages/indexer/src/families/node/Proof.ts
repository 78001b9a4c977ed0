/** How far the blocks of a node are proved before they are committed: a setting of each chain. */
import type { UnprovenPart } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ProofFailed } from "./NodeError.ts"
import * as PrintableText from "./PrintableText.ts"

/**
 * `links`: parts belong together, and each block names the one before. `roots`: what the hashes and roots of a block
 * commit to is hashed again. `full`: signatures as well, so that senders are proved.
 *
 * A part that nothing commits to, or that is not understood, is an `UnprovenPart` of its block, at every level; one that
 * does not fit what commits to the part is a `ProofFailed`.
 */
export const Level = Schema.Literals(["links", "roots", "full"])
export type Level = typeof Level.Type

/** A part without proof that nothing in the chain commits to. */
export const uncommitted = (part: string, reason: string): UnprovenPart => ({ part, cause: "uncommitted", reason })

/** A part without proof whose form is not known; the reason may hold words of the node. */
export const unknown = (part: string, reason: string): UnprovenPart => ({
  part,
  cause: "unknown",
  reason: PrintableText.of(reason, 200)
})

/**
 * What does not fit what commits to it, by the `content` of `ProofFailed`, and is said by every node: then the form is not
 * known, which is unproven and no lie.
 */
export type Believed = ReadonlySet<string>

export const believeNothing: Believed = new Set()

/** What the proof of a block came to. */
export interface Outcome {
  /** The part that does not fit what commits to it, and to what. */
  readonly mismatch: string | undefined
  readonly unproven: ReadonlyArray<UnprovenPart>
}

/** Nothing to prove, or everything proved. */
export const nothing: Outcome = { mismatch: undefined, unproven: [] }

/** Everything proved but these parts. */
export const allBut = (...unproven: ReadonlyArray<UnprovenPart>): Outcome => ({ mismatch: undefined, unproven })

export const mismatch = (message: string): Outcome => ({ mismatch: message, unproven: [] })

/** The unproven parts, or `ProofFailed` of the node that answered to `method`. */
export const unprovenOf = (
  { mismatch, unproven }: Outcome,
  from: { readonly node: string; readonly method: string }
): Effect.Effect<ReadonlyArray<UnprovenPart>, ProofFailed> =>
  mismatch === undefined ? Effect.succeed(unproven) : Effect.fail(new ProofFailed({ ...from, message: mismatch }))

/** What stands of a chain's blocks without proof since the chain is followed by this process. */
export interface Unproven extends UnprovenPart {
  /** The newest block with such a part. */
  readonly height: number
  /** How many blocks have had such a part. */
  readonly blocks: number
}

/** Adds what one more block has without proof. A part is listed once, with the reason of the newest block. */
export const add = (
  before: ReadonlyArray<Unproven>,
  block: { readonly height: number; readonly unproven?: ReadonlyArray<UnprovenPart> }
): ReadonlyArray<Unproven> =>
  (block.unproven ?? []).reduce((listed, part) => {
    const blocks = (listed.find((other) => other.part === part.part)?.blocks ?? 0) + 1
    return [...listed.filter((other) => other.part !== part.part), { ...part, height: block.height, blocks }]
  }, before)

/** An unproven part for the operator. */
export const describe = ({ blocks, height, part, reason }: Unproven): string =>
  `${part} without proof (${reason}) in ${blocks === 1 ? `block ${height}` : `${blocks} blocks, last in ${height}`}`
