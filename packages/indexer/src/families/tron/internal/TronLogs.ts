/** Logs of one transaction, as the info of the transaction lists them. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import type { Log } from "../../evm/EvmNode.ts"
import { type NodeError, NodeInconsistent } from "../../node/NodeError.ts"
import type { TronHttp } from "../TronHttp.ts"
import * as TronBlock from "./TronBlock.ts"
import * as TronJson from "./TronJson.ts"

const path = "/wallet/gettransactioninfobyid"

/** Logs of a mined transaction; undefined where the chain has no such transaction. */
export const fetch = Effect.fn("TronSource.logs")(function* (
  chain: Chain,
  http: TronHttp,
  transaction: Uint8Array
): Effect.fn.Return<ReadonlyArray<Log> | undefined, NodeError> {
  const inconsistent = (message: string) => new NodeInconsistent({ node: http.name, method: path, message })
  const id = Buffer.from(transaction).toString("hex")
  const info = yield* http.find(TronBlock.Info, path, `{"value":"${id}"}`)
  if (info === undefined) return undefined
  if (info.id.toLowerCase() !== id) return yield* inconsistent("the info is of another transaction")
  return yield* Effect.mapError(
    Effect.forEach(info.log ?? [], (log) =>
      Effect.map(Effect.fromResult(TronJson.address(chain, log.address, "log.address")), (address) => ({
        height: info.blockNumber ?? 0,
        address,
        data: TronJson.bytes(log.data ?? ""),
        topics: (log.topics ?? []).map(TronJson.bytes),
        removed: false
      }))
    ),
    inconsistent
  )
})
