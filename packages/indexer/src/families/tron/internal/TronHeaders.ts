/** Headers of Tron blocks, in the shortest form that a node has. */
import * as Effect from "effect/Effect"
import { BlockMissing, type NodeError } from "../../node/NodeError.ts"
import type { TronHttp } from "../TronHttp.ts"
import * as TronBlock from "./TronBlock.ts"

type Header = typeof TronBlock.Header.Type

export interface TronHeaders {
  readonly newest: (http: TronHttp) => Effect.Effect<Header, NodeError>
  readonly at: (http: TronHttp, height: number) => Effect.Effect<Header, NodeError>
}

/** What was found, or `BlockMissing` with the block's name. */
export const orMissing =
  (http: TronHttp, block: string) =>
  <A>(found: A | undefined): Effect.Effect<A, BlockMissing> =>
    found === undefined ? Effect.fail(new BlockMissing({ node: http.name, block })) : Effect.succeed(found)

const newestShort = ["/wallet/getblock", '{"detail":false}'] as const

/** Nodes before 4.4 show blocks with all their transactions only. */
const showsShort = (http: TronHttp) =>
  http.find(TronBlock.Header, ...newestShort).pipe(
    Effect.map((header) => header !== undefined),
    Effect.catchTag(["NodeRejected", "NodeInconsistent"], () => Effect.succeed(false))
  )

/** Finds out which form the node has, in which all nodes are asked. */
export const open = Effect.fnUntraced(function* (http: TronHttp): Effect.fn.Return<TronHeaders, NodeError> {
  const short = yield* showsShort(http)
  return {
    newest: (http) =>
      Effect.flatMap(
        short ? http.find(TronBlock.Header, ...newestShort) : http.find(TronBlock.Header, "/wallet/getnowblock"),
        orMissing(http, "latest")
      ),
    at: (http, height) =>
      Effect.flatMap(
        short
          ? http.find(TronBlock.Header, "/wallet/getblock", `{"id_or_num":"${height}","detail":false}`)
          : http.find(TronBlock.Header, "/wallet/getblockbynum", `{"num":${height}}`),
        orMissing(http, String(height))
      )
  }
})
