import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Result from "effect/Result"

const bytes = (byte: number, length = 32) => new Uint8Array(length).fill(byte)
const script = Address.fromBytes(Uint8Array.of(0x76, 0xa9, 0x14, ...bytes(7, 20), 0x88, 0xac))
const hex = Buffer.from(script).toString("hex")

describe("a transaction that was not understood in full", () => {
  const match = (blockchain: string, ids: ReadonlyArray<Uint8Array | undefined>) => {
    const chain = Result.getOrThrow(Chain.find(blockchain, "mainnet"))
    const address = blockchain === "bitcoin" ? script : Address.fromBytes(bytes(7, 20))
    const paid = { kind: "coin", position: 0, from: undefined, to: address, amount: 5n } as const
    const block = {
      ...{ height: 1, hash: bytes(1), parent: bytes(0), time: 1, spends: [] },
      transactions: [bytes(2), bytes(3)],
      transfers: [0, 1].map((transaction) => ({ ...paid, transaction })),
      notUnderstood: ids.map((transactionId) => ({
        transactionId,
        reason: "tx[1].vin",
        transfers: 1,
        raw: "",
        lacks: ["coin" as const]
      }))
    }
    const subscription = { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address } as const
    const { occurrences, unresolved } = Matcher.match(chain, block, {
      byAddress: new Map([[blockchain === "bitcoin" ? hex : "07".repeat(20), [subscription]]]),
      blockMined: [],
      metadata: () => ({ name: "", symbol: "", decimals: undefined }),
      hasCoins: () => true
    })
    return {
      told: occurrences.map(({ item }) => ("transactionId" in item ? item.transactionId : "")),
      inDoubt: unresolved.map(({ notUnderstood, transactionId }) => [transactionId, notUnderstood])
    }
  }

  it("has a net in doubt on a UTXO chain, where an input or an output may be missing; the others have theirs", () => {
    assert.deepStrictEqual(match("bitcoin", [bytes(3)]), { told: ["02".repeat(32)], inDoubt: [[bytes(3), true]] })
    assert.deepStrictEqual(match("bitcoin", [undefined]).inDoubt, [])
  })

  it("tells what is certain on other chains, where each movement is one of its own", () => {
    assert.deepStrictEqual(match("ethereum", [bytes(3)]), {
      told: ["02", "03"].map((byte) => `0x${byte.repeat(32)}`),
      inDoubt: []
    })
  })
})
