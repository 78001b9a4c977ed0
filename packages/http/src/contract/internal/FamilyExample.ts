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

const time = 1_764_158_400

const chainOf = (family: FamilyName) => Chain.ofName(families[family].example.chain)!

const blockOf = (family: FamilyName) => {
  const { blockHash, height } = families[family].example
  const hash = CallbackExample.madeUpHash(`${family} block`)
  hash.set(blockHash)
  return { height, hash, time }
}

/** Values of fields that belong to a chain, by their names. */
export const values = (family: FamilyName): Values => {
  const chain = chainOf(family)
  const { addresses, height } = families[family].example
  const hash = (text: string) => Hash.encode(chain, CallbackExample.madeUpHash(`${family} ${text}`))
  const block = Hash.encode(chain, blockOf(family).hash)
  return {
    ...{ blockchain: chain.blockchain, network: chain.network, unit: chain.unit, height, minedInBlockHeight: height },
    ...{ address: addresses[0], recipient: addresses[0], sender: addresses[1] },
    ...{ hash: block, blockHash: block, transactionId: hash("transaction"), transactionHash: hash("transaction") }
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
