/** What operators do with commands. */
import * as Settings from "@headwater/daemon/settings/Settings"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as CallbackAudit from "@headwater/indexer/sync/CallbackAudit"
import * as ChainConnection from "@headwater/indexer/sync/ChainConnection"
import * as ReaderThreads from "@headwater/indexer/sync/ReaderThreads"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Effect from "effect/Effect"
import type { SimulatedChain } from "./Chains.ts"

/** A chain as the settings have it. */
const configured = (chain: SimulatedChain) =>
  Effect.map(
    Settings.Settings,
    (settings) =>
      Settings.chains(settings).find(({ chain: { blockchain } }) => chain.family.chain.startsWith(`${blockchain}/`))!
  )

/** As `headwater rewind`. */
export const rewind = (simulated: SimulatedChain, blocks: number) =>
  Effect.gen(function* () {
    const { chain, settings } = yield* configured(simulated)
    const store = yield* ChainStore.open(chain, settings)
    const cursor = yield* store.cursor
    if (cursor !== undefined && cursor.height > blocks) yield* store.rewind(cursor.height - blocks)
  }).pipe(Effect.scoped)

/** As `headwater replay --callbacks`. */
export const replay = (simulated: SimulatedChain, blocks: number) =>
  Effect.gen(function* () {
    const { chain, settings } = yield* configured(simulated)
    const { sideSources, source } = yield* Effect.provideServiceEffect(
      ChainConnection.open(chain, settings),
      ReaderThreads.Current,
      ReaderThreads.make({ threads: Settings.threads(yield* Settings.Settings) })
    )
    const store = yield* ChainStore.open(chain, settings)
    const to = (yield* store.cursor)?.height ?? 0
    const range = { from: Math.max(to - blocks, 0), to, callbacks: true }
    const next = yield* Replay.begin(chain, range)
    const whole = { ...source, blockAt: sideSources.wholeBlockAt ?? source.blockAt }
    const options = { concurrency: 4, internalFrom: 0, forgotten: false, minedOutputs: sideSources.minedOutputs }
    yield* Replay.run(whole, store, range, next, options)
  }).pipe(Effect.scoped)

/** As `headwater audit --every-block`: what it finds, in words. */
export const audit = (simulated: SimulatedChain) =>
  Effect.gen(function* () {
    const { chain, settings } = yield* configured(simulated)
    const { sideSources, source } = yield* Effect.provideServiceEffect(
      ChainConnection.open(chain, settings),
      ReaderThreads.Current,
      ReaderThreads.make({ threads: Settings.threads(yield* Settings.Settings) })
    )
    const { first = 0, last = 0 } = yield* StoredBlocks.of(chain)
    const findings: Array<string> = []
    const summary = yield* CallbackAudit.run(source, sideSources.minedOutputs, {
      ...{ from: first, to: last, everyBlock: true, correct: false, concurrency: 4 },
      onFinding: ({ address, event, height, told, transactionId, verdict, ...rest }) =>
        Effect.sync(() => {
          const what = told === undefined ? "nothing" : `${told.direction} ${told.amount}`
          const of = `${event} of ${address} by ${transactionId} in block ${height}`
          findings.push(`${verdict}: ${what} was told to ${rest.referenceId} of ${of}: ${rest.reason ?? ""}`)
        })
    })
    const { blocks, unsettled, ...counts } = summary
    const judged = counts.wrong + counts.missing + counts.undecided
    return [
      ...findings,
      ...(unsettled > 0 ? [`${unsettled} of ${blocks} blocks are not settled`] : []),
      ...(judged === findings.length ? [] : [`${judged} callbacks are not right`])
    ]
  }).pipe(Effect.scoped)
