import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Spend } from "@headwater/core/Block"
import * as Inputs from "@headwater/core/utxo/Inputs"
import * as fc from "fast-check"

const script = Uint8Array.of(0x51) as AddressBytes

const spendOf = (transaction: number, position: number): Spend => ({
  ...{ transaction, position },
  outpoint: { transactionId: new Uint8Array(32).fill(transaction), index: position }
})

const shownBy = ({ position, transaction }: Spend): CoinTransfer => ({
  ...{ kind: "coin", transaction, position, from: script, to: undefined, amount: 5n }
})

/** A block whose transactions have so many inputs and outputs, and of whose inputs the node shows those that it does. */
const blockOf = (
  sizes: ReadonlyArray<readonly [inputs: number, outputs: number]>,
  isShown: (spend: Spend) => boolean
) => {
  const spends = sizes.flatMap(([inputs], transaction) =>
    Array.from({ length: inputs }, (_, i) => spendOf(transaction, i))
  )
  const transfers = sizes.flatMap(([, outputs], transaction) => [
    ...spends.filter((spend) => spend.transaction === transaction && isShown(spend)).map(shownBy),
    ...Array.from(
      { length: outputs },
      (_, position): CoinTransfer => ({ kind: "coin", transaction, position, from: undefined, to: script, amount: 1n })
    )
  ])
  const hash = new Uint8Array(32)
  return {
    height: 1,
    hash,
    parent: hash,
    time: 0,
    transactions: sizes.map(() => hash),
    transfers,
    spends
  } satisfies Block
}

describe("Inputs", () => {
  it("shows each input once, in the order of transactions, behind what the transaction has already", () => {
    const sizes = fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 6 })
    fc.assert(
      fc.property(sizes, fc.func(fc.boolean()), fc.func(fc.boolean()), (sizes, shown, known) => {
        const block = blockOf(sizes, (spend) => shown(spend.transaction, spend.position))
        assert.deepStrictEqual(
          Inputs.unshown(block),
          block.spends.filter((spend) => !shown(spend.transaction, spend.position))
        )
        // As a block has them that knows its own outputs first: not in the order of the block.
        const inputs = block.spends.filter((spend) => known(spend.transaction, spend.position)).reverse()
        const after = Inputs.show(
          block,
          inputs.map((spend) => ({ spend, coin: { script, amount: 5n } }))
        )
        const added = inputs.filter((spend) => !shown(spend.transaction, spend.position)).map(shownBy)
        const plain = [...block.transfers, ...added].sort((a, b) => a.transaction - b.transaction)
        assert.deepStrictEqual(after.transfers, plain)
        assert.deepStrictEqual(
          Inputs.unshown(after),
          Inputs.unshown(block).filter((spend) => !inputs.includes(spend))
        )
      })
    )
  })
})
