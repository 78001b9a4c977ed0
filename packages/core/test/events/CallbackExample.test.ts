import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import { callbackBodies } from "@headwater/core/events/CallbackBody"
import * as CallbackExample from "@headwater/core/events/CallbackExample"
import { eventKinds } from "@headwater/core/events/EventKinds"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { callbacks } from "./EventBlocks.ts"

const block = { height: 100, hash: CallbackExample.madeUpHash("block"), time: 1_700_000_000 }
const ids = { referenceId: "7c2f8a35", idempotencyKey: "4b6f" }

const script = Uint8Array.of(0x76, 0xa9, 0x14, ...new Uint8Array(20).fill(2), 0x88, 0xac)
const addressOn = ({ ledger }: Chain.Chain) =>
  Address.fromBytes(ledger === "outputs" ? script : new Uint8Array(20).fill(2))

const decode = Record.map(callbackBodies, (schema) =>
  Schema.decodeUnknownSync(schema as Schema.Codec<unknown>, { onExcessProperty: "error" })
)

describe("CallbackExample", () => {
  it("has, for every event of every chain, the fields of a true callback, in their order", () => {
    const fields = (item: object): ReadonlyArray<string> =>
      Object.entries(item).flatMap(([name, value]) => [name, ...(typeof value === "object" ? fields(value) : [])])
    const forms = new Set(callbacks().map(({ event, item }) => `${event} ${fields(item)}`))
    for (const chain of Chain.all) {
      for (const event of chain.events) {
        const address = eventKinds[event].class === "block" ? undefined : addressOn(chain)
        const options = { address, amount: 1n, block, confirmations: 3, seed: "example" }
        const item = CallbackExample.item(chain, event, options)
        assert.include([chain.blockchain, chain.network], item.blockchain)
        const text = Callback.body({ ...ids, event: Callback.testEvent(event), item: { ...item } })
        const parsed = JSON.parse(text)
        assert.deepStrictEqual(decode[event](parsed), parsed)
        if (chain.xrp === undefined) assert.isTrue(forms.has(`${event} ${fields(item)}`), `${event} ${fields(item)}`)
        if ("unit" in item) assert.strictEqual(item.unit, chain.unit)
        if ("tokenType" in item) assert.strictEqual(item.tokenType, chain.tokenStandards?.fungible)
        if ("amount" in item) assert.match(item.amount, /^0\.0+1$/)
      }
    }
  })

  it("names the tag of an X-address, as the ledger does", () => {
    const xrp = Chain.ofName("xrp/mainnet")!
    const text = "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC"
    const address = Result.getOrThrow(Address.decodeWithTag(xrp, text))
    const options = { address, amount: 1n, block, confirmations: 1, seed: "example" }
    const item = CallbackExample.item(xrp, "ADDRESS_COINS_TRANSACTION_CONFIRMED", options)
    assert.deepInclude(item, { address: text, transactionType: "Payment", destinationTag: 1, amount: "0.000001" })
  })

  it("makes other ids from another seed", () => {
    const chain = Chain.ofName("ethereum/mainnet")!
    const made = ["a", "b", "a"].map((seed) => {
      const options = { address: addressOn(chain), amount: 1n, block, confirmations: 1, seed }
      return JSON.stringify(CallbackExample.item(chain, "ADDRESS_TOKENS_TRANSACTION_CONFIRMED", options))
    })
    assert.strictEqual(made[0], made[2])
    assert.notStrictEqual(made[0], made[1])
  })
})
