import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Broadcasting from "@headwater/indexer/families/evm/Broadcasting"
import * as EvmNode from "@headwater/indexer/families/evm/EvmNode"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  computeAddress,
  concat,
  decodeRlp,
  encodeRlp,
  getBytes,
  hexlify,
  keccak256,
  SigningKey,
  sha256,
  Transaction,
  type TransactionLike
} from "ethers"
import * as FakeNode from "../../FakeNode.ts"

const chain = Result.getOrThrow(Chain.find("base", "mainnet"))
const key = new SigningKey(`0x${"11".repeat(32)}`)
const gwei = 1_000_000_000n

const signed = (fields: TransactionLike) => {
  const transaction = Transaction.from({
    ...{ type: 2, chainId: 8453, nonce: 3, gasLimit: 21_000, to: `0x${"22".repeat(20)}`, value: 1n },
    ...{ maxFeePerGas: 2n * gwei, maxPriorityFeePerGas: gwei },
    ...fields
  })
  transaction.signature = key.sign(transaction.unsignedHash)
  return new Uint8Array(Buffer.from(transaction.serialized.slice(2), "hex"))
}

const over = (answer: FakeNode.Answer) =>
  Effect.gen(function* () {
    const node = yield* FakeNode.make(answer)
    const rpc = yield* JsonRpc.make({ urls: [node.url] })
    const chainId = Effect.succeed(8453n)
    return Broadcasting.make(chain, rpc, { ...EvmNode.make(rpc), chainId }, { maximumFee: 100 })
  })

/** A chain above another one, whose gas costs a thousandth of a Gwei. */
const cheap: Readonly<Record<string, string>> = {
  ...{ eth_getBalance: `0x${(10n ** 18n).toString(16)}`, eth_getTransactionCount: "0x3", eth_gasPrice: "0xf4240" }
}

describe("Broadcasting of an EVM chain", () => {
  it.live("takes the tips that wallets offer by default where gas costs next to nothing, and no thousandfold fee", () =>
    Effect.gen(function* () {
      const { check } = yield* over((method) => cheap[method])
      const offering = (price: bigint, gasLimit = 21_000) =>
        Effect.result(check(signed({ maxFeePerGas: price, maxPriorityFeePerGas: price, gasLimit })))
      // Two thousand times the usual price; 0.000042 ETH.
      assert.isTrue(Result.isSuccess(yield* offering(2n * gwei)))
      assert.isTrue(Result.isSuccess(yield* offering(2n * gwei, 400_000)))
      // A hundred times the usual price, whatever that comes to.
      assert.isTrue(Result.isSuccess(yield* offering(100_000_000n, 12_000_000)))
      for (const [price, gasLimit, bound] of [
        [50n * gwei, 21_000, "47619047619 Wei for each gas, which is a thousandth of a coin for 21000 gas"],
        [2n * gwei, 600_000, "1666666666 Wei for each gas, which is a thousandth of a coin for 600000 gas"],
        [100_000_001n, 12_000_000, "100000000 Wei for each gas, which is 100 times the present one"]
      ] as const) {
        const refused = yield* offering(price, gasLimit)
        assert.isTrue(Result.isFailure(refused))
        if (Result.isFailure(refused))
          assert.include(refused.failure.message, `the fee must be at most ${bound}, and is`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("takes a transaction with blobs in its one form alone: of another the id would be that of other bytes", () =>
    Effect.gen(function* () {
      const { idOf } = yield* over((method) => cheap[method])
      const commitment = `0x${"44".repeat(48)}`
      const blobs = { type: 3, maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${sha256(commitment).slice(4)}`] }
      const raw = signed({ ...blobs, nonce: 1, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n })
      const sidecar = [[`0x${"00".repeat(131_072)}`], [commitment], [commitment]]
      const fields = decodeRlp(raw.slice(1)) as Array<string>
      const whole = (inner: Array<string>) => getBytes(concat(["0x03", encodeRlp([inner, ...sidecar])]))
      assert.strictEqual(hexlify(yield* idOf(whole(fields))), keccak256(raw))
      const refused = yield* Effect.flip(idOf(whole(fields.with(1, "0x0001"))))
      assert.include(refused.message, "must be encoded in the one canonical form")
    }).pipe(Effect.scoped)
  )

  it.live("takes no word for a refusal that nodes say of what they may have", () =>
    Effect.gen(function* () {
      for (const [code, message, state] of [
        [-32000, "already known", "taken"],
        // As Erigon answers.
        [-32000, "ALREADY_EXISTS: already known", "taken"],
        [-32000, "INTERNAL_ERROR: existing tx with same hash", "taken"],
        [-32000, "INTERNAL_ERROR: could not replace existing tx", "refused"],
        // As Nethermind answers, also where it has refused the transaction before (its issue 4148).
        [-32010, "AlreadyKnown", "unanswered"],
        [-32010, "FeeTooLow, EffectivePriorityFeePerGas too low", "refused"],
        [-32000, "replacement transaction underpriced", "refused"]
      ] as const) {
        const { send } = yield* over(() => {
          throw new FakeNode.RpcError(code, message)
        })
        assert.strictEqual((yield* send(signed({}))).state, state, message)
      }
    }).pipe(Effect.scoped)
  )

  it.live("says where its sender counts a transaction, and the most that it takes", () =>
    Effect.gen(function* () {
      const { numberOf } = yield* over((method) => cheap[method])
      const costOf = (fields: TransactionLike) => Effect.map(numberOf!(signed(fields)), (numbered) => numbered?.cost)
      const sender = getBytes(computeAddress(key))
      const market = { value: 5n, gasLimit: 30_000, maxFeePerGas: 7n, maxPriorityFeePerGas: 3n }
      assert.deepStrictEqual(yield* numberOf!(signed(market)), {
        ...{ sender, number: 3, cost: 210_005n, tokens: undefined }
      } as never)
      const legacy = { type: 0, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 2n }
      assert.strictEqual(yield* costOf(legacy), 42_001n)
      const hash = `0x01${"00".repeat(31)}`
      const blobs = { ...market, type: 3, maxFeePerBlobGas: 2n, blobVersionedHashes: [hash, hash] }
      assert.strictEqual(yield* costOf(blobs), 210_005n + 2n * 131_072n * 2n)
    }).pipe(Effect.scoped)
  )

  it.live("counts what the OP stack takes beside gas, where the node says", () =>
    Effect.gen(function* () {
      const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`
      // getL1Fee and getOperatorFee.
      const fees: Readonly<Record<string, string>> = { "0x49948e0e": word(6_000), "0x275aedd2": word(400) }
      const { numberOf } = yield* over((method, [call]) =>
        method === "eth_call" ? fees[(call as { readonly data: string }).data.slice(0, 10)]! : cheap[method]
      )
      const market = { value: 5n, gasLimit: 30_000, maxFeePerGas: 7n, maxPriorityFeePerGas: 3n }
      assert.strictEqual((yield* numberOf!(signed(market)))?.cost, 210_005n + (6_400n * 81n) / 64n)
      const silent = yield* over(() => {
        throw new FakeNode.RpcError(-32601, "the method does not exist")
      })
      assert.strictEqual((yield* silent.numberOf!(signed(market)))?.cost, 210_005n)
    }).pipe(Effect.scoped)
  )

  it.live("says what a transfer of tokens moves", () =>
    Effect.gen(function* () {
      const { numberOf } = yield* over((method) => cheap[method])
      const to = `0x${"AB".repeat(20)}`
      const words = [`${"00".repeat(12)}${"33".repeat(20)}`, (6_000_000).toString(16).padStart(64, "0")].join("")
      const tokensOf = (data: string) =>
        Effect.map(numberOf!(signed({ to: to.toLowerCase(), value: 0n, data })), (numbered) => numbered?.tokens)
      assert.deepStrictEqual(yield* tokensOf(`0xa9059cbb${words}`), {
        ...{ contract: getBytes(to.toLowerCase()) as never, amount: 6_000_000n }
      })
      // An approval moves none, and half a call none either.
      assert.isUndefined(yield* tokensOf(`0x095ea7b3${words}`))
      assert.isUndefined(yield* tokensOf(`0xa9059cbb${words.slice(2)}`))
    }).pipe(Effect.scoped)
  )

  it.live("does not take a transaction for one that no block has, where the node has not come to the block", () =>
    Effect.gen(function* () {
      let newest = "0x63"
      const { find } = yield* over((method) => (method === "eth_blockNumber" ? newest : null))
      const found = () => Effect.result(find(new Uint8Array(32).fill(1), 100))
      assert.include(String(yield* found()), "has not come to block 100")
      newest = "0x64"
      assert.deepStrictEqual(yield* found(), Result.succeed({ state: "absent" as const }))
    }).pipe(Effect.scoped)
  )
})
