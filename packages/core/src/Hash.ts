/** Block and transaction hashes in the text form of each family. */
import type { Chain } from "./chains/Chain.ts"
import { families } from "./families/families.ts"

/**
 * `0x` hex on EVM chains, upper-case hex on XRP, plain hex elsewhere.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Hash from "@headwater/core/Hash"
 *
 * const texts = ["ethereum/mainnet", "xrp/mainnet", "bitcoin/mainnet"].map((name) =>
 *   Hash.encode(Chain.ofName(name)!, Uint8Array.of(0xab, 0xcd))
 * )
 * texts // => ["0xabcd", "ABCD", "abcd"]
 * ```
 */
export const encode = ({ family }: Pick<Chain, "family">, hash: Uint8Array): string => families[family].hashText(hash)
