/** What became of a signed transaction, and where it is, as one node knows. Nothing here needs an index of transactions. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Broadcasting from "../../Broadcasting.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"
import type { Parameters } from "./Capabilities.ts"
import * as MinedSearch from "./MinedSearch.ts"
import { consistent, isBeingIndexed, isNoTransaction } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"
import type { SignedTransaction } from "./SignedTransaction.ts"
import * as UnspentOutputs from "./UnspentOutputs.ts"

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Outputs by which a mined transaction is found; all that are spent already show nothing. */
const outputsAsked = 20
const firstPositions = Array.from({ length: outputsAsked }, (_, position) => position)

/** The node does not know yet whether a block has the transaction. */
const isIndexing = (error: NodeError): boolean => error._tag === "NodeRejected" && isBeingIndexed(error)

/** `verbose` is the second argument of `getrawtransaction` that the chain's node takes. */
export const make = (verbose: Parameters) => {
  /** The place of a block of the node's chain; undefined where it has left. */
  const placeOf = Effect.fnUntraced(function* (node: JsonRpc, block: unknown) {
    const answer = yield* node.call("getblockheader", [block])
    return yield* consistent(node, "getblockheader", () => {
      const header = NodeJson.record(answer, () => "the header")
      const confirmations = Number(header.confirmations)
      return confirmations > 0
        ? { height: NodeJson.count(header.height, () => "height"), hash: NodeJson.hash(header.hash, () => "hash") }
        : undefined
    })
  })

  const mined = (place: { readonly height: number; readonly hash: Uint8Array }): Broadcasting.Located => ({
    state: "mined",
    ...place
  })

  /**
   * By the transaction itself: at a node with an index of transactions, and in the mempool of any. Fails where the index is
   * being made.
   */
  const byId = Effect.fnUntraced(function* (
    node: JsonRpc,
    id: Uint8Array
  ): Effect.fn.Return<Broadcasting.Located | undefined, NodeError> {
    const found = yield* Effect.result(node.call("getrawtransaction", [hex(id), ...verbose]))
    if (Result.isFailure(found)) {
      const isAnswer = found.failure._tag === "NodeRejected" && isNoTransaction(found.failure)
      if (isAnswer && !isIndexing(found.failure)) return undefined
      return yield* found.failure
    }
    const { blockhash } = Predicate.isReadonlyObject(found.success) ? found.success : {}
    if (typeof blockhash !== "string") return { state: "waiting" }
    const place = yield* placeOf(node, blockhash)
    return place === undefined ? undefined : mined(place)
  })

  /** By its unspent outputs, each of which says how many blocks ago it was mined. */
  const byOutputs = Effect.fnUntraced(function* (node: JsonRpc, id: Uint8Array, positions: ReadonlyArray<number>) {
    const found = yield* UnspentOutputs.find(
      node,
      positions.map((index) => ({ transactionId: id, index })),
      false
    )
    const output = found?.find((each) => each !== undefined)
    if (output === undefined) return undefined
    const best = yield* placeOf(node, output.bestblock)
    if (best === undefined) return undefined
    const height = best.height - Number(output.confirmations) + 1
    const answer = yield* node.call("getblockhash", [height])
    return mined({
      height,
      hash: yield* consistent(node, "getblockhash", () => NodeJson.hash(answer, () => "the hash"))
    })
  })

  const search = MinedSearch.make()

  const inBlocksUpTo = MinedSearch.recent()

  /** By the id alone: what no index and no unspent output shows may still be in one of the blocks up to a height. */
  const locatedAt = (id: Uint8Array, upTo: number) =>
    Effect.fnUntraced(function* (node: JsonRpc): Effect.fn.Return<Broadcasting.Located, NodeError> {
      const own = yield* Effect.result(byId(node, id))
      if (Result.isFailure(own) && !isIndexing(own.failure)) return yield* own.failure
      const byIndex = Result.isSuccess(own) ? own.success : undefined
      const found = byIndex ?? (yield* byOutputs(node, id, firstPositions)) ?? (yield* inBlocksUpTo(node, id, upTo))
      if (found === undefined && Result.isFailure(own)) return yield* own.failure
      return found ?? { state: "absent" }
    })

  /**
   * The first input that no block has unspent, nor the mempool, where a waiting transaction may spend it, whether the transaction
   * itself may be mined, and have spent all, and the blocks by which the others are unspent; undefined where the node cannot say.
   */
  const goneInputs = Effect.fnUntraced(function* (node: JsonRpc, { body }: SignedTransaction) {
    const outpoints = body.spends.map(({ outpoint }) => outpoint)
    // An output of a transaction that waits is in the mempool alone, one that another spends there in the blocks alone.
    const unspent = yield* UnspentOutputs.find(node, outpoints, true)
    const inBlocks = yield* UnspentOutputs.find(node, outpoints, false)
    if (unspent === undefined || inBlocks === undefined) return undefined
    const unseen = outpoints.filter((_, i) => (unspent[i] ?? inBlocks[i]) === undefined)
    const blocks = new Set([...unspent, ...inBlocks].flatMap((output) => output?.bestblock ?? []))
    // Where a waiting one spends what another waiting one makes, neither shows it.
    const inMempool = UnspentOutputs.waiting(node, verbose)
    let first: UnspentOutputs.Outpoint | undefined
    for (const outpoint of unseen) {
      if ((yield* inMempool(outpoint)) !== undefined) continue
      first = outpoint
      break
    }
    const mayBeMined = unseen.length === outpoints.length && first === unseen[0]
    return { first, mayBeMined, blocks: [...blocks] }
  })

  /**
   * Whether any of these blocks, by which a node has answered, is below a height at which the transaction was not mined yet:
   * behind one address another node may have answered that stands still, and knows nothing of what came since.
   */
  const isBefore = Effect.fnUntraced(function* (
    node: JsonRpc,
    blocks: ReadonlyArray<unknown>,
    since: number | undefined
  ) {
    if (since === undefined) return false
    for (const block of blocks) {
      const place = yield* Effect.catchTag(placeOf(node, block), "NodeRejected", () => Effect.undefined)
      if (place !== undefined && place.height < since) return true
    }
    return false
  })

  const standingAt = (decoded: SignedTransaction, since: number | undefined) =>
    Effect.fnUntraced(function* (node: JsonRpc): Effect.fn.Return<Broadcasting.Standing, NodeError> {
      const positions = [...new Set(decoded.body.transfers.map(({ position }) => position))].slice(0, outputsAsked)
      const byIndex = yield* Effect.catchIf(byId(node, decoded.id), isIndexing, () => Effect.undefined)
      const found = byIndex ?? (yield* byOutputs(node, decoded.id, positions))
      if (found !== undefined) return found
      const inputs = yield* goneInputs(node, decoded)
      const mined = inputs?.mayBeMined !== false ? yield* search(node, decoded, since) : ({ state: "nowhere" } as const)
      if (mined.state === "mined" || mined.state === "searching") return mined
      if (mined.state === "hidden") return { state: "absent", mayCome: true }
      if (inputs !== undefined && (yield* isBefore(node, inputs.blocks, since)))
        return { state: "absent", mayCome: true }
      if (inputs?.first === undefined) return { state: "absent" }
      const message = `its input ${UnspentOutputs.textOf(inputs.first)} is spent by another transaction, or no longer there`
      return { state: "replaced", message }
    })

  return { locatedAt, standingAt }
}
