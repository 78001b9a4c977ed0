/** A block's hash, hashed again from the fields of its header (Yellow Paper 4.3), and those that forks have added since. */
import { fixed, must } from "../hex"
import { keccak } from "../keccak"
import { member } from "../names"
import * as members from "./members"
import { headBefore, list, top, writeData, writeFixed, writeNothing, writeNumber, writeTo } from "./rlp"

const ethereum = memory.data<i32>([
  members.baseFeePerGas,
  members.withdrawalsRoot,
  members.blobGasUsed,
  members.excessBlobGas,
  members.parentBeaconBlockRoot,
  members.requestsHash,
  members.blockAccessListHash,
  members.slotNumber
])
const ethereumCount = 8

/** Those of coreth; the last ones are of a block that settles those before (ACP-194). */
const avalanche = memory.data<i32>([
  members.extDataHash,
  members.baseFeePerGas,
  members.extDataGasUsed,
  members.blockGasCost,
  members.blobGasUsed,
  members.excessBlobGas,
  members.parentBeaconBlockRoot,
  members.timestampMilliseconds,
  members.minDelayExcess,
  members.targetExponent,
  members.minPriceExponent,
  members.settledHeight,
  members.settledGasUnix,
  members.settledGasNumerator,
  members.settledExcess
])
const avalancheCount = 15
const settled = 4

function isHash(slot: i32): bool {
  return (
    slot == members.withdrawalsRoot ||
    slot == members.parentBeaconBlockRoot ||
    slot == members.requestsHash ||
    slot == members.blockAccessListHash ||
    slot == members.extDataHash
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
  const isAvalanche = member(members.extDataHash) != 0
  const added = isAvalanche ? avalanche : ethereum
  let count = isAvalanche ? avalancheCount : ethereumCount
  while (count > 0 && member(load<i32>(added + 4 * <usize>(count - 1))) == 0) count--
  must(!isAvalanche || count <= avalancheCount - settled)
  for (let index = 0; index < count; index++) {
    const slot = load<i32>(added + 4 * <usize>index)
    const value = member(slot)
    // A field that is left out before one that is there is an empty string.
    if (value == 0) writeNothing()
    else if (isHash(slot)) writeFixed(value, 32)
    else writeNumber(value)
  }
  const start = headBefore(payload, list, top - payload)
  keccak(to, start, top - start)
}
