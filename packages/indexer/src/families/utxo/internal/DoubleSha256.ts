/** SHA-256 of SHA-256, by which transactions, blocks and the nodes of their trees are named. */
import { hash } from "node:crypto"
import * as UtxoKernel from "@headwater/core/utxo/UtxoKernel"

/** By way of text, since Node.js takes twice as long to give a buffer. */
const sha256 = (bytes: Uint8Array): Buffer => Buffer.from(hash("sha256", bytes, "binary"), "binary")

/** Of one message. */
export const sha256d = (bytes: Uint8Array): Buffer => sha256(sha256(bytes))

const offsetsOf = 6

/** Messages that are made of slices of the same bytes. */
export class Messages {
  /** Of each message six: from and to of three slices, which follow one another in the message, and may be empty. */
  readonly offsets: Uint32Array
  count = 0

  constructor(most: number) {
    this.offsets = new Uint32Array(most * offsetsOf)
  }

  add(from: number, to: number, secondFrom = to, secondTo = to, thirdFrom = to, thirdTo = to): void {
    const at = this.count++ * offsetsOf
    this.offsets[at] = from
    this.offsets[at + 1] = to
    this.offsets[at + 2] = secondFrom
    this.offsets[at + 3] = secondTo
    this.offsets[at + 4] = thirdFrom
    this.offsets[at + 5] = thirdTo
  }
}

/** The bytes of one message. */
export const message = (bytes: Uint8Array, { offsets }: Messages, index: number): Uint8Array => {
  const at = index * offsetsOf
  const slice = (number: number) => bytes.subarray(offsets[at + number * 2], offsets[at + number * 2 + 1])
  return offsets[at + 2] === offsets[at + 3] && offsets[at + 4] === offsets[at + 5]
    ? slice(0)
    : Buffer.concat([slice(0), slice(1), slice(2)])
}

/** Longer messages are hashed one by one, by what the processor has for that: the kernel gains by short ones alone. */
const longest = 4_096
/** Bytes that the kernel takes at a time, in less than a millisecond. */
const window = 131_072
const most = 1_024
const roomOfLane = longest + 128

/** How many of the messages from `first` on are hashed at a time, and where their bytes begin and end. */
const batchFrom = ({ count: all, offsets }: Messages, first: number) => {
  let begin = Number.MAX_SAFE_INTEGER
  let end = 0
  let count = 0
  for (; count < most && first + count < all; count++) {
    const at = (first + count) * offsetsOf
    let length = 0
    let from = begin
    let to = end
    for (let slice = at; slice < at + offsetsOf; slice += 2) {
      const start = offsets[slice]!
      const stop = offsets[slice + 1]!
      if (start === stop) continue
      length += stop - start
      from = Math.min(from, start)
      to = Math.max(to, stop)
    }
    if (length > longest || to - from > window) break
    begin = from
    end = to
  }
  return { count, begin, end }
}

/** The hashes of all messages, one behind another, each as it is computed. */
export function* ofEach(bytes: Uint8Array, messages: Messages): Generator<void, Uint8Array> {
  const hashes = new Uint8Array(messages.count * 32)
  const { giveBack, take } = UtxoKernel.kernel
  for (let first = 0; first < messages.count; ) {
    const { begin, count, end } = batchFrom(messages, first)
    if (count === 0) {
      hashes.set(sha256d(message(bytes, messages, first)), first * 32)
      first++
      yield
      continue
    }
    const kernel = take()
    const start = kernel.begin()
    const table = start + window
    const to = table + most * offsetsOf * 4
    const room = to + most * 32
    kernel.reach(room + 4 * roomOfLane)
    const memory = new Uint8Array(kernel.memory.buffer)
    memory.set(bytes.subarray(begin, end), start)
    const offsets = messages.offsets.subarray(first * offsetsOf, (first + count) * offsetsOf)
    new Uint32Array(kernel.memory.buffer, table).set(offsets)
    // As if all of the bytes stood there: the others are named by no offset.
    kernel.hash(start - begin, table, count, to, room, roomOfLane)
    kernel.again(to, count, to)
    hashes.set(memory.subarray(to, to + count * 32), first * 32)
    giveBack(kernel)
    first += count
    yield
  }
  return hashes
}

/** Pairs that the kernel takes at a time. */
const pairsOfStep = 1_024

/**
 * The hashes of `count` pairs of hashes, which stand in `nodes` one behind another, in their place: at the beginning of
 * `nodes`.
 */
export function* ofPairs(nodes: Uint8Array, count: number): Generator<void, void> {
  const { giveBack, take } = UtxoKernel.kernel
  for (let from = 0; from < count; from += pairsOfStep) {
    const pairs = Math.min(pairsOfStep, count - from)
    const kernel = take()
    const start = kernel.begin()
    kernel.reach(start + pairsOfStep * 64)
    const memory = new Uint8Array(kernel.memory.buffer)
    memory.set(nodes.subarray(from * 64, (from + pairs) * 64), start)
    kernel.pairs(start, pairs, start)
    nodes.set(memory.subarray(start, start + pairs * 32), from * 32)
    giveBack(kernel)
    yield
  }
}
