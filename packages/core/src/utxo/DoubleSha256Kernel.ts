/** The kernel that hashes many messages at a time as UTXO chains name transactions: SHA-256 of SHA-256. */
import * as Kernel from "../Kernel.ts"
import compiled from "./internal/compiledKernel.ts"

export interface Exports extends Kernel.Exports {
  /**
   * Hashes `count` messages of three slices of `bytes` each, and puts their hashes to `to`, 32 bytes each. `table`: of each
   * slice two numbers of 32 bits, where it begins and ends in `bytes`. `room`: four times `size` bytes for the kernel's own
   * use, where `size` is a multiple of 64 and at least 72 more than the longest message has.
   */
  readonly hash: (bytes: number, table: number, count: number, to: number, room: number, size: number) => void
}

export const kernel = Kernel.make<Exports>(compiled)
