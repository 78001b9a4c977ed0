/**
 * What EVM nodes answer, from bytes of JSON to records: a kernel reads the JSON, and proves blocks of Ethereum's own kinds.
 *
 * Whatever is not as in most blocks, or does not fit, is refused without a word: who asks then reads the same bytes in the
 * plain way, which knows every kind and says what is wrong.
 */
import type { AddressBytes } from "../address/Address.ts"
import * as Kernel from "../Kernel.ts"
import compiled from "./internal/compiledKernel.ts"

interface Exports extends Kernel.Exports {
  readonly scanFrom: (from: number, to: number) => void
  readonly scan: (stop: number) => number
  readonly answerCount: () => number
  readonly answerAt: (index: number) => number
  readonly openBlock: (
    blockFrom: number,
    blockTo: number,
    receiptsFrom: number,
    receiptsTo: number,
    proves: boolean,
    isOpStack: boolean
  ) => number
  readonly readTransaction: () => number
  readonly readReceipt: () => number
  readonly headerAt: () => number
  readonly transactionsAt: () => number
  readonly transactionCount: () => number
  readonly logsAt: () => number
  readonly openTraces: (from: number, to: number, hashes: number, count: number) => number
  readonly readTrace: () => number
  readonly framesAt: () => number
  readonly framesFound: () => number
}

const kernel = Kernel.make<Exports>(compiled)

/** Longer bodies are refused: they are rare, and want a memory several times as large. */
export const maxBytes = 16 * 2 ** 20

/** Bytes that a text must be followed by in the memory. */
const padding = 64

/** Puts texts into the memory, one behind the other; where each begins, and undefined where they are too large. */
const place = (instance: Kernel.Exports, texts: ReadonlyArray<Uint8Array>): ReadonlyArray<number> | undefined => {
  const places: Array<number> = []
  let end = instance.begin()
  for (const text of texts) {
    places.push(end)
    end += text.length + padding
  }
  if (end - places[0]! > maxBytes || instance.reach(end) === 0) return undefined
  const memory = new Uint8Array(instance.memory.buffer)
  for (const [index, text] of texts.entries()) {
    memory.set(text, places[index]!)
    memory.fill(0, places[index]! + text.length, places[index]! + text.length + padding)
  }
  return places
}

/** An answer of JSON-RPC that has a result. */
export interface Answer {
  readonly id: number
  /** Where the JSON of the result begins and ends in the body. */
  readonly from: number
  readonly to: number
}

/** Bytes that are scanned in a step. */
const stepBytes = 2 ** 20

/** The answers in a body that is JSON, one or a batch; undefined where one of them has no result, or is not certain. */
export function* answers(body: Uint8Array): Generator<void, ReadonlyArray<Answer> | undefined> {
  const instance = kernel.take()
  const begin = place(instance, [body])?.[0]
  if (begin === undefined) return undefined
  const end = begin + body.length
  instance.scanFrom(begin, end)
  let state = 1
  for (let stop = begin + stepBytes; state === 1; stop += stepBytes) {
    state = instance.scan(Math.min(stop, end))
    yield
  }
  const view = new DataView(instance.memory.buffer)
  const found = Array.from({ length: state === 2 ? instance.answerCount() : 0 }, (_, index): Answer => {
    const at = instance.answerAt(index)
    return {
      id: view.getUint32(at, true),
      from: view.getUint32(at + 4, true) - begin,
      to: view.getUint32(at + 8, true) - begin
    }
  })
  kernel.giveBack(instance)
  return state === 2 ? found : undefined
}

/** A transaction with its receipt. */
export interface Transaction {
  readonly hash: Uint8Array
  readonly from: AddressBytes
  /** The recipient, or the contract that the transaction created. */
  readonly to: AddressBytes
  readonly value: bigint
  readonly succeeded: boolean
  /** How many logs there are of it: those behind the ones of the transactions before. */
  readonly logs: number
}

/** What moves by a log. `other`: perhaps a token, in a form that is seldom. */
export type Moved =
  | { readonly token: "none" }
  | { readonly token: "other" }
  | {
      readonly token: "fungible" | "non-fungible"
      readonly from: AddressBytes
      readonly to: AddressBytes
      /** The amount; of a token that is not fungible its id. */
      readonly number: bigint
    }

export interface Log {
  readonly contract: AddressBytes
  /** Where each topic begins in the receipts: 0x and 64 hex digits. */
  readonly topics: ReadonlyArray<number>
  /** Where the data begins in the receipts, and where it ends: 0x and hex digits. */
  readonly dataFrom: number
  readonly dataTo: number
  readonly moved: Moved
}

/** What was read of a block and its receipts. To be used at once. */
export interface BlockRecords {
  readonly height: number
  readonly hash: Uint8Array
  readonly parent: Uint8Array
  /** Seconds since the Unix epoch. */
  readonly time: number
  readonly transactionCount: number
  readonly transaction: (index: number) => Transaction
  /** By its place in the block. */
  readonly log: (index: number) => Log
}

const transactionBytes = 128
const logBytes = 128
const frameBytes = 96

/** A number of 32 bytes; most are less than 2^128. */
const numberAt = (view: DataView, at: number): bigint => {
  const isLong = (view.getUint32(at) | view.getUint32(at + 4) | view.getUint32(at + 8) | view.getUint32(at + 12)) !== 0
  const low = view.getBigUint64(at + 24)
  if (!isLong && (view.getUint32(at + 16) | view.getUint32(at + 20)) === 0) return low
  const short = (view.getBigUint64(at + 16) << 64n) | low
  return isLong ? (view.getBigUint64(at) << 192n) | (view.getBigUint64(at + 8) << 128n) | short : short
}

/** A copy: a loop is faster than `slice` for so few bytes. */
const bytesAt = (memory: Uint8Array, at: number, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index++) bytes[index] = memory[at + index]!
  return bytes
}

const addressAt = (memory: Uint8Array, at: number) => bytesAt(memory, at, 20) as AddressBytes

const none: Moved = { token: "none" }
const other: Moved = { token: "other" }

const fungible = 1
const nonFungible = 2

const blockRecords = (instance: Exports, receipts: number): BlockRecords => {
  const memory = new Uint8Array(instance.memory.buffer)
  const view = new DataView(instance.memory.buffer)
  const header = instance.headerAt()
  const transactions = instance.transactionsAt()
  const logs = instance.logsAt()
  const moved = (at: number): Moved => {
    const kind = memory[at + 60]
    if (kind !== fungible && kind !== nonFungible) return kind === 0 ? none : other
    return {
      token: kind === fungible ? "fungible" : "non-fungible",
      from: addressAt(memory, at + 20),
      to: addressAt(memory, at + 40),
      number: numberAt(view, at + 64)
    }
  }
  return {
    height: view.getFloat64(header + 64, true),
    hash: bytesAt(memory, header, 32),
    parent: bytesAt(memory, header + 32, 32),
    time: view.getFloat64(header + 72, true),
    transactionCount: instance.transactionCount(),
    transaction: (index) => {
      const at = transactions + index * transactionBytes
      return {
        hash: bytesAt(memory, at, 32),
        from: addressAt(memory, at + 32),
        to: addressAt(memory, at + 52),
        value: numberAt(view, at + 80),
        succeeded: memory[at + 74] === 1,
        logs: view.getUint32(at + 116, true)
      }
    },
    log: (index) => {
      const at = logs + index * logBytes
      const dataFrom = view.getUint32(at + 112, true) - receipts
      const topics: Array<number> = []
      for (let topic = 0; topic < memory[at + 61]!; topic++) {
        topics.push(view.getUint32(at + 96 + 4 * topic, true) - receipts)
      }
      return {
        contract: addressAt(memory, at),
        topics,
        dataFrom,
        dataTo: dataFrom + 2 + 2 * view.getUint32(at + 116, true),
        moved: moved(at)
      }
    }
  }
}

/**
 * The results of `eth_getBlockByNumber` with full transactions and of `eth_getBlockReceipts`, as {@link answers} has found
 * them.
 */
interface BlockTexts {
  readonly block: Uint8Array
  readonly receipts: Uint8Array
  readonly proves: boolean
  /** An empty list of withdrawals is not what the root of withdrawals commits to. */
  readonly isOpStack: boolean
}

/**
 * What `use` makes of a block and its receipts; undefined where they are not of Ethereum's own kinds, nor of those that are
 * as good as: Avalanche's header, deposits of the OP stack that make no coins, and the transaction that begins Nitro's blocks.
 *
 * With `proves` the hashes of header and transactions fit, and so do the roots of transactions, withdrawals and receipts, the
 * bloom, and the addresses of created contracts; else each log must state its place as its index.
 */
export function* block<A>(
  { block, isOpStack, proves, receipts }: BlockTexts,
  use: (records: BlockRecords) => Generator<void, A>
): Generator<void, A | undefined> {
  const instance = kernel.take()
  const [blockFrom, receiptsFrom] = place(instance, [block, receipts]) ?? []
  if (blockFrom === undefined || receiptsFrom === undefined) return undefined
  const receiptsTo = receiptsFrom + receipts.length
  const blockTo = blockFrom + block.length
  let isFit = instance.openBlock(blockFrom, blockTo, receiptsFrom, receiptsTo, proves, isOpStack) !== 0
  const count = isFit ? instance.transactionCount() : 0
  for (const read of [instance.readTransaction, instance.readReceipt]) {
    for (let index = 0; isFit && index < count; index++) {
      isFit = read() !== 0
      yield
    }
  }
  const made = isFit ? yield* use(blockRecords(instance, receiptsFrom)) : undefined
  kernel.giveBack(instance)
  return made
}

/** A call that moves coins, below the top of its transaction. */
export interface Frame {
  readonly type: "call" | "create" | "create2" | "selfdestruct"
  readonly from: AddressBytes
  readonly to: AddressBytes
  readonly value: bigint
  /** Its place among the calls of the frame above, behind the places of those above. */
  readonly path: ReadonlyArray<number>
}

export interface Trace {
  /** The top frame ended in an error. */
  readonly failed: boolean
  /** In the order of the calls; of those that ended in an error, or are below one that did, none. */
  readonly frames: ReadonlyArray<Frame>
}

const frameTypes = [undefined, "call", "create", "create2", "selfdestruct"] as const

/**
 * The traces of a block's transactions by geth's `callTracer`, a result that {@link answers} has found, in the order of
 * `hashes`, 32 bytes each; undefined where they are not certainly of these.
 */
export function* traces(text: Uint8Array, hashes: Uint8Array): Generator<void, ReadonlyArray<Trace> | undefined> {
  const instance = kernel.take()
  const [from, hashesAt] = place(instance, [text, hashes]) ?? []
  if (from === undefined || hashesAt === undefined) return undefined
  const count = hashes.length / 32
  const found: Array<Trace> = []
  let isFit = instance.openTraces(from, from + text.length, hashesAt, count) !== 0
  const memory = new Uint8Array(instance.memory.buffer)
  const view = new DataView(instance.memory.buffer)
  for (let index = 0, read = 0; isFit && index < count; index++) {
    const state = instance.readTrace()
    isFit = state !== 0
    const frames: Array<Frame> = []
    for (; read < instance.framesFound(); read++) {
      const at = instance.framesAt() + read * frameBytes
      const type = frameTypes[memory[at + 72]!]
      if (type === undefined) continue
      const pathFrom = view.getUint32(at + 80, true)
      const pathTo = pathFrom + 4 * view.getUint32(at + 76, true)
      const path: Array<number> = []
      for (let place = pathFrom; place < pathTo; place += 4) path.push(view.getUint32(place, true))
      const [from, to] = [addressAt(memory, at), addressAt(memory, at + 20)]
      frames.push({ type, from, to, value: numberAt(view, at + 40), path })
    }
    found.push({ failed: state === 2, frames })
    yield
  }
  kernel.giveBack(instance)
  return isFit ? found : undefined
}
