/**
 * Transactions as they are hashed, by type (EIP-2718): those of Ethereum, deposits of the OP stack, and what begins each block
 * of Nitro.
 */
import { equal, must, word } from "../hex"
import { enter, following, skip } from "../json"
import { descend, leave, member, objectEnd, readObject } from "../names"
import * as members from "./members"
import { close, headBefore, list, top, writeData, writeFixed, writeNothing, writeNumber, writeTo } from "./rlp"

const highestOfEthereum = 4
/** OP stack: from the layer below, or the chain's own. */
export const deposit = 0x7e
/** Nitro: of ArbOS itself, to itself. */
const internal = 0x6a

export function isKnown(type: i32): bool {
  return type <= highestOfEthereum || type == deposit || type == internal
}

function isList(from: usize): bool {
  const holds = load<u8>(from) == 0x5b
  must(holds)
  return holds
}

/** An address, or nothing in a contract creation. */
function writeRecipient(from: usize): void {
  if (from == 0) writeNothing()
  else writeFixed(from, 20)
}

/** A list of 32 bytes each at `from`, which may be left out. */
function writeHashes(from: usize): void {
  const start = top
  if (from != 0 && isList(from)) {
    for (let item = enter(from); item != 0; item = following(skip(item))) writeFixed(item, 32)
  }
  close(start, list)
}

function writeAccessList(from: usize): void {
  const start = top
  if (from != 0 && isList(from)) {
    descend()
    for (let item = enter(from); item != 0; item = following(objectEnd)) {
      if (!readObject(item)) {
        must(false)
        break
      }
      const entry = top
      writeFixed(member(members.address), 20)
      writeHashes(member(members.storageKeys))
      close(entry, list)
    }
    leave()
  }
  close(start, list)
}

function writeAuthorizations(from: usize): void {
  const start = top
  must(from != 0)
  if (from != 0 && isList(from)) {
    descend()
    for (let item = enter(from); item != 0; item = following(objectEnd)) {
      if (!readObject(item)) {
        must(false)
        break
      }
      const entry = top
      writeNumber(member(members.chainId))
      writeFixed(member(members.address), 20)
      writeNumber(member(members.nonce))
      const parity = member(members.yParity)
      writeNumber(parity == 0 ? member(members.v) : parity)
      writeNumber(member(members.r))
      writeNumber(member(members.s))
      close(entry, list)
    }
    leave()
  }
  close(start, list)
}

/** The parity of a typed transaction's signature: nodes answer `yParity`, `v`, or both, which must not differ. */
function writeParity(): void {
  const parity = member(members.yParity)
  const v = member(members.v)
  const start = top
  writeNumber(parity == 0 ? v : parity)
  if (parity == 0 || v == 0) return
  const end = top
  writeNumber(v)
  must(top - end == end - start && equal(start, end, end - start))
  writeTo(end)
}

function writeFlag(from: usize): void {
  const isTrue = from != 0 && load<u32>(from) == 0x65757274
  must(from == 0 || isTrue || load<u32>(from) == 0x736c6166)
  if (isTrue) store<u8>(top, 1)
  else store<u8>(top, 0x80)
  writeTo(top + 1)
}

/** A deposit that makes no coins. */
function writeDeposit(): void {
  writeFixed(member(members.sourceHash), 32)
  writeFixed(member(members.from), 20)
  writeFixed(member(members.to), 20)
  writeNothing()
  writeNumber(member(members.value))
  writeNumber(member(members.gas))
  writeFlag(member(members.isSystemTx))
  writeData(member(members.input))
}

/** What no hash commits to must be as of ArbOS: both sides its address, no value. */
function writeInternal(): void {
  const at = top
  writeFixed(member(members.from), 20)
  writeFixed(member(members.to), 20)
  must(equal(at + 1, arbos, 20) && equal(at + 22, arbos, 20) && !word(at, member(members.value)))
  writeTo(at)
  writeNumber(member(members.chainId))
  writeData(member(members.input))
}

const arbos = memory.data<u8>([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0x4b, 0x05])

function writeSigned(type: i32): void {
  if (type > 0) writeNumber(member(members.chainId))
  writeNumber(member(members.nonce))
  if (type < 2) writeNumber(member(members.gasPrice))
  else {
    writeNumber(member(members.maxPriorityFeePerGas))
    writeNumber(member(members.maxFeePerGas))
  }
  writeNumber(member(members.gas))
  writeRecipient(member(members.to))
  writeNumber(member(members.value))
  writeData(member(members.input))
  if (type > 0) writeAccessList(member(members.accessList))
  if (type == 3) {
    writeNumber(member(members.maxFeePerBlobGas))
    const hashes = member(members.blobVersionedHashes)
    must(hashes != 0)
    writeHashes(hashes)
  } else if (type == 4) writeAuthorizations(member(members.authorizationList))
  if (type > 0) writeParity()
  else writeNumber(member(members.v))
  writeNumber(member(members.r))
  writeNumber(member(members.s))
}

/** Writes the transaction whose members were read last to where `top` is; where the bytes begin that are hashed. */
export function write(type: i32): usize {
  // The heads are not known before.
  const payload = top + 32
  writeTo(payload)
  if (type == deposit) writeDeposit()
  else if (type == internal) writeInternal()
  else writeSigned(type)
  const start = headBefore(payload, list, top - payload)
  if (type == 0) return start
  store<u8>(start - 1, <u8>type)
  return start - 1
}
