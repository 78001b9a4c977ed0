/** Blocks (interface sections 4.5 and 4.8; wider interface, *Blocks*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { chainErrors, chainParams, context, HashText, Timestamp } from "./Common.ts"
import { item } from "./Envelope.ts"
import { evmBlockEndpoints } from "./EvmBlocks.ts"
import { Failures } from "./Errors.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { xrpLedgerEndpoints } from "./XrpLedgers.ts"

const BlockHashText = Schema.String.annotate({
  examples: ["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]
})

export const UtxoBlock = Schema.Struct({
  bits: Schema.Int.annotate({ description: "The compact target", examples: [386_053_475] }),
  chainwork: Schema.String.annotate({
    examples: ["00000000000000000000000000000000000000009a1b7c3e5d2f4a6b8c0d1e2f"]
  }),
  difficulty: Schema.Int.annotate({ description: "Rounded down", examples: [101_646_843_652_785] }),
  merkleRoot: BlockHashText,
  size: Schema.Int.annotate({ description: "Bytes", examples: [1_612_345] }),
  version: Schema.Int.annotate({ examples: [536_870_912] }),
  hash: HashText,
  height: Schema.Int.annotate({ description: "Blocks before this one", examples: [870_000] }),
  previousBlockHash: BlockHashText.annotate({
    examples: ["00000000000000000002a7c4c1e48d76c5a37902165a270156b7a8d72728a054"]
  }),
  strippedSize: Schema.Int.annotate({ description: "Bytes without witness data", examples: [793_482] }),
  timestamp: Timestamp,
  transactionsCount: Schema.Int.annotate({ examples: [3_120] }),
  versionHex: Schema.String.annotate({ examples: ["20000000"] }),
  weight: Schema.Int.annotate({ examples: [3_992_791] })
}).annotate({ identifier: "UtxoBlock" })

const nodeErrors = [Failures.unimplemented, Failures.nodeUnavailable] as const

export class BlocksGroup extends HttpApiGroup.make("blocks")
  .add(
    ...evmBlockEndpoints,
    HttpApiEndpoint.get("utxoLatest", "/blocks/utxo/:blockchain/:network/latest/details", {
      params: chainParams,
      query: context,
      success: item(UtxoBlock),
      error: [...chainErrors, ...nodeErrors]
    })
      .annotate(Families, ["utxo"])
      .annotate(Price, "utxo-last-block")
      .annotateMerge(OpenApi.annotations({ summary: "Read the last mined block of a UTXO chain" })),
    ...xrpLedgerEndpoints
  )
  .middleware(RequestedChain)
  .annotateMerge(OpenApi.annotations({ title: "Blocks", description: "Blocks and their transactions" })) {}
