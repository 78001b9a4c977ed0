/**
 * What coin selection wastes, by Bitcoin Core's metric, beside the selectors that bitcoinjs programs use: `accumulative` and
 * `blackjack` of the package coinselect, written here as that package has them.
 *
 *     node bench/coinSelection.ts [wallets]
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Steps from "@headwater/core/Steps"
import * as CoinSelection from "@headwater/core/utxo/CoinSelection"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import * as Result from "effect/Result"
import * as SeededRandom from "../test/SeededRandom.ts"

interface Coin {
  readonly amount: bigint
}

type Costs = CoinSelection.Costs
type Select = (coins: ReadonlyArray<Coin>, pays: bigint, costs: Costs) => ReadonlyArray<Coin> | undefined

const network = Chain.ofName("bitcoin/mainnet")!.utxo!
const script = LockingScript.witness(0, new Uint8Array(20))
const count = Number(process.argv[2] ?? 2_000)

const largestFirst = (coins: ReadonlyArray<Coin>) => [...coins].sort((a, b) => Number(b.amount - a.amount))

const accumulative: Select = (coins, pays, costs) => {
  const taken: Array<Coin> = []
  let sum = 0n
  for (const coin of largestFirst(coins)) {
    if (costs.inputFee > coin.amount) continue
    taken.push(coin)
    sum += coin.amount
    if (sum >= pays + costs.feeOf(taken.length, false)) return taken
  }
  return undefined
}

const blackjack: Select = (coins, pays, costs) => {
  const taken: Array<Coin> = []
  let sum = 0n
  for (const coin of largestFirst(coins)) {
    const fee = costs.feeOf(taken.length + 1, false)
    // What overshoots by more than an input costs is left out.
    if (sum + coin.amount > pays + fee + costs.inputFee) continue
    taken.push(coin)
    sum += coin.amount
    if (sum >= pays + fee) return taken
  }
  return undefined
}

const ours =
  (strategy: CoinSelection.Strategy, random: () => number): Select =>
  (coins, pays, costs) => {
    const found = Steps.atOnce(CoinSelection.select({ coins, pays, costs, strategy, random }))
    return Result.isSuccess(found) ? found.success.coins : undefined
  }

const random = SeededRandom.make(18)
const selectors: Readonly<Record<string, Select>> = {
  "least-waste": ours("least-waste", random),
  "minimize-dust": ours("minimize-dust", random),
  "optimize-size": ours("optimize-size", random),
  none: ours("none", random),
  accumulative,
  "blackjack, else accumulative": (coins, pays, costs) =>
    blackjack(coins, pays, costs) ?? accumulative(coins, pays, costs)
}

/** Many small payments and a few large ones, as wallets get them. */
const wallet = () =>
  Array.from({ length: 2 + Math.floor(random() * 60) }, () => ({
    amount: BigInt(Math.floor(10 ** (3 + random() * 5)))
  }))

for (const [rate, longTermRate] of [
  [2_000n, 10_000n],
  [10_000n, 10_000n],
  [50_000n, 10_000n]
] as const) {
  const costs = TransactionCosts.of(
    network,
    { format: "P2WPKH", scripts: [script], change: script },
    { rate, longTermRate }
  )
  const rows = Object.fromEntries(
    Object.keys(selectors).map((name) => [
      name,
      { waste: 0n, fee: 0n, inputs: 0, change: 0, better: 0, worse: 0, millis: 0 }
    ])
  )
  let compared = 0
  for (let i = 0; i < count; i++) {
    const coins = wallet()
    const total = coins.reduce((sum, { amount }) => sum + amount, 0n)
    const pays = BigInt(Math.floor(Number(total) * random() * 0.7)) + 1_000n
    const results = Object.entries(selectors).map(([name, select]) => {
      const begun = performance.now()
      const taken = select(coins, pays, costs)
      return { name, millis: performance.now() - begun, found: taken && CoinSelection.settle(taken, pays, costs) }
    })
    const [least] = results
    if (results.some(({ found }) => found === undefined)) continue
    compared++
    for (const { found, millis, name } of results) {
      const row = rows[name]!
      const { change, coins, fee, waste } = found!
      row.waste += waste
      row.fee += fee
      row.inputs += coins.length
      row.change += change > 0n ? 1 : 0
      row.better += waste > least!.found!.waste ? 1 : 0
      row.worse += waste < least!.found!.waste ? 1 : 0
      row.millis += millis
    }
  }
  console.log(
    `\n${Number(rate) / 1_000} sat for a byte, ${Number(longTermRate) / 1_000} in the long term, ${compared} payments of ${count} that all could make`
  )
  console.table(
    Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [
        name,
        {
          "mean waste": Number(row.waste / BigInt(compared)),
          "mean fee": Number(row.fee / BigInt(compared)),
          "mean inputs": Number((row.inputs / compared).toFixed(2)),
          "with change": row.change,
          "least-waste wastes less": row.better,
          "… more": row.worse,
          "mean ms": Number((row.millis / compared).toFixed(2))
        }
      ])
    )
  )
}
