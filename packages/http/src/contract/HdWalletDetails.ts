/** What an HD wallet has in coins, in one shape on every chain (wider interface, *HD wallets*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { chainErrors, chainParams, context, DecimalText, UnitText } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { CompleteFrom } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { derivation, extendedPublicKeyParam, format } from "./WalletParams.ts"

export const HdWalletDetails = Schema.Struct({
  confirmedBalance: DecimalText,
  totalReceived: Schema.optionalKey(DecimalText).annotate({ description: "On EVM chains and Tron, as `totalSpent`" }),
  totalSpent: Schema.optionalKey(DecimalText),
  unit: UnitText,
  completeFrom: Schema.optionalKey(CompleteFrom).annotate({
    description: "As in the answer about the wallet's assets",
    examples: [20_000_000]
  })
}).annotate({ identifier: "HdWalletDetails" })

const request = {
  params: { ...chainParams, ...extendedPublicKeyParam },
  query: { ...context, ...derivation, ...format },
  success: item(HdWalletDetails),
  error: [
    ...[...chainErrors, Failures.invalidXpub, Failures.unimplemented, Failures.nodeUnavailable],
    ...[Failures.xpubNotSynced, Failures.xpubSyncInProgress]
  ]
} as const

export class HdWalletDetailsGroup extends HttpApiGroup.make("hdWalletDetails")
  .add(
    HttpApiEndpoint.get("evmDetails", "/evm/:blockchain/:network/:extendedPublicKey/details", {
      ...request,
      error: [...request.error, Failures.conflict]
    })
      .annotate(Price, "evm-assets")
      .annotate(ExampleValues, { format: "STANDARD" })
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Read what an EVM wallet has in coins"),
    HttpApiEndpoint.get("utxoDetails", "/utxo/:blockchain/:network/:extendedPublicKey/details", request)
      .annotate(Price, "utxo-assets")
      .annotate(ExampleValues, { totalReceived: undefined, totalSpent: undefined })
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "Read what a UTXO wallet has in coins"),
    HttpApiEndpoint.get("xrpDetails", "/:blockchain/:network/:extendedPublicKey/details", request)
      .annotate(Price, "xrp-assets")
      .annotate(ExampleValues, { format: "CLASSIC", totalReceived: undefined, totalSpent: undefined })
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Read what an XRP wallet has in coins")
  )
  .middleware(RequestedChain)
  .prefix("/hd-wallets")
  .annotateMerge(OpenApi.annotations({ title: "HD wallet details", description: "What an HD wallet has in coins" })) {}
