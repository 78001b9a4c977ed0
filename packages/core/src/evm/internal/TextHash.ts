/**
 * Keccak-256 of short texts, for checksums: by a kernel, which takes a tenth of the time, or in the plain way where WebAssembly
 * is not allowed, as by the policy of some web pages and hosts.
 */
import { keccak_256 } from "@noble/hashes/sha3.js"
import * as Result from "effect/Result"
import * as Kernel from "../../Kernel.ts"
import compiled from "./compiledChecksum.ts"

interface Exports extends Kernel.Exports {
  readonly keccak: (to: number, from: number, length: number) => void
}

/** The hash of a text of ASCII; what is given holds until the next text is hashed. */
export type TextHash = (text: string) => Uint8Array

const hashBytes = 32
/** No text is longer. */
export const maxLength = 256

const write = (text: string, into: Uint8Array): void => {
  for (let index = 0; index < text.length; index++) into[index] = text.charCodeAt(index)
}

export const plain: TextHash = (text) => {
  const bytes = new Uint8Array(text.length)
  write(text, bytes)
  return keccak_256(bytes)
}

const byKernel = (): TextHash => {
  const { begin, keccak, memory, reach } = Kernel.make<Exports>(compiled).take()
  const hashAt = begin()
  const textAt = hashAt + hashBytes
  reach(textAt + maxLength)
  const hash = new Uint8Array(memory.buffer, hashAt, hashBytes)
  const bytes = new Uint8Array(memory.buffer, textAt, maxLength)
  return (text) => {
    write(text, bytes)
    keccak(hashAt, textAt, text.length)
    return hash
  }
}

/** The fastest way that there is here. */
export const make = (): TextHash => Result.getOrElse(Result.try(byKernel), () => plain)
