/** Blocks that hold an event of every kind, and the callbacks that come of them. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, ContractLog, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { EventType, isEachConfirmation } from "@headwater/core/events/EventType"
import * as Matcher from "@headwater/core/events/Matcher"
import * as EventAbi from "@headwater/core/evm/EventAbi"
import * as Result from "effect/Result"

const hash = (number: number) => new Uint8Array(32).fill(number)
const referenceId = "7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1"

const blockOf = (transfers: ReadonlyArray<Transfer>): Block => ({
  ...{ height: 100, hash: hash(0xbb), parent: hash(0xaa), time: 1_700_000_000 },
  ...{ transactions: [hash(1), hash(2)], transfers, spends: [] }
})

const account = (number: number) => new Uint8Array(20).fill(number) as AddressBytes
const script = Uint8Array.of(0x76, 0xa9, 0x14, ...new Uint8Array(20).fill(2), 0x88, 0xac) as AddressBytes

const token = { kind: "token", transaction: 0, contract: account(9), from: account(1), to: account(2) } as const
const word = (hex: string) => `0x${hex.padStart(64, "0")}`
const abi = "event Transfer(address indexed from, address indexed to, uint256 value)"
const transferred: ContractLog = {
  ...{ transaction: 0, position: 3, contract: account(2), data: word("2625a0") },
  topics: [EventAbi.topicOf(abi)!, word("01".repeat(20)), word("02".repeat(20))]
}
const onAccounts: Block = {
  ...blockOf([
    {
      ...{ kind: "coin", transaction: 0, position: 0 },
      ...{ from: account(1), to: account(2), amount: 1_500_000_000_000_000_000n }
    },
    { ...token, position: 3, batchIndex: 0, token: "fungible", amount: 2_500_000n, tokenId: undefined },
    { ...token, position: 4, batchIndex: 1, token: "multi", amount: 5n, tokenId: 77n },
    {
      ...{ kind: "internal", transaction: 1, operation: "call_0_1", operationType: "call" },
      ...{ from: account(2), to: account(3), amount: 10n ** 17n }
    }
  ]),
  logs: [transferred]
}
/** The same coins, as the XRP Ledger tells of them since 0.1. */
const onLedger = blockOf(
  onAccounts.transfers.flatMap((transfer) =>
    transfer.kind === "coin"
      ? [{ ...transfer, details: { transactionType: "Payment", sourceTag: 7, destinationTag: 9 } }]
      : []
  )
)
const onOutputs = blockOf([
  { kind: "coin", transaction: 1, position: 0, from: script, to: undefined, amount: 70_000n },
  { kind: "coin", transaction: 1, position: 1, from: undefined, to: script, amount: 30_000n }
])

/** Chains of each family, with an address that the block concerns. */
const scenes = [
  ["ethereum", account(2), onAccounts],
  ["tron", account(2), onAccounts],
  ["xrp", account(2), onAccounts],
  ["xrp", account(2), onLedger],
  ["bitcoin", script, onOutputs]
] as const

export interface Recorded {
  readonly chain: string
  readonly event: EventType
  readonly occurrence: string
  readonly body: string
}

/** The callbacks of every event that each chain has, in the order of `EventType`. */
export const callbacks = (): ReadonlyArray<Recorded & { readonly item: object }> =>
  scenes.flatMap(([blockchain, address, block]) => {
    const chain = Result.getOrThrow(Chain.find(blockchain, "mainnet"))
    const recorded = (event: EventType, occurrence: string, blockHash: Uint8Array | undefined, item: Callback.Item) => {
      const each = isEachConfirmation(event)
      const confirmation = blockHash === undefined ? 0 : each ? 2 : 1
      const idempotencyKey = Callback.idempotencyKey({ referenceId, event, blockHash, occurrence, confirmation })
      const whole = each ? Callback.withConfirmations(item, confirmation, 3) : item
      const body = Callback.body({ referenceId, idempotencyKey, event, item: whole })
      return { chain: blockchain, event, occurrence, body, item: whole }
    }
    return EventType.literals
      .filter((event) => chain.events.has(event))
      .flatMap((event) => {
        if (eventKinds[event].seenIn === "mempool") {
          const movement = { address, transactionId: hash(2), direction: "outgoing", amount: 40_000n } as const
          const item = Callback.unconfirmedCoinItem(chain, 1_700_000_001, movement)
          return [recorded(event, `coin:${"02".repeat(32)}`, undefined, item)]
        }
        if (eventKinds[event].seenIn === "reorganisation") {
          return [recorded(event, "reverted", block.hash, Callback.blockItem(chain, block))]
        }
        const filter = eventKinds[event].class === "log" ? { abi } : undefined
        const subscription = { event, address, filter }
        const ofBlock = eventKinds[event].class === "block"
        const ofTransaction = eventKinds[event].class === "transaction"
        const found = Matcher.match(chain, block, {
          byAddress: new Map(ofBlock || ofTransaction ? [] : [[Buffer.from(address).toString("hex"), [subscription]]]),
          byTransaction: new Map(ofTransaction ? [[Buffer.from(hash(2)).toString("hex"), [subscription]]] : []),
          blockMined: ofBlock ? [subscription] : [],
          metadata: () => ({ name: "Token", symbol: "TKN", decimals: 6 })
        })
        return found.occurrences.map(({ item, occurrence }) => recorded(event, occurrence, block.hash, item))
      })
  })
