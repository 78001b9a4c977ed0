/** Signed transactions of EVM chains: decoded and checked, given to the nodes, and looked for there. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Preparation from "@headwater/core/evm/Preparation"
import * as Effect from "effect/Effect"
import type { Transaction } from "ethers/transaction"
import * as Broadcasting from "../Broadcasting.ts"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import { type NodeError, NodeInconsistent, type NodeRejected } from "../node/NodeError.ts"
import type { EvmNode } from "./EvmNode.ts"
import * as ContractCalls from "./internal/ContractCalls.ts"
import * as Hex from "./internal/Hex.ts"
import { isMethodMissing, read } from "./internal/NodeAnswer.ts"
import { gasOfBlob } from "./internal/WaitingTransactions.ts"
import * as RawTransaction from "./RawTransaction.ts"

/**
 * A fee that is never beyond measure: a thousandth of a coin. Where gas costs next to nothing, as on chains above another
 * one, the tip that wallets offer by default is thousands of times the usual price.
 */
const smallFee = ({ decimals }: Chain) => 10n ** BigInt(decimals - 3)

/** Why the price of a transaction's gas is beyond measure; undefined where it is not. Both prices in Wei for a gas. */
export type FeeFault = (offered: bigint, gasLimit: bigint, usual: bigint) => string | undefined

export const feeFault =
  (chain: Chain, maximumFee: number): FeeFault =>
  (offered, gasLimit, usual) =>
    gasLimit === 0n
      ? undefined
      : Broadcasting.feeFault(offered, usual, maximumFee, "Wei for each gas", {
          fee: smallFee(chain) / gasLimit,
          words: `a thousandth of a coin for ${gasLimit} gas`
        })

/** The transaction, signed, in the one form that its bytes may have. */
const decode = (raw: Uint8Array) =>
  RawTransaction.read(Hex.encode(raw)).pipe(
    Effect.mapError(Broadcasting.invalid),
    Effect.filterOrFail(
      ({ signature }) => signature !== null,
      () => Broadcasting.invalid("must be signed")
    )
  )

/** The price that it offers for a gas, in Wei. */
const offeredBy = (transaction: Transaction): bigint => RawTransaction.offerOf(transaction).cap

/** The most that it takes of its sender beside what a chain charges for data, in Wei. */
const costOf = (transaction: Transaction): bigint => {
  const { blobVersionedHashes, gasLimit, maxFeePerBlobGas, value } = transaction
  const blobs = BigInt(blobVersionedHashes?.length ?? 0) * gasOfBlob * (maxFeePerBlobGas ?? 0n)
  return value + gasLimit * offeredBy(transaction) + blobs
}

/** The tokens that it moves from its sender where it is a plain transfer (ERC-20); undefined where it is none. */
const tokensOf = ({ data, to }: Transaction): Broadcasting.Numbered["tokens"] => {
  const amount = ContractCalls.transferred(data)
  return to === null || amount === undefined ? undefined : { contract: Hex.address(to.toLowerCase(), "to"), amount }
}

/** Known already, or mined: what a node says of a transaction that it is given again. */
const isKnown =
  /already known|known transaction|already imported|already exists|already in (?:the )?(?:block ?chain|pool)|existing tx with same hash/i

/** Refusals that say nothing about the transaction; `AlreadyKnown` is Nethermind's of one that it has, or has refused before. */
const passing = /AlreadyKnown|rate limit|too many requests|busy|timeout|timed out|warming up|syncing|internal error/i
const passingCodes: ReadonlySet<number> = new Set([-32005, -32029, -32603, 429])

const answerTo = (error: NodeRejected): Broadcasting.Answer => {
  const { code, message } = error
  if (isKnown.test(message)) return { state: "taken" }
  const isAnswer = !isMethodMissing(error) && !passingCodes.has(code) && !passing.test(message)
  return { state: isAnswer ? "refused" : "unanswered", message }
}

const give = (raw: Uint8Array) => (node: JsonRpc) =>
  node.call("eth_sendRawTransaction", [Hex.encode(raw)]).pipe(
    Effect.as<Broadcasting.Answer>({ state: "taken" }),
    Effect.catchTag("NodeRejected", (error) => Effect.succeed(answerTo(error)))
  )

/** The block that has a transaction, by its receipt. */
const minedBy = (receipt: unknown) => {
  const { blockHash, blockNumber, status } = Hex.object(receipt, "receipt")
  const place = { height: Hex.integer(blockNumber, "blockNumber"), hash: Hex.hash(blockHash, "blockHash") }
  const failed = status != null && Hex.quantity(status, "status") === 0n
  return { state: "mined" as const, ...place, ...(failed ? { error: "the transaction was reverted" } : {}) }
}

/** A node that has not come to the height of the chain at which the transaction is asked for knows nothing of blocks since. */
const locatedAt = (transactionId: Uint8Array, upTo: number) =>
  Effect.fnUntraced(function* (node: JsonRpc): Effect.fn.Return<Broadcasting.Located, NodeError> {
    const [newest, receipt] = yield* node.batch([
      { method: "eth_blockNumber", params: [] },
      { method: "eth_getTransactionReceipt", params: [Hex.encode(transactionId)] }
    ])
    const method = "eth_getTransactionReceipt"
    if (receipt != null) return yield* read(node, method, () => minedBy(receipt))
    const height = yield* read(node, "eth_blockNumber", () => Hex.integer(newest, "block number"))
    if (height >= upTo) return { state: "absent" }
    const message = `the node is at block ${height}, and has not come to block ${upTo}`
    return yield* new NodeInconsistent({ node: node.node, method, message })
  })

/** What one node knows of a transaction. */
const standingAt = ({ from, hash, nonce }: Transaction) =>
  Effect.fnUntraced(function* (node: JsonRpc) {
    const [receipt, pending, mined] = yield* node.batch([
      { method: "eth_getTransactionReceipt", params: [hash] },
      { method: "eth_getTransactionByHash", params: [hash] },
      { method: "eth_getTransactionCount", params: [from, "latest"] }
    ])
    return yield* read(node, "eth_getTransactionReceipt", (): Broadcasting.Standing => {
      if (receipt != null) return minedBy(receipt)
      if (pending != null) return { state: "waiting" }
      return Hex.integer(mined, "transaction count") > nonce
        ? { state: "replaced", message: `another transaction of the sender with the nonce ${nonce} was mined` }
        : { state: "absent" }
    })
  })

/** What the chain has of the sender, and what gas costs. */
const present = Effect.fnUntraced(function* (rpc: JsonRpc, from: string) {
  const [balance, mined, price] = yield* rpc.batch([
    { method: "eth_getBalance", params: [from, "latest"] },
    { method: "eth_getTransactionCount", params: [from, "latest"] },
    { method: "eth_gasPrice", params: [] }
  ])
  return yield* read(rpc, "eth_getBalance", () => ({
    balance: Hex.quantity(balance, "balance"),
    mined: Hex.integer(mined, "transaction count"),
    price: Hex.quantity(price, "gas price")
  }))
})

export interface Options {
  readonly maximumFee: number
}

/** The chain's id is asked of a node where it is not fixed. */
export const make = (
  chain: Chain,
  rpc: Nodes,
  { chainId, opStackFee }: Pick<EvmNode, "chainId" | "opStackFee">,
  { maximumFee }: Options
): Broadcasting.Broadcasting => {
  const faultOf = feeFault(chain, maximumFee)
  const ownId = chain.evm?.chainId === undefined ? chainId : Effect.succeed(BigInt(chain.evm.chainId))
  /** What a chain charges for data; where the node does not say, the transaction is sent all the same. */
  const dataFeeOf = ({ gasLimit, unsignedSerialized }: Transaction) =>
    chain.evm?.dataFee === "op-stack"
      ? opStackFee(Hex.data(unsignedSerialized, "transaction"), gasLimit).pipe(
          Effect.map(Preparation.dataFeeReserve),
          Effect.orElseSucceed(() => 0n)
        )
      : Effect.succeed(0n)

  return {
    idOf: Effect.fn("EvmBroadcasting.idOf")(function* (raw) {
      const { chainId, hash } = yield* decode(raw)
      const own = yield* ownId
      if (chainId === 0n) {
        return yield* Broadcasting.invalid(`must be signed for one chain (EIP-155): ${own}, this one's id`)
      }
      if (chainId !== own)
        return yield* Broadcasting.invalid(`must be of the chain ${own}, and is of the chain ${chainId}`)
      return Hex.hash(hash, "hash")
    }),
    numberOf: Effect.fn("EvmBroadcasting.numberOf")(function* (raw) {
      const transaction = yield* Effect.orDie(decode(raw))
      return {
        sender: Hex.address(transaction.from!.toLowerCase(), "from"),
        number: transaction.nonce,
        cost: costOf(transaction) + (yield* dataFeeOf(transaction)),
        tokens: tokensOf(transaction)
      }
    }),
    check: Effect.fn("EvmBroadcasting.check")(function* (raw) {
      const transaction = yield* decode(raw)
      const { gasLimit, nonce } = transaction
      const { balance, mined, price } = yield* present(rpc, transaction.from!)
      if (nonce < mined) {
        return yield* Broadcasting.contradicted(
          `the nonce must be ${mined} or above, and is ${nonce}: another transaction of the sender has it`
        )
      }
      const fault = faultOf(offeredBy(transaction), gasLimit, price)
      if (fault !== undefined) return yield* Broadcasting.invalid(fault)
      const cost = costOf(transaction)
      if (cost > balance) {
        return yield* Broadcasting.contradicted(`the sender has ${balance} Wei, and value and fee may take ${cost}`)
      }
    }),
    send: Effect.fn("EvmBroadcasting.send")((raw) => Broadcasting.toEvery(rpc.each, give(raw))),
    standing: Effect.fn("EvmBroadcasting.standing")(function* (raw) {
      const transaction = yield* Effect.orDie(decode(raw))
      return yield* Broadcasting.ofEvery(rpc.each, standingAt(transaction))
    }),
    find: Effect.fn("EvmBroadcasting.find")((id, upTo) => Broadcasting.ofAny(rpc.each, locatedAt(id, upTo)))
  }
}
