import { assert, describe, it } from "@effect/vitest"
import * as Credits from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import * as fc from "fast-check"

const chain = (name: string) => Chain.all.find((chain) => Chain.nameOf(chain) === `${name}/mainnet`)!

describe("Credits", () => {
  it("prices by the chain's own figure, else by the default", () => {
    assert.strictEqual(Credits.price("prepare", "binance-smart-chain"), 150)
    assert.strictEqual(Credits.price("evm-assets", "polygon"), 220)
    assert.strictEqual(Credits.price("evm-assets", "tron"), 330)
    assert.strictEqual(Credits.price("utxo-assets", "zcash"), 676)
    assert.strictEqual(Credits.price("subscription-create", "bitcoin"), 30)
    assert.strictEqual(Credits.price("asset"), 110)
    // Names from outside reach this: those of Object's own properties are no chains.
    for (const name of ["default", "__proto__", "constructor", "toString"]) {
      assert.strictEqual(Credits.price("prepare", name), 60)
    }
  })

  it("has the figures of interface section 8, and the default where a table does not list a blockchain", () => {
    // The tables as they stand there; a dash is "not listed".
    const tables = [
      `Protocol            | prepare | internal-transactions | evm-assets | evm-logs
       default             | 60      | 320                   | 220        | 30
       ethereum            | 60      | 320                   | 220        | 30
       ethereum-classic    | 78      | 416                   | 286        | 39
       binance-smart-chain | 150     | 800                   | 550        | 75
       polygon             | 120     | 640                   | -          | 60
       arbitrum            | 96      | 512                   | -          | 48
       avalanche           | 108     | 576                   | -          | 54
       base                | 72      | 384                   | -          | 36
       optimism            | 84      | 448                   | -          | 42
       tron                | 90      | 480                   | 330        | 45`,
      `Protocol     | utxo-last-block | utxo-derive | utxo-assets | utxo-prepare
       default      | 20              | 35          | 520         | 520
       bitcoin      | 20              | 35          | 520         | 520
       bitcoin-cash | 24              | 42          | 624         | 624
       dash         | 22              | 39          | 572         | 572
       dogecoin     | 22              | 39          | 572         | 572
       litecoin     | 22              | 39          | 572         | 572
       zcash        | 26              | 46          | 676         | 676`,
      `Protocol | subscription-create | subscription-list | subscription-get | asset | xrp-block-transactions | xrp-transaction
       default  | 30                  | 30                | 30               | 110   | 20                     | 20`,
      // Wider interface, Credits: times the chain's factor, whichever chain.
      `Protocol            | fees | next-nonce | simulate | evm-block | evm-transaction | transaction-tokens | utxo-transaction | evm-balance | token-details
       default             | 30   | 20 | 110 | 30 | 30 | 110 | 20 | 30 | 90
       ethereum            | 30   | 20 | 110 | 30 | 30 | 110 | 20 | 30 | 90
       ethereum-classic    | 39   | 26 | 143 | 39 | 39 | 143 | 26 | 39 | 117
       binance-smart-chain | 75   | 50 | 275 | 75 | 75 | 275 | 50 | 75 | 225
       polygon             | 60   | 40 | 220 | 60 | 60 | 220 | 40 | 60 | 180
       arbitrum            | 48   | 32 | 176 | 48 | 48 | 176 | 32 | 48 | 144
       avalanche           | 54   | 36 | 198 | 54 | 54 | 198 | 36 | 54 | 162
       base                | 36   | 24 | 132 | 36 | 36 | 132 | 24 | 36 | 108
       optimism            | 42   | 28 | 154 | 42 | 42 | 154 | 28 | 42 | 126
       tron                | 45   | 30 | 165 | 45 | 45 | 165 | 30 | 45 | 135
       bitcoin             | 30   | 20 | 110 | 30 | 30 | 110 | 20 | 30 | 90
       bitcoin-cash        | 36   | 24 | 132 | 36 | 36 | 132 | 24 | 36 | 108
       litecoin            | 33   | 22 | 121 | 33 | 33 | 121 | 22 | 33 | 99
       dogecoin            | 33   | 22 | 121 | 33 | 33 | 121 | 22 | 33 | 99
       dash                | 33   | 22 | 121 | 33 | 33 | 121 | 22 | 33 | 99
       zcash               | 39   | 26 | 143 | 39 | 39 | 143 | 26 | 39 | 117
       xrp                 | 30   | 20 | 110 | 30 | 30 | 110 | 20 | 30 | 90`,
      `Protocol            | utxo-address-latest | utxo-address-history | utxo-address-coins | utxo-balance | evm-address-latest | evm-address-history | evm-address-internal | evm-address-since | evm-derive
       default             | 110 | 130 | 530 | 510 | 120 | 130 | 330 | 230 | 35
       ethereum            | 110 | 130 | 530 | 510 | 120 | 130 | 330 | 230 | 35
       ethereum-classic    | 143 | 169 | 689 | 663 | 156 | 169 | 429 | 299 | 46
       binance-smart-chain | 275 | 325 | 1325 | 1275 | 300 | 325 | 825 | 575 | 88
       polygon             | 220 | 260 | 1060 | 1020 | 240 | 260 | 660 | 460 | 70
       arbitrum            | 176 | 208 | 848 | 816 | 192 | 208 | 528 | 368 | 56
       avalanche           | 198 | 234 | 954 | 918 | 216 | 234 | 594 | 414 | 63
       base                | 132 | 156 | 636 | 612 | 144 | 156 | 396 | 276 | 42
       optimism            | 154 | 182 | 742 | 714 | 168 | 182 | 462 | 322 | 49
       tron                | 165 | 195 | 795 | 765 | 180 | 195 | 495 | 345 | 53
       bitcoin             | 110 | 130 | 530 | 510 | 120 | 130 | 330 | 230 | 35
       bitcoin-cash        | 132 | 156 | 636 | 612 | 144 | 156 | 396 | 276 | 42
       litecoin            | 121 | 143 | 583 | 561 | 132 | 143 | 363 | 253 | 39
       dogecoin            | 121 | 143 | 583 | 561 | 132 | 143 | 363 | 253 | 39
       dash                | 121 | 143 | 583 | 561 | 132 | 143 | 363 | 253 | 39
       zcash               | 143 | 169 | 689 | 663 | 156 | 169 | 429 | 299 | 46
       xrp                 | 110 | 130 | 530 | 510 | 120 | 130 | 330 | 230 | 35`,
      `Protocol | tokens-transfers | xrp-derive | xrp-assets | subscription-activate | address-form | broadcast | asset-list | exchange-rate | xrp-balance | xrp-address-transactions
       default  | 100              | 35         | 120        | 30                    | 10           | 60        | 20         | 270           | 20          | 110`
    ]
    const columns = tables.flatMap((table) => {
      const [header = [], ...rows] = table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()))
      return header.slice(1).map((operation, column) => {
        const listed = rows.filter((row) => row[column + 1] !== "-")
        return [operation, Object.fromEntries(listed.map((row) => [row[0], Number(row[column + 1])]))] as const
      })
    })
    const expected: Record<string, Record<string, number>> = Object.fromEntries(columns)
    assert.deepStrictEqual({ ...Credits.prices }, expected as typeof Credits.prices)
    for (const [operation, figures] of Object.entries(expected)) {
      for (const { blockchain } of Chain.all) {
        const price = Credits.price(operation as Credits.Operation, blockchain)
        assert.strictEqual(price, figures[blockchain] ?? figures.default, `${operation} ${blockchain}`)
      }
    }
  })

  it("charges days and callbacks by the chain's multiplier, in whole credits", () => {
    assert.strictEqual(Credits.onChain(200, chain("ethereum-classic")), 260)
    assert.strictEqual(Credits.onChain(200, chain("litecoin")), 220)
    assert.strictEqual(Credits.onChain(50, chain("avalanche")), 90)
    for (const each of Chain.all) assert.isTrue(Number.isInteger(Credits.onChain(25, each)))
  })

  it("charges a list by its items, at least one, or once where the operator says so", () => {
    assert.strictEqual(Credits.ofCall({ per: "result" }, 30, 0), 30)
    assert.strictEqual(Credits.ofCall({ per: "result" }, 30, 7), 210)
    assert.strictEqual(Credits.ofCall({ per: "request" }, 30, 7), 30)
  })

  it("never settles below zero, and takes exactly what it pays", () => {
    const amounts = fc.array(fc.nat(1000), { maxLength: 50 })
    fc.assert(
      fc.property(fc.nat(10_000), amounts, (before, wanted) => {
        const { balance, paid } = Credits.settle(before, wanted)
        const taken = wanted.reduce((sum, amount, i) => sum + (paid[i] ? amount : 0), 0)
        assert.strictEqual(balance, before - taken)
        assert.isAtLeast(balance, 0)
        wanted.forEach((amount, i) => {
          if (!paid[i]) assert.isAbove(amount, balance)
        })
      })
    )
  })

  it("pays for as many as the balance reaches", () => {
    assert.strictEqual(Credits.affordable(999, 200, 10), 4)
    assert.strictEqual(Credits.affordable(9999, 200, 10), 10)
    assert.strictEqual(Credits.affordable(0, 200, 10), 0)
    assert.strictEqual(Credits.affordable(0, 0, 10), 10)
  })

  it("counts the days that are over", () => {
    const noon = Date.UTC(2026, 10, 21, 12)
    const today = Credits.dayOf(noon)
    assert.strictEqual(Credits.dayText(today), "2026-11-21")
    assert.strictEqual(Credits.endOfDay(today), Date.UTC(2026, 10, 22))
    assert.deepStrictEqual(Credits.daysToCharge(today - 1, noon), [])
    assert.deepStrictEqual(Credits.daysToCharge(today - 4, noon), [today - 3, today - 2, today - 1])
    // A clock that goes back owes nothing.
    assert.deepStrictEqual(Credits.daysToCharge(today + 5, noon), [])
  })
})
