/** Spans of what is done, sent to an OpenTelemetry collector (OTLP over HTTP) where the settings name one. */
import * as BlockTrace from "@headwater/indexer/sync/BlockTrace"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import * as Settings from "./settings/Settings.ts"
import { version } from "./Version.ts"

export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, ({ traces: { otlp } }) =>
    otlp === undefined
      ? Layer.empty
      : OtlpTracer.layer({
          url: `${otlp.replace(/\/$/, "")}/v1/traces`,
          resource: { serviceName: "headwater", serviceVersion: version }
        }).pipe(
          Layer.provide(OtlpSerialization.layerJson),
          Layer.provide(FetchHttpClient.layer),
          Layer.merge(Layer.succeed(BlockTrace.Enabled, true))
        )
  )
)
