import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { EventType, eventsOf, eventsOfClass, isEachConfirmation } from "@headwater/core/events/EventType"
import * as Schema from "effect/Schema"
import { callbacks, type Recorded } from "./EventBlocks.ts"

const everywhere = ["utxo", "evm", "tron", "xrp"]
const withContracts = ["evm", "tron"]

/** Interface sections 4.1 and 6.1, with the each-confirmation twins of coins and tokens, and three events beside these. */
const known = [
  ["ADDRESS_TOKENS_TRANSACTION_CONFIRMED", "address-tokens-transactions-confirmed", withContracts],
  ["ADDRESS_COINS_TRANSACTION_UNCONFIRMED", "address-coins-transactions-unconfirmed", ["utxo"]],
  ["ADDRESS_COINS_TRANSACTION_CONFIRMED", "address-coins-transactions-confirmed", everywhere],
  ["ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", "address-internal-transactions-confirmed", withContracts],
  ["CONTRACT_EVENT", "contract-events", withContracts],
  ["TRANSACTION_MINED", "transaction-mined", everywhere],
  ["BLOCK_MINED", "block-mined", everywhere],
  ["BLOCK_REVERTED", "block-reverted", everywhere]
] as const

describe("event kinds", () => {
  it.each(known)("%s is subscribed to at %s", (event, path, families) => {
    assert.strictEqual(eventKinds[event].path, path)
    assert.deepStrictEqual<ReadonlyArray<string>>(eventKinds[event].families, families)
  })

  it.each(["COINS", "TOKENS", "INTERNAL"] as const)("%s transactions have an each-confirmation twin", (word) => {
    const confirmed = eventKinds[`ADDRESS_${word}_TRANSACTION_CONFIRMED`]
    const twin = eventKinds[`ADDRESS_${word}_TRANSACTION_CONFIRMED_EACH_CONFIRMATION`]
    assert.strictEqual(twin.path, `${confirmed.path}-each-confirmation`)
    assert.strictEqual(twin.class, confirmed.class)
    assert.deepStrictEqual<ReadonlyArray<string>>(twin.families, confirmed.families)
    assert.strictEqual(confirmed.confirmations, "receiveCallbackOn")
    assert.strictEqual(twin.confirmations, "confirmationsCount")
    assert.strictEqual("everyFieldRequired" in twin, word === "INTERNAL")
    assert.sameMembers(Object.keys(twin.item.fields), [
      ...Object.keys(confirmed.item.fields),
      "currentConfirmations",
      "targetConfirmations"
    ])
  })

  it("are told apart by class, by where they show, and by their confirmations", () => {
    const coinsInBlocks = eventsOfClass("coin")
    assert.isTrue(coinsInBlocks.has("ADDRESS_COINS_TRANSACTION_CONFIRMED"))
    assert.isTrue(coinsInBlocks.has("ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"))
    assert.isFalse(coinsInBlocks.has("ADDRESS_TOKENS_TRANSACTION_CONFIRMED"))
    assert.isFalse(coinsInBlocks.has("ADDRESS_COINS_TRANSACTION_UNCONFIRMED"))
    assert.isTrue(eventsOfClass("coin", "mempool").has("ADDRESS_COINS_TRANSACTION_UNCONFIRMED"))
    assert.isTrue(isEachConfirmation("ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"))
    assert.isFalse(isEachConfirmation("ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"))
    assert.isFalse(isEachConfirmation("AN_EVENT_OF_A_LATER_RELEASE" as EventType))
  })

  it("each have callbacks that fit their schema, with no field beside", () => {
    const made = callbacks()
    for (const { chain, event, item } of made) {
      const decode = Schema.decodeUnknownSync(eventKinds[event].item as Schema.Codec<unknown>, {
        onExcessProperty: "error"
      })
      assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(item))), item, `${event} on ${chain}`)
    }
    assert.sameMembers([...new Set(made.map(({ event }) => event))], [...EventType.literals])
    for (const family of ["utxo", "evm", "tron", "xrp"] as const) assert.isTrue(eventsOf(family).has("BLOCK_MINED"))
  })

  it("have the bodies and idempotency keys that release 0.1 gave them", () => {
    const recorded = JSON.parse(
      readFileSync(new URL("callbacks-0.1.json", import.meta.url), "utf8")
    ) as ReadonlyArray<Recorded>
    const now = callbacks().map(({ item, ...made }) => made)
    assert.strictEqual(recorded.length, 25)
    for (const callback of recorded) assert.deepInclude(now, callback)
  })

  it("keep their keys beside the fields that the XRP Ledger has since", () => {
    const ofCoins = callbacks().filter(({ chain, event }) => chain === "xrp" && event.startsWith("ADDRESS_COINS_"))
    assert.strictEqual(ofCoins.length, 4)
    const [once, each, tagged, eachTagged] = ofCoins.map(({ body, occurrence }) => ({
      ...JSON.parse(body),
      occurrence
    }))
    const added = { transactionType: "Payment", sourceTag: 7, destinationTag: 9 }
    for (const [before, since] of [
      [once, tagged],
      [each, eachTagged]
    ]) {
      const { data, ...rest } = before
      assert.deepStrictEqual(since, { ...rest, data: { ...data, item: { ...data.item, ...added } } })
    }
  })
})
