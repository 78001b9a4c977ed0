/** The pure work of Headwater for programs without Effect: plain functions that throw tagged errors. */
import * as Result from "effect/Result"
import * as Address from "./address/Address.ts"
import type { Block } from "./Block.ts"
import * as Chain from "./chains/Chain.ts"
import type { TokenMetadata } from "./events/Callback.ts"
import type { EventType } from "./events/EventType.ts"
import * as Matcher from "./events/Matcher.ts"
import * as Payers from "./events/Payers.ts"
import * as Signature from "./events/Signature.ts"
import * as Watched from "./events/Watched.ts"
import * as Sighash from "./evm/Sighash.ts"
import * as Derivation from "./keys/Derivation.ts"
import * as ExtendedPublicKey from "./keys/ExtendedPublicKey.ts"

const thrown = <A, E>(result: Result.Result<A, E>): A => Result.getOrThrowWith(result, (error) => error)

const named = (name: string): Chain.Chain => {
  const [blockchain = "", ...network] = String(name).split("/")
  return thrown(Chain.find(blockchain, network.join("/")))
}

/**
 * Addresses of a wallet from its extended public key: `count` of them, at most 100,000, from the index `from` on. An index without an
 * address is left out, as wallets do. Throws `UnknownBlockchain`, `UnknownNetwork`, `InvalidExtendedPublicKey` and
 * `InvalidDerivation`.
 *
 * @example
 * ```ts
 * import { derive } from "@headwater/core/Plain"
 *
 * const key = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
 * derive("bitcoin/mainnet", key, { count: 1 })[0]?.address // => "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"
 * ```
 */
export const derive = (
  chain: string,
  extendedPublicKey: string,
  { count = 20, from = 0, ...options }: Derivation.Options & { readonly from?: number; readonly count?: number } = {}
): ReadonlyArray<Derivation.DerivedAddress> => {
  const of = named(chain)
  const key = thrown(ExtendedPublicKey.decode(of, extendedPublicKey))
  const branch = thrown(Derivation.branch(of, key, options))
  thrown(Derivation.checkRange(from, count))
  return Derivation.derive(branch, from, count).flatMap((derived) =>
    Result.isSuccess(derived) ? [derived.success] : []
  )
}

/**
 * The hash that an unsigned EVM transaction is signed by, as 0x and hexadecimal digits. `transaction` has the fields that
 * `headwater sighash` reads; numbers may be bigints. Throws `InvalidTransaction`.
 *
 * @example
 * ```ts
 * import { sighash } from "@headwater/core/Plain"
 *
 * const to = "0x3535353535353535353535353535353535353535"
 * const transaction = { type: 0, chainId: 1, nonce: 9, gasPrice: 20n * 10n ** 9n, gasLimit: 21_000, to, value: 10n ** 18n }
 * sighash(transaction) // => "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"
 * ```
 */
export const sighash = (transaction: Readonly<Record<string, unknown>>): string =>
  Sighash.digestText(thrown(Sighash.parse(transaction)))

const nameless = (): TokenMetadata => ({ name: "", symbol: "", decimals: undefined })

/**
 * What a block has of these addresses, as the items of callbacks in the order of the block. `metadata` says what is known
 * of a token's contract. Throws `UnknownBlockchain`, `UnknownNetwork` and `InvalidAddress`.
 *
 * @example
 * ```ts
 * import { match } from "@headwater/core/Plain"
 *
 * const hash = new Uint8Array(32)
 * const block = { height: 1, hash, parent: hash, time: 1438269988, transactions: [], transfers: [], spends: [] }
 * match("ethereum/mainnet", block, ["0x52908400098527886E0F7030069857D2E4169EE7"]) // => []
 * ```
 */
export const match = (
  chain: string,
  block: Block,
  addresses: ReadonlyArray<string>,
  metadata: (contract: Address.AddressBytes) => TokenMetadata = nameless
): ReadonlyArray<Matcher.ItemOf<EventType>> => {
  const of = named(chain)
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  const watched = Watched.make([high, low], addresses.length)
  for (const text of addresses) watched.add(thrown(Address.decodeWithTag(of, text)))
  const events = confirmed.filter((event) => of.events.has(event))
  const byAddress = new Map(
    [...Matcher.addressesSeen(block, watched, Payers.shown(block, watched))].map(
      ([hex, address]) => [hex, events.map((event) => ({ event, address }))] as const
    )
  )
  return Matcher.match(of, block, { byAddress, blockMined: [], metadata }).occurrences.map(({ item }) => item)
}

const confirmed = [
  "ADDRESS_COINS_TRANSACTION_CONFIRMED",
  "ADDRESS_TOKENS_TRANSACTION_CONFIRMED",
  "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED",
  "CONTRACT_EVENT"
] as const satisfies ReadonlyArray<EventType>

/**
 * Verifies a callback by the headers of Standard Webhooks, as `Signature.verify` does: `body` is the raw body, `secrets`
 * the subscription's secret and, while a rotation lasts, the one before; `now` is the receiver's clock, in seconds since the
 * Unix epoch. Throws `InvalidSignature`.
 *
 * @example
 * ```ts
 * import { verifyCallback } from "@headwater/core/Plain"
 * import * as Signature from "@headwater/core/events/Signature"
 *
 * const headers = Signature.headers({ secrets: ["a secret"], id: "4b6f", timestamp: 1764158400, body: "{}" })
 * verifyCallback(headers, "{}", ["a secret"], 1764158410).id // => "4b6f"
 * ```
 */
export const verifyCallback = (
  headers: Signature.ReceivedHeaders,
  body: Uint8Array | string,
  secrets: ReadonlyArray<string>,
  now: number
): Signature.Verified => thrown(Signature.verify(headers, body, secrets, now))
