/** Answers the operations on the forms of addresses. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Result from "effect/Result"
import { Api } from "../contract/Api.ts"
import { invalidField, Unimplemented } from "../contract/Errors.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import { formatOfWord } from "../contract/WalletParams.ts"
import { decodeAddress } from "../operations/Field.ts"
import { refusalOf } from "../operations/Wallet.ts"

const defaultCount = 10

/** The other form of an address of a chain that has two. */
const otherForm = Effect.fnUntraced(function* (chain: Chain, text: string) {
  const bytes = yield* decodeAddress(chain, "address", text)
  const legacy = Address.encodeLegacy(chain, bytes)
  if (legacy === text) return Address.encode(chain, bytes)!
  return legacy ?? (yield* invalidField("address", "has no other form"))
})

/** Words that mean the text from before CashAddr, where a chain has both, and words that mean CashAddr. */
const legacyWords = ["p2pkh", "p2sh"]
const cashWords = ["p2pkh-cash", "p2sh-cash"]

interface Asked {
  readonly addressFormat?: string
  readonly addressesCount?: number
  readonly isChange?: boolean
  readonly startIndex?: number
}

const derive = Effect.fnUntraced(function* (chain: Chain, text: string, asked: Asked) {
  const word = asked.addressFormat?.toLowerCase()
  if (word !== undefined && cashWords.includes(word) && chain.utxo?.address.cashAddr === undefined) {
    return yield* invalidField("addressFormat", `${chain.blockchain} has no such form`)
  }
  const format = word === undefined ? undefined : formatOfWord(word)
  const isLegacy = word !== undefined && legacyWords.includes(word)
  const branch = yield* Effect.mapError(
    Effect.fromResult(
      Result.flatMap(ExtendedPublicKey.decode(chain, text), (key) =>
        Derivation.branch(chain, key, { format, type: asked.isChange ? "change" : "receive" })
      )
    ),
    refusalOf
  )
  const { addressesCount = defaultCount, startIndex = 0 } = asked
  const found = WalletBranches.derive(branch, startIndex, startIndex + addressesCount - 1)
  return found.map(({ address, bytes, index }) => ({
    address: (isLegacy ? Address.encodeLegacy(chain, bytes) : undefined) ?? address,
    index
  }))
})

export const layer = HttpApiBuilder.group(Api, "addressForms", (handlers) => {
  const validate = Effect.fnUntraced(function* ({
    payload
  }: {
    readonly payload: { readonly data: { readonly item: { readonly address: string } } }
  }) {
    const { address } = payload.data.item
    return { item: { address, isValid: Result.isSuccess(Address.decode(yield* CurrentChain, address)) } }
  })
  return handlers.handleAll({
    evmValidate: validate,
    utxoValidate: validate,
    xrpValidate: validate,
    convert: Effect.fnUntraced(function* ({ payload }) {
      const chain = yield* CurrentChain
      if (chain.blockchain !== "bitcoin-cash") {
        return yield* new Unimplemented({ message: `Addresses of ${chain.blockchain} have one form` })
      }
      return { item: { convertedAddress: yield* otherForm(chain, payload.data.item.address) } }
    }),
    decodeX: Effect.fnUntraced(function* ({ params }) {
      const chain = yield* CurrentChain
      const account = yield* decodeAddress(chain, "xAddress", params.xAddress)
      const classicAddress = Address.encode(chain, account)!
      if (classicAddress === params.xAddress) return yield* invalidField("xAddress", "must be an X-address")
      const tag = Result.getOrUndefined(Address.destinationTag(chain, params.xAddress))
      return { item: { classicAddress, ...(tag === undefined ? {} : { addressTag: tag }) } }
    }),
    encodeX: Effect.fnUntraced(function* ({ params }) {
      const chain = yield* CurrentChain
      const account = yield* decodeAddress(chain, "classicAddress", params.classicAddress)
      if (Address.encode(chain, account) !== params.classicAddress) {
        return yield* invalidField("classicAddress", "must be a classic address: r…")
      }
      return { item: { xAddress: Address.encode(chain, Address.withTag(account, params.addressTag))! } }
    }),
    derive: Effect.fnUntraced(function* ({ params, query }) {
      return { item: { addresses: yield* derive(yield* CurrentChain, params.extendedPublicKey, query) } }
    })
  })
})
