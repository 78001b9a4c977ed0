/**
 * What the endpoints ask of an EVM chain's node beyond its blocks: state at one block, fees, receipts. Answers are
 * checked as those of {@link EvmSource} are.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { EvmRules } from "@headwater/core/evm/EvmFamily"
import * as Preparation from "@headwater/core/evm/Preparation"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Call, JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import type { UnusedAt } from "../SideSources.ts"
import * as GasPrices from "./GasPrices.ts"
import * as ContractAnswers from "./internal/ContractAnswers.ts"
import * as ContractCalls from "./internal/ContractCalls.ts"
import * as Hex from "./internal/Hex.ts"
import { read } from "./internal/NodeAnswer.ts"
import * as WaitingOfSender from "./internal/WaitingOfSender.ts"
import * as WaitingTransactions from "./internal/WaitingTransactions.ts"
import * as Simulation from "./Simulation.ts"
import * as TokenDetails from "./TokenDetails.ts"
import * as TokenMetadata from "./TokenMetadata.ts"
import { requestJson, type TransactionRequest } from "./TransactionRequest.ts"

export interface Log {
  /** Of the block that has it. */
  readonly height: number
  readonly address: AddressBytes
  readonly data: Uint8Array
  readonly topics: ReadonlyArray<Uint8Array>
  readonly removed: boolean
}

/** An account before its next transaction. */
export interface Account {
  /** After the newest block, in Wei. */
  readonly balance: bigint
  /** Transactions in blocks. */
  readonly mined: number
  /** Transactions in blocks, and the ones that the node knows to wait for a block. */
  readonly pending: number
  /**
   * What the waiting transactions leave of `balance`, in Wei, without coins that only wait to come, and without the one that
   * is replaced; `balance` where none waits, and undefined where some do and the node does not say.
   */
  readonly afterPending: bigint | undefined
  /**
   * What the waiting transaction offers whose nonce was asked about, behind a missing one too; undefined where none has it, or
   * the node does not say.
   */
  readonly replaced: WaitingTransactions.Offer | undefined
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
  /** As in `SideSources`. */
  readonly unusedAt: UnusedAt
  /** `balanceOf` after the block of this hash; undefined where the contract gives no answer. */
  readonly tokenBalancesAt: (
    holdings: ReadonlyArray<{ readonly contract: AddressBytes; readonly holder: AddressBytes }>,
    block: Uint8Array
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
  /** `balanceOf` after the newest block; undefined where the contract gives no answer. */
  readonly tokenBalance: (contract: AddressBytes, holder: AddressBytes) => Effect.Effect<bigint | undefined, NodeError>
  /** `nonce`: of a transaction that takes the place of one that waits with it. */
  readonly account: (address: AddressBytes, nonce?: number) => Effect.Effect<Account, NodeError>
  /** Of an account's next transaction, behind those that wait for a block: as `account` has it, with two questions alone. */
  readonly nextNonce: (address: AddressBytes) => Effect.Effect<number, NodeError>
  readonly gasPrices: (percentiles: ReadonlyArray<number>) => Effect.Effect<GasPrices.GasPrices, NodeError>
  /** Decimals of a token, for what is to be signed: as `TokenMetadata.decimals` has them. */
  readonly tokenDecimals: (contract: AddressBytes) => Effect.Effect<number | undefined, NodeError>
  /** What a token contract says of itself, after the newest block; undefined where there is none that says its standard. */
  readonly tokenDetails: (contract: AddressBytes) => Effect.Effect<TokenDetails.TokenDetails | undefined, NodeError>
  /** Whether there is a contract at an address, after the newest block. */
  readonly hasCode: (address: AddressBytes) => Effect.Effect<boolean, NodeError>
  /** What a transaction's call would return, after the newest block. Fails with `NodeRejected` where it would revert. */
  readonly returned: (request: TransactionRequest) => Effect.Effect<Uint8Array, NodeError>
  /** Gas that a transaction will take, after the newest block. Fails with `NodeRejected` where it would revert. */
  readonly estimateGas: (request: TransactionRequest) => Effect.Effect<bigint, NodeError>
  /**
   * What the OP stack charges beside gas, in Wei: for the bytes on the layer below (`getL1Fee`), and the operator's fee
   * where there is one (Isthmus).
   */
  readonly opStackFee: (unsigned: Uint8Array, gasLimit: bigint) => Effect.Effect<bigint, NodeError>
  readonly simulate: (request: Simulation.SimulationRequest) => Effect.Effect<Simulation.Simulation, NodeError>
  /** Logs of a mined transaction; undefined where the chain has no such transaction. */
  readonly logs: (transaction: Uint8Array) => Effect.Effect<ReadonlyArray<Log> | undefined, NodeError>
}

/** By hash (EIP-1898), so that all answers are of one block whichever node of several gives them. */
const at = (block: Uint8Array) => ({ blockHash: Hex.encode(block), requireCanonical: true })

/** The numbers that contracts return, undefined where one fails or returns none; `inDoubt` as {@link ContractAnswers.of} has it. */
const numbersOf = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  calls: ReadonlyArray<Call>,
  inDoubt?: Parameters<typeof ContractAnswers.of>[2]
) {
  const answers = yield* ContractAnswers.of(rpc, calls, inDoubt)
  return yield* read(rpc, "eth_call", () =>
    answers.map((answer) => (answer === undefined ? undefined : ContractCalls.returned(answer)))
  )
})

const accountsAt = (rpc: JsonRpc): EvmNode["accountsAt"] =>
  Effect.fn("EvmNode.accountsAt")(function* (addresses, block) {
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

const unusedAt = (rpc: JsonRpc): UnusedAt =>
  Effect.fn("EvmNode.unusedAt")(function* (addresses, block) {
    const methods = ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"] as const
    const answers = yield* rpc.batch(
      methods.flatMap((method) =>
        addresses.map((address): Call => ({ method, params: [Hex.encode(address), at(block.hash)] }))
      )
    )
    const answerOf = (method: number, address: number) => answers[method * addresses.length + address]
    return yield* read(rpc, "eth_getBalance", () =>
      addresses.map(
        (_, i) =>
          Hex.quantity(answerOf(0, i), "balance") === 0n &&
          Hex.integer(answerOf(1, i), "transaction count") === 0 &&
          Hex.data(answerOf(2, i), "code").length === 0
      )
    )
  })

const tokenBalancesAt = (rpc: JsonRpc): EvmNode["tokenBalancesAt"] =>
  Effect.fn("EvmNode.tokenBalancesAt")(function* (holdings, block) {
    const calls = holdings.map(({ contract, holder }) => ContractCalls.balanceOf(contract, holder, at(block)))
    return yield* numbersOf(rpc, calls)
  })

const tokenBalance = (rpc: JsonRpc): EvmNode["tokenBalance"] =>
  Effect.fn("EvmNode.tokenBalance")(function* (contract, holder) {
    const [balance] = yield* numbersOf(rpc, [ContractCalls.balanceOf(contract, holder, "latest")], "node")
    return balance
  })

/**
 * What the OP stack charges waiting transactions beside gas, in Wei: by their bytes, with a signature more than they have.
 * Of one whose bytes the node does not show it is not known, and not counted.
 */
const waitingDataFees = Effect.fnUntraced(function* (rpc: JsonRpc, waiting: ReadonlyArray<Hex.Json>) {
  const answers = yield* rpc.results(
    waiting.map(({ hash }): Call => ({ method: "eth_getRawTransactionByHash", params: [hash] }))
  )
  const shown = yield* read(rpc, "eth_getRawTransactionByHash", () =>
    answers.flatMap((answer, i) => {
      const raw = Result.getOrUndefined(answer)
      if (raw == null) return []
      return { raw: Hex.data(raw, "transaction"), gas: Hex.quantity(waiting[i]!.gas, "transaction.gas") }
    })
  )
  const feeOf = opStackFee(rpc)
  const fees = yield* Effect.forEach(shown, ({ gas, raw }) => feeOf(raw, gas), { concurrency: 8 })
  return fees.reduce((sum, fee) => sum + Preparation.dataFeeReserve(fee), 0n)
})

/** The most that waiting transactions take together. */
const waitingCost = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  dataFee: EvmRules["dataFee"] | undefined,
  { method, transactions }: WaitingOfSender.Waiting
) {
  const cost = yield* read(rpc, method, () => WaitingTransactions.cost(transactions))
  return cost + (dataFee === "op-stack" ? yield* waitingDataFees(rpc, transactions) : 0n)
})

const least = (...[first, ...others]: readonly [bigint, ...Array<bigint>]): bigint => {
  let least = first
  for (const other of others) if (other < least) least = other
  return least
}

const account = (rpc: JsonRpc, dataFee: EvmRules["dataFee"] | undefined): EvmNode["account"] =>
  Effect.fn("EvmNode.account")(function* (address, nonce) {
    const of = Hex.encode(address)
    const answers = yield* rpc.results([
      { method: "eth_getBalance", params: [of, "latest"] },
      { method: "eth_getTransactionCount", params: [of, "latest"] },
      { method: "eth_getTransactionCount", params: [of, "pending"] },
      { method: "eth_getBalance", params: [of, "pending"] }
    ])
    const [latest, transactions, next] = yield* Effect.fromResult(Result.all(answers.slice(0, 3)))
    const tagged = Result.getOrUndefined(answers[3]!)
    const state = yield* read(rpc, "eth_getTransactionCount", () => ({
      balance: Hex.quantity(latest, "balance"),
      mined: Hex.integer(transactions, "transaction count"),
      pending: Hex.integer(next, "pending transaction count"),
      tagged: tagged === undefined ? undefined : Hex.quantity(tagged, "pending balance")
    }))
    const { balance, mined, pending } = state
    const offerOfNamed =
      nonce === undefined || nonce < mined ? Effect.undefined : WaitingOfSender.offerAt(rpc, address, nonce)
    // Of several nodes behind one address the one that is asked for what waits may be behind the other.
    if (pending <= mined) {
      return { balance, mined, pending: mined, afterPending: balance, replaced: yield* offerOfNamed }
    }
    const waiting = yield* WaitingOfSender.of(rpc, address, { from: mined, before: pending })
    const own = nonce === undefined ? undefined : waiting?.transactions[nonce - mined]
    const replaced =
      waiting && own ? yield* read(rpc, waiting.method, () => WaitingTransactions.offerOf(own)) : yield* offerOfNamed
    const others = waiting && { ...waiting, transactions: waiting.transactions.filter((one) => one !== own) }
    const cost = others && (yield* waitingCost(rpc, dataFee, others))
    // The one that is replaced is in what the node has at the tag. Many nodes take the tag and answer of the newest block, and
    // coins that wait to come hide what is spent.
    const replaces = nonce !== undefined && nonce < pending
    const known = state.tagged === undefined || state.tagged >= balance || replaces ? [] : [state.tagged]
    const bounds = cost === undefined ? known : [...known, balance > cost ? balance - cost : 0n]
    return {
      balance,
      mined,
      pending,
      afterPending: bounds.length === 0 ? undefined : least(balance, ...bounds),
      replaced
    }
  })

const nextNonce = (rpc: JsonRpc): EvmNode["nextNonce"] =>
  Effect.fn("EvmNode.nextNonce")(function* (address) {
    const of = Hex.encode(address)
    const answers = yield* rpc.batch(
      ["latest", "pending"].map((tag) => ({ method: "eth_getTransactionCount", params: [of, tag] }))
    )
    return yield* read(rpc, "eth_getTransactionCount", () =>
      Math.max(...answers.map((answer) => Hex.integer(answer, "transaction count")))
    )
  })

const estimateGas = (rpc: JsonRpc): EvmNode["estimateGas"] =>
  Effect.fn("EvmNode.estimateGas")(function* (request) {
    const answer = yield* rpc.call("eth_estimateGas", [requestJson(request), "latest"])
    return yield* read(rpc, "eth_estimateGas", () => {
      const gas = Hex.quantity(answer, "gas")
      if (gas === 0n) throw new Hex.Malformed("every transaction takes gas, and the answer is 0")
      return gas
    })
  })

const returned = (rpc: JsonRpc): EvmNode["returned"] =>
  Effect.fn("EvmNode.returned")(function* (request) {
    const answer = yield* rpc.call("eth_call", [requestJson(request), "latest"])
    return yield* read(rpc, "eth_call", () => Hex.data(answer, "eth_call"))
  })

const hasCode = (rpc: JsonRpc): EvmNode["hasCode"] =>
  Effect.fn("EvmNode.hasCode")(function* (address) {
    const answer = yield* rpc.call("eth_getCode", [Hex.encode(address), "latest"])
    return yield* read(rpc, "eth_getCode", () => Hex.data(answer, "code").length > 0)
  })

const tokenDetails = (rpc: JsonRpc): EvmNode["tokenDetails"] =>
  Effect.fn("EvmNode.tokenDetails")(function* (contract) {
    const [metadata] = yield* TokenMetadata.fetch(rpc, [contract])
    const { interfaces } = TokenDetails
    const [totalSupply, balance, isNonFungible, isMulti] = yield* numbersOf(rpc, [
      ContractCalls.totalSupply(contract),
      ContractCalls.balanceOf(contract, contract, "latest"),
      ContractCalls.supportsInterface(contract, interfaces["non-fungible"]),
      ContractCalls.supportsInterface(contract, interfaces.multi)
    ])
    return TokenDetails.of(metadata!, { totalSupply, balance, isNonFungible, isMulti })
  })

const opStackFee = (rpc: JsonRpc): EvmNode["opStackFee"] =>
  Effect.fn("EvmNode.opStackFee")(function* (unsigned, gasLimit) {
    const { method, params } = ContractCalls.getL1Fee(unsigned)
    const [l1Answer, [operatorAnswer]] = yield* Effect.all(
      // Chains before the Isthmus upgrade do not know an operator's fee.
      [rpc.call(method, params), ContractAnswers.of(rpc, [ContractCalls.getOperatorFee(gasLimit)])],
      { concurrency: "unbounded" }
    )
    return yield* read(rpc, "eth_call", () => {
      // A development chain without the contract charges nothing beside gas.
      const fee = ContractCalls.returned(l1Answer) ?? 0n
      return fee + (operatorAnswer === undefined ? 0n : (ContractCalls.returned(operatorAnswer) ?? 0n))
    })
  })

const logOf = (entry: unknown, height: number): Log => {
  const log = Hex.object(entry, "log")
  return {
    height,
    address: Hex.address(log.address, "log.address"),
    data: Hex.data(log.data, "log.data"),
    topics: Hex.array(log.topics, "log.topics").map((topic) => Hex.hash(topic, "log.topics")),
    removed: log.removed === true
  }
}

const logs = (rpc: JsonRpc): EvmNode["logs"] =>
  Effect.fn("EvmNode.logs")(function* (transaction) {
    const answer = yield* rpc.call("eth_getTransactionReceipt", [Hex.encode(transaction)])
    if (answer === null) return undefined
    return yield* read(rpc, "eth_getTransactionReceipt", () => {
      const receipt = Hex.object(answer, "receipt")
      if (!Hex.equal(Hex.hash(receipt.transactionHash, "receipt.transactionHash"), transaction)) {
        throw new Hex.Malformed("the receipt is of another transaction")
      }
      const height = Hex.integer(receipt.blockNumber, "receipt.blockNumber")
      return Hex.array(receipt.logs, "receipt.logs").map((log) => logOf(log, height))
    })
  })

/** The questions to the nodes behind a client, by the rules of their chain. */
export const make = (rpc: JsonRpc, { dataFee, leastTip }: Partial<EvmRules> = {}): EvmNode => ({
  name: () => rpc.node,
  chainId: Effect.flatMap(rpc.call("eth_chainId", []), (answer) =>
    read(rpc, "eth_chainId", () => Hex.quantity(answer, "chain id"))
  ),
  accountsAt: accountsAt(rpc),
  unusedAt: unusedAt(rpc),
  tokenBalancesAt: tokenBalancesAt(rpc),
  tokenBalance: tokenBalance(rpc),
  account: account(rpc, dataFee),
  nextNonce: nextNonce(rpc),
  gasPrices: (percentiles) => GasPrices.fetch(rpc, percentiles, leastTip),
  tokenDecimals: (contract) => TokenMetadata.decimals(rpc, contract),
  tokenDetails: tokenDetails(rpc),
  hasCode: hasCode(rpc),
  returned: returned(rpc),
  estimateGas: estimateGas(rpc),
  opStackFee: opStackFee(rpc),
  simulate: (request) => Simulation.simulate(rpc, request),
  logs: logs(rpc)
})
