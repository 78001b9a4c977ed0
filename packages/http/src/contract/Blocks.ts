/** Blocks (interface sections 4.5 and 4.8; wider interface, *Blocks*). */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { evmBlockEndpoints } from "./EvmBlocks.ts"
import { RequestedChain } from "./RequestedChain.ts"
import { utxoBlockEndpoints } from "./UtxoBlocks.ts"
import { xrpLedgerEndpoints } from "./XrpLedgers.ts"

export class BlocksGroup extends HttpApiGroup.make("blocks")
  .add(...evmBlockEndpoints, ...utxoBlockEndpoints, ...xrpLedgerEndpoints)
  .middleware(RequestedChain)
  .annotateMerge(OpenApi.annotations({ title: "Blocks", description: "Blocks and their transactions" })) {}
