/**
 * Reads the past of addresses that accounts have synced, beside the commits of blocks and holding up none.
 *
 * First the tokens: the node's logs say which blocks have transfers of the addresses, in ranges as large as the node
 * answers, and those blocks are entered again with the addresses watched. How far that has come is a row, so that a sync
 * that was killed goes on where it was.
 *
 * Then the coins: an account without code whose nonce and balance are the same after two blocks has neither sent nor
 * received anything in between, so the blocks that moved its coins are found by bisection, where the node keeps the
 * states of old blocks. They are entered again as well. Where the account was unused before the first of all, the history
 * is known from the beginning. Internal transactions are kept for some days: of what was used before, the history stays
 * as it was.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { NodeError } from "../families/node/NodeError.ts"
import type { AccountState, PastSource } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import * as PastReading from "../store/addresses/PastReading.ts"
import type { ChainStore, NotRecorded } from "../store/chain/ChainStore.ts"
import * as Completeness from "../store/chain/Completeness.ts"
import * as InternalRetention from "../store/chain/InternalRetention.ts"
import type { TokensUnknown } from "../store/chain/Tokens.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as UnixTime from "../UnixTime.ts"
import { type Pace, retryForever } from "./RetryForever.ts"
import * as TokenNames from "./TokenNames.ts"

export interface Options extends Pace {
  /** Blocks fetched at the same time. */
  readonly concurrency: number
}

type Failure = NodeError | NotOfChain | NotRecorded | TokensUnknown | DatabaseError

export interface AddressSync {
  /**
   * Reads the past of every address that waits for it. What fails for some of them holds up no other: the step fails with
   * the first such failure at its end.
   */
  readonly step: Effect.Effect<void, Failure>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/** Addresses of one question about logs. */
const batchSize = 100
/** Blocks of the first question about logs, and of the largest. */
const firstRange = 10_000
const largestRange = 1_000_000
/** Blocks with transfers that one answer should have: the logs of all of them are in memory at once. */
const blocksOfAnswer = 1_000
/** States that are asked for to find the coins of one address. */
const probeLimit = 20_000
/** A block this much younger than the oldest whose internal transactions are kept is not about to lose them. */
const marginSeconds = 3_600

/** The logs that a node has shown are of another branch than the recorded blocks. */
class NotOfChain extends Schema.TaggedError<NotOfChain>()("NotOfChain", { block: Schema.Int }) {
  override get message() {
    return `the node's block ${this.block} is not the recorded one`
  }
}

/** What moved an address's coins cannot be found, or not be entered as a whole; why. */
class HistoryUnknown extends Schema.TaggedError<HistoryUnknown>()("HistoryUnknown", { message: Schema.String }) {}

interface At extends AccountState {
  readonly height: number
}

const unused: AccountState = { nonce: 0, balance: 0n, hasCode: false }

const isSame = (a: AccountState, b: AccountState) => a.nonce === b.nonce && a.balance === b.balance

export const make = Effect.fn("AddressSync.make")(function* (
  source: Source,
  past: PastSource,
  store: ChainStore,
  options: Options
) {
  const database = yield* Database
  const { chain } = source
  let range = firstRange

  const enter = (block: Block, internalFrom: number | undefined) =>
    TokenNames.withTokens(source, store, [block], (learned) =>
      store.reprocess(block, { callbacks: false, earlier: true, internalFrom, learned })
    )

  const fetched = (heights: ReadonlyArray<number>) =>
    Stream.fromIterable(heights).pipe(
      Stream.mapEffect((height) => source.blockAt(height), { concurrency: options.concurrency })
    )

  /** Heights with token transfers from `from` on, as far as the node answers at once. */
  const find = Effect.fnUntraced(function* (addresses: ReadonlyArray<AddressBytes>, from: number, last: number) {
    while (true) {
      const to = Math.min(last, from + range - 1)
      const found = yield* Effect.result(past.tokenBlocks(addresses, from, to))
      if (found._tag === "Success") {
        const { hash, heights } = found.success
        const stored = yield* store.hashAt(to)
        if (stored !== undefined && !Bytes.equal(stored, hash)) return yield* new NotOfChain({ block: to })
        const span = to - from + 1
        if (heights.length > blocksOfAnswer) range = Math.max(1, Math.floor((span * blocksOfAnswer) / heights.length))
        else if (span === range && heights.length * 2 <= blocksOfAnswer) range = Math.min(range * 2, largestRange)
        return { heights, to }
      }
      const span = to - from + 1
      range = Math.max(1, Math.floor(span / 2))
      if (span === 1 || found.failure._tag !== "NodeRejected") return yield* found.failure
    }
  })

  /** Reads the next range of logs, for the addresses that are all at the first one's block. */
  const readTokens = Effect.fnUntraced(function* (waiting: ReadonlyArray<PastReading.SyncingAddress>, next: number) {
    const together = waiting.filter((address) => address.next === next)
    const others = waiting.filter((address) => address.next > next).map((address) => address.next - 1)
    const last = Math.min(...together.map((address) => address.last), ...others)
    const addresses = together.map(({ address }) => address)
    const { heights, to } = yield* find(addresses, next, Math.max(next, last))
    yield* Stream.runForEach(fetched(heights), (block) => enter(block, undefined))
    yield* PastReading.advance(chain, together, to + 1)
  })

  /** Notes the first failure that may be of some addresses alone. */
  const orNote = (failures: Array<Failure>) =>
    Effect.catch((failure: Failure) =>
      failure._tag === "NodeUnreachable" || failure._tag === "DatabaseError"
        ? Effect.fail(failure)
        : Effect.sync(() => {
            failures.push(failure)
          })
    )

  const readAllTokens = Effect.fnUntraced(function* (failures: Array<Failure>) {
    let above = -1
    let after = -1
    while (true) {
      // In turn, so that who syncs many addresses holds up nobody else.
      const turn = yield* PastReading.nextTurn(chain, { above, after })
      if (turn === undefined) return
      after = turn.account
      const waiting = yield* PastReading.syncing(chain, "tokens", batchSize, turn.next - 1)
      const next = waiting[0]?.next
      if (next === undefined) continue
      const before = failures.length
      yield* orNote(failures)(readTokens(waiting, next))
      // A node that has no logs of so early a block may have those of later ones.
      if (failures.length > before) above = next
      yield* Effect.yieldNow
    }
  })

  /** Accounts of an address, of a node that keeps the states of these blocks. */
  const statesAt = (address: AddressBytes, heights: ReadonlyArray<number>) =>
    Effect.catchTag(
      past.accountsAt(address, heights),
      ["NodeRejected", "BlockMissing"],
      () => new HistoryUnknown({ message: "the node does not keep the states of old blocks" })
    )

  /** Heights above `low` and up to `high` after which the account is another than before. */
  const changes = Effect.fnUntraced(function* (address: AddressBytes, low: At, high: At) {
    const found: Array<number> = []
    let probes = 0
    let open: ReadonlyArray<readonly [At, At]> = [[low, high]]
    while (open.length > 0) {
      const halves: Array<readonly [At, At]> = []
      const differing = open.filter(([a, b]) => !isSame(a, b))
      for (const [a, b] of differing) if (b.height - a.height === 1) found.push(b.height)
      const split = differing.filter(([a, b]) => b.height - a.height > 1)
      const middles = split.map(([a, b]) => Math.floor((a.height + b.height) / 2))
      probes += middles.length
      if (probes > probeLimit) return yield* new HistoryUnknown({ message: "it has too many transactions" })
      const states = middles.length === 0 ? [] : yield* statesAt(address, middles)
      for (const [i, [a, b]] of split.entries()) {
        const middle = { ...states[i]!, height: middles[i]! }
        if (middle.hasCode) return yield* new HistoryUnknown({ message: "it has had code" })
        halves.push([a, middle], [middle, b])
      }
      open = halves
    }
    return found.sort((a, b) => a - b)
  })

  /** Enters the blocks below `known` that moved an address's coins; `known` where there is anything to read below. */
  const fillHistory = Effect.fnUntraced(function* (
    { address, birth }: PastReading.SyncingAddress,
    known: number | undefined
  ) {
    if (known === undefined || known <= birth) return undefined
    const states = yield* statesAt(address, birth === 0 ? [known - 1] : [known - 1, birth - 1])
    const [last = unused, first = unused] = states
    if (last.hasCode || first.hasCode) return yield* new HistoryUnknown({ message: "it has code" })
    if (!isSame(first, unused)) return yield* new HistoryUnknown({ message: `it was used before block ${birth}` })
    const low = { ...unused, height: birth - 1 }
    const heights = yield* changes(address, low, { ...last, height: known - 1 })
    yield* Stream.runForEach(
      fetched(heights),
      Effect.fnUntraced(function* (block) {
        // By the time of each block's turn: to fetch all of them may take hours, in which others are forgotten.
        const now = yield* UnixTime.seconds
        if (block.time < now - InternalRetention.keptSeconds + marginSeconds) {
          return yield* new HistoryUnknown({
            message: `block ${block.height} is older than internal transactions kept`
          })
        }
        if (block.untraced !== undefined || block.missing !== undefined) {
          return yield* new HistoryUnknown({ message: `block ${block.height} cannot be traced` })
        }
        if (block.notUnderstood?.some(({ lacks }) => lacks.some((kind) => kind !== "token"))) {
          return yield* new HistoryUnknown({ message: `a transaction of block ${block.height} is not understood` })
        }
        yield* enter(block, block.height)
      })
    )
    return known
  })

  const readHistory = Effect.fnUntraced(function* (failures: Array<Failure>) {
    for (const address of yield* PastReading.syncing(chain, "history", batchSize)) {
      const known = (yield* Completeness.of(chain, [address.address])).get(Bytes.key(address.address))
      // The node is yet to be asked whether it was used at all.
      if (known !== undefined && known.coins === undefined) continue
      const read = Effect.catchTag(fillHistory(address, known?.history), "HistoryUnknown", ({ message }) =>
        Effect.as(Effect.logInfo(`The totals of a synced address stay unknown: ${message}`), undefined)
      )
      yield* orNote(failures)(Effect.flatMap(read, (below) => PastReading.finish(chain, address, below)))
    }
  })

  const step: AddressSync["step"] = Effect.gen(function* () {
    const failures: Array<Failure> = []
    yield* readAllTokens(failures)
    yield* readHistory(failures)
    if (failures[0] !== undefined) return yield* failures[0]
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("AddressSync.step"))

  const run: AddressSync["run"] = retryForever(chain, "Reading the past of addresses", options, step)

  return { step, run } satisfies AddressSync
})
