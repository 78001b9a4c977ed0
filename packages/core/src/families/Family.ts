/**
 * A family of chains: all that core asks of chains whose ledgers work alike, as one value. Each family's value stands at
 * the top of its folder, and `families.ts` lists them.
 */
import type * as Result from "effect/Result"
import type { KeyFormat } from "../keys/KeyFormat.ts"

/** Address text ⇄ canonical bytes, by the facts of a network. */
export interface AddressCodec<Facts> {
  /** Any valid form of an address → canonical bytes; the failure is the rule that the text breaks. */
  readonly decode: (facts: Facts, text: string) => Result.Result<Uint8Array, string>
  /** Canonical bytes → canonical text, undefined where the bytes have no address form. */
  readonly encode: (facts: Facts, bytes: Uint8Array) => string | undefined
  /** Canonical bytes → the text from before the canonical form, undefined where there is none; absent where no network has such a text. */
  readonly encodeLegacy?: (facts: Facts, bytes: Uint8Array) => string | undefined
  /** The destination tag inside an address, where a form has one; fails as `decode`. */
  readonly destinationTag?: (facts: Facts, text: string) => Result.Result<number | undefined, string>
}

/** Examples of the family for documents: one of its chains, with addresses and a block of that chain's form. */
export interface Example {
  /** `blockchain/network` */
  readonly chain: string
  readonly addresses: readonly [string, string]
  readonly height: number
  /** Bytes that the hash of the block begins with: a proof of work, or the height. */
  readonly blockHash: ReadonlyArray<number>
}

/**
 * `Facts` is the form of the facts that each network of the family's chains states under the family's name; `Format` has
 * the names of the family's key formats.
 */
export interface Family<Facts, Format extends string = string> {
  /** The family's name in documents and messages. */
  readonly title: string
  /**
   * How coins are held: as outputs, which are spent whole, so that the net of a transaction is what an address gets or
   * pays; or as balances of accounts, which each transfer changes.
   */
  readonly ledger: "outputs" | "accounts"
  /** Whether there are contracts, and so tokens and internal transactions. */
  readonly hasContracts: boolean
  /** Whether the nodes show the transactions that wait for a block. */
  readonly hasMempool: boolean
  readonly address: AddressCodec<Facts>
  /** The text of a block's or a transaction's hash. */
  readonly hashText: (hash: Uint8Array) => string
  /** Every format in which an address is made of one public key. */
  readonly keyFormats: ReadonlyArray<KeyFormat<Format>>
  /** The formats that a network can pay to, the default first. */
  readonly keyFormatsOf: (facts: Facts) => readonly [KeyFormat<Format>, ...ReadonlyArray<KeyFormat<Format>>]
  /**
   * Whether wallets have keys of their own on test networks: coin type 1 (SLIP-44), and tpub in place of xpub. Else an
   * account is the same on every network.
   */
  readonly hasTestKeys: boolean
  readonly example: Example
}
