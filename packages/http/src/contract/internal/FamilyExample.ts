/** What stands in examples of a family: one of its chains, with addresses and ids of that chain's form. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import * as CallbackExample from "@headwater/core/events/CallbackExample"
import { eventKinds } from "@headwater/core/events/EventKinds"
import type { BroadcastEvent, EventType } from "@headwater/core/events/EventType"
import { type FamilyName, families } from "@headwater/core/families/families"
import * as Hash from "@headwater/core/Hash"
import * as Result from "effect/Result"
import type { Values } from "./Example.ts"

/** The examples of an address and of a hash in schemas that several families have in common. */
export const addressExample = "0x52908400098527886E0F7030069857D2E4169EE7"
export const hashExample = "0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b"

const time = 1_764_158_400

const chainOf = (family: FamilyName) => Chain.ofName(families[family].example.chain)!

const blockHashOf = (family: FamilyName, name: string) => {
  const hash = CallbackExample.madeUpHash(`${family} ${name}`)
  hash.set(families[family].example.blockHash)
  return hash
}

const blockOf = (family: FamilyName) => ({
  height: families[family].example.height,
  hash: blockHashOf(family, "block"),
  time
})

/** Values of fields that belong to a chain, by their names, and of all others with an address or a hash. */
export const values = (family: FamilyName): Values => {
  const chain = chainOf(family)
  const { addresses, height } = families[family].example
  const transaction = Hash.encode(chain, CallbackExample.madeUpHash(`${family} transaction`))
  const block = Hash.encode(chain, blockOf(family).hash)
  const next = Hash.encode(chain, blockHashOf(family, "next block"))
  return {
    ...{ [addressExample]: addresses[0], [hashExample]: transaction, nextBlockHash: next },
    ...{ blockchain: chain.blockchain, network: chain.network, unit: chain.unit, height, minedInBlockHeight: height },
    ...{ address: addresses[0], recipient: addresses[0], sender: addresses[1] },
    ...{ hash: block, blockHash: block, transactionId: transaction, transactionHash: transaction }
  }
}

const referenceId = "7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1"

/** A callback of an event on the family's chain, as the JSON text that is sent. */
export const callback = (family: FamilyName, event: EventType, name: string = event): string => {
  const chain = chainOf(family)
  const isToken = eventKinds[event].class === "token"
  const item = CallbackExample.item(chain, event, {
    address: Result.getOrThrow(Address.decode(chain, families[family].example.addresses[0])),
    amount: isToken ? 250_000_000n : 15n * 10n ** BigInt(chain.decimals - 1),
    block: blockOf(family),
    confirmations: 3,
    seed: family
  })
  const blockHash = eventKinds[event].seenIn === "block" ? blockOf(family).hash : undefined
  const idempotencyKey = Callback.idempotencyKey({ referenceId, event, blockHash, occurrence: "", confirmation: 1 })
  return Callback.body({ referenceId, idempotencyKey, event: name, item: { ...item } })
}

/** A callback of a transaction that was broadcast on the family's chain, as the JSON text that is sent. */
export const broadcastCallback = (family: FamilyName, event: BroadcastEvent): string => {
  const key = { referenceId, event, blockHash: undefined, occurrence: event, confirmation: 1 }
  const item = CallbackExample.broadcastItem(chainOf(family), event, family)
  return Callback.body({ referenceId, idempotencyKey: Callback.idempotencyKey(key), event, item: { ...item } })
}
