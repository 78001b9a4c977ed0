/**
 * A block's hash, hashed again from the fields of its header (Yellow Paper 4.3): each fork has added fields to the end,
 * and what a chain has added of its own stands among these.
 */
import * as Fields from "./Fields.ts"
import type * as Hex from "./Hex.ts"
import * as Rlp from "./Rlp.ts"
import type { Hash } from "./Trie.ts"

type Field = readonly [name: string, encode: Fields.Encode]

const always: ReadonlyArray<Field> = [
  ["parentHash", Fields.bytes(32)],
  ["sha3Uncles", Fields.bytes(32)],
  ["miner", Fields.bytes(20)],
  ["stateRoot", Fields.bytes(32)],
  ["transactionsRoot", Fields.bytes(32)],
  ["receiptsRoot", Fields.bytes(32)],
  ["logsBloom", Fields.bytes(256)],
  ["difficulty", Fields.quantity],
  ["number", Fields.quantity],
  ["gasLimit", Fields.quantity],
  ["gasUsed", Fields.quantity],
  ["timestamp", Fields.quantity],
  ["extraData", Fields.data],
  ["mixHash", Fields.bytes(32)],
  ["nonce", Fields.bytes(8)]
]

/** Ethereum and all that is made of geth: London, Shanghai, Cancun, Prague, Amsterdam (EIP-7928, EIP-7843). */
const ethereum: ReadonlyArray<Field> = [
  ["baseFeePerGas", Fields.quantity],
  ["withdrawalsRoot", Fields.bytes(32)],
  ["blobGasUsed", Fields.quantity],
  ["excessBlobGas", Fields.quantity],
  ["parentBeaconBlockRoot", Fields.bytes(32)],
  ["requestsHash", Fields.bytes(32)],
  ["blockAccessListHash", Fields.bytes(32)],
  ["slotNumber", Fields.quantity]
]

/** Avalanche's C-Chain: coreth, `gen_header_serializable_rlp.go`. */
const avalanche: ReadonlyArray<Field> = [
  ["extDataHash", Fields.bytes(32)],
  ["baseFeePerGas", Fields.quantity],
  ["extDataGasUsed", Fields.quantity],
  ["blockGasCost", Fields.quantity],
  ["blobGasUsed", Fields.quantity],
  ["excessBlobGas", Fields.quantity],
  ["parentBeaconBlockRoot", Fields.bytes(32)],
  ["timestampMilliseconds", Fields.quantity],
  ["minDelayExcess", Fields.quantity],
  ["targetExponent", Fields.quantity],
  ["minPriceExponent", Fields.quantity],
  ["settledHeight", Fields.quantity],
  ["settledGasUnix", Fields.quantity],
  ["settledGasNumerator", Fields.quantity],
  ["settledExcess", Fields.quantity]
]

/** What nodes answer beside the header's fields. */
const notHashed: ReadonlySet<string> = new Set([
  ...["hash", "size", "totalDifficulty", "uncles", "transactions", "withdrawals"],
  // Parity and what was made of it; BNB Smart Chain; Base; Nitro, which has all three in other fields; coreth.
  ...["author", "sealFields", "milliTimestamp", "timestampMs"],
  ...["l1BlockNumber", "sendCount", "sendRoot", "blockExtraData"]
])

const formOf = (json: Hex.Json) => (json.extDataHash == null ? ethereum : avalanche)

/** The hash of the fields that are known. Throws {@link Hex.Malformed} where one is missing or not of its form. */
export const of = (json: Hex.Json, keccak: Hash): Uint8Array => {
  const form = formOf(json)
  const end = form.findLastIndex(([name]) => json[name] != null) + 1
  return keccak(
    Rlp.encode([
      ...always.map(([name, encode]) => encode(json[name], `block.${name}`)),
      // A field that is left out before one that is there is an empty string.
      ...form.slice(0, end).map(([name, encode]) => (json[name] == null ? "0x" : encode(json[name], `block.${name}`)))
    ])
  )
}

/** Whether the roots of receipts and state are those of blocks before: Avalanche's ACP-194. */
export const settlesLater = (json: Hex.Json): boolean => json.extDataHash != null && json.settledHeight != null

/** A field that may be part of the header, as far as this version knows; undefined where all are known. */
export const unknownField = (json: Hex.Json): string | undefined => {
  const form = formOf(json)
  return Object.keys(json).find(
    (name) =>
      json[name] != null &&
      !notHashed.has(name) &&
      !always.some(([known]) => known === name) &&
      !form.some(([known]) => known === name)
  )
}
