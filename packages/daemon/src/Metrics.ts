/**
 * `/metrics`: what a Prometheus server reads. What is counted is counted where it happens; what simply is, chains and
 * store, is looked up when it is asked for.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Families from "@headwater/indexer/families/families"
import { ChainStatus, type State, type Status } from "@headwater/indexer/families/node/ChainStatus"
import * as BlockRange from "@headwater/indexer/store/chain/BlockRange"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as CallbackBacklog from "@headwater/indexer/store/subscriptions/CallbackBacklog"
import * as ReceiverHealth from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import * as GapReport from "@headwater/indexer/sync/GapReport"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import type * as Redacted from "effect/Redacted"
import * as Operator from "./Operator.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import * as Settings from "./settings/Settings.ts"
import * as OwnOutages from "./supervision/OwnOutages.ts"

const gauge = (name: string, description: string) => Metric.gauge(`headwater_${name}`, { description })

const height = gauge("chain_height_blocks", "The last committed height")
const tipAge = gauge("chain_tip_age_seconds", "Seconds since the time of the last committed block")
const lagBlocks = gauge("chain_lag_blocks", "Blocks between the last committed one and the node's newest")
const lagSeconds = gauge("chain_lag_seconds", "Age of the last committed block while the node has newer ones, else 0")
const silence = gauge(
  "chain_silence_seconds",
  "Seconds since a block was last committed; until the first one since the start, since the state changed"
)
const state = gauge("chain_state", "1 for the state that the chain is in, 0 for the others")
const unproven = gauge(
  "chain_unproven_blocks",
  "Blocks since the start with a part that no hash, root or signature proves, by part"
)
const unresolved = gauge("chain_unresolved_events", "Movements of coins in doubt, which have no callback yet")
const missingBlocks = gauge(
  "chain_missing_internal_blocks",
  "Committed blocks whose internal transactions no node has given yet"
)
const skippedBlocks = gauge("chain_skipped_blocks", "Blocks that `headwater skip` has given up")
const notUnderstood = gauge("chain_not_understood_transactions", "Transactions that were not understood in full")
const daemonGauge = gauge("daemon", "1 for a daemon that shares the store, 0 once the daemon has gone")
const follower = gauge("chain_follower", "1 for the daemon that follows the chain, 0 for one that has followed before")
const outage = gauge("own_outage", "1 for what this machine or its store lacks, 0 for what it has")
const callbacks = gauge("callbacks", "Callbacks that have not reached their receivers, by state")
const oldestCallback = gauge(
  "callbacks_oldest_seconds",
  "Age of the oldest of these callbacks, by state; 0 where there is none"
)
const lateCallbacks = gauge(
  "callbacks_late_seconds",
  "Age of the oldest callback that waits for its first attempt at a host that refuses none; 0 where there is none"
)
const receivers = gauge("receivers", "Hosts of each account that callbacks go to, by how they do")
const failingSubscriptions = gauge("subscriptions_failing", "Active subscriptions whose last attempt failed")
const failingLong = gauge(
  "subscriptions_failing_half",
  "Active subscriptions that have failed half of the retries, after which they are deactivated"
)
const failingSince = gauge(
  "subscriptions_failing_seconds",
  "For how long the active subscription has failed that fails for longest; 0 where none does"
)
const storeSize = gauge("store_size_bytes", "What the store takes on disk")

const states: ReadonlyArray<State> = ["starting", "syncing", "following", "failing", "stopped"]

const ofChain = Effect.fnUntraced(function* (status: Status, now: number) {
  const chain = Chain.nameOf(status.chain)
  const set = (metric: Metric.Gauge<number>, value: number, more = {}) =>
    Metric.update(Metric.withAttributes(metric, { chain, ...more }), value)
  for (const name of states) yield* set(state, name === status.state ? 1 : 0, { state: name })
  if (status.height !== undefined) yield* set(height, status.height)
  const behind = Math.max(0, (status.head ?? 0) - (status.height ?? 0))
  if (status.head !== undefined) yield* set(lagBlocks, behind)
  // A node that stood still before the start is silent, too: as `/ready` counts.
  yield* set(silence, Math.floor((now - (status.committedAt ?? status.since)) / 1000))
  // A part appears from the start on: that no block lacks its proof yet is a fact too.
  if (status.unproven !== undefined) {
    const blocksOf = new Map(Families.of(status.chain).unprovenParts.map((part) => [part, 0]))
    for (const { blocks, part } of status.unproven) blocksOf.set(part, blocks)
    for (const [part, blocks] of blocksOf) yield* set(unproven, blocks, { part })
  }
  if (status.blockTime === undefined) return
  const age = Math.max(0, Math.floor(now / 1000) - status.blockTime)
  yield* set(tipAge, age)
  yield* set(lagSeconds, behind > 0 ? age : 0)
})

/** The gauges stay as they were where the store does not say. */
const countInStore = ({ chain }: Status) => {
  const set = (metric: Metric.Gauge<number>, value: number) =>
    Metric.update(Metric.withAttributes(metric, { chain: Chain.nameOf(chain) }), value)
  return Effect.ignore(
    Effect.gen(function* () {
      const gaps = yield* GapReport.of(chain)
      yield* set(unresolved, gaps.unresolved?.events ?? 0)
      yield* set(missingBlocks, gaps.missing?.blocks ?? 0)
      yield* set(notUnderstood, gaps.notUnderstood?.transactions ?? 0)
      yield* set(
        skippedBlocks,
        gaps.skipped.reduce((sum, range) => sum + BlockRange.count(range), 0)
      )
    })
  )
}

/** As {@link countInStore}. */
const countCallbacks = (now: number) =>
  Effect.ignore(
    Effect.gen(function* () {
      const { accepting, ...states } = yield* CallbackBacklog.read()
      const ageOf = ({ oldest }: CallbackBacklog.Part) => (oldest === undefined ? 0 : Math.max(0, now - oldest) / 1000)
      for (const [state, part] of Object.entries(states)) {
        yield* Metric.update(Metric.withAttributes(callbacks, { state }), part.count)
        yield* Metric.update(Metric.withAttributes(oldestCallback, { state }), ageOf(part))
      }
      yield* Metric.update(lateCallbacks, Math.max(ageOf(accepting), ageOf(states.unwritten)))
    })
  )

/** As {@link countInStore}. */
const countReceivers = (health: Effect.Success<typeof ReceiverHealth.make>, now: number) =>
  Effect.ignore(
    Effect.gen(function* () {
      for (const [state, hosts] of Object.entries((yield* health.overview(0)).counts)) {
        yield* Metric.update(Metric.withAttributes(receivers, { state }), hosts)
      }
      const { count, noticed, since } = yield* health.failing
      yield* Metric.update(failingLong, noticed)
      yield* Metric.update(failingSubscriptions, count)
      yield* Metric.update(failingSince, since === undefined ? 0 : Math.max(0, now - since) / 1000)
    })
  )

/** As {@link countInStore}; a daemon that has gone, and one that follows no more, stay with 0. */
const makeCountDaemons = () => {
  const before = new Map<string, Metric.Gauge<number>>()
  return Effect.ignore(
    Effect.gen(function* () {
      const { chains, daemons } = Placements.shown(yield* Placements.read)
      const present = [
        ...daemons.map(({ name, roles, version }) =>
          Metric.withAttributes(daemonGauge, { daemon: name, version, roles: roles.join() })
        ),
        ...chains.flatMap(({ chain, daemon }) =>
          daemon === null ? [] : [Metric.withAttributes(follower, { chain, daemon })]
        )
      ]
      for (const metric of before.values()) yield* Metric.update(metric, 0)
      for (const metric of present) yield* Metric.update(metric, 1)
      for (const metric of present) before.set(JSON.stringify(metric.attributes), metric)
    })
  )
}

/** Undefined where the store does not say. */
const bytes = Effect.gen(function* () {
  return yield* StoreHealth.size(Settings.storeLocation(yield* Settings.Settings))
}).pipe(Effect.orElseSucceed(() => undefined))

const refused = HttpServerResponse.text(
  "Metrics are the operator's: send authorization: Bearer with the token of the settings (metrics.token)\n",
  {
    status: 403
  }
)

const answer = (
  token: Redacted.Redacted | undefined,
  processMetrics: Effect.Effect<void>,
  countDaemons: ReturnType<typeof makeCountDaemons>,
  health: Effect.Success<typeof ReceiverHealth.make>
) =>
  Effect.gen(function* () {
    if (!Operator.isOperator(yield* HttpServerRequest.HttpServerRequest, token)) return refused
    const statuses = yield* ChainStatus
    const now = yield* Clock.currentTimeMillis
    for (const status of yield* statuses.all) {
      yield* ofChain(status, now)
      yield* countInStore(status)
    }
    const lacking = new Set((yield* (yield* OwnOutages.OwnOutages).lasting).map(({ lack }) => lack))
    for (const lack of OwnOutages.all) {
      yield* Metric.update(Metric.withAttributes(outage, { lack }), lacking.has(lack) ? 1 : 0)
    }
    yield* countCallbacks(now)
    yield* countReceivers(health, now)
    yield* countDaemons
    yield* processMetrics
    const size = yield* bytes
    if (size !== undefined) yield* Metric.update(storeSize, size)
    return HttpServerResponse.text(yield* PrometheusMetrics.format(), {
      contentType: "text/plain; version=0.0.4; charset=utf-8"
    })
  })

/** The route. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const token = yield* Operator.token
    return HttpRouter.add(
      "GET",
      "/metrics",
      answer(token, yield* ProcessMetrics.make, makeCountDaemons(), yield* ReceiverHealth.make)
    )
  })
)
