import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Prepare from "@headwater/http/operations/evm/Prepare"
import { feeFault } from "@headwater/indexer/families/evm/Broadcasting"
import type { Account } from "@headwater/indexer/families/evm/EvmNode"
import * as Effect from "effect/Effect"

const gas = 21_000n
const contractByte = 0x22

const rich = { balance: 10n ** 24n, mined: 5, pending: 5, afterPending: 10n ** 24n, replaced: undefined }

/** Preparation for a rich sender, or another one, on a chain with this base fee; how many nonces were reserved. */
const prepared = (
  name: string,
  baseFee: bigint,
  maximumFee = 100,
  tip = 0n,
  account: Account = rich,
  estimate: bigint = gas
) => {
  let reserved = 0
  /** Tokens of the sender after the newest block: while gas is estimated, one has taken the transfer with nonce 5. */
  let tokens = 10n
  const evm = {
    gasPrices: () =>
      Effect.succeed({
        height: 1,
        baseFee,
        tips: [tip, tip, tip],
        suggestedPrice: 50_000_000n,
        suggestedTip: 50_000_000n,
        leastTip: Chain.ofName(name)!.evm!.leastTip
      }),
    account: () => Effect.succeed(account),
    estimateGas: () =>
      Effect.sync(() => {
        tokens = 4n
        return estimate
      }),
    hasCode: (address: Uint8Array) => Effect.succeed(address[0] === contractByte),
    tokenDecimals: () => Effect.succeed(0),
    returned: () => Effect.succeed(new Uint8Array(32).fill(1, 31)),
    tokenBalance: () => Effect.sync(() => tokens)
  }
  const chain = Chain.ofName(name)!
  const node = Effect.succeed({ evm, feeFault: feeFault(chain, maximumFee) })
  const freshness = { node, orUnavailable: (effect: unknown) => effect }
  const nonces = {
    reserve: () => Effect.sync(() => ({ nonce: 5 + reserved++, until: 0 })),
    takeOver: () => Effect.succeed({ until: undefined }),
    promisedBeside: () => Effect.succeed({ cost: 0n, tokens: 6n, nonces: { cost: [], tokens: [5] } }),
    sentWith: () => Effect.succeed([])
  }
  const { prepare, prepareFungible } = Prepare.make({ chain } as never, freshness as never, {
    ...{ nonces: nonces as never, reservationSeconds: 600 }
  })
  const address = `0x${"11".repeat(20)}`
  return {
    prepare: (exactAmount?: bigint, additionalData?: string, about: object = {}) =>
      prepare({
        ...{ account: 1, sender: address, recipient: address, amount: "1", reserve: true, additionalData, ...about },
        fee: { priority: "standard", ...(exactAmount === undefined ? {} : { exactAmount: String(exactAmount) }) }
      } as never),
    prepareTokens: (amount: string) =>
      prepareFungible({
        ...{ account: 1, sender: address, recipient: `0x${"33".repeat(20)}`, amount, fee: { priority: "standard" } },
        contract: `0x${contractByte.toString(16).repeat(20)}`
      } as never),
    reserved: () => reserved
  }
}

describe("Preparation of EVM transactions", () => {
  it.effect("counts tokens once that a block takes while a transfer is prepared", () =>
    Effect.gen(function* () {
      const { prepareTokens } = prepared("ethereum/mainnet", 1_000_000_000n)
      assert.strictEqual((yield* prepareTokens("4")).nonce, 5)
      const refused = yield* Effect.flip(prepared("ethereum/mainnet", 1_000_000_000n).prepareTokens("5"))
      assert.match(refused.message, /can spend 10 tokens, .*numbers 5\) may take 6 tokens, and needs 5 tokens/)
    })
  )

  it.effect("reserves no nonce for a fee that the answer cannot carry", () =>
    Effect.gen(function* () {
      const { prepare, reserved } = prepared("ethereum/mainnet", 1_000_000_000n, 1e12)
      const refused = yield* Effect.flip(prepare(gas * 2n ** 54n))
      assert.include(refused.message, "fee: must be at most 2^53 - 1")
      assert.strictEqual(reserved(), 0)
      assert.strictEqual((yield* prepare(gas * 2_000_000_000n)).nonce, 5)
      assert.strictEqual(reserved(), 1)
    })
  )

  it.effect("leaves Arbitrum's part for the layer below its margin, which the floor of the data is above", () =>
    Effect.gen(function* () {
      const gasLimitOn = Effect.fnUntraced(function* (name: string) {
        const { gasLimit } = yield* prepared(name, 10_000_000n).prepare(undefined, "a note")
        return gasLimit
      })
      assert.strictEqual(yield* gasLimitOn("ethereum/mainnet"), 21_000)
      assert.strictEqual(yield* gasLimitOn("arbitrum/mainnet"), 27_300)
    })
  )

  it.effect("leaves nothing behind of an amount that opens an account, whose creation takes gas (EIP-8037)", () =>
    Effect.gen(function* () {
      // EIP-2780 and 120 bytes of state at 1,530 gas each.
      const estimate = 21_000n + 120n * 1_530n
      const { prepare } = prepared("ethereum/mainnet", 1_000_000_000n, 1e6, 0n, rich, estimate)
      const limitOf = (about: object) => Effect.map(prepare(undefined, undefined, about), ({ gasLimit }) => gasLimit)
      assert.strictEqual(yield* limitOf({ substractFromAmount: true }), 204_600)
      const contract = { recipient: `0x${contractByte.toString(16).repeat(20)}` }
      assert.strictEqual(yield* limitOf(contract), 265_980)
      // A transaction to oneself takes 12,000 gas there, and a contract's code may take less than the 9,000 up to the former least.
      const lean = prepared("ethereum/mainnet", 1_000_000_000n, 1e6, 0n, rich, 15_000n)
      assert.strictEqual((yield* lean.prepare(undefined, undefined, contract)).gasLimit, 19_500)
    })
  )

  it.effect("offers the tip without which no node of Polygon takes a transaction, whatever was paid", () =>
    Effect.gen(function* () {
      const gwei = 1_000_000_000n
      // As in block 38,102,393, where a tenth of the gas had paid less than this.
      const { fee } = yield* prepared("polygon/mainnet", 52n * gwei, 1e6, 16_731_004_873n).prepare()
      assert.deepInclude(fee, { maxPriorityFeePerGas: 25_000_000_000, maxFeePerGas: 129_000_000_000 })
      // Producers pass over what leaves less than the tip beyond the base fee.
      const { prepare } = prepared("polygon/mainnet", 52n * gwei, 1e6)
      const refused = yield* Effect.flip(prepare(gas * 76n * gwei))
      assert.include(refused.message, "blocks take 77000000000 or more")
      assert.strictEqual((yield* prepare(gas * 77n * gwei)).fee.maxPriorityFeePerGas, 77_000_000_000)
      const ethereum = yield* prepared("ethereum/mainnet", gwei, 1e6, 3n).prepare()
      assert.strictEqual(ethereum.fee.maxPriorityFeePerGas, 3)
    })
  )

  it.effect("takes no fee that would not be broadcast", () =>
    Effect.gen(function* () {
      const { prepare } = prepared("ethereum/mainnet", 1_000_000_000n)
      // A thousandth of a coin is never beyond measure: a hundred times the present price is less here.
      const most = 10n ** 15n / gas
      assert.strictEqual((yield* prepare(10n ** 15n)).fee.maxFeePerGas, Number(10n ** 15n / gas))
      const { message } = yield* Effect.flip(prepare(10n ** 15n + gas))
      assert.include(
        message,
        `fee.exactAmount: the fee must be at most ${most} Wei for each gas, which is a thousandth of a coin for ${gas} gas`
      )
      const dear = prepared("ethereum/mainnet", 1_000_000_000n, 10_000)
      const times = 10_000n * 50_000_000n
      assert.strictEqual((yield* dear.prepare(gas * times)).fee.maxFeePerGas, Number(times))
      const beyond = (yield* Effect.flip(dear.prepare(gas * (times + 1n)))).message
      assert.include(beyond, `at most ${times} Wei for each gas, which is 10000 times the present one, and is`)
    })
  )

  it.effect("offers no tip beyond measure, as one transaction of the last blocks has paid by mistake", () =>
    Effect.gen(function* () {
      const usual = prepared("ethereum-classic/mainnet", 1_000_000_000n, 100, 2_000_000_000n)
      assert.strictEqual((yield* usual.prepare()).fee.gasPrice, 1_265_625_000 + 2_000_000_000)
      const { prepare } = prepared("ethereum-classic/mainnet", 1_000_000_000n, 100, 10n ** 14n)
      const { message } = yield* Effect.flip(prepare())
      assert.match(
        message,
        /^fee\.priority: the fee must be at most 47619047619 Wei for each gas, .* paid in recent blocks/
      )
    })
  )

  it.effect("takes no fee of nothing where blocks have a base fee of 0", () =>
    Effect.gen(function* () {
      const { prepare } = prepared("binance-smart-chain/mainnet", 0n)
      assert.match((yield* Effect.flip(prepare(gas - 1n))).message, /is 0 for each of 21000 gas; blocks take 1 or more/)
      assert.strictEqual((yield* prepare(gas)).fee.maxFeePerGas, 1)
    })
  )

  it.effect("leaves what the others of several waiting transactions take, whichever of them it replaces", () =>
    Effect.gen(function* () {
      // Two wait, the second of which takes all but half a coin: geth refuses what it could then no more pay.
      const replaced = { cap: 1_000_000_000n, tip: 1_000_000_000n, hasBlobs: false }
      const account = { ...rich, pending: 7, afterPending: 5n * 10n ** 17n, replaced }
      const { prepare } = prepared("ethereum/mainnet", 1_000_000_000n, 100, 0n, account)
      const { message } = yield* Effect.flip(prepare(undefined, undefined, { nonce: "5" }))
      assert.match(message, /^amount: the sender has 0\.5 ETH beside what its waiting transactions take and needs 1\./)
      assert.strictEqual((yield* prepare(undefined, undefined, { nonce: "5", amount: "0.4" })).nonce, 5)
    })
  )

  it.effect("raises the tip no higher than nodes ask in the place of another, unless nothing is to come back", () =>
    Effect.gen(function* () {
      const gwei = 10n ** 9n
      const replaced = { cap: 50n * gwei, tip: gwei, hasBlobs: false }
      const account = { ...rich, pending: 6, replaced }
      const { prepare } = prepared("binance-smart-chain/mainnet", 0n, 10_000, gwei, account)
      const pricesOf = Effect.fnUntraced(function* (about: object) {
        const { fee } = yield* prepare(undefined, undefined, { nonce: "5", ...about })
        return [fee.gasPrice, fee.maxFeePerGas, fee.maxPriorityFeePerGas]
      })
      assert.deepStrictEqual(yield* pricesOf({}), [0, 55e9, 1.1e9])
      assert.deepStrictEqual(yield* pricesOf({ substractFromAmount: true }), [0, 55e9, 55e9])
      assert.deepStrictEqual(yield* pricesOf({ type: "legacy-transaction" }), [55e9, 0, 0])
    })
  )

  it.effect("says why the place of another cannot be taken", () =>
    Effect.gen(function* () {
      const refusalFor = Effect.fnUntraced(function* (replaced: NonNullable<Account["replaced"]>) {
        const { prepare } = prepared("ethereum/mainnet", 1_000_000_000n, 100, 0n, { ...rich, pending: 6, replaced })
        return (yield* Effect.flip(prepare(undefined, undefined, { nonce: "5" }))).message
      })
      assert.match(
        yield* refusalFor({ cap: 10n, tip: 1n, hasBlobs: true }),
        /^nonce: the waiting transaction .* has blobs/
      )
      assert.match(
        yield* refusalFor({ cap: 10n ** 12n, tip: 1n, hasBlobs: false }),
        /^fee\.priority: the fee must be at most .*; in the place of the waiting transaction with this nonce nodes take no less$/
      )
    })
  )
})
