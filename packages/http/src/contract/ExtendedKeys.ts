/** Subscriptions on extended public keys and descriptors: how one is made, and how far it reaches. */
import { AddressDerivation } from "@headwater/core/events/CallbackItem"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { newList } from "./AddressLists.ts"
import { body, bodyErrors, chainErrors, chainParams, context, referenceIdParam } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { CompleteFrom } from "./Paging.ts"
import { Price } from "./Price.ts"
import { RequestedChain } from "./RequestedChain.ts"
import { coinFilter, NewBlockSubscription, SubscriptionDetails } from "./SubscriptionItems.ts"
import { Derivation, derivation, exampleKey, Format, format } from "./WalletParams.ts"

/** The most addresses behind the furthest used one of a branch, and how many they are where a request does not say it. */
const maxWindow = 1_000
export const defaultWindow = 20

/** The furthest index that a request may name as used: all addresses up to there are derived. */
const maxUsedIndex = 9_999

const integer = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { message: `must be from ${minimum} to ${maximum}` }))

const usedIndex = (branch: string) =>
  Schema.optionalKey(
    integer(0, maxUsedIndex).annotate({ description: `Index of the last ${branch} address that was used` })
  )

const { allowDuplicates } = NewBlockSubscription.fields

const NewKey = {
  extendedPublicKey: Schema.optionalKey(
    Schema.String.annotate({
      description: "Extended public key of the wallet (xpub, ypub, zpub …); this or a descriptor is required",
      examples: [exampleKey]
    })
  ),
  descriptor: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "Output descriptor of one extended public key in place of it, on UTXO chains: pkh, wpkh, sh(wpkh) or tr of " +
        "`key/<0;1>/*`, `key/0/*`, `key/1/*` or `key/*`. A checksum is verified",
      examples: [`wpkh([d34db33f/84h/0h/0h]${exampleKey}/<0;1>/*)`]
    })
  ),
  ...derivation,
  ...format,
  window: Schema.optionalKey(
    integer(1, maxWindow).annotate({
      description: `Addresses behind the furthest used one of each branch that are watched, 1 to ${maxWindow}; ${defaultWindow} if not given`,
      examples: [20]
    })
  ),
  furthestUsedIndex: Schema.optionalKey(
    Schema.Struct({ receiving: usedIndex("receiving"), change: usedIndex("change") }).annotate({
      description:
        "How far the wallet is known to be used by now, by branch: the window begins behind it. What the store has recorded " +
        "of the past counts as well",
      examples: [{ receiving: 41 }]
    })
  )
}

export const ExtendedKeyState = Schema.Struct({
  extendedPublicKey: Schema.String.annotate({ examples: [exampleKey] }),
  derivationType: Derivation,
  format: Format.annotate({ examples: ["STANDARD"] }),
  window: Schema.Int.annotate({ examples: [20] }),
  branches: Schema.Array(
    Schema.Struct({
      type: AddressDerivation.fields.type,
      furthestUsedIndex: Schema.optionalKey(
        Schema.Int.annotate({
          description: "Absent where no address is known to be used. Does not go back where blocks leave the chain",
          examples: [7]
        })
      ),
      addresses: Schema.Int.annotate({ description: "Addresses from index 0 on that are watched", examples: [28] })
    })
  ),
  total: Schema.Int.annotate({ description: "Watched addresses of all branches", examples: [48] }),
  completeFrom: Schema.optionalKey(CompleteFrom).annotate({
    description:
      "Height of the block from which on every payment to the watched addresses is told, or is being told; absent where no " +
      "block was recorded yet",
    examples: [20_000_000]
  }),
  isLookingBack: Schema.Boolean.annotate({
    description: "Whether payments from before the window reached their addresses are still looked for",
    examples: [false]
  })
}).annotate({ identifier: "ExtendedKeyState" })

export class ExtendedKeysGroup extends HttpApiGroup.make("extendedKeys")
  .add(
    HttpApiEndpoint.post("create", "/extended-keys", {
      params: chainParams,
      query: context,
      payload: body({ ...newList, allowDuplicates, ...NewKey }),
      success: item(SubscriptionDetails).pipe(HttpApiSchema.status(201)),
      error: [
        ...chainErrors,
        Failures.callbacksLimitReached,
        Failures.invalidXpub,
        Failures.alreadyExists,
        ...bodyErrors,
        Failures.unimplemented
      ]
    })
      .annotate(Price, "subscription-create")
      .annotate(ExampleValues, {
        ...{ eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: undefined, transactionId: undefined },
        ...{ filter: coinFilter, confirmationsCount: undefined },
        ...{ descriptor: undefined, format: undefined, derivation: undefined }
      })
      .annotate(OpenApi.Summary, "Subscribe to all addresses of an extended public key or a descriptor"),
    HttpApiEndpoint.get("get", "/:referenceId/extended-key", {
      params: { ...chainParams, ...referenceIdParam },
      query: context,
      success: item(ExtendedKeyState),
      error: [...chainErrors, Failures.resourceNotFound, Failures.conflict]
    })
      .annotate(Price, "subscription-get")
      .annotate(OpenApi.Summary, "Read how far the subscription on an extended public key reaches")
  )
  .middleware(RequestedChain)
  .prefix("/blockchain-events/:blockchain/:network")
  .annotateMerge(
    OpenApi.annotations({
      title: "Extended public keys",
      description: "Subscriptions to an event of all addresses of a wallet, as far as a window behind the used ones"
    })
  ) {}
