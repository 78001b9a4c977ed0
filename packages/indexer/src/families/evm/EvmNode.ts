/**
 * What the endpoints ask of an EVM chain's node beyond its blocks: state at one block, fees, receipts. Answers are
 * checked as those of {@link EvmSource} are.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Call, JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../node/NodeError.ts"
import * as Hex from "./internal/Hex.ts"
import { read } from "./internal/NodeAnswer.ts"
import * as TokenMetadata from "./internal/TokenMetadata.ts"

export interface Log {
  readonly address: AddressBytes
  readonly data: Uint8Array
  readonly topics: ReadonlyArray<Uint8Array>
  readonly removed: boolean
}

/** A transaction that is not sent yet. */
export interface Draft {
  readonly from: AddressBytes
  readonly to: AddressBytes
  /** In Wei. */
  readonly value: bigint
  readonly data: Uint8Array
}

/** An account as it is before the next transaction. */
export interface Account {
  /** After the newest block, in Wei. */
  readonly balance: bigint
  /** Transactions in blocks. */
  readonly mined: number
  /** Those and the ones that the node knows to wait for a block. */
  readonly pending: number
}

/** What transactions paid for gas in recent blocks, in Wei. */
export interface GasPrices {
  /** Base fee of the next block; undefined where the chain has none (EIP-1559). */
  readonly baseFee: bigint | undefined
  /** Beyond the base fee at each percentile asked for; 0 where recent blocks do not say. */
  readonly tips: ReadonlyArray<bigint>
  /** The node's own suggestions: a whole price, and a tip. */
  readonly suggestedPrice: bigint
  readonly suggestedTip: bigint | undefined
}

export interface EvmNode {
  /** Host and port, for messages. */
  readonly name: () => string
  /** EIP-155 id that the node is on. */
  readonly chainId: Effect.Effect<bigint, NodeError>
  /** Balances in Wei and transaction counts after the block of this hash, in the order of the addresses. */
  readonly accountsAt: (
    addresses: ReadonlyArray<AddressBytes>,
    block: Uint8Array
  ) => Effect.Effect<ReadonlyArray<{ readonly balance: bigint; readonly nonce: number }>, NodeError>
  /** `balanceOf` after the block of this hash; undefined where the contract gives no answer. */
  readonly tokenBalancesAt: (
    holdings: ReadonlyArray<{ readonly contract: AddressBytes; readonly holder: AddressBytes }>,
    block: Uint8Array
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
  readonly account: (address: AddressBytes) => Effect.Effect<Account, NodeError>
  readonly gasPrices: (percentiles: ReadonlyArray<number>) => Effect.Effect<GasPrices, NodeError>
  /** Gas that a transaction will take, after the newest block. Fails with `NodeRejected` where it would revert. */
  readonly estimateGas: (draft: Draft) => Effect.Effect<bigint, NodeError>
  /**
   * What the OP stack charges beside gas, in Wei: for the bytes on the layer below (`getL1Fee`), and the operator's fee
   * where there is one (Isthmus).
   */
  readonly opStackFee: (unsigned: Uint8Array, gasLimit: bigint) => Effect.Effect<bigint, NodeError>
  /** Logs of a mined transaction; undefined where the chain has no such transaction. */
  readonly logs: (transaction: Uint8Array) => Effect.Effect<ReadonlyArray<Log> | undefined, NodeError>
}

/** Blocks that fees are looked up in. */
const feeBlocks = 20

/** The OP stack's contract that knows its fees. */
const gasPriceOracle = "0x420000000000000000000000000000000000000f"

/** First four bytes of keccak256 of the functions' signatures. */
const balanceOf = "0x70a08231"
const getL1Fee = "0x49948e0e"
const getOperatorFee = "0x275aedd2"

const word = (value: bigint): string => value.toString(16).padStart(64, "0")
const digits = (bytes: Uint8Array): string => Hex.encode(bytes).slice(2)

/** `getL1Fee(bytes)` with its argument. */
const l1FeeCall = (unsigned: Uint8Array): string => {
  const text = digits(unsigned)
  return `${getL1Fee}${word(32n)}${word(BigInt(unsigned.length))}${text.padEnd(Math.ceil(text.length / 64) * 64, "0")}`
}

const median = (values: ReadonlyArray<bigint>): bigint =>
  [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))[values.length >> 1] ?? 0n

/** The 256-bit number that a call returned; undefined where it returned none. */
const returned = (answer: unknown): bigint | undefined => {
  const bytes = Hex.data(answer, "eth_call")
  return bytes.length < 32 ? undefined : BigInt(Hex.encode(bytes.subarray(0, 32)))
}

export const make = (rpc: JsonRpc): EvmNode => {
  /** By hash (EIP-1898), so that all answers are of one block whichever node of several gives them. */
  const at = (block: Uint8Array) => ({ blockHash: Hex.encode(block), requireCanonical: true })

  /** An answer, unless the node refused for a reason that says nothing about the contract. */
  const answerOf = (result: Result.Result<unknown, NodeRejected>) =>
    Result.isSuccess(result)
      ? Effect.succeed(result.success)
      : TokenMetadata.isNodeTrouble(result.failure)
        ? Effect.fail(result.failure)
        : Effect.succeed<unknown>(undefined)

  const accountsAt: EvmNode["accountsAt"] = Effect.fn("EvmNode.accountsAt")(function* (addresses, block) {
    const params = addresses.map((address) => [Hex.encode(address), at(block)])
    const answers = yield* rpc.batch([
      ...params.map((params): Call => ({ method: "eth_getBalance", params })),
      ...params.map((params): Call => ({ method: "eth_getTransactionCount", params }))
    ])
    return yield* read(rpc, "eth_getBalance", () =>
      addresses.map((_, i) => ({
        balance: Hex.quantity(answers[i], "balance"),
        nonce: Hex.integer(answers[addresses.length + i], "transaction count")
      }))
    )
  })

  const tokenBalancesAt: EvmNode["tokenBalancesAt"] = Effect.fn("EvmNode.tokenBalancesAt")(function* (holdings, block) {
    const results = yield* rpc.results(
      holdings.map(({ contract, holder }) => ({
        method: "eth_call",
        params: [{ to: Hex.encode(contract), data: `${balanceOf}${word(0n).slice(40)}${digits(holder)}` }, at(block)]
      }))
    )
    const balances: Array<bigint | undefined> = []
    for (const result of results) {
      const answer = yield* answerOf(result)
      balances.push(answer === undefined ? undefined : yield* read(rpc, "eth_call", () => returned(answer)))
    }
    return balances
  })

  const account: EvmNode["account"] = Effect.fn("EvmNode.account")(function* (address) {
    const of = Hex.encode(address)
    const [balance, mined, pending] = yield* rpc.batch([
      { method: "eth_getBalance", params: [of, "latest"] },
      { method: "eth_getTransactionCount", params: [of, "latest"] },
      { method: "eth_getTransactionCount", params: [of, "pending"] }
    ])
    return yield* read(rpc, "eth_getTransactionCount", () => ({
      balance: Hex.quantity(balance, "balance"),
      mined: Hex.integer(mined, "transaction count"),
      pending: Hex.integer(pending, "pending transaction count")
    }))
  })

  const gasPrices: EvmNode["gasPrices"] = Effect.fn("EvmNode.gasPrices")(function* (percentiles) {
    const [latest, price, history, tip] = yield* rpc.results([
      { method: "eth_getBlockByNumber", params: ["latest", false] },
      { method: "eth_gasPrice", params: [] },
      { method: "eth_feeHistory", params: [Hex.encodeQuantity(feeBlocks), "latest", percentiles] },
      { method: "eth_maxPriorityFeePerGas", params: [] }
    ])
    const block = yield* Effect.fromResult(latest!)
    const suggested = yield* Effect.fromResult(price!)
    return yield* read(rpc, "eth_feeHistory", () => {
      const hasBaseFee = Hex.object(block, "block").baseFeePerGas != null
      const fees = Result.isSuccess(history!) ? Hex.object(history.success, "fee history") : {}
      const baseFees = Hex.array(fees.baseFeePerGas ?? [], "baseFeePerGas")
      const ratios = Hex.array(fees.gasUsedRatio ?? [], "gasUsedRatio")
      const rewards = Hex.array(fees.reward ?? [], "reward")
        // A block without transactions says nothing of what they pay.
        .filter((_, i) => Number(ratios[i] ?? 0) > 0)
        .map((row) => Hex.array(row, "reward").map((reward) => Hex.quantity(reward, "reward")))
      const suggestedPrice = Hex.quantity(suggested, "gas price")
      return {
        baseFee: !hasBaseFee
          ? undefined
          : baseFees.length > 0
            ? Hex.quantity(baseFees.at(-1), "baseFeePerGas")
            : Hex.quantity(Hex.object(block, "block").baseFeePerGas, "baseFeePerGas"),
        tips: percentiles.map((_, i) => median(rewards.map((row) => row[i] ?? 0n))),
        suggestedPrice,
        suggestedTip: Result.isSuccess(tip!) ? Hex.quantity(tip.success, "priority fee") : undefined
      }
    })
  })

  const estimateGas: EvmNode["estimateGas"] = Effect.fn("EvmNode.estimateGas")(function* (draft) {
    const answer = yield* rpc.call("eth_estimateGas", [
      {
        from: Hex.encode(draft.from),
        to: Hex.encode(draft.to),
        value: `0x${draft.value.toString(16)}`,
        ...(draft.data.length === 0 ? {} : { data: Hex.encode(draft.data) })
      }
    ])
    return yield* read(rpc, "eth_estimateGas", () => Hex.quantity(answer, "gas"))
  })

  const opStackFee: EvmNode["opStackFee"] = Effect.fn("EvmNode.opStackFee")(function* (unsigned, gasLimit) {
    const call = (data: string): Call => ({ method: "eth_call", params: [{ to: gasPriceOracle, data }, "latest"] })
    const [l1, operator] = yield* rpc.results([call(l1FeeCall(unsigned)), call(`${getOperatorFee}${word(gasLimit)}`)])
    const l1Answer = yield* Effect.fromResult(l1!)
    // Chains before the Isthmus upgrade do not know an operator's fee.
    const operatorAnswer = yield* answerOf(operator!)
    return yield* read(rpc, "eth_call", () => {
      // A development chain without the contract charges nothing beside gas.
      const fee = returned(l1Answer) ?? 0n
      return fee + (operatorAnswer === undefined ? 0n : (returned(operatorAnswer) ?? 0n))
    })
  })

  const logs: EvmNode["logs"] = Effect.fn("EvmNode.logs")(function* (transaction) {
    const answer = yield* rpc.call("eth_getTransactionReceipt", [Hex.encode(transaction)])
    if (answer === null) return undefined
    return yield* read(rpc, "eth_getTransactionReceipt", () => {
      const receipt = Hex.object(answer, "receipt")
      if (!Hex.equal(Hex.hash(receipt.transactionHash, "receipt.transactionHash"), transaction)) {
        throw new Hex.Malformed("the receipt is of another transaction")
      }
      return Hex.array(receipt.logs, "receipt.logs").map((entry): Log => {
        const log = Hex.object(entry, "log")
        return {
          address: Hex.address(log.address, "log.address"),
          data: Hex.data(log.data, "log.data"),
          topics: Hex.array(log.topics, "log.topics").map((topic) => Hex.hash(topic, "log.topics")),
          removed: log.removed === true
        }
      })
    })
  })

  return {
    name: () => rpc.node,
    chainId: Effect.flatMap(rpc.call("eth_chainId", []), (answer) =>
      read(rpc, "eth_chainId", () => Hex.quantity(answer, "chain id"))
    ),
    accountsAt,
    tokenBalancesAt,
    account,
    gasPrices,
    estimateGas,
    opStackFee,
    logs
  }
}
