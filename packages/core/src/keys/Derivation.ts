/**
 * Addresses of a wallet from its extended public key, on every family and without a private key.
 *
 * The maths takes time that depends on the keys, which are public. Deriving many addresses in one call is far cheaper
 * than one at a time, and blocks: about 0.1 ms an address.
 */
import type { BIP32Interface } from "bip32"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Address from "../address/Address.ts"
import type { Chain } from "../chains/Chain.ts"
import { families, familyNames } from "../families/families.ts"
import * as ExtendedPublicKey from "./ExtendedPublicKey.ts"
import * as BaseMultiples from "./BaseMultiples.ts"
import * as ChildKeys from "./internal/ChildKeys.ts"
import { keyFormatsOf } from "./internal/KeyFormatsOf.ts"
import type { KeyFormat } from "./KeyFormat.ts"

export type { Format } from "./ExtendedPublicKey.ts"

type Format = ExtendedPublicKey.Format

/** Where addresses are below the extended public key m: `account` at m/0/i and m/1/i (BIP-44), `bip32` at m/i. */
export type Derivation = "account" | "bip32"

/** Receiving addresses, which others pay to (m/0/i, m/i), or change addresses of the wallet itself (m/1/i). */
export type AddressType = "receive" | "change"

/** This key has no such addresses on this chain; the message names the field and the rule. */
export class InvalidDerivation extends Schema.TaggedError<InvalidDerivation>()("InvalidDerivation", {
  message: Schema.String
}) {}

/** BIP-32 has no key at this index (chance below 2^-127), or the index is not in 0 … 2^31 − 1: go on with the next. */
export class UnderivableIndex extends Schema.TaggedError<UnderivableIndex>()("UnderivableIndex", {
  // Who derives may ask for any number.
  // @effect-diagnostics-next-line schemaNumber:off
  index: Schema.Number
}) {
  override get message() {
    return `there is no address at index ${this.index}`
  }
}

/** One address of a wallet. */
export interface DerivedAddress {
  readonly index: number
  readonly bytes: Address.AddressBytes
  /** Canonical text. */
  readonly address: string
}

export interface Options {
  /** Default `account`. */
  readonly derivation?: Derivation | undefined
  /** Default `receive`; `bip32` has no other. */
  readonly type?: AddressType | undefined
  /** Default: the format that the key's version decides, else P2WPKH where the chain has it, P2PKH on other UTXO chains. */
  readonly format?: Format | undefined
}

const derivations: ReadonlyArray<Derivation> = ["account", "bip32"]
const types: ReadonlyArray<AddressType> = ["receive", "change"]

const oneOf = (field: string, names: ReadonlyArray<string>): InvalidDerivation =>
  new InvalidDerivation({ message: `${field}: must be one of ${names.join(", ")}` })

/** A branch of a wallet, ready to derive: the key above the branch's addresses, and the addresses' format. */
export interface Branch {
  readonly chain: Chain
  readonly derivation: Derivation
  readonly type: AddressType
  readonly format: KeyFormat<Format>
  readonly node: BIP32Interface
}

/**
 * The format of the addresses of `key` on `chain` unless another is asked for.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * Derivation.defaultFormat(bitcoin, key) // => "P2WPKH"
 * ```
 */
export const defaultFormat = (chain: Chain, key: ExtendedPublicKey.ExtendedPublicKey): Format =>
  key.format ?? keyFormatsOf(chain.family, chain)[0].name

/**
 * Prepares one branch of a wallet.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * Result.getOrThrow(Derivation.branch(bitcoin, key, { type: "change" })).derivation // => "account"
 * Result.isFailure(Derivation.branch(bitcoin, key, { derivation: "bip32", type: "change" })) // => true
 * ```
 */
export const branch = (
  chain: Chain,
  key: ExtendedPublicKey.ExtendedPublicKey,
  options: Options = {}
): Result.Result<Branch, InvalidDerivation> => {
  const { derivation = "account", type = "receive", format = defaultFormat(chain, key) } = options
  // A caller without types: another word must not be taken for the default.
  if (!derivations.includes(derivation)) return Result.fail(oneOf("derivation", derivations))
  if (!types.includes(type)) return Result.fail(oneOf("type", types))
  const formats = keyFormatsOf(chain.family, chain)
  const found = formats.find(({ name }) => name === format)
  if (found === undefined) {
    return Result.fail(
      new InvalidDerivation({
        message: `format: ${chain.blockchain} has ${formats.map(({ name }) => name).join(", ")}, not ${format}`
      })
    )
  }
  if (derivation === "bip32" && type === "change") {
    return Result.fail(new InvalidDerivation({ message: "type: the derivation bip32 has no change addresses" }))
  }
  const node = derivation === "bip32" ? key.node : ChildKeys.child(key.node, type === "change" ? 1 : 0)
  return node === undefined
    ? Result.fail(new InvalidDerivation({ message: "derivation: BIP-32 has no such branch below this key" }))
    : Result.succeed({ chain, derivation, type, format: found, node })
}

/**
 * The branches of a wallet: receiving addresses, then change where the derivation has them.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * Result.getOrThrow(Derivation.branches(bitcoin, key)).map(({ type }) => type) // => ["receive", "change"]
 * Result.getOrThrow(Derivation.branches(bitcoin, key, { derivation: "bip32" })).map(({ type }) => type) // => ["receive"]
 * ```
 */
export const branches = (
  chain: Chain,
  key: ExtendedPublicKey.ExtendedPublicKey,
  options: Omit<Options, "type"> = {}
): Result.Result<ReadonlyArray<Branch>, InvalidDerivation> =>
  Result.all(
    (options.derivation === "bip32" ? types.slice(0, 1) : types).map((type) => branch(chain, key, { ...options, type }))
  )

/**
 * All addresses of a branch as an output descriptor (BIP-380 to BIP-386), which nodes of UTXO chains read; undefined on
 * other chains. The descriptor's key is the branch's own, and says nothing of the keys above.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * const branch = Result.getOrThrow(Derivation.branch(bitcoin, key))
 * Derivation.descriptor(branch)?.replace(/xpub\w+/, "xpub…") // => "wpkh(xpub…/*)"
 * ```
 */
export const descriptor = ({ chain, format, node }: Branch): string | undefined =>
  format.descriptor?.(`${ExtendedPublicKey.encodeAlone(chain, node)}/*`)

const indexLimit = 2 ** 31

/**
 * The addresses of a branch at indices `from` … `from + count − 1`, in that order. `addBaseMultiples`: also that of
 * `KeysKernel`, which is faster and needs WebAssembly.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"))
 * const [first] = Derivation.derive(Result.getOrThrow(Derivation.branch(bitcoin, key)), 0, 1)
 * Result.getOrThrow(first!).address // => "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"
 * ```
 */
export const derive = (
  branch: Branch,
  from: number,
  count: number,
  addBaseMultiples: BaseMultiples.AddBaseMultiples = BaseMultiples.addBaseMultiples
): ReadonlyArray<Result.Result<DerivedAddress, UnderivableIndex>> => {
  const derivable = from >= 0 && Number.isInteger(from) ? Math.max(0, Math.min(count, indexLimit - from)) : 0
  const points = ChildKeys.derive(branch.node, from, derivable, addBaseMultiples)
  const addresses = branch.format.addresses(points)
  return Array.from({ length: count }, (_, offset) => {
    const index = from + offset
    const found = addresses[offset]
    const bytes = found && Address.fromBytes(found)
    const address = bytes && Address.encode(branch.chain, bytes)
    return bytes === undefined || address === undefined
      ? Result.fail(new UnderivableIndex({ index }))
      : Result.succeed({ index, bytes, address })
  })
}

/** The compressed public key behind a branch's address at an index, which signers look for; undefined where BIP-32 has none. */
export const publicKeyAt = ({ node }: Branch, index: number): Uint8Array | undefined =>
  ChildKeys.child(node, index)?.publicKey

const named = <A extends string>(
  field: string,
  names: ReadonlyArray<A>,
  text: string | undefined
): Result.Result<A | undefined, InvalidDerivation> => {
  if (text === undefined) return Result.succeed(undefined)
  const found = names.find((name) => name.toLowerCase() === text.toLowerCase())
  return found === undefined ? Result.fail(oneOf(field, names)) : Result.succeed(found)
}

/**
 * `account` or `bip32` in any letter case; undefined stays undefined.
 *
 * @example
 * ```ts
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as Result from "effect/Result"
 *
 * Result.getOrThrow(Derivation.parseDerivation("BIP32")) // => "bip32"
 * ```
 */
export const parseDerivation = (text: string | undefined): Result.Result<Derivation | undefined, InvalidDerivation> =>
  named("derivation", derivations, text)

/**
 * `receive` or `change` in any letter case.
 *
 * @example
 * ```ts
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as Result from "effect/Result"
 *
 * Result.getOrThrow(Derivation.parseType("CHANGE")) // => "change"
 * ```
 */
export const parseType = (text: string | undefined): Result.Result<AddressType | undefined, InvalidDerivation> =>
  named("type", types, text)

const formatNames: ReadonlyArray<Format> = [
  ...new Set(familyNames.flatMap((family) => families[family].keyFormats.map(({ name }) => name)))
]

/**
 * The name of a format in any letter case.
 *
 * @example
 * ```ts
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as Result from "effect/Result"
 *
 * Result.getOrThrow(Derivation.parseFormat("p2wpkh")) // => "P2WPKH"
 * ```
 */
export const parseFormat = (text: string | undefined): Result.Result<Format | undefined, InvalidDerivation> =>
  named("format", formatNames, text)

const integer = (field: string, value: number, limit: number): Result.Result<number, InvalidDerivation> =>
  Number.isInteger(value) && value >= 0 && value <= limit
    ? Result.succeed(value)
    : Result.fail(new InvalidDerivation({ message: `${field}: must be an integer from 0 to ${limit}` }))

/** Addresses that are asked for at once, at the most: ten seconds of derivation. */
const mostAddresses = 100_000

/**
 * Whether addresses can be asked for from the index `from` on, `count` of them: not where either is no integer, as
 * whatever a program has read from outside may be, or too great.
 *
 * @example
 * ```ts
 * import * as Derivation from "@headwater/core/keys/Derivation"
 * import * as Result from "effect/Result"
 *
 * Result.isSuccess(Derivation.checkRange(0, 20)) // => true
 * Result.isFailure(Derivation.checkRange(0, Number.NaN)) // => true
 * ```
 */
export const checkRange = (from: number, count: number): Result.Result<void, InvalidDerivation> =>
  Result.flatMap(integer("from", from, indexLimit - 1), () =>
    Result.map(integer("count", count, mostAddresses), () => undefined)
  )
