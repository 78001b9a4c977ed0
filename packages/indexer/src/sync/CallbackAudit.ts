/**
 * Compares what subscriptions were told of a UTXO chain's coins with what the blocks show. Release 0.1 left inputs out of
 * a net whose spent outputs it did not know: payments out were told as coming in, or not at all.
 */

import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { CoinItem, Direction } from "@headwater/core/events/CallbackItem"
import * as Filter from "@headwater/core/events/Filter"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Hash from "@headwater/core/Hash"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { BlockMissing, NodeError } from "../families/node/NodeError.ts"
import type { MinedOutputs } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import * as Completeness from "../store/chain/Completeness.ts"
import * as UtxoSet from "../store/chain/UtxoSet.ts"
import * as ChainRow from "../store/database/ChainRow.ts"
import type { Database, DatabaseError } from "../store/database/Database.ts"
import type * as CoinSubscribers from "../store/subscriptions/CoinSubscribers.ts"
import * as ListedOccurrence from "../store/subscriptions/ListedOccurrence.ts"
import { Retention } from "../store/subscriptions/Outbox.ts"
import * as ToldCoins from "../store/subscriptions/ToldCoins.ts"
import * as SubscribedInputs from "./SubscribedInputs.ts"

export interface Movement {
  readonly direction: Direction
  /** Decimal text in whole coins. */
  readonly amount: string
}

/** A callback that is not known to be right, or the lack of one. */
export interface Finding {
  readonly height: number
  readonly transactionId: string
  readonly address: string
  readonly referenceId: string
  readonly event: string
  /** `missing`: the subscription was never told. */
  readonly verdict: "wrong" | "missing" | "undecided"
  /** Of the callback; undefined where there is none: nothing was told, or is pending still. */
  readonly idempotencyKey: string | undefined
  readonly told: Movement | undefined
  readonly actual: Movement | undefined
  /** Why nothing can be said, for people. */
  readonly reason: string | undefined
  /** Whether a correction is there, or what is pending was put right. */
  readonly corrected: boolean
}

/** How many callbacks and pending ones there are of each kind; what has a correction is not `wrong` any more. */
export interface Summary {
  /** Blocks that were read. */
  readonly blocks: number
  readonly right: number
  readonly wrong: number
  readonly corrected: number
  readonly missing: number
  readonly undecided: number
  /** Blocks that were left out, since steps are still to take back what others told there, which have left the chain. */
  readonly unsettled: number
}

export interface Options {
  /** The first and the last height. */
  readonly from: number
  readonly to: number
  /** Whether blocks that nothing was told of are read too. */
  readonly everyBlock: boolean
  /** Whether wrong callbacks get corrections. */
  readonly correct: boolean
  /** Blocks fetched at the same time. */
  readonly concurrency: number
  readonly onFinding: (finding: Finding) => Effect.Effect<void>
  /** Runs with the height up to which blocks have been looked at. */
  readonly onProgress?: (height: number) => Effect.Effect<void>
}

/** Heights that are asked of the store at a time. */
const pageSize = 256

const reasons = {
  unknownInput: "an input that may be the address's own spends an output that neither the store nor a node shows",
  otherBlock: "the block at this height is another one: a reorganisation is under way, or the store is behind",
  noMovement: "the block shows no such movement of the address"
}

type Read = Block | NodeError | BlockMissing

const movementOf = ({ amount, direction }: Pick<CoinItem, "amount" | "direction">): Movement => ({ direction, amount })

const isSame = (a: Movement, b: Movement) => a.direction === b.direction && a.amount === b.amount

/** What one block says of what was told of it. */
interface Judgement {
  readonly right: number
  readonly findings: ReadonlyArray<Finding>
  readonly corrections: ReadonlyArray<ToldCoins.Correction>
}

const finding = (
  { address, event, reference_id: referenceId }: CoinSubscribers.CoinSubscriber,
  chain: Chain,
  rest: Omit<Finding, "address" | "referenceId" | "event">
): Finding => ({ ...rest, address: Address.encode(chain, address) ?? "", referenceId, event })

const ofTold = (
  chain: Chain,
  height: number,
  { corrected, idempotencyKey, item, subscriber }: ToldCoins.Told,
  rest: Pick<Finding, "verdict"> & Partial<Pick<Finding, "actual" | "reason">>
): Finding =>
  finding(subscriber, chain, {
    ...{ height, idempotencyKey, transactionId: item.transactionId, told: movementOf(item) },
    ...{ actual: undefined, reason: undefined, corrected: rest.verdict === "wrong" && corrected },
    ...rest
  })

/** Nobody can say whether what was told is right. */
const allUndecided = (
  chain: Chain,
  height: number,
  told: ReadonlyArray<ToldCoins.Told>,
  reason: string
): Judgement => ({
  right: 0,
  findings: told.map((one) => ofTold(chain, height, one, { verdict: "undecided", reason })),
  corrections: []
})

export const run = Effect.fn("CallbackAudit.run")(function* (
  source: Source,
  minedOutputs: MinedOutputs | undefined,
  options: Options
): Effect.fn.Return<Summary, NodeError | DatabaseError, Database> {
  const { chain } = source
  const { finishedMillis } = yield* Retention
  const resolve = SubscribedInputs.make(chain, minedOutputs)
  const summary = { blocks: 0, right: 0, wrong: 0, corrected: 0, missing: 0, undecided: 0, unsettled: 0 }

  /**
   * Tells the addresses of which the store remembers every output that the block spends, once what is remembered has been
   * read: a daemon that follows the chain meanwhile goes on forgetting.
   */
  const recordedBefore = Effect.fnUntraced(function* (
    subscribers: SubscribedInputs.SubscribedInputs["subscribers"],
    height: number
  ) {
    const addresses = [...subscribers.values()].flatMap(([first]) => (first === undefined ? [] : [first.address]))
    const recorded = yield* Completeness.of(chain, addresses)
    const row = yield* ChainRow.find(chain)
    const remembers = row !== undefined && UtxoSet.remembersSpent(row, height)
    return (address: Address.AddressBytes) => {
      const { coins } = recorded.get(Bytes.key(address)) ?? Completeness.unknown
      return remembers && coins !== undefined && coins <= height
    }
  })

  const judge = Effect.fnUntraced(function* (
    shown: Block,
    all: ReadonlyArray<ToldCoins.Told>
  ): Effect.fn.Return<Judgement, NodeError | DatabaseError, Database> {
    const { height } = shown
    const { block, subscribers, unknown } = yield* resolve(
      shown,
      all.map(({ subscriber }) => subscriber)
    )
    // Also what a filter keeps back: a wrong amount may have passed that the true one does not.
    const byAddress = new Map(
      [...subscribers].map(([key, own]) => [key, own.map(({ filter: means, ...one }) => ({ ...one, means }))] as const)
    )
    const { occurrences, unresolved } = Matcher.match(chain, block, {
      byAddress,
      blockMined: [],
      metadata: () => ({ name: "", symbol: "", decimals: undefined }),
      hasCoins: yield* recordedBefore(subscribers, height)
    })
    const textOf = (transaction: number) => Hash.encode(chain, block.transactions[transaction]!)
    const truths = new Map(
      // Subscriptions to coins have no other items.
      occurrences.map(({ item, occurrence, subscription }) => {
        const coin = item as CoinItem
        const name = ListedOccurrence.nameFor(subscription, occurrence)
        return [ToldCoins.keyOf(subscription, coin), { subscription, occurrence: name, item: coin }]
      })
    )
    const inDoubt = new Map(
      unresolved.map(({ subscription, transactionId: id }) => {
        const transactionId = Hash.encode(chain, id)
        return [ToldCoins.keyOf(subscription, { transactionId }), { subscription, transactionId }]
      })
    )
    for (const { address, transaction } of unknown) {
      for (const subscription of byAddress.get(Buffer.from(address).toString("hex")) ?? []) {
        const transactionId = textOf(transaction)
        const key = ToldCoins.keyOf(subscription, { transactionId })
        if (!truths.has(key)) inDoubt.set(key, { subscription, transactionId })
      }
    }

    const findings: Array<Finding> = []
    const corrections: Array<ToldCoins.Correction> = []
    let right = 0
    for (const one of all.filter(({ takenBack }) => !takenBack)) {
      const key = ToldCoins.keyOf(one.subscriber, one.item)
      const truth = truths.get(key)
      if (truth === undefined) {
        const reason = inDoubt.has(key) ? reasons.unknownInput : reasons.noMovement
        findings.push(ofTold(chain, height, one, { verdict: "undecided", reason }))
      } else if (isSame(movementOf(one.item), movementOf(truth.item))) {
        right++
      } else {
        findings.push(ofTold(chain, height, one, { verdict: "wrong", actual: movementOf(truth.item) }))
        const { corrected, id, idempotencyKey } = one
        if (corrected || id === undefined) continue
        // The place below an extended public key is the subscription's own.
        const { derivation } = one.item
        const item = derivation === undefined ? truth.item : { ...truth.item, derivation }
        corrections.push({ told: { id, idempotencyKey }, item, occurrence: truth.occurrence })
      }
    }

    // Callbacks of older blocks may have been forgotten: none is missing.
    const keptSince = (yield* Clock.currentTimeMillis) - finishedMillis
    const wasTold = new Set(all.map(({ item, subscriber }) => ToldCoins.keyOf(subscriber, item)))
    const untold = <A extends { readonly subscription: Omit<CoinSubscribers.CoinSubscriber, "filter"> }>(
      all: ReadonlyMap<string, A>
    ) =>
      [...all].flatMap(([key, one]) => {
        const { active, fromHeight = -1 } = one.subscription
        return active && fromHeight < height && !wasTold.has(key) && block.time * 1000 >= keptSince ? [one] : []
      })
    const nothingTold = { height, idempotencyKey: undefined, told: undefined, corrected: false }
    for (const { item, subscription } of untold(truths)) {
      if (!Filter.passes(subscription.means, item)) continue
      const { transactionId } = item
      const rest = { transactionId, actual: movementOf(item), reason: undefined, verdict: "missing" as const }
      findings.push(finding(subscription, chain, { ...nothingTold, ...rest }))
    }
    for (const { subscription, transactionId } of untold(inDoubt)) {
      const rest = { transactionId, actual: undefined, reason: reasons.unknownInput, verdict: "undecided" as const }
      findings.push(finding(subscription, chain, { ...nothingTold, ...rest }))
    }
    return { right, findings, corrections }
  })

  const judgeBlock = Effect.fnUntraced(function* (height: number, read: Read) {
    if ("_tag" in read) {
      const told = yield* ToldCoins.of(chain, { height, hash: new Uint8Array() })
      return allUndecided(
        chain,
        height,
        told.filter(({ takenBack }) => !takenBack),
        read.message
      )
    }
    const all = yield* ToldCoins.of(chain, read)
    const hash = Hash.encode(chain, read.hash)
    const told = all.filter(({ takenBack }) => !takenBack)
    if (told.some(({ item }) => item.minedInBlock.hash !== hash)) {
      return allUndecided(chain, height, told, reasons.otherBlock)
    }
    return yield* judge(read, all)
  })

  const audit = Effect.fnUntraced(function* (height: number, read: Read) {
    if (yield* ToldCoins.areUnsettled(chain, height)) {
      summary.unsettled++
      return
    }
    const { corrections, findings, right } = yield* judgeBlock(height, read)
    const corrected =
      options.correct && corrections.length > 0 && !("_tag" in read)
        ? yield* ToldCoins.correct(chain, read, corrections)
        : false
    summary.blocks++
    summary.right += right
    for (const one of findings) {
      const found = corrected && one.verdict === "wrong" ? { ...one, corrected } : one
      summary[found.corrected ? "corrected" : found.verdict]++
      yield* options.onFinding(found)
    }
    if (options.onProgress !== undefined) yield* options.onProgress(height)
  })

  /** A node that cannot be reached ends the audit; any other failure is that of a block. */
  const readBlock = (height: number) =>
    source.blockAt(height).pipe(
      Effect.catchTag(
        ["BlockMissing", "NodeRejected", "NodeInconsistent", "ProofFailed"],
        (error): Effect.Effect<Read> => Effect.succeed(error)
      ),
      Effect.map((read) => ({ height, read }))
    )

  const nextHeights = (after: number) =>
    options.everyBlock
      ? Effect.succeed(Array.from({ length: Math.min(pageSize, options.to - after) }, (_, i) => after + 1 + i))
      : ToldCoins.heights(chain, { after, to: options.to }, pageSize)

  for (let after = options.from - 1; after < options.to; ) {
    const heights = yield* nextHeights(after)
    yield* Stream.fromIterable(heights).pipe(
      Stream.mapEffect(readBlock, { concurrency: options.concurrency }),
      Stream.runForEach(({ height, read }) => audit(height, read))
    )
    after = heights.length < pageSize ? options.to : heights.at(-1)!
  }
  if (options.onProgress !== undefined) yield* options.onProgress(options.to)
  return summary
})
