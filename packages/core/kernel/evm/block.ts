/**
 * A block and its receipts, of Ethereum's own kinds and of most of those that were made of it, in steps: `openBlock`, then
 * `readTransaction` and `readReceipt` as often as there are transactions. Each gives 0 where something is not as in most
 * blocks, or does not fit: then nothing is to be used.
 *
 * What is proved: the hash of the header, those of the transactions, the roots of transactions, withdrawals and receipts, the
 * bloom of the block, and the addresses of created contracts. Where nothing is to be proved, nothing is hashed, and the index
 * that each log states must be its place.
 */
import { data, equal, fixed, integer, isBroken, must, shortest, whole, word } from "../hex"
import { closing, ended, enter, following, maxItem, skip } from "../json"
import { keccak } from "../keccak"
import { reach } from "../memory"
import { clear, escaped, keep, member, objectEnd, readObject, slotOf, unknown, valueAt } from "../names"
import { hashHeader } from "./header"
import * as members from "./members"
import { close, headBefore, list, top, writeFixed, writeNumber, writeTo } from "./rlp"
import * as transaction from "./transaction"
import { hashLeaf, rootOf, scratchBytes } from "./trie"

const maxTransactions = 20_000
const maxWithdrawals = 64

let proves = false
let isOpStack = false
let count = 0
let logCount: u32 = 0
let index = 0
/** The next transaction, or receipt. */
let item: usize = 0
let receipts: usize = 0

/**
 * Of each transaction: hash (at 0), sender (32), recipient or created contract (52), value (80), whether there is a recipient
 * (72, a byte) or a contract (73), whether the transaction took effect (74), its type (75), where its nonce is (112), how many logs (116).
 */
let records: usize = 0
const recordBytes: usize = 128

/**
 * Of each log: contract (at 0), sender (20) and recipient (40) of a token, what moves (60, a byte, below), how many topics
 * (61), amount or id of the token (64), where the text of each topic begins (96) and that of the data (112), and how many
 * bytes the data is (116).
 */
let logs: usize = 0
const logBytes: usize = 128
const nothing: u8 = 0
const fungible: u8 = 1
const nonFungible: u8 = 2
/** Perhaps a token, in a form that is seldom. */
const other: u8 = 3

/**
 * Of the block: hash (at 0), parent (32), number (64), time (72), root (80) and bloom (112) of receipts, root of transactions
 * (368).
 */
const header = memory.data(1024)
const union = header + 400
const hashed = header + 700

let leaves: usize = 0
let seen: usize = 0
let seenMask: u32 = 0
let scratch: usize = 0
let area: usize = 0

export function headerAt(): usize {
  return header
}

export function transactionsAt(): usize {
  return records
}

export function transactionCount(): i32 {
  return count
}

export function logsAt(): usize {
  return logs
}

/** How many children the array at `from` has, and `ended` is behind it. */
function childrenOf(from: usize): i32 {
  let found = 0
  for (let child = enter(from); child != 0; child = following(skip(child))) found++
  return found
}

function isArray(from: usize): bool {
  return from != 0 && load<u8>(from) == 0x5b
}

function proveWithdrawals(): void {
  const root = member(members.withdrawalsRoot)
  const from = member(members.withdrawals)
  if (root == 0 || from == 0) return
  const found = isArray(from) ? childrenOf(from) : -1
  must(found >= 0 && found <= maxWithdrawals)
  fixed(hashed, root, 32)
  // Since Isthmus this is the root of another thing, and no block has withdrawals.
  if (isBroken || (isOpStack && found == 0)) return
  let place = 0
  for (let child = enter(from); child != 0; child = following(objectEnd)) {
    if (!readObject(child)) {
      must(false)
      return
    }
    const payload = area + 32
    writeTo(payload)
    writeNumber(member(members.index))
    writeNumber(member(members.validatorIndex))
    writeFixed(member(members.address), 20)
    writeNumber(member(members.amount))
    const start = headBefore(payload, list, top - payload)
    hashLeaf(leaves + <usize>place * 32, place, found, start, top - start)
    place++
  }
  rootOf(hashed + 32, found, leaves, scratch)
  must(equal(hashed, hashed + 32, 32))
}

/** Reads the members of the block at `from`, and counts the transactions. */
function readHeader(from: usize): bool {
  if (load<u8>(from) != 0x7b) return false
  clear()
  for (let next = enter(from); next != 0; ) {
    const slot = slotOf(next)
    const value = valueAt
    if (slot == escaped || (slot != unknown && !keep(slot, value))) return false
    let behind: usize = 0
    if (slot == members.transactions) {
      if (!isArray(value)) return false
      count = childrenOf(value)
      behind = ended
    } else behind = skip(value)
    next = following(behind)
  }
  return true
}

/** Begins with the results between these addresses; both have been accepted as JSON. */
export function openBlock(
  blockFrom: usize,
  blockTo: usize,
  receiptsFrom: usize,
  receiptsTo: usize,
  prove: bool,
  opStack: bool
): bool {
  whole()
  proves = prove
  isOpStack = opStack
  index = 0
  logCount = 0
  count = 0
  if (!isArray(receiptsFrom) || !readHeader(blockFrom)) return false
  receipts = enter(receiptsFrom)
  const transactions = member(members.transactions)
  if (transactions == 0 || count > maxTransactions) return false

  records = (receiptsTo + 127) & ~(<usize>63)
  // A log takes more bytes of JSON than its record is half as long.
  logs = records + <usize>count * recordBytes
  leaves = logs + 2 * (receiptsTo - receiptsFrom) + logBytes
  seen = leaves + <usize>max(count, maxWithdrawals) * 32
  seenMask = ((<u32>1) << (33 - clz(<u32>max(count, 8)))) - 1
  scratch = seen + 4 * (<usize>seenMask + 1)
  area = scratch + scratchBytes
  if (!reach(area + max(blockTo - blockFrom, receiptsTo - receiptsFrom) + 4096)) return false
  memory.fill(seen, 0, scratch - seen)
  memory.fill(union, 0, 256)

  fixed(header, member(members.hash), 32)
  fixed(header + 32, member(members.parentHash), 32)
  store<f64>(header, integer(member(members.number)), 64)
  store<f64>(header, integer(member(members.timestamp)), 72)
  item = enter(transactions)
  if (!proves) return !isBroken
  writeTo(area)
  hashHeader(hashed)
  must(equal(hashed, header, 32))
  fixed(header + 80, member(members.receiptsRoot), 32)
  fixed(header + 112, member(members.logsBloom), 256)
  fixed(header + 368, member(members.transactionsRoot), 32)
  proveWithdrawals()
  return !isBroken
}

/** Whether no transaction before has the hash of the one at `record`. */
function isFirst(record: usize): bool {
  let at = seen + 4 * <usize>(load<u32>(record) & seenMask)
  const end = seen + 4 * (<usize>seenMask + 1)
  while (load<u32>(at) != 0) {
    if (equal(load<u32>(at), record, 32)) return false
    at = at + 4 == end ? seen : at + 4
  }
  store<u32>(at, <u32>record)
  return true
}

/** A member that names the block, where it is there at all, names this one. */
function isOfBlock(from: usize): bool {
  fixed(hashed, from, 32)
  return !isBroken && equal(hashed, header, 32)
}

export function readTransaction(): bool {
  if (item == 0 || !readObject(item)) return false
  const behind = objectEnd
  if (behind - item > maxItem) return false
  const record = records + <usize>index * recordBytes
  memory.fill(record, 0, recordBytes)
  fixed(record, member(members.hash), 32)
  fixed(record + 32, member(members.from), 20)
  const to = member(members.to)
  if (to != 0) {
    fixed(record + 52, to, 20)
    store<u8>(record, 1, 72)
  }
  const moves = word(record + 80, member(members.value))
  store<u32>(record, <u32>member(members.nonce), 112)
  const type: f64 = member(members.type) == 0 ? 0 : integer(member(members.type))
  const stated = member(members.transactionIndex)
  store<u8>(record, <u8>type, 75)
  must(type < 128 && transaction.isKnown(<i32>type) && (stated == 0 || integer(stated) == <f64>index))
  // Coins that a deposit makes, and contracts that one creates, have rules of their own.
  const mint = member(members.mint)
  if (type == transaction.deposit) must(!moves && to != 0 && (mint == 0 || !word(hashed, mint)))
  const block = member(members.blockHash)
  must(block == 0 || isOfBlock(block))
  if (isBroken || !isFirst(record)) return false
  if (proves) {
    writeTo(area)
    const start = transaction.write(<i32>type)
    keccak(hashed, start, top - start)
    must(equal(hashed, record, 32))
    hashLeaf(leaves + <usize>index * 32, index, count, start, top - start)
  }
  index++
  item = following(behind)
  if (index == count) {
    must(item == 0)
    if (proves) {
      rootOf(hashed, count, leaves, scratch)
      must(equal(hashed, header + 368, 32))
    }
    item = receipts
    index = 0
  }
  return !isBroken
}

const transferTopic = memory.data<u8>([
  0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa, 0x95, 0x2b, 0xa7,
  0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef
])
/** How the topics of ERC-1155's `TransferSingle` and `TransferBatch` begin. */
const single: u32 = 0x6881d5c3
const batch: u32 = 0x06dc394a

/** Topics as hashed, 33 bytes each. */
const topicBytes: usize = 33

/** Whether a word of 32 bytes is an address. */
function isAddress(at: usize): bool {
  return load<u64>(at) == 0 && load<u32>(at, 8) == 0
}

/** What the log of these topics and data may move; parties and number are put into its record. */
function moves(record: usize, topics: usize, topicCount: i32, bytes: usize, length: usize): u8 {
  if (topicCount == 0) return nothing
  if (!equal(topics, transferTopic, 32)) {
    const begin = load<u32>(topics)
    return begin == single || begin == batch ? other : nothing
  }
  const isFungible = topicCount == 3 && length == 32
  if (!isFungible && !(topicCount == 4 && length == 0)) return topicCount == 1 ? other : nothing
  const from = topics + topicBytes
  const to = topics + 2 * topicBytes
  if (!isAddress(from) || !isAddress(to)) return nothing
  memory.copy(record + 20, from + 12, 20)
  memory.copy(record + 40, to + 12, 20)
  memory.copy(record + 64, isFungible ? bytes : topics + 3 * topicBytes, 32)
  return isFungible ? fungible : nonFungible
}

/** Writes the log at `from` as hashed, and its record; behind it, or 0. */
function readLog(from: usize): usize {
  if (load<u8>(from) != 0x7b) return 0
  const record = logs + <usize>logCount * logBytes
  let address: usize = 0
  let topics: usize = 0
  let bytes: usize = 0
  let stated: usize = 0
  for (let next = enter(from); next != 0; ) {
    const slot = slotOf(next)
    const value = valueAt
    if (slot == escaped) return 0
    if (slot == members.address) {
      if (address != 0) return 0
      address = value
    } else if (slot == members.topics) {
      if (topics != 0) return 0
      topics = value
    } else if (slot == members.data) {
      if (bytes != 0) return 0
      bytes = value
    } else if (slot == members.logIndex) {
      if (stated != 0) return 0
      stated = value
    }
    next = following(skip(value))
  }
  const behind = ended
  if (!isArray(topics) || bytes == 0) return 0
  const start = top
  writeFixed(address, 20)
  memory.copy(record, start + 1, 20)
  const list32 = top
  let topicCount = 0
  for (let topic = enter(topics); topic != 0; topic = following(topic + 68)) {
    if (topicCount == 4) return 0
    store<u32>(record + 4 * <usize>topicCount, <u32>(topic + 1), 96)
    topicCount++
    writeFixed(topic, 32)
    if (isBroken) return 0
  }
  close(list32, list)
  const firstTopic = top - topicBytes * <usize>topicCount + 1
  store<u8>(record, <u8>topicCount, 61)
  const dataStart = top
  const length = data(dataStart, bytes)
  store<u32>(record, <u32>(bytes + 1), 112)
  store<u32>(record, <u32>length, 116)
  store<u8>(record, moves(record, firstTopic, topicCount, dataStart, length), 60)
  writeTo(dataStart + length)
  if (length != 1 || load<u8>(dataStart) >= 0x80) close(dataStart, 0x80)
  close(start, list)
  if (!proves) must(stated != 0 && integer(stated) == <f64>logCount)
  logCount++
  return isBroken ? 0 : behind
}

/** Writes the logs of the array at `from`; behind it, or 0. */
function readLogs(from: usize): usize {
  if (load<u8>(from) != 0x5b) return 0
  for (let log = enter(from); log != 0; ) {
    const behind = readLog(log)
    if (behind == 0 || behind - from > maxItem) return 0
    log = following(behind)
  }
  return ended
}

/** Status, gas, bloom and what else stands before the logs takes less. */
const beforeLogs: usize = 512

/** The address of the contract that the transaction created is that of its sender and nonce (Yellow Paper, 7). */
function isCreated(record: usize): bool {
  const payload = scratch + 32
  writeTo(payload)
  store<u8>(top, 0x94)
  memory.copy(top + 1, record + 32, 20)
  writeTo(top + 21)
  writeNumber(load<u32>(record, 112))
  const start = headBefore(payload, list, top - payload)
  keccak(hashed, start, top - start)
  return equal(hashed + 12, record + 52, 20)
}

/** Puts what stands before the logs as hashed, and hashes the receipt's leaf. */
function proveReceipt(type: i32, succeeded: bool, logsFrom: usize): void {
  const logsHead = headBefore(logsFrom, list, top - logsFrom)
  // Since Canyon.
  if (type == transaction.deposit && member(members.depositReceiptVersion) != 0) {
    writeNumber(member(members.depositNonce))
    writeNumber(member(members.depositReceiptVersion))
  }
  const end = top
  const bloom = logsHead - 256
  fixed(bloom, member(members.logsBloom), 256)
  for (let part: usize = 0; part < 256; part += 8) {
    store<u64>(union + part, load<u64>(union + part) | load<u64>(bloom + part))
  }
  const gas = shortest(hashed, member(members.cumulativeGasUsed))
  let at = headBefore(bloom, 0x80, 256) - gas
  memory.copy(at, hashed, gas)
  if (gas != 1 || load<u8>(at) >= 0x80) at = headBefore(at, 0x80, gas)
  store<u8>(--at, succeeded ? 1 : 0x80)
  at = headBefore(at, list, end - at)
  if (type > 0) store<u8>(--at, <u8>type)
  hashLeaf(leaves + <usize>index * 32, index, count, at, end - at)
}

export function readReceipt(): bool {
  if (item == 0 || load<u8>(item) != 0x7b) return false
  const record = records + <usize>index * recordBytes
  const logsFrom = area + beforeLogs
  const before = logCount
  writeTo(logsFrom)
  clear()
  for (let next = enter(item); next != 0; ) {
    const slot = slotOf(next)
    const value = valueAt
    if (slot == escaped || (slot != unknown && !keep(slot, value))) return false
    const behind = slot == members.logs ? readLogs(value) : skip(value)
    if (behind == 0) return false
    next = following(behind)
  }
  const behind = ended
  store<u32>(record, logCount - before, 116)
  must(member(members.logs) != 0)
  fixed(hashed, member(members.transactionHash), 32)
  must(equal(hashed, record, 32) && isOfBlock(member(members.blockHash)))
  must(integer(member(members.transactionIndex)) == <f64>index)
  const status = integer(member(members.status))
  must(status <= 1)
  store<u8>(record, <u8>status, 74)
  // Not that of a state, as receipts had before Byzantium.
  const root = member(members.root)
  must(root == 0 || (load<u32>(root) == 0x22783022 && closing(root) == root + 3))
  if (load<u8>(record, 72) == 0) {
    fixed(record + 52, member(members.contractAddress), 20)
    store<u8>(record, 1, 73)
    if (proves) {
      const end = top
      must(isCreated(record))
      writeTo(end)
    }
  }
  if (isBroken) return false
  if (proves) proveReceipt(load<u8>(record, 75), status == 1, logsFrom)
  index++
  item = following(behind)
  if (index == count) {
    must(item == 0)
    if (proves) {
      rootOf(hashed, count, leaves, scratch)
      must(equal(hashed, header + 80, 32) && equal(union, header + 112, 256))
    }
  }
  return !isBroken
}
