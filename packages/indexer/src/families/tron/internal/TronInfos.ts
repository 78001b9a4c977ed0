/** The infos of the transactions of a block, which say what became of each. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as BytesInFlight from "../../node/BytesInFlight.ts"
import { isTooLarge, type NodeError } from "../../node/NodeError.ts"
import type { TronHttp } from "../TronHttp.ts"
import * as TronBlock from "./TronBlock.ts"

/** The infos of the block at a height, in one answer. */
export const at = (http: TronHttp, height: number): Effect.Effect<ReadonlyArray<unknown>, NodeError> =>
  Effect.map(
    http.find(TronBlock.Infos, "/wallet/gettransactioninfobyblocknum", `{"num":${height}}`),
    (infos) => infos ?? []
  )

/** As `at`; undefined where the infos are too large for one answer. */
export const together = (http: TronHttp, height: number) =>
  Effect.catchIf(at(http, height), isTooLarge, () => Effect.undefined)

/** The infos of a block where they are too large for one answer: each by itself, where the transaction has one. */
export const oneByOne = (http: TronHttp, answer: TronBlock.Answer) =>
  Effect.map(
    Effect.forEach(
      TronBlock.idsOf(answer),
      (value) =>
        BytesInFlight.part(http.find(Schema.Unknown, "/wallet/gettransactioninfobyid", JSON.stringify({ value }))),
      { concurrency: 8 }
    ),
    (infos) => infos.filter((info) => info !== undefined)
  )
