/** What addresses had and did: transactions, coins and tokens (wider interface, *Address latest*, *Address history*). */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { evmAddressEndpoints } from "./EvmAddresses.ts"
import { RequestedChain } from "./RequestedChain.ts"
import { utxoAddressEndpoints } from "./UtxoAddresses.ts"
import { xrpAddressEndpoint } from "./XrpLedgers.ts"

export class AddressHistoryGroup extends HttpApiGroup.make("addressHistory")
  .add(...evmAddressEndpoints, ...utxoAddressEndpoints, xrpAddressEndpoint)
  .middleware(RequestedChain)
  .annotateMerge(
    OpenApi.annotations({ title: "Address history", description: "Transactions, coins and tokens of an address" })
  ) {}
