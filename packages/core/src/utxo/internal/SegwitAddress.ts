/** BIP-173 (bech32) and BIP-350 (bech32m) addresses of witness programs. */
import { bech32, bech32m } from "@scure/base"
import * as Result from "effect/Result"

interface WitnessProgram {
  readonly version: number
  readonly program: Uint8Array
}

/** Text with the human-readable part `hrp` → witness program; the failure is the rule that the text breaks. */
export const decode = (hrp: string, text: string): Result.Result<WitnessProgram, string> => {
  if (text.length > 90) return Result.fail("must have at most 90 characters")
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return Result.fail("must not mix upper and lower case")
  if (!lower.startsWith(`${hrp}1`)) return Result.fail(`must begin with ${hrp}1`)
  const v0 = bech32.decodeUnsafe(lower)
  const decoded = v0 ?? bech32m.decodeUnsafe(lower)
  if (!decoded || decoded.prefix !== hrp) return Result.fail("must have a correct bech32 or bech32m checksum")
  const [version, ...words] = decoded.words
  if (version === undefined || version > 16) return Result.fail("must have a witness version from 0 to 16")
  if ((version === 0) !== (v0 !== undefined)) {
    return Result.fail(`witness version ${version} must be written in ${version === 0 ? "bech32" : "bech32m"}`)
  }
  const program = bech32.fromWordsUnsafe(words)
  if (!program) return Result.fail("must have zero padding of less than five bits")
  if (version === 0 ? program.length !== 20 && program.length !== 32 : program.length < 2 || program.length > 40) {
    return Result.fail(
      `a program of witness version ${version} must have ${version === 0 ? "20 or 32" : "2 to 40"} bytes`
    )
  }
  return Result.succeed({ version, program })
}

/** Witness program → lower-case text; undefined for a version 0 program that is neither 20 nor 32 bytes. */
export const encode = (hrp: string, { version, program }: WitnessProgram): string | undefined =>
  version === 0 && program.length !== 20 && program.length !== 32
    ? undefined
    : (version === 0 ? bech32 : bech32m).encode(hrp, [version, ...bech32.toWords(program)])
