import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as WalletLists from "@headwater/http/operations/evm/WalletLists"
import * as Effect from "effect/Effect"

const bytes = (number: number, length: number) => new Uint8Array(length).fill(number)
const own = bytes(1, 20) as AddressBytes

describe("Transactions of a wallet of an EVM chain", () => {
  it.effect("name no amount that a transaction which failed would have moved", () =>
    Effect.gen(function* () {
      const block = { hash: bytes(5, 32), height: 7, time: 9 }
      const shown = [true, false].map((succeeded, position) => ({
        ...{ hash: bytes(position, 32), block, position, from: bytes(2, 20), to: own, succeeded },
        ...{ value: 1_500_000_000_000_000_000n, fee: 21_000n }
      }))
      const placed = shown.map(({ hash, position }) => ({
        ...{ transactionId: hash, block, height: 7, index: position }
      }))
      const record = {
        chain: Chain.ofName("ethereum/mainnet")!,
        completeness: () => Effect.succeed(new Map([[Bytes.key(own), { transactions: 0 }]])),
        ...{ wholeFrom: Effect.succeed({ coin: 0 }), tip: Effect.succeed({ height: 7, reorganisations: 0 }) },
        transactions: () => Effect.succeed({ transactions: placed, next: undefined })
      }
      const node = { explorer: { mined: () => Effect.succeed(shown) } }
      const freshness = {
        recorded: () => Effect.succeed({ node, tip: { height: 7 } }),
        orUnavailable: (effect: unknown) => effect
      }
      const list = WalletLists.transactions(record as never, freshness as never, {
        recordedOf: () => Effect.succeed([own])
      })
      const { items } = yield* list({ limit: 10, offset: 0 } as never)
      assert.deepStrictEqual(
        items.map(({ recipient, sender }) => [recipient[0]!.amount, recipient[0]!.isMember, sender[0]!.amount]),
        [
          ["1.5", true, "1.5"],
          ["0", true, "0"]
        ]
      )
    })
  )
})
