/**
 * Token transfers from event logs: ERC-20 and ERC-721 `Transfer`, ERC-1155 `TransferSingle` and `TransferBatch`, and the
 * `Transfer` of tokens older than ERC-721's final form, with all arguments in the data (CryptoKitties).
 *
 * Anybody can emit a log of any shape: one that does not fit a standard exactly is not a token transfer and is left out.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { ContractLog, TokenTransfer } from "@headwater/core/Block"
import { isCoinContract } from "@headwater/core/evm/CoinContract"
import * as HexText from "../node/HexText.ts"

/** keccak256 of `Transfer(address,address,uint256)`. */
export const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
/** keccak256 of `TransferSingle(address,address,address,uint256,uint256)`. */
export const singleTopic = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62"
/** keccak256 of `TransferBatch(address,address,address,uint256[],uint256[])`. */
export const batchTopic = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb"

/** Hex digits of an ABI word. */
const word = 64

const hexWord = /^[0-9a-fA-F]{64}$/

/** The zeros before an address in its word. */
const padding = "0".repeat(24)

/** An address right-aligned in the 32-byte word at `start`; undefined where the word holds more than an address. */
const addressAt = (text: string, start: number): AddressBytes | undefined =>
  text.length >= start + word && text.startsWith(padding, start)
    ? (HexText.bytesAt(text, start + padding.length, 20) as AddressBytes | undefined)
    : undefined

const topicAddress = (topic = ""): AddressBytes | undefined =>
  topic.length === 2 + word && topic.startsWith("0x") ? addressAt(topic, 2) : undefined

const numberAt = (text: string, start: number): bigint | undefined => {
  const digits = text.slice(start, start + word)
  return hexWord.test(digits) ? BigInt(`0x${digits}`) : undefined
}

const topicNumber = (topic = ""): bigint | undefined =>
  topic.length === 2 + word && topic.startsWith("0x") ? numberAt(topic, 2) : undefined

/** A log holds as many numbers as its gas pays for, a hundred thousand and more: these are read in one step. */
const numbersOfStep = 256

/** The dynamic `uint256[]` whose offset is the ABI word at `start`. */
function* numbersAt(data: string, start: number): Generator<void, ReadonlyArray<bigint> | undefined> {
  const words = (data.length - 2) / word
  const offset = numberAt(data, start)
  if (offset === undefined || offset % 32n !== 0n || offset >= BigInt(words) * 32n) return undefined
  const first = Number(offset) / 32
  const length = numberAt(data, 2 + first * word)
  if (length === undefined || length > BigInt(words - first - 1)) return undefined
  const numbers: Array<bigint> = []
  for (let index = 1; index <= Number(length); index++) {
    const number = numberAt(data, 2 + (first + index) * word)
    if (number === undefined) return undefined
    numbers.push(number)
    if (index % numbersOfStep === 0) yield
  }
  return numbers
}

type Movement = Pick<TokenTransfer, "token" | "from" | "to" | "amount" | "tokenId">

const movement = (
  token: TokenTransfer["token"],
  from: AddressBytes | undefined,
  to: AddressBytes | undefined,
  amount: bigint | undefined,
  tokenId?: bigint | undefined
): ReadonlyArray<Movement> =>
  from === undefined || to === undefined || amount === undefined || (token !== "fungible" && tokenId === undefined)
    ? []
    : [{ token, from, to, amount, tokenId }]

const transfers = (topics: ReadonlyArray<string>, data: string): ReadonlyArray<Movement> => {
  if (topics.length === 3 && data.length === 2 + word) {
    return movement("fungible", topicAddress(topics[1]), topicAddress(topics[2]), numberAt(data, 2))
  }
  if (topics.length === 4 && data.length === 2) {
    return movement("non-fungible", topicAddress(topics[1]), topicAddress(topics[2]), 1n, topicNumber(topics[3]))
  }
  if (topics.length === 1 && data.length === 2 + 3 * word) {
    return movement("non-fungible", addressAt(data, 2), addressAt(data, 2 + word), 1n, numberAt(data, 2 + 2 * word))
  }
  return []
}

const single = (topics: ReadonlyArray<string>, data: string): ReadonlyArray<Movement> =>
  topics.length === 4 && data.length === 2 + 2 * word
    ? movement("multi", topicAddress(topics[2]), topicAddress(topics[3]), numberAt(data, 2 + word), numberAt(data, 2))
    : []

function* batch(topics: ReadonlyArray<string>, data: string): Generator<void, ReadonlyArray<Movement>> {
  if (topics.length !== 4 || (data.length - 2) % word !== 0) return []
  const ids = yield* numbersAt(data, 2)
  const amounts = yield* numbersAt(data, 2 + word)
  if (ids === undefined || amounts === undefined || ids.length !== amounts.length) return []
  const from = topicAddress(topics[2])
  const to = topicAddress(topics[3])
  return ids.flatMap((id, index) => movement("multi", from, to, amounts[index], id))
}

const decoders = new Map<string, (topics: ReadonlyArray<string>, data: string) => ReadonlyArray<Movement>>([
  [transferTopic, transfers],
  [singleTopic, single]
])

/** Whether logs with this first topic may be token transfers. */
export const isTransfer = (topic: string): boolean =>
  decoders.has(topic.toLowerCase()) || topic.toLowerCase() === batchTopic

/** The token transfers in one log; most logs have none. */
export function* ofLog(log: ContractLog): Generator<void, ReadonlyArray<TokenTransfer>> {
  const { contract, data, position, topics, transaction } = log
  if (isCoinContract(contract)) return []
  const [topic = ""] = topics
  const movements = topic === batchTopic ? yield* batch(topics, data) : (decoders.get(topic)?.(topics, data) ?? [])
  return movements.map((movement, batchIndex) => ({
    kind: "token",
    transaction,
    position,
    batchIndex,
    contract,
    ...movement
  }))
}
