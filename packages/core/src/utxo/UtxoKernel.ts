/**
 * The kernel that reads raw blocks of UTXO chains: hexadecimal digits as bytes, and of many messages at a time the hashes by
 * which transactions are named, SHA-256 of SHA-256, and those by which keys and scripts lock outputs.
 */
import * as Kernel from "../Kernel.ts"
import compiled from "./internal/compiledKernel.ts"
import * as Unlocking from "./Unlocking.ts"

export interface Exports extends Kernel.Exports {
  /** Puts the bytes of twice as many hexadecimal digits at `digits` to `to`; 0 where one of them is none. */
  readonly decode: (digits: number, length: number, to: number) => number
  /**
   * Hashes `count` messages of three slices of `bytes` each with SHA-256, and puts their hashes to `to`, 32 bytes each. `table`:
   * of each slice two numbers of 32 bits, where it begins and ends in `bytes`. `room`: four times `size` bytes for the kernel's
   * own use, where `size` is a multiple of 64 and at least 72 more than the longest message has.
   */
  readonly hash: (bytes: number, table: number, count: number, to: number, room: number, size: number) => void
  /** Hashes `count` pairs of hashes, and puts the hash of each to `to`: 32 bytes each, and `to` may be where the pairs are. */
  readonly pairs: (pairs: number, count: number, to: number) => void
  /**
   * Hashes `count` hashes of 32 bytes each once more with SHA-256, and puts what comes of them to `to`, 32 bytes each: it may be
   * where the hashes are. Reads up to 96 bytes behind them.
   */
  readonly again: (hashes: number, count: number, to: number) => void
  /** As `again`, with RIPEMD-160: 20 bytes each, and 60 bytes of anything behind all of them. */
  readonly ripemd: (hashes: number, count: number, to: number) => void
}

export const kernel = Kernel.make<Exports>(compiled)

/** Longer keys and scripts are hashed one by one; a script that is not of taproot has at most 10,000 bytes. */
const longest = 4_096
const offsetsOf = 6
const roomOfLane = longest + 128

/** As `Unlocking.hashesOf`. */
export const hashesOf: Unlocking.HashesOf = (contents, needsSha256d = true) => {
  if (contents.some(({ length }) => length > longest)) return Unlocking.hashesOf(contents, needsSha256d)
  const count = contents.length
  const instance = kernel.take()
  const table = instance.begin()
  const first = table + count * offsetsOf * 4
  const second = first + count * 32
  const short = second + count * 32
  const room = short + count * 20 + 64
  const bytes = room + 4 * roomOfLane
  instance.reach(bytes + contents.reduce((sum, { length }) => sum + length, 0))
  const memory = new Uint8Array(instance.memory.buffer)
  const offsets = new Uint32Array(instance.memory.buffer, table, count * offsetsOf).fill(0)
  let at = 0
  for (const [index, content] of contents.entries()) {
    memory.set(content, bytes + at)
    offsets[index * offsetsOf] = at
    at += content.length
    offsets[index * offsetsOf + 1] = at
  }
  instance.hash(bytes, table, count, first, room, roomOfLane)
  if (needsSha256d) instance.again(first, count, second)
  instance.ripemd(first, count, short)
  const hashes = {
    sha256: memory.slice(first, first + count * 32),
    sha256d: memory.slice(second, second + count * 32),
    hash160: memory.slice(short, short + count * 20)
  }
  kernel.giveBack(instance)
  return hashes
}
