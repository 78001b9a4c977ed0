/** Errors between Headwater and a chain node. Each of them is worth another try, and none of them is data. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The node did not answer: refused, reset, timed out, HTTP status, unreadable body. */
export class NodeUnreachable extends Schema.TaggedError<NodeUnreachable>()("NodeUnreachable", {
  /** Host and port only: a node URL may hold a secret. */
  node: Schema.String,
  method: Schema.String,
  message: Schema.String
}) {}

/** The node answered with an error of its own, or with more than we take: see {@link isTooLarge}. */
export class NodeRejected extends Schema.TaggedError<NodeRejected>()("NodeRejected", {
  node: Schema.String,
  method: Schema.String,
  // JSON has numbers that are infinite here.
  // @effect-diagnostics-next-line schemaNumber:off
  code: Schema.Number,
  message: Schema.String
}) {}

/** The code of a `NodeRejected` for an answer that was too large for us: geth's for one that is too large for itself. */
const tooLargeCode = -32003

/** Codes of nodes for answers above their limits: geth, and jsonrpsee (reth, Zebra) for an answer and for a batch. */
const tooLargeCodes: ReadonlySet<number> = new Set([tooLargeCode, -32008, -32011])

/** An answer was broken off since it was above our limit. */
export const answerTooLarge = (node: string, method: string, message: string) =>
  new NodeRejected({ node, method, code: tooLargeCode, message })

/** The node's answer contradicts itself or what it said before: missing, short, foreign or malformed parts. */
export class NodeInconsistent extends Schema.TaggedError<NodeInconsistent>()("NodeInconsistent", {
  node: Schema.String,
  method: Schema.String,
  message: Schema.String
}) {}

/**
 * The node's block does not fit a hash, root or signature that commits to its content: the node lies or is broken, and
 * nothing of the block may be used.
 */
export class ProofFailed extends Schema.TaggedError<ProofFailed>()("ProofFailed", {
  node: Schema.String,
  method: Schema.String,
  /** The part, and what it does not fit. */
  message: Schema.String,
  /**
   * What was hashed, and the hash that it should have: where every node says the same, it is the form that is not known.
   * Absent where the form is certain.
   */
  content: Schema.optionalKey(Schema.String)
}) {}

/** The node does not have this block (yet): `null`, "block not found", height out of range. */
export class BlockMissing extends Schema.TaggedError<BlockMissing>()("BlockMissing", {
  node: Schema.String,
  block: Schema.String
}) {
  override get message() {
    return `${this.node} does not have block ${this.block}`
  }
}

export type NodeError = NodeUnreachable | NodeRejected | NodeInconsistent | ProofFailed | BlockMissing

/** Undefined where the node does not have the block. */
export const orNone = <A>(asked: Effect.Effect<A, NodeError>) =>
  Effect.catchTag(asked, "BlockMissing", () => Effect.undefined)

/** Asks again where answers contradict each other: the chain may have changed while they were asked for. */
export const untilConsistent = <A>(asked: Effect.Effect<A, NodeError>): Effect.Effect<A, NodeError> =>
  Effect.retry(asked, { times: 2, while: ({ _tag }) => _tag === "NodeInconsistent" })

/** Whether an answer was too large, for us or for the node: its parts may be had one by one. */
export const isTooLarge = (error: NodeError): boolean =>
  error._tag === "NodeRejected" &&
  (tooLargeCodes.has(error.code) || /(?:response|answer) (?:is )?too (?:large|big)|response size/i.test(error.message))

/**
 * Codes of refusals that pass: -28 bitcoind warming up, -32005 limit exceeded (EIP-1474), -32029 and 429 too many
 * requests at hosted nodes.
 */
const passingCodes: ReadonlySet<number> = new Set([-28, -32005, -32029, 429])
const passingText = /rate limit|too many requests|server (?:is )?busy|warming up|loading block index/i

/** Whether a node has refused what the same node may answer a while later. */
export const isRefusedForNow = (error: NodeError): boolean =>
  error._tag === "NodeRejected" && (passingCodes.has(error.code) || passingText.test(error.message))
