/**
 * JSON-RPC over HTTP to one or several nodes of a chain: keep-alive, batches, timeouts, bounded retries, fail-over.
 *
 * Every call is a read or may be repeated, so a failure of the connection is always worth a retry.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { chunksOf } from "../../Chunks.ts"
import * as BytesInFlight from "./BytesInFlight.ts"
import * as Failover from "./Failover.ts"
import * as JsonRpcFailure from "./internal/JsonRpcFailure.ts"
import * as JsonRpcReply from "./internal/JsonRpcReply.ts"
import type { NodeError, NodeRejected } from "./NodeError.ts"
import * as NodeHttp from "./NodeHttp.ts"
import * as SharedRequests from "./SharedRequests.ts"

export interface JsonRpcOptions {
  /** In order of preference; user and password in the URL are sent as basic authentication. */
  readonly urls: readonly [string, ...Array<string>]
  readonly headers?: Readonly<Record<string, string>>
  /** File with `user:password`, for URLs that name no user; read again where a node refuses what was in it. */
  readonly cookie?: string | undefined
  /** Of one attempt, from the request to the last byte of the answer; 60 s. */
  readonly timeoutMillis?: number
  /** Attempts over all URLs before a call fails; 4, and one more than there are URLs. */
  readonly attempts?: number
  /** Connections per node; 16. */
  readonly connections?: number
}

export interface Call {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

export type Numbers = JsonRpcReply.Numbers

/**
 * Whether the calls for a block may share a request with those for others: see `SharedRequests`. Calls `asOne` are not sent in
 * parts where the node refuses the request, from which nothing follows for other requests.
 */
export type Sharing = "alone" | "shared" | "asOne"

export interface JsonRpc {
  /** Host and port of the node that was asked last: the name to put in errors. */
  readonly node: string
  /** One call; the node's `result`. */
  readonly call: (
    method: string,
    params: ReadonlyArray<unknown>,
    numbers?: Numbers,
    sharing?: Sharing
  ) => Effect.Effect<unknown, NodeError>
  /** Several calls in one request, all answered by one node; results in the order of `calls`. Fails if any call does. */
  readonly batch: (calls: ReadonlyArray<Call>, numbers?: Numbers) => Effect.Effect<ReadonlyArray<unknown>, NodeError>
  /** As `batch`, but an error of the node to one call is that call's result. Fails where the node did not answer. */
  readonly results: (
    calls: ReadonlyArray<Call>,
    numbers?: Numbers,
    sharing?: Sharing
  ) => Effect.Effect<ReadonlyArray<Result.Result<unknown, NodeRejected>>, NodeError>
}

/** A client of all nodes, and of each. */
export interface Nodes extends JsonRpc, Failover.Shared<JsonRpc> {
  /** For how many blocks one request may be, to judge by the last ones: see `SharedRequests`. Absent where none is shared. */
  readonly blocksOfRequest?: () => number
}

/** More calls than this are sent as several requests. */
const maxBatch = 100

interface Node {
  readonly name: string
  readonly http: NodeHttp.NodeHttp
  /** Calls that the node takes in one request, as learned from its refusals. */
  batchSize: number
  readonly shared: SharedRequests.SharedRequests<Call, JsonRpcFailure.Failure>
}

/**
 * Opens a client for one chain; connections are closed with the scope. Dies where a URL is not http(s): settings are
 * checked before.
 *
 * @example
 * ```ts
 * import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
 * import * as Effect from "effect/Effect"
 *
 * export const newestBlock = Effect.gen(function* () {
 *   const rpc = yield* JsonRpc.make({ urls: ["http://127.0.0.1:8545", "https://spare.example"] })
 *   return yield* rpc.call("eth_getBlockByNumber", ["latest", false])
 * }).pipe(Effect.scoped)
 * ```
 */
export const make = Effect.fnUntraced(function* (options: JsonRpcOptions): Effect.fn.Return<Nodes, never, Scope.Scope> {
  const bytesInFlight = yield* BytesInFlight.Current
  let lastId = 0

  const send = Effect.fnUntraced(function* (http: NodeHttp.NodeHttp, calls: ReadonlyArray<Call>, numbers: Numbers) {
    const sent = calls.map((call) => ({ jsonrpc: "2.0", id: ++lastId, method: call.method, params: call.params }))
    const request = { node: http, sent }
    const reply = yield* Effect.result(http.post(JSON.stringify(sent.length === 1 ? sent[0] : sent)))
    if (Result.isSuccess(reply)) return yield* JsonRpcReply.read({ ...request, reply: reply.success }, numbers)
    if (sent.length === 1 && reply.failure.tooLarge)
      return [Result.fail(JsonRpcFailure.tooLarge(request, reply.failure))]
    return yield* Effect.fail(JsonRpcFailure.unanswered(request, reply.failure))
  })

  const nodes = yield* Effect.forEach(options.urls, (text) => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol)) {
      return Effect.die(new Error("nodes have URLs that begin with http or https"))
    }
    return Effect.map(
      NodeHttp.make({
        url,
        headers: options.headers ?? {},
        cookie: options.cookie,
        timeoutMillis: options.timeoutMillis ?? 60_000,
        connections: options.connections ?? 16
      }),
      (http): Node => ({
        ...{ name: http.name, http, batchSize: maxBatch },
        shared: SharedRequests.make((calls, numbers) => send(http, calls, numbers), bytesInFlight.limit)
      })
    )
  })
  const failover = Failover.make(nodes, options.attempts)
  /** All calls to one node, in as many requests as it needs; a refused batch is halved until its parts are taken. */
  const sendAll = (
    node: Node,
    calls: ReadonlyArray<Call>,
    numbers: Numbers,
    size: number
  ): Effect.Effect<ReadonlyArray<JsonRpcReply.CallResult>, JsonRpcFailure.Failure> => {
    if (calls.length > size) {
      return Effect.map(
        Effect.forEach(chunksOf(calls, size), (chunk) => sendAll(node, chunk, numbers, size), {
          concurrency: "unbounded"
        }),
        (results) => results.flat(1)
      )
    }
    return Effect.catch(send(node.http, calls, numbers), (failure) => {
      if (failure.tooMany === undefined) return Effect.fail(failure)
      const half = calls.length >> 1
      return Effect.map(sendAll(node, calls, numbers, half), (results) => {
        if (failure.tooMany === "calls") node.batchSize = Math.min(node.batchSize, half)
        return results
      })
    })
  }

  const clientOf = (failover: Failover.Failover<Node>): JsonRpc => {
    const request = (calls: ReadonlyArray<Call>, numbers: Numbers, sharing: Sharing = "alone") =>
      bytesInFlight.request(
        failover.ask((node) => {
          if (sharing === "asOne" && calls.length <= node.batchSize) return send(node.http, calls, numbers)
          const alone = sendAll(node, calls, numbers, node.batchSize)
          return sharing !== "shared" || failover.isDoubted(node) ? alone : node.shared.results(calls, numbers, alone)
        })
      )

    const results: JsonRpc["results"] = (calls, numbers = "plain", sharing) =>
      calls.length === 0 ? Effect.succeed([]) : request(calls, numbers, sharing)

    return {
      get node() {
        return failover.current().name
      },
      call: (method, params, numbers = "plain", sharing) =>
        Effect.flatMap(request([{ method, params }], numbers, sharing), (results) => Effect.fromResult(results[0]!)),
      batch: (calls, numbers = "plain") =>
        Effect.flatMap(results(calls, numbers), (all) => Effect.fromResult(Result.all(all))),
      results
    }
  }

  return Object.assign(clientOf(failover), Failover.share(failover, clientOf), {
    blocksOfRequest: () => failover.current().shared.blocks()
  })
})
