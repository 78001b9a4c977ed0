/** The newest solidified block, which more than two thirds of the producers have built on: it is final. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError } from "../../node/NodeError.ts"
import type { TronHttp } from "../TronHttp.ts"
import * as TronBlock from "./TronBlock.ts"
import * as TronJson from "./TronJson.ts"

/** The hash is undefined where the node does not say it. */
interface SolidBlock {
  readonly height: number
  readonly hash: Uint8Array | undefined
}

export interface SolidHead {
  /** How the block is asked for, as operators read it. */
  readonly strategy: string
  /** Undefined where the node cannot say it at the moment. */
  readonly block: (http: TronHttp) => Effect.Effect<SolidBlock | undefined, NodeError>
}

/** `Num:66987547,ID:0000…` */
const solidityBlock = /^Num:(\d{1,15}),(?:ID:([0-9a-fA-F]{64}))?/

const NodeInfo = Schema.Struct({ solidityBlock: Schema.String })
const RpcBlock = Schema.Struct({
  number: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{1,12}$/)),
  hash: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/)))
})
const decodeRpcBlock = Schema.decodeUnknownOption(RpcBlock)

const bySolidityApi = (path: string, body?: string): SolidHead => ({
  strategy: path,
  block: (http) => Effect.map(http.find(TronBlock.Header, path, body), (found) => found && TronBlock.tipOf(found))
})

const byNodeInfo: SolidHead = {
  strategy: "/wallet/getnodeinfo",
  block: (http) =>
    Effect.map(http.read(NodeInfo, "/wallet/getnodeinfo"), (info) => {
      const match = solidityBlock.exec(info.solidityBlock)
      if (match === null) return undefined
      return { height: Number(match[1]), hash: match[2] === undefined ? undefined : TronJson.bytes(match[2]) }
    })
}

const byFinalizedTag = (rpc: JsonRpc): SolidHead => ({
  strategy: "the finalized tag",
  block: () =>
    Effect.map(rpc.call("eth_getBlockByNumber", ["finalized", false]), (answer) => {
      const found = Option.getOrUndefined(decodeRpcBlock(answer))
      if (found === undefined) return undefined
      const { hash, number } = found
      return { height: Number(number), hash: hash === undefined ? undefined : TronJson.bytes(hash.slice(2)) }
    })
})

/** The first strategy that the node allows: its solidity API, its own status, or the `finalized` tag of its JSON-RPC. */
export const find = Effect.fnUntraced(function* (
  http: TronHttp,
  rpc: JsonRpc | undefined
): Effect.fn.Return<SolidHead | undefined, NodeError> {
  const strategies = [
    bySolidityApi("/walletsolidity/getblock", '{"detail":false}'),
    bySolidityApi("/walletsolidity/getnowblock"),
    byNodeInfo,
    ...(rpc === undefined ? [] : [byFinalizedTag(rpc)])
  ]
  for (const { block, strategy } of strategies) {
    const asked = (http: TronHttp) =>
      Effect.catchTag(block(http), ["NodeRejected", "NodeInconsistent"], () => Effect.undefined)
    if ((yield* asked(http)) !== undefined) return { strategy, block: asked }
  }
  return undefined
})
