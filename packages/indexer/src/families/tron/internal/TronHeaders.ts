/** Headers of Tron blocks, in the shortest form that a node has. */
import * as Effect from "effect/Effect"
import { BlockMissing, type NodeError } from "../../node/NodeError.ts"
import type { TronHttp } from "../TronHttp.ts"
import * as TronBlock from "./TronBlock.ts"

type Header = typeof TronBlock.Header.Type

export interface TronHeaders {
  readonly newest: Effect.Effect<Header, NodeError>
  readonly at: (height: number) => Effect.Effect<Header, NodeError>
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

/** Finds out which form the node has. */
export const open = Effect.fnUntraced(function* (http: TronHttp): Effect.fn.Return<TronHeaders, NodeError> {
  const short = yield* showsShort(http)
  const newest = short
    ? http.find(TronBlock.Header, ...newestShort)
    : http.find(TronBlock.Header, "/wallet/getnowblock")
  const find = (height: number) =>
    short
      ? http.find(TronBlock.Header, "/wallet/getblock", `{"id_or_num":"${height}","detail":false}`)
      : http.find(TronBlock.Header, "/wallet/getblockbynum", `{"num":${height}}`)
  return {
    newest: Effect.flatMap(newest, orMissing(http, "latest")),
    at: (height) => Effect.flatMap(find(height), orMissing(http, String(height)))
  }
})
