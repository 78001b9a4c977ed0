/**
 * `/metrics`: what a Prometheus server reads. What is counted is counted where it happens; what simply is, chains and
 * store, is looked up when it is asked for.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus, type State, type Status } from "@headwater/indexer/families/node/ChainStatus"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Redacted from "effect/Redacted"
import * as Settings from "./settings/Settings.ts"
import * as OwnOutages from "./supervision/OwnOutages.ts"

const gauge = (name: string, description: string) => Metric.gauge(`headwater_${name}`, { description })

const height = gauge("chain_height_blocks", "The last committed height")
const tipAge = gauge("chain_tip_age_seconds", "Seconds since the time of the last committed block")
const lagBlocks = gauge("chain_lag_blocks", "Blocks between the last committed one and the node's newest")
const lagSeconds = gauge("chain_lag_seconds", "Age of the last committed block while the node has newer ones, else 0")
const silence = gauge("chain_silence_seconds", "Seconds since a block was last committed")
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
const notUnderstood = gauge("chain_not_understood_transactions", "Transactions that were not understood in full")
const outage = gauge("own_outage", "1 for what this machine or its store lacks, 0 for what it has")
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
  if (status.committedAt !== undefined) yield* set(silence, Math.floor((now - status.committedAt) / 1000))
  for (const { blocks, part } of status.unproven) yield* set(unproven, blocks, { part })
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
      yield* set(unresolved, (yield* UnresolvedEvents.count(chain))?.events ?? 0)
      yield* set(missingBlocks, (yield* MissingParts.gap(chain))?.blocks ?? 0)
      yield* set(notUnderstood, (yield* NotUnderstood.count(chain))?.transactions ?? 0)
    })
  )
}

/** Undefined where the store does not say. */
const bytes = Effect.gen(function* () {
  return yield* StoreHealth.size(Settings.storeLocation(yield* Settings.Settings))
}).pipe(Effect.orElseSucceed(() => undefined))

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Loopback, IPv4 also as IPv6 writes it. */
const local = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/

/** With a token: callers that have the token. Without: callers on this machine, but for those of a proxy. */
const allowed = (request: HttpServerRequest.HttpServerRequest, token: Redacted.Redacted | undefined) =>
  token === undefined
    ? Option.exists(request.remoteAddress, (address) => local.test(address)) &&
      request.headers["x-forwarded-for"] === undefined &&
      request.headers.forwarded === undefined
    : timingSafeEqual(digest(request.headers.authorization ?? ""), digest(`Bearer ${Redacted.value(token)}`))

const refused = HttpServerResponse.text(
  "Metrics are for this machine, or for who has the token of the settings (metrics.token)\n",
  { status: 403 }
)

/** The route. */
export const layer = HttpRouter.add(
  "GET",
  "/metrics",
  Effect.gen(function* () {
    const { metrics } = yield* Settings.Settings
    if (!allowed(yield* HttpServerRequest.HttpServerRequest, metrics.token)) return refused
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
    const size = yield* bytes
    if (size !== undefined) yield* Metric.update(storeSize, size)
    return HttpServerResponse.text(yield* PrometheusMetrics.format(), {
      contentType: "text/plain; version=0.0.4; charset=utf-8"
    })
  })
)
