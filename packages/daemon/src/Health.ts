/**
 * `/health`: the process answers. `/ready`: the store is written, this machine lacks nothing and every chain is near its
 * head; else 503, to the operator with the reasons and what is known of each chain.
 */
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus, type Status } from "@headwater/indexer/families/node/ChainStatus"
import * as Proof from "@headwater/indexer/families/node/Proof"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import * as CatchingUp from "@headwater/indexer/sync/CatchingUp"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as FullAccounts from "./FullAccounts.ts"
import * as Operator from "./Operator.ts"
import * as Settings from "./settings/Settings.ts"
import { OwnOutages } from "./supervision/OwnOutages.ts"

/** A server is not taken out of use for a failure that is shorter. */
const passingMillis = 5_000

/** Blocks that a chain may be behind: those of ten minutes, and ten at least. */
const farBehind = (chain: Chain.Chain) => Math.max(10, Math.ceil(600 / chain.blockSeconds))

/** Why a chain is not ready; undefined where it is. `silentSeconds`: how long a chain may be without a new block. */
export const notReady = (status: Status, silentSeconds: number, now: number): string | undefined => {
  const { chain, committedAt, head, height, message, since, state } = status
  const behind = head === undefined || height === undefined ? 0 : head - height
  const seconds = (from: number) => Math.floor((now - from) / 1000)
  if (state === "stopped") return `stopped: ${message}`
  if (state === "starting") return "starting: its node has not answered yet"
  if (state === "failing" && (head === undefined || now - since > passingMillis))
    return `failing for ${seconds(since)} s: ${message}`
  if (state === "syncing" && height === undefined) return "catching up: no block is committed yet"
  if (behind > farBehind(chain)) {
    const catchingUp = CatchingUp.of(status)
    return catchingUp === undefined ? `${behind} blocks behind` : `catching up: ${CatchingUp.describe(catchingUp)}`
  }
  const lastSign = committedAt ?? since
  return now - lastSign > silentSeconds * 1000 ? `silent: no block for ${seconds(lastSign)} s` : undefined
}

/** As JSON has it; null for a chain that is not behind. */
export const catchingUpOf = (status: Status | undefined) => {
  const found = status && CatchingUp.of(status)
  if (found === undefined) return null
  const { blocks, perSecond = null, secondsLeft = null } = found
  return { blocks, perSecond: perSecond === null ? null : Math.round(perSecond * 10) / 10, secondsLeft }
}

const transactionsNotUnderstood = (chain: Chain.Chain) =>
  NotUnderstood.count(chain).pipe(
    Effect.timeout("2 seconds"),
    Effect.map((count) => ({ notUnderstood: count?.transactions ?? 0 })),
    Effect.orElseSucceed(() => ({}))
  )

const fullAccounts = FullAccounts.read.pipe(
  Effect.timeout("2 seconds"),
  Effect.map(({ names }) => ({ fullAccounts: names })),
  Effect.orElseSucceed(() => ({}))
)

/** What `/ready` answers to the operator; others are told `ready` alone. */
export const Ready = Schema.Struct({
  ready: Schema.Boolean,
  reasons: Schema.Array(Schema.String),
  /** Names of accounts of which as many callbacks wait as may; absent where the store does not say. */
  fullAccounts: Schema.optionalKey(Schema.Array(Schema.String)),
  chains: Schema.Record(
    Schema.String,
    Schema.Struct({
      state: Schema.String,
      message: Schema.NullOr(Schema.String),
      height: Schema.NullOr(Schema.Int),
      head: Schema.NullOr(Schema.Int),
      verify: Proof.Level,
      resting: Schema.Array(Schema.Struct({ node: Schema.String, reason: Schema.String })),
      /** Absent where another daemon follows the chain: that one knows. */
      unproven: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            part: Schema.String,
            cause: Schema.Literals(["uncommitted", "unknown"]),
            reason: Schema.String,
            height: Schema.Int,
            blocks: Schema.Int
          })
        )
      ),
      /** Why it is not proved that the node is on the chain's network; null where it is. */
      networkDoubt: Schema.NullOr(Schema.String),
      /** Where the chain is behind: how many blocks, how many come a second, and how long the rest will take. */
      catchingUp: Schema.NullOr(
        Schema.Struct({
          blocks: Schema.Int,
          perSecond: Schema.NullOr(Schema.Finite),
          secondsLeft: Schema.NullOr(Schema.Int)
        })
      ),
      /** Transactions that were not understood in full; absent where the store does not say. */
      notUnderstood: Schema.optionalKey(Schema.Int)
    })
  )
})

const ready = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const statuses = yield* ChainStatus
  const now = yield* Clock.currentTimeMillis
  // A daemon that neither follows chains nor answers of them says nothing of them.
  const looksAtChains = settings.roles.some((role) => role === "follow" || role === "api")
  const chains = (looksAtChains ? Settings.chains(settings) : []).map(({ chain, settings }) => {
    const status = statuses.get(chain)
    const reason = status === undefined ? "starting" : notReady(status, settings.silentSeconds, now)
    return { chain, name: Chain.nameOf(chain), status, reason, verify: settings.verify }
  })
  const outages = yield* (yield* OwnOutages).lasting
  const storeFails = outages.some(({ lack }) => lack === "store")
  const partly = yield* Effect.forEach(chains, ({ chain }) =>
    storeFails ? Effect.succeed({}) : transactionsNotUnderstood(chain)
  )
  const reasons = [
    ...outages.map(({ message, since }) => `${message} (for ${Math.floor((now - since) / 1000)} s)`),
    ...chains.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name} ${reason}`]))
  ]
  const body: typeof Ready.Type = {
    ready: reasons.length === 0,
    reasons,
    chains: Object.fromEntries(
      chains.map(({ name, status, verify }, i) => [
        name,
        {
          ...partly[i],
          state: status?.state ?? "starting",
          message: status?.message ?? null,
          height: status?.height ?? null,
          head: status?.head ?? null,
          verify,
          ...(status?.unproven === undefined ? {} : { unproven: status.unproven }),
          networkDoubt: status?.networkDoubt ?? null,
          catchingUp: catchingUpOf(status),
          resting: status?.resting ?? []
        }
      ])
    )
  }
  return body
})

const answer = (token: Redacted.Redacted | undefined) =>
  Effect.gen(function* () {
    const body = yield* ready
    const isOperator = Operator.isOperator(yield* HttpServerRequest.HttpServerRequest, token)
    const shown = isOperator ? { ...body, ...(yield* fullAccounts) } : { ready: body.ready }
    return HttpServerResponse.jsonUnsafe(shown, { status: body.ready ? 200 : 503 })
  })

/** The two routes. */
export const layer = Layer.merge(
  HttpRouter.add("GET", "/health", HttpServerResponse.jsonUnsafe({ status: "up" })),
  Layer.unwrap(Effect.map(Operator.token, (token) => HttpRouter.add("GET", "/ready", answer(token))))
)
