/** `/health`: the process answers. `/ready`: the store answers and every chain is near its head; else 503 with reasons. */
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus, type Status } from "@headwater/indexer/families/node/ChainStatus"
import * as Proof from "@headwater/indexer/families/node/Proof"
import * as StoreHealth from "@headwater/indexer/store/database/StoreHealth"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Settings from "./settings/Settings.ts"

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
  if (behind > farBehind(chain)) return `syncing: ${behind} blocks behind`
  const lastSign = committedAt ?? since
  return now - lastSign > silentSeconds * 1000 ? `silent: no block for ${seconds(lastSign)} s` : undefined
}

const storeProblem = Effect.map(Effect.result(Effect.timeout(StoreHealth.answers, "2 seconds")), (answer) =>
  Result.isSuccess(answer) ? undefined : "the store does not answer"
)

/** What `/ready` answers. */
export const Ready = Schema.Struct({
  ready: Schema.Boolean,
  reasons: Schema.Array(Schema.String),
  chains: Schema.Record(
    Schema.String,
    Schema.Struct({
      state: Schema.String,
      message: Schema.NullOr(Schema.String),
      height: Schema.NullOr(Schema.Int),
      head: Schema.NullOr(Schema.Int),
      verify: Proof.Level,
      unproven: Schema.Array(
        Schema.Struct({
          part: Schema.String,
          cause: Schema.Literals(["uncommitted", "unknown"]),
          reason: Schema.String,
          height: Schema.Int,
          blocks: Schema.Int
        })
      )
    })
  )
})

const ready = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const statuses = yield* ChainStatus
  const now = yield* Clock.currentTimeMillis
  const chains = Settings.chains(settings).map(({ chain, settings }) => {
    const status = statuses.get(chain)
    const reason = status === undefined ? "starting" : notReady(status, settings.silentSeconds, now)
    return { name: Chain.nameOf(chain), status, reason, verify: settings.verify }
  })
  const store = yield* storeProblem
  const reasons = [
    ...(store === undefined ? [] : [store]),
    ...chains.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name} ${reason}`]))
  ]
  const body: typeof Ready.Type = {
    ready: reasons.length === 0,
    reasons,
    chains: Object.fromEntries(
      chains.map(({ name, status, verify }) => [
        name,
        {
          state: status?.state ?? "starting",
          message: status?.message ?? null,
          height: status?.height ?? null,
          head: status?.head ?? null,
          verify,
          unproven: status?.unproven ?? []
        }
      ])
    )
  }
  return HttpServerResponse.jsonUnsafe(body, { status: body.ready ? 200 : 503 })
})

/** The two routes. */
export const layer = Layer.mergeAll(
  HttpRouter.add("GET", "/health", HttpServerResponse.jsonUnsafe({ status: "up" })),
  HttpRouter.add("GET", "/ready", ready)
)
