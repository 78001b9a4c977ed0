/**
 * Address text of every family to canonical bytes and back.
 *
 * Bytes, not text, are compared, watched and stored: the locking script on UTXO chains (two addresses over one key
 * hash differ by their script), the 20-byte account on EVM chains, Tron and XRP.
 */
import type * as Brand from "effect/Brand"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Chain } from "./Chain.ts"

/** Canonical bytes of an address on its chain. */
export type AddressBytes = Uint8Array & Brand.Brand<"AddressBytes">

/** The text is not an address of this chain; the message says which rule it breaks. */
export class InvalidAddress extends Schema.TaggedError<InvalidAddress>()("InvalidAddress", {
  message: Schema.String
}) {}

/** Reads any valid form of an address of `chain`. */
export const decode = (_chain: Chain, _text: string): Result.Result<AddressBytes, InvalidAddress> =>
  Result.fail(new InvalidAddress({ message: "not an address" }))

/** The one canonical text of `bytes`, or undefined where a script has no address form. */
export const encode = (_chain: Chain, _bytes: AddressBytes): string | undefined => undefined
