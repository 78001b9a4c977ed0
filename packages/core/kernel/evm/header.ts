/** A block's hash, hashed again from the fields of its header: those of Ethereum (Yellow Paper 4.3, and the forks since). */
import { fixed, must } from "../hex"
import { keccak } from "../keccak"
import { member } from "../names"
import * as members from "./members"
import { headBefore, list, top, writeData, writeFixed, writeNothing, writeNumber, writeTo } from "./rlp"

const fields = 8
const forks = memory.data<i32>([
  members.baseFeePerGas,
  members.withdrawalsRoot,
  members.blobGasUsed,
  members.excessBlobGas,
  members.parentBeaconBlockRoot,
  members.requestsHash,
  members.blockAccessListHash,
  members.slotNumber
])

function fork(index: i32): i32 {
  return load<i32>(forks + 4 * <usize>index)
}

function isHash(slot: i32): bool {
  return (
    slot == members.withdrawalsRoot ||
    slot == members.parentBeaconBlockRoot ||
    slot == members.requestsHash ||
    slot == members.blockAccessListHash
  )
}

/** Puts the hash of the header whose members were read last to `to`; what is written behind `top` is not needed after. */
export function hashHeader(to: usize): void {
  const payload = top + 16
  writeTo(payload)
  writeFixed(member(members.parentHash), 32)
  writeFixed(member(members.sha3Uncles), 32)
  writeFixed(member(members.miner), 20)
  writeFixed(member(members.stateRoot), 32)
  writeFixed(member(members.transactionsRoot), 32)
  writeFixed(member(members.receiptsRoot), 32)
  const bloom = headBefore(top + 3, 0x80, 256)
  fixed(bloom + 3, member(members.logsBloom), 256)
  writeTo(bloom + 3 + 256)
  writeNumber(member(members.difficulty))
  writeNumber(member(members.number))
  writeNumber(member(members.gasLimit))
  writeNumber(member(members.gasUsed))
  writeNumber(member(members.timestamp))
  writeData(member(members.extraData))
  writeFixed(member(members.mixHash), 32)
  writeFixed(member(members.nonce), 8)
  let count = fields
  while (count > 0 && member(fork(count - 1)) == 0) count--
  for (let index = 0; index < count; index++) {
    const value = member(fork(index))
    // A field that is left out before one that is there is an empty string.
    if (value == 0) writeNothing()
    else if (isHash(fork(index))) writeFixed(value, 32)
    else writeNumber(value)
  }
  // Avalanche has another header.
  must(member(members.extDataHash) == 0)
  const start = headBefore(payload, list, top - payload)
  keccak(to, start, top - start)
}
