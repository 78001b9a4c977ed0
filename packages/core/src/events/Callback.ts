/** Callback bodies (interface sections 6.2 and 6.3), and the key by which a receiver recognises a repeated callback. */
import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import * as Bytes from "../Bytes.ts"
import * as Amount from "../Amount.ts"
import * as Address from "../address/Address.ts"
import type { BlockHeader, CoinDetails, ContractLog } from "../Block.ts"
import type { Chain } from "../chains/Chain.ts"
import * as Hash from "../Hash.ts"
import type {
  BlockItem,
  BroadcastFailItem,
  BroadcastItem,
  CoinItem,
  Confirmations,
  ContractEventItem,
  Direction,
  FailingItem,
  GapItem,
  InternalItem,
  TokenItem,
  TransactionItem,
  UnconfirmedCoinItem
} from "./CallbackItem.ts"

/** The version of the interface that every answer and callback carries. */
export const apiVersion = "2024-12-12"

/** `data.item` of a callback, without the confirmation counts. */
export type Item =
  | CoinItem
  | UnconfirmedCoinItem
  | InternalItem
  | TokenItem
  | ContractEventItem
  | TransactionItem
  | BlockItem

/** Name, symbol and decimals of a token contract; empty and undefined where the contract does not say. */
export interface TokenMetadata {
  readonly name: string
  readonly symbol: string
  readonly decimals: number | undefined
}

const minedInBlock = (chain: Chain, block: Omit<BlockHeader, "parent">) => ({
  height: block.height,
  hash: Hash.encode(chain, block.hash),
  timestamp: block.time
})

/** Every address of an event was decoded from text, or is one of the chain's contracts. */
const addressText = (chain: Chain, address: Address.AddressBytes): string => Address.encode(chain, address)!

const place = ({ blockchain, network }: Chain) => ({ blockchain, network })

/** `data.item` of the entry for blocks that a subscription was not matched against, both heights among them. */
export const gapItem = (chain: Chain, gap: { readonly fromHeight: number; readonly toHeight: number }): GapItem => ({
  ...place(chain),
  ...gap
})

/** `data.item` of the notice that a subscription fails; the time in milliseconds since the Unix epoch. */
export const failingItem = (chain: Chain, failure: Omit<FailingItem, "blockchain" | "network">): FailingItem => ({
  ...place(chain),
  ...failure
})

/** `data.item` of what became of a transaction that was broadcast; `errorMessage` where that failed. */
export const broadcastItem = (
  chain: Chain,
  transactionId: Uint8Array,
  errorMessage?: string
): BroadcastItem | BroadcastFailItem => ({
  ...place(chain),
  transactionId: Hash.encode(chain, transactionId),
  ...(errorMessage === undefined ? {} : { errorMessage })
})

interface Movement {
  readonly address: Address.AddressBytes
  readonly transactionId: Uint8Array
  readonly direction: Direction
  /** In the smallest unit of the coin or token. */
  readonly amount: bigint
}

export const coinItem = (
  chain: Chain,
  block: BlockHeader,
  movement: Movement & { readonly details?: CoinDetails | undefined }
): CoinItem => ({
  ...place(chain),
  address: addressText(chain, movement.address),
  minedInBlock: minedInBlock(chain, block),
  transactionId: Hash.encode(chain, movement.transactionId),
  amount: Amount.format(movement.amount, chain.decimals),
  unit: chain.unit,
  direction: movement.direction,
  ...movement.details
})

/** `firstSeen` is in seconds since the Unix epoch. */
export const unconfirmedCoinItem = (chain: Chain, firstSeen: number, movement: Movement): UnconfirmedCoinItem => ({
  ...place(chain),
  address: addressText(chain, movement.address),
  transactionId: Hash.encode(chain, movement.transactionId),
  amount: Amount.format(movement.amount, chain.decimals),
  unit: chain.unit,
  direction: movement.direction,
  firstSeenInMempoolTimestamp: firstSeen
})

export const internalItem = (
  chain: Chain,
  block: BlockHeader,
  movement: Movement & { readonly operation: string }
): InternalItem => ({
  ...place(chain),
  address: addressText(chain, movement.address),
  minedInBlock: minedInBlock(chain, block),
  parentTransactionId: Hash.encode(chain, movement.transactionId),
  operationId: movement.operation,
  amount: Amount.format(movement.amount, chain.decimals),
  unit: chain.unit,
  direction: movement.direction
})

/** `tokenId` marks a non-fungible or multi token; `amount` is then a count of that id. */
export const tokenItem = (
  chain: Chain,
  block: BlockHeader,
  movement: Movement & {
    readonly standard: string
    readonly contract: Address.AddressBytes
    readonly tokenId: bigint | undefined
    readonly metadata: TokenMetadata
  }
): TokenItem => {
  const { decimals, name, symbol } = movement.metadata
  const fungible = movement.tokenId === undefined
  return {
    ...place(chain),
    address: addressText(chain, movement.address),
    minedInBlock: minedInBlock(chain, block),
    transactionId: Hash.encode(chain, movement.transactionId),
    tokenType: movement.standard,
    token: {
      name,
      symbol,
      ...(fungible && decimals !== undefined ? { decimals: String(decimals) } : {}),
      amount: Amount.format(movement.amount, fungible ? (decimals ?? 0) : 0),
      ...(fungible ? {} : { tokenId: String(movement.tokenId) }),
      contractAddress: addressText(chain, movement.contract)
    },
    direction: movement.direction
  }
}

/** Hex digits of a log's data that a callback has at most. */
const maxData = 32_768

export const contractEventItem = (
  chain: Chain,
  block: BlockHeader,
  log: Omit<ContractLog, "transaction"> & { readonly transactionId: Uint8Array }
): ContractEventItem => ({
  ...place(chain),
  address: addressText(chain, log.contract),
  minedInBlock: minedInBlock(chain, block),
  transactionId: Hash.encode(chain, log.transactionId),
  logIndex: log.position,
  topics: log.topics,
  ...(log.data.length - 2 > maxData ? {} : { data: log.data })
})

export const transactionItem = (
  chain: Chain,
  block: Omit<BlockHeader, "parent">,
  transactionId: Uint8Array
): TransactionItem => ({
  ...place(chain),
  transactionId: Hash.encode(chain, transactionId),
  minedInBlock: minedInBlock(chain, block)
})

export const blockItem = (chain: Chain, block: Omit<BlockHeader, "parent">): BlockItem => ({
  ...place(chain),
  height: block.height,
  hash: Hash.encode(chain, block.hash),
  timestamp: block.time
})

/** SHA-256 of UTF-8 text, written as lower-case hex. */
export type Sha256 = (text: string) => string

const pureSha256: Sha256 = (text) => Bytes.hex(sha256(utf8ToBytes(text)))

/**
 * The key of a callback: the same event of the same subscription has the same key across retries, restarts and
 * replays. `occurrence` distinguishes events of one block; `confirmation` is 0 for an event without confirmations.
 * A program may bring the hash of its platform, which may be much faster.
 *
 * @example
 * ```ts
 * import * as Callback from "@headwater/core/events/Callback"
 *
 * const event = { referenceId: "7c2f8a35", event: "BLOCK_MINED", blockHash: new Uint8Array(32) }
 * Callback.idempotencyKey({ ...event, occurrence: "block", confirmation: 1 }) // => "81440e78fdd6f96f2e01c59a8f78d52d"
 * ```
 */
export const idempotencyKey = (
  parts: {
    readonly referenceId: string
    readonly event: string
    readonly blockHash: Uint8Array | undefined
    readonly occurrence: string
    readonly confirmation: number
  },
  sha256: Sha256 = pureSha256
): string => {
  const blockHash = parts.blockHash === undefined ? "" : Bytes.hex(parts.blockHash)
  const text = [parts.referenceId, parts.event, blockHash, parts.occurrence, parts.confirmation].join("|")
  return sha256(text).slice(0, 32)
}

/**
 * The key under which an event is told for the second time, the third, and so on: each time its block has returned after
 * a retraction. `key` is that of the first time.
 *
 * @example
 * ```ts
 * import * as Callback from "@headwater/core/events/Callback"
 *
 * Callback.keyOfTelling("81440e78fdd6f96f2e01c59a8f78d52d", 2) // => "45df12e790ba846f4568f46163e2ce92"
 * ```
 */
export const keyOfTelling = (key: string, told: number): string => pureSha256(`${key}|told|${told}`).slice(0, 32)

/**
 * The body as it is stored, signed and sent.
 *
 * @example
 * ```ts
 * import * as Callback from "@headwater/core/events/Callback"
 *
 * const item = { blockchain: "bitcoin", network: "mainnet", height: 1, hash: "00", timestamp: 1231469665 }
 * const body = Callback.body({ referenceId: "7c2f8a35", idempotencyKey: "4b6f", event: "BLOCK_MINED", item })
 * JSON.parse(body).data.item.height // => 1
 * ```
 */
export const body = (options: {
  readonly referenceId: string
  readonly idempotencyKey: string
  readonly event: string
  readonly item: Readonly<Record<string, unknown>>
}): string =>
  JSON.stringify({
    apiVersion,
    referenceId: options.referenceId,
    idempotencyKey: options.idempotencyKey,
    data: { product: "BLOCKCHAIN_EVENTS", event: options.event, item: options.item }
  })

interface Body {
  readonly referenceId: string
  readonly data: { readonly event: string; readonly item: Readonly<Record<string, unknown>> }
}

/** The item of a body that {@link body} has made. */
export const itemOf = (text: string) => (JSON.parse(text) as Body).data.item

/** The body of an event that is told again, under a key of its own, after a retraction of the one that it restores. */
export const bodyAgain = (
  text: string,
  keys: { readonly idempotencyKey: string; readonly restoresIdempotencyKey: string }
): string => {
  const { data, referenceId } = JSON.parse(text) as Body
  const { idempotencyKey, restoresIdempotencyKey } = keys
  return body({ referenceId, idempotencyKey, event: data.event, item: { ...data.item, restoresIdempotencyKey } })
}

/** An item with the two counts that each-confirmation events add. */
export const withConfirmations = <I extends Item>(item: I, current: number, target: number): I & Confirmations => ({
  ...item,
  currentConfirmations: current,
  targetConfirmations: target
})

/** The event name of the entry that says which blocks a subscription was not matched against. */
export const gapEvent = "BLOCKS_MISSED"

/** The event name of the entry that says that a subscription has failed half of its retries. */
export const failingEvent = "SUBSCRIPTION_FAILING"

/** Events that only the feed tells, and that are never sent. */
export const feedEvents: ReadonlySet<string> = new Set([gapEvent, failingEvent])

/** The event name of a callback that an account asks for as a test: nothing on the chain stands behind it. */
export const testEvent = <E extends string>(event: E): `${E}_TEST` => `${event}_TEST`

/** The event name of a retraction: the original's block has left the chain. */
export const revertedEvent = <E extends string>(event: E): `${E}_REVERTED` => `${event}_REVERTED`

/** The event name of a correction: the original told a wrong movement of coins. */
export const correctedEvent = <E extends string>(event: E): `${E}_CORRECTED` => `${event}_CORRECTED`
