/**
 * The kernel that reads raw blocks of UTXO chains: hexadecimal digits as bytes, and of many messages at a time the hashes by
 * which transactions are named, SHA-256 of SHA-256.
 */
import * as Kernel from "../Kernel.ts"
import compiled from "./internal/compiledKernel.ts"

export interface Exports extends Kernel.Exports {
  /** Puts the bytes of twice as many hexadecimal digits at `digits` to `to`; 0 where one of them is none. */
  readonly decode: (digits: number, length: number, to: number) => number
  /**
   * Hashes `count` messages of three slices of `bytes` each, and puts their hashes to `to`, 32 bytes each. `table`: of each
   * slice two numbers of 32 bits, where it begins and ends in `bytes`. `room`: four times `size` bytes for the kernel's own
   * use, where `size` is a multiple of 64 and at least 72 more than the longest message has.
   */
  readonly hash: (bytes: number, table: number, count: number, to: number, room: number, size: number) => void
  /** Hashes `count` pairs of hashes, and puts the hash of each to `to`: 32 bytes each, and `to` may be where the pairs are. */
  readonly pairs: (pairs: number, count: number, to: number) => void
}

export const kernel = Kernel.make<Exports>(compiled)
