/**
 * Address text of every family to canonical bytes and back.
 *
 * Bytes, not text, are compared, watched and stored: the locking script on UTXO chains (two addresses over one key
 * hash differ by their script), the 20-byte account on EVM chains, Tron and XRP. One user of an XRP account is the
 * account's bytes and four more, the tag.
 */
import type * as Brand from "effect/Brand"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Chain } from "../chains/Chain.ts"
import { type FamilyFacts, type FamilyName, families } from "../families/families.ts"
import * as TaggedAccount from "../xrp/TaggedAccount.ts"

/** Canonical bytes of an address on its chain. */
export type AddressBytes = Uint8Array & Brand.Brand<"AddressBytes">

/** The text is not an address of this chain; the message names the broken rule and never repeats the text. */
export class InvalidAddress extends Schema.TaggedError<InvalidAddress>()("InvalidAddress", {
  message: Schema.String
}) {}

/**
 * Takes bytes that are canonical already: a locking script, or a 20-byte account as a node's block holds it. There is
 * no check, since every address of every block passes here.
 */
export const fromBytes = (bytes: Uint8Array): AddressBytes => bytes as AddressBytes

/** The codec of a chain's family, by the chain's own facts. */
const decodeBytes = <Name extends FamilyName>(family: Name, facts: Partial<FamilyFacts>, text: string) =>
  families[family].address.decode(facts[family]!, text)

const encodeBytes = <Name extends FamilyName>(family: Name, facts: Partial<FamilyFacts>, bytes: AddressBytes) =>
  families[family].address.encode(facts[family]!, bytes)

const invalid =
  (chain: Chain) =>
  (rule: string): InvalidAddress =>
    new InvalidAddress({ message: `address of ${chain.blockchain} ${chain.network}: ${rule}` })

/**
 * Reads any valid form of an address of `chain`.
 *
 * @example
 * ```ts
 * import * as Address from "@headwater/core/address/Address"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * Result.getOrThrow(Address.decode(bitcoin, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu")).length // => 22
 * Result.isFailure(Address.decode(bitcoin, "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx")) // => true
 * ```
 */
export const decode = (chain: Chain, text: string): Result.Result<AddressBytes, InvalidAddress> =>
  // A caller without types may have anything.
  typeof text === "string"
    ? Result.mapBoth(decodeBytes(chain.family, chain, text), { onFailure: invalid(chain), onSuccess: fromBytes })
    : Result.fail(invalid(chain)("must be text"))

/**
 * One user of an account of the XRP Ledger, whom the tag tells apart: an address of its own, whose text is an X-address.
 * The tag is a number of 32 bits.
 *
 * @example
 * ```ts
 * import * as Address from "@headwater/core/address/Address"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Result from "effect/Result"
 *
 * const xrp = Result.getOrThrow(Chain.find("xrp", "mainnet"))
 * const account = Result.getOrThrow(Address.decode(xrp, "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"))
 * Address.encode(xrp, Address.withTag(account, 1)) // => "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC"
 * ```
 */
export const withTag = (account: AddressBytes, tag: number): AddressBytes =>
  fromBytes(TaggedAccount.encode({ account, tag }))

/**
 * Reads an address as {@link decode} does, and keeps the tag of an X-address, which names one user of the account.
 *
 * @example
 * ```ts
 * import * as Address from "@headwater/core/address/Address"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Result from "effect/Result"
 *
 * const xrp = Result.getOrThrow(Chain.find("xrp", "mainnet"))
 * const text = "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC"
 * Result.getOrThrow(Address.decode(xrp, text)).length // => 20
 * Result.getOrThrow(Address.decodeWithTag(xrp, text)).length // => 24
 * ```
 */
export const decodeWithTag = (chain: Chain, text: string): Result.Result<AddressBytes, InvalidAddress> =>
  Result.flatMap(decode(chain, text), (account) =>
    Result.map(destinationTag(chain, text), (tag) => (tag === undefined ? account : withTag(account, tag)))
  )

/**
 * The canonical text of an address, or undefined where the bytes have no address form.
 *
 * @example
 * ```ts
 * import * as Address from "@headwater/core/address/Address"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Result from "effect/Result"
 *
 * const bitcoinCash = Result.getOrThrow(Chain.find("bitcoin-cash", "mainnet"))
 * const script = Result.getOrThrow(Address.decode(bitcoinCash, "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu"))
 * Address.encode(bitcoinCash, script) // => "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
 * ```
 */
export const encode = (chain: Chain, bytes: AddressBytes): string | undefined => encodeBytes(chain.family, chain, bytes)

const encodeLegacyBytes = <Name extends FamilyName>(family: Name, facts: Partial<FamilyFacts>, bytes: AddressBytes) =>
  families[family].address.encodeLegacy?.(facts[family]!, bytes)

/**
 * The text that an address had before its canonical one: base58 on Bitcoin Cash; undefined where it has none.
 *
 * @example
 * ```ts
 * import * as Address from "@headwater/core/address/Address"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Result from "effect/Result"
 *
 * const bitcoinCash = Result.getOrThrow(Chain.find("bitcoin-cash", "mainnet"))
 * const cash = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
 * Address.encodeLegacy(bitcoinCash, Result.getOrThrow(Address.decode(bitcoinCash, cash))) // => "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu"
 * ```
 */
export const encodeLegacy = (chain: Chain, bytes: AddressBytes): string | undefined =>
  encodeLegacyBytes(chain.family, chain, bytes)

const tagOf = <Name extends FamilyName>(family: Name, facts: Partial<FamilyFacts>, text: string) =>
  families[family].address.destinationTag?.(facts[family]!, text)

/**
 * The destination tag inside an X-address of XRP; undefined for every other address. Fails as {@link decode} does.
 *
 * @example
 * ```ts
 * import * as Address from "@headwater/core/address/Address"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Result from "effect/Result"
 *
 * const xrp = Result.getOrThrow(Chain.find("xrp", "mainnet"))
 * Result.getOrThrow(Address.destinationTag(xrp, "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC")) // => 1
 * ```
 */
export const destinationTag = (chain: Chain, text: string): Result.Result<number | undefined, InvalidAddress> => {
  const tag = tagOf(chain.family, chain, text)
  return tag === undefined ? Result.map(decode(chain, text), () => undefined) : Result.mapError(tag, invalid(chain))
}
