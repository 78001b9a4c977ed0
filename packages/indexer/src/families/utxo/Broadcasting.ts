/**
 * Signed transactions of UTXO chains: decoded and checked, given to the nodes, and looked for there. Nothing here needs an
 * index of transactions.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Broadcasting from "../Broadcasting.ts"
import type { Call, JsonRpc, Nodes } from "../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../node/NodeError.ts"
import * as BlockBody from "./internal/BlockBody.ts"
import type { Parameters } from "./internal/Capabilities.ts"
import * as FeeMeasure from "./internal/FeeMeasure.ts"
import { reading } from "./internal/Malformed.ts"
import * as MinedSearch from "./internal/MinedSearch.ts"
import { consistent, isBeingIndexed, isNoTransaction } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"
import { RawBytes } from "./internal/RawBytes.ts"
import * as RawTransaction from "./internal/RawTransaction.ts"
import * as RawZcashTransaction from "./internal/RawZcashTransaction.ts"
import * as WholeTransaction from "./WholeTransaction.ts"

export interface Options {
  readonly maximumFee: number
  /** The second argument of `getrawtransaction` that the chain's node takes. */
  readonly verbose: Parameters
}

interface Decoded {
  readonly id: Uint8Array
  readonly body: BlockBody.BlockBody
  /** What all outputs are of, also those that nobody can spend: on Dash such a one is what goes to the Platform (DIP-27). */
  readonly paid: bigint
  /** Whether all that it moves is in its inputs and outputs, so that their difference is its fee. */
  readonly isTransparent: boolean
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

const methodNotFound = -32601
const isMissing = ({ code, message }: NodeRejected): boolean =>
  code === methodNotFound || /method not found/i.test(message)

/** Of a transaction without inputs in plain sight, or with a coinbase's. */
const noInputs = Broadcasting.invalid("must have inputs, none of which makes new coins")

const sumOf = (outputs: ReadonlyArray<{ readonly amount: bigint }>) =>
  outputs.reduce((sum, { amount }) => sum + amount, 0n)

/** The transaction by its own bytes; Zebra decodes none that is not in a block or in its mempool. */
const ownZcashDecoding = (chain: Chain, raw: Uint8Array): Result.Result<Decoded, string> =>
  Result.map(WholeTransaction.decode(chain, raw), ({ id, outputs, shielded }) => {
    const body = BlockBody.empty()
    RawZcashTransaction.read(new RawBytes(raw), chain, 0, body)
    const isTransparent = Object.values(shielded ?? {}).every((parts) => parts === 0)
    return { id, body, paid: sumOf(outputs), isTransparent }
  })

/** The transaction by its own bytes; parts in MWEB are not read here. */
const ownDecoding = (chain: Chain, raw: Uint8Array): Result.Result<Decoded, string> =>
  Result.flatMap(WholeTransaction.decode(chain, raw), ({ outputs }) =>
    reading(() => {
      const body = BlockBody.empty()
      RawTransaction.read(new RawBytes(raw), chain, 0, body)
      return { id: body.transactions[0]!, body, paid: sumOf(outputs), isTransparent: true }
    })
  )

/** Parts of a decoded transaction that move coins unseen: shielded ones, and those of MWEB. */
const isTransparent = (json: NodeJson.Json): boolean => {
  const isEmpty = (part: unknown) => part === undefined || (Array.isArray(part) && part.length === 0)
  const { ironwood, orchard, vin, vjoinsplit, vShieldedOutput, vShieldedSpend } = json
  const actions = [ironwood, orchard].map((pool) => (Predicate.isReadonlyObject(pool) ? pool.actions : undefined))
  const isPlain =
    !Array.isArray(vin) || vin.every((input) => Predicate.isReadonlyObject(input) && input.ismweb !== true)
  return isPlain && [...actions, vjoinsplit, vShieldedOutput, vShieldedSpend].every(isEmpty)
}

/** The transaction as a node decodes it. */
const nodeDecoding = Effect.fnUntraced(function* (chain: Chain, rpc: JsonRpc, raw: Uint8Array) {
  const answer = yield* Effect.catchTag(
    rpc.call("decoderawtransaction", [hex(raw)], "decimalText"),
    "NodeRejected",
    (error) =>
      Effect.fail(
        isMissing(error)
          ? error
          : Broadcasting.invalid(`must be a transaction of ${chain.blockchain}: ${error.message}`)
      )
  )
  return yield* consistent(rpc, "decoderawtransaction", (): Decoded => {
    const json = NodeJson.record(answer, () => "the answer")
    const body = BlockBody.empty()
    // It has no part that takes long: the steps are gone through at once.
    Array.from(NodeTransaction.read(chain, json, 0, body))
    const id = NodeJson.hash(json.txid, () => "txid")
    const outputs = NodeJson.list(json.vout, () => "vout").flatMap((output) =>
      Predicate.isReadonlyObject(output) && output.ismweb === true
        ? []
        : NodeTransaction.readOutput(chain, output, () => "vout")
    )
    const whole = body.notUnderstood === undefined && isTransparent(json)
    return { id, body, paid: sumOf(outputs), isTransparent: whole }
  })
})

const outpointText = ({ index, transactionId }: { readonly index: number; readonly transactionId: Uint8Array }) =>
  `${hex(transactionId)}:${index}`

/** `gettxout` of outpoints: what each answers, or undefined as a whole where the node cannot be asked. */
const unspent = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  outpoints: ReadonlyArray<{ readonly index: number; readonly transactionId: Uint8Array }>,
  withMempool: boolean
) {
  const found: Array<NodeJson.Json | undefined> = []
  const calls = outpoints.map(
    ({ index, transactionId }): Call => ({ method: "gettxout", params: [hex(transactionId), index, withMempool] })
  )
  for (const result of yield* rpc.results(calls, "decimalText")) {
    if (Result.isFailure(result)) {
      if (isMissing(result.failure)) return undefined
      return yield* result.failure
    }
    found.push(Predicate.isReadonlyObject(result.success) ? result.success : undefined)
  }
  return found
})

/** Nodes relay no more virtual bytes that wait for one another (`-limitancestorsize`). */
const mostBefore = 101_000

/** Outputs by which a mined transaction is found; all that are spent already show nothing. */
const outputsAsked = 20
const firstPositions = Array.from({ length: outputsAsked }, (_, position) => position)

/** Refusals that say that the transaction is there, the last two in the words of Zebra: -27 where a block has it. */
const isKnown =
  /already in (?:block ?chain|utxo set|mempool)|already-in-mempool|already-known|txn-already|already exists in mempool|committed to the best chain/i
const alreadyInChain = -27
/** -22 not decoded, -25 inputs, -26 rules of the mempool. */
const refusals: ReadonlySet<number> = new Set([-22, -25, -26])

const answerTo = ({ code, message }: NodeRejected): Broadcasting.Answer => {
  if (code === alreadyInChain || isKnown.test(message)) return { state: "taken" }
  const isRefusal = refusals.has(code) || /bad-txns|mandatory|insufficient|dust|fee/i.test(message)
  return { state: isRefusal ? "refused" : "unanswered", message }
}

/** The node does not know yet whether a block has the transaction. */
const isIndexing = (error: NodeError): boolean => error._tag === "NodeRejected" && isBeingIndexed(error)

const give = (raw: Uint8Array) => (node: JsonRpc) =>
  node.call("sendrawtransaction", [hex(raw)]).pipe(
    Effect.as<Broadcasting.Answer>({ state: "taken" }),
    Effect.catchTag("NodeRejected", (error) => Effect.succeed(answerTo(error)))
  )

const isScriptFault = /script-verify-flag|bad-txns-(?!inputs)|tx-size|scriptsig|scriptpubkey|dust|^version$|^coinbase$/i

export const make = (chain: Chain, rpc: Nodes, { maximumFee, verbose }: Options): Broadcasting.Broadcasting => {
  const feeFault = FeeMeasure.make(chain, rpc, maximumFee)

  const decode = Effect.fnUntraced(function* (raw: Uint8Array) {
    const own = (chain.utxo!.wireFormat === "zcash" ? ownZcashDecoding : ownDecoding)(chain, raw)
    return Result.isSuccess(own) ? own.success : yield* nodeDecoding(chain, rpc, raw)
  })

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
    const found = yield* unspent(
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
   * The first input that neither a block nor the mempool has unspent, whether all are like that, as they are where the
   * transaction itself is mined, and the blocks by which the others are unspent; undefined where the node cannot say.
   */
  const goneInputs = Effect.fnUntraced(function* (node: JsonRpc, { body }: Decoded) {
    const outpoints = body.spends.map(({ outpoint }) => outpoint)
    // An output of a transaction that waits is in the mempool alone, one that another spends there in the blocks alone.
    const waiting = yield* unspent(node, outpoints, true)
    const inBlocks = yield* unspent(node, outpoints, false)
    if (waiting === undefined || inBlocks === undefined) return undefined
    const gone = outpoints.filter((_, i) => (waiting[i] ?? inBlocks[i]) === undefined)
    const blocks = new Set([...waiting, ...inBlocks].flatMap((output) => output?.bestblock ?? []))
    return { first: gone[0], areAll: gone.length === outpoints.length, blocks: [...blocks] }
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

  const standingAt = (decoded: Decoded, since: number | undefined) =>
    Effect.fnUntraced(function* (node: JsonRpc): Effect.fn.Return<Broadcasting.Standing, NodeError> {
      const positions = [...new Set(decoded.body.transfers.map(({ position }) => position))].slice(0, outputsAsked)
      const byIndex = yield* Effect.catchIf(byId(node, decoded.id), isIndexing, () => Effect.undefined)
      const found = byIndex ?? (yield* byOutputs(node, decoded.id, positions))
      if (found !== undefined) return found
      const inputs = yield* goneInputs(node, decoded)
      // Mined it would have spent them all.
      const mayBeMined = inputs === undefined || inputs.areAll
      const mined = mayBeMined ? yield* search(node, decoded.id, since) : ({ state: "nowhere" } as const)
      if (mined.state === "mined" || mined.state === "searching") return mined
      if (mined.state === "hidden") return { state: "absent", mayCome: true }
      if (inputs !== undefined && (yield* isBefore(node, inputs.blocks, since)))
        return { state: "absent", mayCome: true }
      if (inputs?.first === undefined) return { state: "absent" }
      const message = `its input ${outpointText(inputs.first)} is spent by another transaction, or no longer there`
      return { state: "replaced", message }
    })

  /** The value of all inputs, and the transactions among their makers that wait; undefined where the node cannot say. */
  const inputsOf = Effect.fnUntraced(function* ({ body }: Decoded) {
    const outpoints = body.spends.map(({ outpoint }) => outpoint)
    const seen = yield* unspent(rpc, outpoints, true)
    if (seen === undefined) return undefined
    // What a waiting transaction spends, this one may replace.
    const inBlocks = seen.includes(undefined) ? yield* unspent(rpc, outpoints, false) : []
    let sum = 0n
    const waiting = new Set<string>()
    for (const [i, outpoint] of outpoints.entries()) {
      const output = seen[i] ?? inBlocks?.[i]
      if (output === undefined) {
        return yield* Broadcasting.contradicted(
          `the input ${i}, ${outpointText(outpoint)}, must be an unspent output: the node has none`
        )
      }
      sum += yield* consistent(
        rpc,
        "gettxout",
        () => NodeTransaction.readOutput(chain, output, () => "the output").amount
      )
      if (output.confirmations === 0) waiting.add(hex(outpoint.transactionId))
    }
    return { sum, waiting }
  })

  /** Virtual bytes that wait for a block before a transaction, and that its fee may be for (child pays for parent). */
  const sizeBefore = Effect.fnUntraced(function* (waiting: ReadonlySet<string>) {
    const entries = yield* rpc.results(
      [...waiting].map((id) => ({ method: "getmempoolentry", params: [id] })),
      "decimalText"
    )
    const sizes = entries.map((entry) => {
      if (Result.isFailure(entry) || !Predicate.isReadonlyObject(entry.success)) return 0
      const { ancestorsize, size, vsize } = entry.success
      return Result.getOrElse(
        reading(() => NodeJson.count(ancestorsize ?? vsize ?? size, () => "ancestorsize")),
        () => 0
      )
    })
    return Math.min(
      mostBefore,
      sizes.reduce((sum, size) => sum + size, 0)
    )
  })

  /** What the node's mempool would say, where it can be asked beforehand. */
  const checkMempool = Effect.fnUntraced(function* (raw: Uint8Array) {
    const answer = yield* Effect.result(rpc.call("testmempoolaccept", [[hex(raw)]]))
    if (Result.isFailure(answer)) {
      if (answer.failure._tag !== "NodeRejected") return yield* answer.failure
      return
    }
    const [first] = Array.isArray(answer.success) ? (answer.success as ReadonlyArray<unknown>) : []
    if (!Predicate.isReadonlyObject(first) || first.allowed !== false) return
    const reason = String(first["reject-reason"] ?? "no reason given").slice(0, 200)
    if (isKnown.test(reason)) return
    return yield* isScriptFault.test(reason)
      ? Broadcasting.invalid(`must be valid, its signatures too; the node says: ${reason}`)
      : Broadcasting.contradicted(`the node would refuse it: ${reason}`)
  })

  return {
    idOf: Effect.fn("UtxoBroadcasting.idOf")(function* (raw) {
      const { body, id, isTransparent } = yield* decode(raw)
      if (isTransparent && body.spends.length === 0) return yield* noInputs
      return id
    }),
    check: Effect.fn("UtxoBroadcasting.check")(function* (raw) {
      const decoded = yield* decode(raw)
      const inputs = yield* inputsOf(decoded)
      if (inputs !== undefined && decoded.isTransparent) {
        const fee = inputs.sum - decoded.paid
        if (fee < 0n) return yield* Broadcasting.invalid("its outputs must be at most its inputs")
        // By bytes, since nodes count less for those of a witness: that never refuses what they would take.
        const ofItself = yield* feeFault(fee, raw.length)
        const isForOthers = ofItself !== undefined && inputs.waiting.size > 0
        const fault = isForOthers ? yield* feeFault(fee, raw.length + (yield* sizeBefore(inputs.waiting))) : ofItself
        if (fault !== undefined) return yield* Broadcasting.invalid(fault)
      }
      yield* checkMempool(raw)
    }),
    send: Effect.fn("UtxoBroadcasting.send")((raw) => Broadcasting.toEvery(rpc.each, give(raw))),
    standing: Effect.fn("UtxoBroadcasting.standing")(function* (raw, since) {
      const decoded = yield* Effect.catchTag(decode(raw), "BroadcastRefused", Effect.die)
      return yield* Broadcasting.ofEvery(rpc.each, standingAt(decoded, since))
    }),
    find: Effect.fn("UtxoBroadcasting.find")((id, upTo) => Broadcasting.ofAny(rpc.each, locatedAt(id, upTo)))
  }
}
