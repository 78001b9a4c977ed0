/**
 * An example of an event's callback on a chain: for the documentation, and for the callback that a test sends.
 * Everything is made as for a true event; the ids of the transaction and of the token's contract are made up.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Bytes from "../Bytes.ts"
import * as Address from "../address/Address.ts"
import type { BlockHeader } from "../Block.ts"
import type { Chain } from "../chains/Chain.ts"
import * as EventAbi from "../evm/EventAbi.ts"
import * as Callback from "./Callback.ts"
import type { Confirmations } from "./CallbackItem.ts"
import { eventKinds } from "./EventKinds.ts"
import { type BroadcastEvent, type EventType, isEachConfirmation } from "./EventType.ts"
import * as Filter from "./Filter.ts"

/** ERC-20. */
const transferAbi = "event Transfer(address indexed from, address indexed to, uint256 value)"

/** 32 bytes that look like a hash, always the same for a text. */
export const madeUpHash = (text: string): Uint8Array => sha256(utf8ToBytes(text))

export interface Options {
  /** Required by every event that is about an address; on the XRP Ledger it may have a tag. */
  readonly address: Address.AddressBytes | undefined
  /** Made up where there is none. */
  readonly transactionId?: Uint8Array | undefined
  /** The block that has the event; for an event of the mempool, its time alone is used. */
  readonly block: Omit<BlockHeader, "parent">
  /** Text that the made-up ids come from. */
  readonly seed: string
  /** In the smallest unit of the coin or token. */
  readonly amount: bigint
  /** The last confirmation that the subscription asks for. */
  readonly confirmations: number
}

const itemOf = (chain: Chain, event: EventType, options: Options): Callback.Item => {
  const { address, amount, block, seed } = options
  const kind = eventKinds[event]
  const header = { ...block, parent: madeUpHash(`${seed} parent`) }
  const { transactionId = madeUpHash(`${seed} transaction`) } = options
  if (kind.class === "transaction") return Callback.transactionItem(chain, header, transactionId)
  if (kind.class === "block" || address === undefined) return Callback.blockItem(chain, header)
  const movement = { address, amount, direction: "incoming", transactionId } as const
  switch (kind.class) {
    case "coin": {
      if (kind.seenIn === "mempool") return Callback.unconfirmedCoinItem(chain, block.time, movement)
      if (chain.xrp === undefined) return Callback.coinItem(chain, header, movement)
      // Every address was decoded from text.
      const tag = Result.getOrThrow(Address.destinationTag(chain, Address.encode(chain, address)!))
      const details = { transactionType: "Payment", ...(tag === undefined ? {} : { destinationTag: tag }) }
      return Callback.coinItem(chain, header, { ...movement, details })
    }
    case "log": {
      const word = (hex: string) => `0x${hex.padStart(64, "0")}`
      const topics = [
        EventAbi.topicOf(transferAbi)!,
        ...["from", "to"].map((side) => word(Bytes.hex(madeUpHash(`${seed} ${side}`).subarray(0, 20))))
      ]
      const log = { contract: address, position: 12, topics, data: word(amount.toString(16)) }
      return Filter.told(
        chain,
        { abi: transferAbi },
        Callback.contractEventItem(chain, header, { ...log, transactionId })
      )!
    }
    case "internal":
      return Callback.internalItem(chain, header, { ...movement, operation: "call_0_1" })
    case "token":
      return Callback.tokenItem(chain, header, {
        ...movement,
        standard: chain.tokenStandards?.fungible ?? "",
        contract: Address.fromBytes(madeUpHash(`${seed} contract`).subarray(0, 20)),
        tokenId: undefined,
        metadata: { name: "Example Token", symbol: "EXT", decimals: 6 }
      })
  }
}

/**
 * `data.item` of a callback of the event: something comes in, and is confirmed once.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as CallbackExample from "@headwater/core/events/CallbackExample"
 *
 * const block = { height: 870000, hash: CallbackExample.madeUpHash("block"), time: 1764158400 }
 * const item = CallbackExample.item(Chain.ofName("bitcoin/mainnet")!, "BLOCK_MINED", {
 *   ...{ address: undefined, amount: 1n, block, confirmations: 1, seed: "example" }
 * })
 * item.blockchain // => "bitcoin"
 * ```
 */
export const item = (
  chain: Chain,
  event: EventType,
  options: Options
): Callback.Item | (Callback.Item & Confirmations) => {
  const made = itemOf(chain, event, options)
  return isEachConfirmation(event) ? Callback.withConfirmations(made, 1, options.confirmations) : made
}

/** `data.item` of a callback of a transaction that was broadcast; `seed` as in {@link Options}. */
export const broadcastItem = (chain: Chain, event: BroadcastEvent, seed: string) =>
  Callback.broadcastItem(
    chain,
    madeUpHash(`${seed} transaction`),
    event === "BROADCAST_TRANSACTION_FAIL" ? "another transaction of the sender with this nonce was mined" : undefined
  )
