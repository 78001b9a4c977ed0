/**
 * JSON-RPC over HTTP to one or several nodes of a chain: keep-alive, batches, timeouts, bounded retries, fail-over.
 */
import type * as Effect from "effect/Effect"
import type { NodeError } from "./NodeError.ts"

export interface JsonRpcOptions {
  /** In order of preference; user and password in the URL are sent as basic authentication. */
  readonly urls: ReadonlyArray<string>
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMillis?: number
  /** Attempts over all URLs before a call fails. */
  readonly attempts?: number
  /** Connections per node. */
  readonly connections?: number
}

export interface Call {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/**
 * How the body's text becomes a value. `plain` is JSON.parse; `decimalText` turns every JSON number that is not a safe
 * integer, or that has a point or an exponent, into its text, so that no amount passes through a float.
 */
export type Numbers = "plain" | "decimalText"

export interface JsonRpc {
  /** One call; the node's `result`. */
  readonly call: (method: string, params: ReadonlyArray<unknown>, numbers?: Numbers) => Effect.Effect<unknown, NodeError>
  /** Several calls in one request, all answered by one node; results in the order of `calls`. Fails if any call does. */
  readonly batch: (
    calls: ReadonlyArray<Call>,
    numbers?: Numbers
  ) => Effect.Effect<ReadonlyArray<unknown>, NodeError>
}
