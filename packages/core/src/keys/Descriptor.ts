/**
 * Output descriptors (BIP-380 to BIP-386, BIP-389) of a wallet's addresses, as far as one extended public key has them:
 * `pkh`, `wpkh`, `sh(wpkh)` and `tr` of `key/<0;1>/*`, `key/0/*`, `key/1/*` or `key/*`.
 *
 * A private key is refused, and no error repeats any of the text.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Chain } from "../chains/Chain.ts"
import * as Derivation from "./Derivation.ts"
import * as ExtendedPublicKey from "./ExtendedPublicKey.ts"

/** The addresses that a descriptor is of. */
export interface Descriptor {
  readonly key: ExtendedPublicKey.ExtendedPublicKey
  readonly derivation: Derivation.Derivation
  readonly format: Derivation.Format
  readonly types: ReadonlyArray<Derivation.AddressType>
}

/** The text is no descriptor of a wallet on this chain; the message names the broken rule and never repeats the text. */
export class InvalidDescriptor extends Schema.TaggedError<InvalidDescriptor>()("InvalidDescriptor", {
  message: Schema.String
}) {}

/** Every character of a descriptor, three groups of 32 (BIP-380). */
const characters =
  "0123456789()[],'/*abcdefgh@:$%{}" + "IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" + 'ijklmnopqrstuvwxyzABCDEFGH`#"\\ '
const checksumCharacters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
const generator = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn]

/** What the checksum is over: of each character its place in its group, and of each three the numbers of the groups. */
const symbolsOf = (text: string): ReadonlyArray<number> | undefined => {
  const symbols: Array<number> = []
  let groups = 0
  for (const [i, character] of [...text].entries()) {
    const at = characters.indexOf(character)
    if (at < 0) return undefined
    symbols.push(at & 31)
    groups = groups * 3 + (at >> 5)
    if (i % 3 < 2) continue
    symbols.push(groups)
    groups = 0
  }
  return text.length % 3 === 0 ? symbols : [...symbols, groups]
}

/**
 * The eight characters behind the `#` of a descriptor; undefined where the text has a character that none may have.
 *
 * @example
 * ```ts
 * import * as Descriptor from "@headwater/core/keys/Descriptor"
 *
 * Descriptor.checksum("raw(deadbeef)") // => "89f8spxm"
 * ```
 */
export const checksum = (text: string): string | undefined => {
  const symbols = symbolsOf(text)
  if (symbols === undefined) return undefined
  let sum = 1n
  for (const symbol of [...symbols, 0, 0, 0, 0, 0, 0, 0, 0]) {
    const top = sum >> 35n
    sum = ((sum & 0x7ffffffffn) << 5n) ^ BigInt(symbol)
    for (const [bit, term] of generator.entries()) if ((top >> BigInt(bit)) & 1n) sum ^= term
  }
  sum ^= 1n
  return Array.from({ length: 8 }, (_, i) => checksumCharacters[Number((sum >> BigInt(5 * (7 - i))) & 31n)]).join("")
}

const scripts: Readonly<Record<string, Derivation.Format>> = {
  pkh: "P2PKH",
  wpkh: "P2WPKH",
  "sh(wpkh": "P2SH-P2WPKH",
  tr: "P2TR"
}

const paths: Readonly<Record<string, Pick<Descriptor, "derivation" | "types">>> = {
  "/<0;1>/*": { derivation: "account", types: ["receive", "change"] },
  "/0/*": { derivation: "account", types: ["receive"] },
  "/1/*": { derivation: "account", types: ["change"] },
  "/*": { derivation: "bip32", types: ["receive"] }
}

const origin = /^\[[0-9a-fA-F]{8}(?:\/\d{1,10}[h']?)*\]/

const mostCharacters = 500

/** Script, key and path of a descriptor, or the rule that it breaks. */
const parts = (text: string): Result.Result<readonly [script: string, key: string, path: string], string> => {
  if (text.length > mostCharacters) return Result.fail(`must have at most ${mostCharacters} characters`)
  const [body = "", sum, ...rest] = text.split("#")
  if (checksum(body) === undefined) return Result.fail("has a character that no descriptor has")
  if (rest.length > 0 || (sum !== undefined && sum !== checksum(body))) return Result.fail("has a wrong checksum")
  const [, script = "", inner = ""] = /^(pkh|wpkh|sh\(wpkh|tr)\(([^()]*)\)+$/.exec(body) ?? []
  if (scripts[script] === undefined || body !== `${script}(${inner})${")".repeat(script.split("(").length - 1)}`) {
    return Result.fail("must be pkh(…), wpkh(…), sh(wpkh(…)) or tr(…) of one key")
  }
  const own = inner.replace(origin, "")
  if (own.startsWith("[")) {
    return Result.fail(
      "must name the origin of its key as [fingerprint/path], the fingerprint with 8 hexadecimal digits"
    )
  }
  const slash = own.indexOf("/")
  return Result.succeed([script, slash < 0 ? own : own.slice(0, slash), slash < 0 ? "" : own.slice(slash)])
}

/**
 * Reads a descriptor of addresses of `chain`. The checksum is verified where it is there.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Descriptor from "@headwater/core/keys/Descriptor"
 * import * as Result from "effect/Result"
 *
 * const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
 * const key = "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
 * const { format, types } = Result.getOrThrow(Descriptor.parse(bitcoin, `wpkh([d34db33f/84h/0h/0h]${key}/<0;1>/*)`))
 * format // => "P2WPKH"
 * types // => ["receive", "change"]
 * ```
 */
export const parse = (chain: Chain, text: string): Result.Result<Descriptor, InvalidDescriptor> =>
  Result.mapError(
    Result.gen(function* () {
      const [script, keyText, path] = yield* parts(text)
      const of = paths[path]
      if (of === undefined) return yield* Result.fail("must end in /<0;1>/*, /0/*, /1/* or /* behind the key")
      const key = yield* Result.mapError(ExtendedPublicKey.decode(chain, keyText), ({ message }) => message)
      if (key.format !== undefined) return yield* Result.fail("must have its key as xpub or tpub (BIP-380)")
      const format = scripts[script]!
      for (const type of of.types) {
        const options = { derivation: of.derivation, format, type }
        yield* Result.mapError(Derivation.branch(chain, key, options), ({ message }) => message)
      }
      return { key, format, ...of }
    }),
    (rule) => new InvalidDescriptor({ message: `descriptor: ${rule}` })
  )
