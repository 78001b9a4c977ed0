/**
 * Address text of every family to canonical bytes and back.
 *
 * Bytes, not text, are compared, watched and stored: the locking script on UTXO chains (two addresses over one key
 * hash differ by their script), the 20-byte account on EVM chains, Tron and XRP.
 */
import type * as Brand from "effect/Brand"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Chain } from "../chains/Chain.ts"
import * as EvmAddress from "./EvmAddress.ts"
import * as UtxoAddress from "./internal/UtxoAddress.ts"
import * as XrpAddress from "./internal/XrpAddress.ts"
import * as TronAddress from "./TronAddress.ts"

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

const decodeBytes = ({ addressFormat }: Chain, text: string): Result.Result<Uint8Array, string> => {
  switch (addressFormat.kind) {
    case "utxo":
      return UtxoAddress.decode(addressFormat, text)
    case "evm":
      return EvmAddress.decode(text)
    case "tron":
      return TronAddress.decode(text)
    case "xrp":
      return Result.map(XrpAddress.decode(addressFormat.test, text), ({ account }) => account)
  }
}

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
  Result.mapBoth(decodeBytes(chain, text), {
    onFailure: (rule) => new InvalidAddress({ message: `address of ${chain.blockchain} ${chain.network}: ${rule}` }),
    onSuccess: fromBytes
  })

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
export const encode = ({ addressFormat }: Chain, bytes: AddressBytes): string | undefined => {
  if (addressFormat.kind === "utxo") return UtxoAddress.encode(addressFormat, bytes)
  if (bytes.length !== 20) return undefined
  switch (addressFormat.kind) {
    case "evm":
      return EvmAddress.encode(bytes)
    case "tron":
      return TronAddress.encode(bytes)
    case "xrp":
      return XrpAddress.encode(bytes)
  }
}

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
export const destinationTag = (chain: Chain, text: string): Result.Result<number | undefined, InvalidAddress> =>
  chain.addressFormat.kind === "xrp"
    ? Result.mapBoth(XrpAddress.decode(chain.addressFormat.test, text), {
        onFailure: (rule) =>
          new InvalidAddress({ message: `address of ${chain.blockchain} ${chain.network}: ${rule}` }),
        onSuccess: ({ tag }) => tag
      })
    : Result.map(decode(chain, text), () => undefined)
