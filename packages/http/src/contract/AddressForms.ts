/** The forms of addresses: checked, changed into one another, and derived, by rules alone (wider interface, *Utilities*). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AddressText, body, bodyErrors, chainErrors, chainParams, context, flag } from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { Count } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { extendedPublicKeyParam, FormatWord } from "./WalletParams.ts"

const address = Schema.String.check(Schema.isMaxLength(200, { message: "must be at most 200 characters" })).annotate({
  description: "Address, in any form that the blockchain knows",
  examples: ["0x52908400098527886E0F7030069857D2E4169EE7"]
})

export const ValidatedAddress = Schema.Struct({
  address: AddressText.annotate({ description: "The address of the request" }),
  isValid: Schema.Boolean.annotate({ description: "Whether it is an address of the chain" })
}).annotate({ identifier: "ValidatedAddress" })

const validate = {
  params: chainParams,
  query: context,
  payload: body({ address }),
  success: item(ValidatedAddress),
  error: [...chainErrors, ...bodyErrors]
} as const

const classicAddress = AddressText.annotate({
  description: "Address of the account",
  examples: ["rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"]
})
const xAddress = AddressText.annotate({
  description: "Address of one user of the account (XLS-5)",
  examples: ["XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC"]
})
const maxTag = 0xffff_ffff

const upTo = (maximum: number, description: string) =>
  Count.check(Schema.isLessThanOrEqualTo(maximum, { message: `must be at most ${maximum}` })).annotate({
    description,
    examples: [1]
  })

/** The most addresses that one request derives: each costs a tenth of a millisecond. */
const maxDerived = 100
const maxIndex = 0x7fff_ffff

export const DerivedAddresses = Schema.Struct({
  addresses: Schema.Array(Schema.Struct({ address: AddressText, index: Schema.Int.annotate({ examples: [0] }) }))
}).annotate({ identifier: "DerivedAddresses" })

export class AddressFormsGroup extends HttpApiGroup.make("addressForms")
  .add(
    HttpApiEndpoint.post("evmValidate", "/evm/:blockchain/:network/validate-address", validate)
      .annotate(Price, "address-form")
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Check an address of an EVM chain"),
    HttpApiEndpoint.post("utxoValidate", "/utxo/:blockchain/:network/validate-address", validate)
      .annotate(Price, "address-form")
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "Check an address of a UTXO chain"),
    HttpApiEndpoint.post("xrpValidate", "/xrp/:blockchain/:network/validate-address", validate)
      .annotate(Price, "address-form")
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Check an address of the XRP Ledger"),
    HttpApiEndpoint.post("convert", "/:blockchain/:network/convert-address", {
      ...validate,
      success: item(Schema.Struct({ convertedAddress: AddressText })).pipe(HttpApiSchema.status(201)),
      error: [...validate.error, Failures.unimplemented]
    })
      .annotate(Price, "address-form")
      .annotate(Families, ["utxo"])
      .annotate(ExampleValues, {
        address: "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu",
        convertedAddress: "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
      })
      .annotate(OpenApi.Summary, "Change an address of Bitcoin Cash into its other form: CashAddr or legacy"),
    HttpApiEndpoint.get("decodeX", "/:blockchain/:network/decode-x-address/:xAddress", {
      params: { ...chainParams, xAddress },
      query: context,
      success: item(
        Schema.Struct({
          addressTag: Schema.optionalKey(
            Schema.Int.annotate({ description: "Absent where the X-address has no tag", examples: [1] })
          ),
          classicAddress
        })
      ),
      error: chainErrors
    })
      .annotate(Price, "address-form")
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Read an X-address"),
    HttpApiEndpoint.get("encodeX", "/:blockchain/:network/encode-x-address/:classicAddress/:addressTag", {
      params: { ...chainParams, classicAddress, addressTag: upTo(maxTag, "Tag of the user: a number of 32 bits") },
      query: context,
      success: item(Schema.Struct({ xAddress })),
      error: chainErrors
    })
      .annotate(Price, "address-form")
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Make an X-address"),
    HttpApiEndpoint.get("derive", "/:blockchain/:network/xpubs/:extendedPublicKey/derive-addresses", {
      params: { ...chainParams, ...extendedPublicKeyParam },
      query: {
        ...context,
        addressFormat: Schema.optionalKey(
          FormatWord.annotate({
            description:
              "By default what the key's version says, else the chain's usual form; `p2sh` is P2SH-P2WPKH. On Bitcoin " +
              "Cash `p2pkh` and `p2sh` are in legacy text, `p2pkh-cash` and `p2sh-cash` CashAddr",
            examples: ["p2wpkh"]
          })
        ),
        addressesCount: Schema.optionalKey(
          upTo(maxDerived, `How many addresses, at most ${maxDerived}; 10 if not given`)
        ),
        isChange: flag("Change addresses (m/1/i) in place of m/0/i; false if not given"),
        startIndex: Schema.optionalKey(upTo(maxIndex, "Index of the first address; 0 if not given"))
      },
      success: item(DerivedAddresses),
      error: [...chainErrors, Failures.invalidXpub]
    })
      .annotate(Price, "address-form")
      .annotate(OpenApi.Summary, "Derive addresses of an extended public key, and record nothing")
  )
  .middleware(RequestedChain)
  .prefix("/utils")
  .annotateMerge(
    OpenApi.annotations({ title: "Forms of addresses", description: "Addresses checked, changed and derived" })
  ) {}
