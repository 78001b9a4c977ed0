import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmNode from "@headwater/indexer/families/evm/EvmNode"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../FakeNode.ts"

const holder = `0x${"ab".repeat(20)}`
const address = Address.fromBytes(Buffer.from(holder.slice(2), "hex"))

const waiting = (nonce: number, about: object = {}) => ({
  ...{ from: holder, nonce: `0x${nonce.toString(16)}`, value: "0x64", gas: "0x5208", gasPrice: "0x1" },
  ...about
})

/** An account of 1,000,000 Wei with nonce 3, of which five transactions are known. */
const accountAt = (
  answers: Record<string, unknown>,
  pending = "0x5",
  dataFee: "none" | "op-stack" = "none",
  nonce?: number
) =>
  Effect.gen(function* () {
    const node = yield* FakeNode.make((method, [first, tag]) => {
      const answer = answers[method === "eth_getBalance" && tag === "pending" ? "pendingBalance" : method]
      if (method === "eth_getBalance" && tag === "latest") return "0xf4240"
      if (method === "eth_getTransactionCount") return tag === "latest" ? "0x3" : pending
      if (method === "eth_getBlockByNumber") assert.strictEqual(first, "pending")
      if (answer === undefined) throw new FakeNode.RpcError(-32601, `the method ${method} does not exist`)
      return answer
    })
    const rpc = yield* JsonRpc.make({ urls: [node.url] })
    const account = yield* EvmNode.make(rpc, dataFee === undefined ? {} : { dataFee }).account(address, nonce)
    return { ...account, calls: node.calls.map(({ method }) => method) }
  }).pipe(Effect.scoped)

const pool = (...transactions: ReadonlyArray<{ readonly nonce: string }>) => ({
  pending: Object.fromEntries(transactions.map((transaction) => [String(Number(transaction.nonce)), transaction])),
  queued: { "9": waiting(9) }
})

describe("EvmNode.nextNonce", () => {
  it.live("is behind what waits and what a block has, and asks nothing about what waits", () =>
    Effect.gen(function* () {
      for (const [pending, next] of [
        ["0x5", 5],
        ["0x2", 3]
      ] as const) {
        const node = yield* FakeNode.make((_, [, tag]) => (tag === "latest" ? "0x3" : pending))
        const rpc = yield* JsonRpc.make({ urls: [node.url] })
        assert.strictEqual(yield* EvmNode.make(rpc, { dataFee: "op-stack" }).nextNonce(address), next)
        assert.deepStrictEqual(
          node.calls.map(({ method }) => method),
          ["eth_getTransactionCount", "eth_getTransactionCount"]
        )
      }
    }).pipe(Effect.scoped)
  )
})

describe("EvmNode.account", () => {
  it.live("asks nothing more where nothing waits", () =>
    Effect.gen(function* () {
      const account = yield* accountAt({ pendingBalance: "0xffffffff" }, "0x3")
      assert.deepStrictEqual([account.mined, account.pending], [3, 3])
      assert.deepStrictEqual([account.balance, account.afterPending], [1_000_000n, 1_000_000n])
      assert.notInclude(account.calls, "txpool_contentFrom")
      // The next nonce is none that a block has already.
      assert.strictEqual((yield* accountAt({}, "0x2")).pending, 3)
    })
  )

  it.live("takes off nothing for the one that is replaced, and says its price", () =>
    Effect.gen(function* () {
      const market = { gasPrice: "0x1", maxFeePerGas: "0x5", maxPriorityFeePerGas: "0x2" }
      const txpool_contentFrom = pool(waiting(3), waiting(4, market))
      // At the tag the node has taken off both.
      const answers = { txpool_contentFrom, pendingBalance: "0x1" }
      const second = yield* accountAt(answers, "0x5", "none", 4)
      assert.deepStrictEqual(second.replaced, { cap: 5n, tip: 2n, hasBlobs: false })
      assert.strictEqual(second.afterPending, 1_000_000n - 21_100n)
      const first = yield* accountAt(answers, "0x5", "none", 3)
      assert.deepStrictEqual(first.replaced, { cap: 1n, tip: 1n, hasBlobs: false })
      for (const nonce of [undefined, 5, 8]) {
        const next = yield* accountAt(answers, "0x5", "none", nonce)
        assert.deepStrictEqual([next.replaced, next.afterPending], [undefined, 1n])
      }
      const unlisted = { pendingBalance: "0x1", eth_getBlockByNumber: { transactions: [] } }
      const unsaid = yield* accountAt(unlisted, "0x5", "none", 4)
      assert.deepStrictEqual([unsaid.replaced, unsaid.afterPending], [undefined, undefined])
    })
  )

  it.live("says the price of one that waits behind a missing nonce, whether or not others wait before that", () =>
    Effect.gen(function* () {
      const price = { cap: 1n, tip: 1n, hasBlobs: false }
      const behindTwo = yield* accountAt(
        { txpool_contentFrom: pool(waiting(3), waiting(4)), pendingBalance: "0x1" },
        ...(["0x5", "none", 9] as const)
      )
      assert.deepStrictEqual([behindTwo.replaced, behindTwo.afterPending], [price, 1n])
      const alone = { txpool_contentFrom: pool() }
      assert.deepStrictEqual((yield* accountAt(alone, "0x3", "none", 9)).replaced, price)
      assert.isUndefined((yield* accountAt(alone, "0x3", "none", 4)).replaced)
      // Of a node that lists nothing it is not known, nor of one that answers with no list, as some in front of nodes do.
      for (const answers of [{}, { txpool_contentFrom: null }]) {
        const named = yield* accountAt(answers, "0x3", "none", 9)
        assert.deepStrictEqual([named.replaced, named.afterPending], [undefined, 1_000_000n])
      }
    })
  )

  it.live(
    "finds those that wait for a lower base fee in Erigon's list of them, and is not misled by its count past a gap",
    () =>
      Effect.gen(function* () {
        const stuck = { pending: {}, baseFee: { "3": waiting(3), "4": waiting(4) }, queued: {} }
        const two = { txpool_contentFrom: stuck }
        assert.strictEqual((yield* accountAt(two)).afterPending, 1_000_000n - 2n * 21_100n)
        // Wherever a node has them.
        const queued = {
          txpool_contentFrom: { pending: { "3": waiting(3) }, queued: { "4": waiting(4), "9": waiting(9) } }
        }
        assert.strictEqual((yield* accountAt(queued)).afterPending, 1_000_000n - 2n * 21_100n)
        const first = yield* accountAt(two, "0x5", "none", 3)
        const price = { cap: 1n, tip: 1n, hasBlobs: false }
        assert.deepStrictEqual([first.replaced, first.afterPending], [price, 1_000_000n - 21_100n])
        // It counts all that it has, whatever is missing before.
        const behindGap = { txpool_contentFrom: { pending: {}, baseFee: {}, queued: { "9": waiting(9) } } }
        assert.deepStrictEqual((yield* accountAt(behindGap, "0xa", "none", 9)).replaced, price)
        assert.isUndefined((yield* accountAt(behindGap, "0xa", "none", 3)).replaced)
        assert.isUndefined((yield* accountAt(behindGap, "0xa")).afterPending)
      })
  )

  it.live("takes off the most that the waiting transactions can cost, as the pool lists them", () =>
    Effect.gen(function* () {
      const market = { gasPrice: "0x1", maxFeePerGas: "0x2", maxPriorityFeePerGas: "0x0" }
      const { afterPending, calls } = yield* accountAt({
        txpool_contentFrom: pool(waiting(3), waiting(4, market)),
        pendingBalance: "0xf4240"
      })
      assert.strictEqual(afterPending, 1_000_000n - (100n + 21_000n) - (100n + 42_000n))
      assert.notInclude(calls, "eth_getBlockByNumber")
      const blob = waiting(4, { maxFeePerBlobGas: "0x1", blobVersionedHashes: [`0x${"01".repeat(32)}`] })
      assert.strictEqual(
        (yield* accountAt({ txpool_contentFrom: pool(waiting(3), blob) })).afterPending,
        1_000_000n - 2n * 21_100n - 131_072n
      )
      const dear = waiting(4, { value: "0xffffffff" })
      assert.strictEqual((yield* accountAt({ txpool_contentFrom: pool(waiting(3), dear) })).afterPending, 0n)
      const { replaced } = yield* accountAt({ txpool_contentFrom: pool(waiting(3), blob) }, "0x5", "none", 4)
      assert.deepStrictEqual(replaced, { cap: 1n, tip: 1n, hasBlobs: true })
    })
  )

  it.live("takes off what the OP stack charges them beside gas, as far as the node shows their bytes", () =>
    Effect.gen(function* () {
      const txpool_contentFrom = pool(waiting(3, { hash: `0x${"03".repeat(32)}` }), waiting(4))
      const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`
      const answers = { txpool_contentFrom, eth_getRawTransactionByHash: "0x02c0", eth_call: word(640) }
      const gas = 1_000_000n - 2n * 21_100n
      // The charge for the bytes and the operator's, after two blocks of the steepest rise.
      assert.strictEqual(
        (yield* accountAt(answers, "0x5", "op-stack")).afterPending,
        gas - (2n * (2n * 640n * 81n)) / 64n
      )
      assert.strictEqual((yield* accountAt(answers)).afterPending, gas)
      for (const eth_getRawTransactionByHash of [null, undefined]) {
        const { afterPending } = yield* accountAt({ ...answers, eth_getRawTransactionByHash }, "0x5", "op-stack")
        assert.strictEqual(afterPending, gas)
      }
    })
  )

  it.live("finds them in the pending block where the pool does not list all of them", () =>
    Effect.gen(function* () {
      const other = waiting(3, { from: `0x${"cd".repeat(20)}`, value: "0xffffff" })
      const eth_getBlockByNumber = { transactions: [other, waiting(3), waiting(4)] }
      for (const listed of [{}, { txpool_contentFrom: pool(waiting(4)) }]) {
        const { afterPending } = yield* accountAt({ eth_getBlockByNumber, ...listed })
        assert.strictEqual(afterPending, 1_000_000n - 2n * 21_100n)
      }
    })
  )

  it.live("takes the pending balance where the node lists nothing, and says so where that shows nothing", () =>
    Effect.gen(function* () {
      const unlisted = { eth_getBlockByNumber: { transactions: [waiting(3)] } }
      assert.strictEqual((yield* accountAt({ ...unlisted, pendingBalance: "0xf0000" })).afterPending, 0xf0000n)
      // Of the newest block, hidden by coins that wait to come, refused.
      for (const pendingBalance of ["0xf4240", "0xffffff", undefined]) {
        assert.isUndefined((yield* accountAt({ ...unlisted, pendingBalance })).afterPending)
      }
      assert.isUndefined((yield* accountAt({ eth_getBlockByNumber: null })).afterPending)
    })
  )

  it.live("names what is wrong with a list", () =>
    Effect.gen(function* () {
      const txpool_contentFrom = pool(waiting(3, { value: 5 }), waiting(4))
      const error = yield* Effect.flip(accountAt({ txpool_contentFrom }))
      assert.strictEqual(error._tag, "NodeInconsistent")
      assert.match(error.message, /transaction\.value/)
    })
  )
})

describe("EvmNode.tokenBalancesAt", () => {
  const contracts = ["01", "02", "03"].map((byte) => Address.fromBytes(new Uint8Array(20).fill(Number(byte))))
  const block = new Uint8Array(32).fill(7)

  const balances = (answer: (contract: string, gas: number) => unknown) =>
    Effect.gen(function* () {
      const node = yield* FakeNode.make((_, [call]) => {
        const { gas = "0xffffffff", to } = call as { gas?: string; to: string }
        return answer(to.slice(-2), Number(gas))
      })
      const evm = EvmNode.make(yield* JsonRpc.make({ urls: [node.url], attempts: 1 }))
      return yield* evm.tokenBalancesAt(
        contracts.map((contract) => ({ contract, holder: address })),
        block
      )
    }).pipe(Effect.scoped)

  const word = `0x${"05".padStart(64, "0")}`

  it.live("a contract that computes until the node gives up hides no other one's tokens", () =>
    Effect.gen(function* () {
      const found = yield* balances((contract, gas) => {
        if (contract !== "02") return word
        // As geth does, which computes for five seconds.
        throw gas > 10_000_000
          ? new FakeNode.RpcError(-32000, "execution aborted (timeout = 5s)")
          : new FakeNode.RpcError(-32000, "out of gas")
      })
      assert.deepStrictEqual(found, [5n, undefined, 5n])
    })
  )

  it.live("what a node says in passing is no contract's answer", () =>
    Effect.gen(function* () {
      let failures = 1
      const found = yield* balances((contract) => {
        if (contract === "03" && failures-- > 0) throw new FakeNode.RpcError(-32603, "Internal error")
        return word
      })
      assert.deepStrictEqual(found, [5n, 5n, 5n])
    })
  )
})

describe("EvmNode.tokenBalance", () => {
  const balance = (answer: FakeNode.Answer) =>
    Effect.gen(function* () {
      const node = yield* FakeNode.make(answer)
      const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
      return yield* EvmNode.make(rpc).tokenBalance(address, address)
    }).pipe(Effect.scoped)

  it.live("is not taken for unknown where the node is in trouble: nothing would be kept for the transfer", () =>
    Effect.gen(function* () {
      const failing = (code: number, message: string) =>
        balance(() => {
          throw new FakeNode.RpcError(code, message)
        })
      assert.strictEqual((yield* Effect.flip(failing(-32603, "Internal error")))._tag, "NodeRejected")
      assert.isUndefined(yield* failing(3, "execution reverted"))
      assert.strictEqual(yield* balance(() => `0x${"07".padStart(64, "0")}`), 7n)
    })
  )
})

describe("EvmNode.estimateGas", () => {
  const estimate = (answer: FakeNode.Answer) =>
    Effect.gen(function* () {
      const node = yield* FakeNode.make(answer)
      const rpc = yield* JsonRpc.make({ urls: [node.url] })
      const request = { from: address, to: address, value: 1n, data: new Uint8Array() }
      return yield* Effect.result(EvmNode.make(rpc).estimateGas(request))
    }).pipe(Effect.scoped)

  it.live("takes no gas for no answer: a fee cannot be shared out over it", () =>
    Effect.gen(function* () {
      const none = yield* estimate(() => "0x0")
      assert.strictEqual(Result.getOrThrow(Result.flip(none))._tag, "NodeInconsistent")
      assert.strictEqual(Result.getOrThrow(yield* estimate(() => "0x5208")), 21_000n)
    })
  )

  it.live("is not of the block that is waited for, of which a transaction may come later, or be replaced", () =>
    Effect.gen(function* () {
      // The gas of a place in storage that a waiting transaction is the first to write, as anvil estimates it by itself.
      const gas = yield* estimate((_, [, block]) => (block === "latest" ? "0xa862" : "0x5b0b"))
      assert.strictEqual(Result.getOrThrow(gas), 43_106n)
    })
  )
})

describe("EvmNode.gasPrices", () => {
  it.live("have what the chain's nodes take at the least, beside what was paid", () =>
    Effect.gen(function* () {
      const node = yield* FakeNode.make((method) => {
        if (method === "eth_getBlockByNumber") return { number: "0x5", baseFeePerGas: "0x9" }
        if (method !== "eth_feeHistory") return "0x7"
        return { baseFeePerGas: ["0x9", "0x8"], gasUsedRatio: [0.5], reward: [["0x1", "0x2", "0x3"]] }
      })
      const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
      const prices = { height: 5, baseFee: 8n, tips: [1n, 2n, 3n], suggestedPrice: 7n, suggestedTip: 7n }
      const pricesOf = (name: string) => EvmNode.make(rpc, Chain.ofName(name)!.evm).gasPrices([10, 50, 90])
      assert.deepStrictEqual(yield* pricesOf("polygon/mainnet"), { ...prices, leastTip: 25_000_000_000n })
      assert.deepStrictEqual(yield* pricesOf("ethereum/mainnet"), { ...prices, leastTip: undefined })
    }).pipe(Effect.scoped)
  )
})
