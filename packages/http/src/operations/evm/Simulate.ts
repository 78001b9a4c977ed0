/** Runs a transaction on top of the newest block without sending it. */
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Preparation from "@headwater/core/evm/Preparation"
import * as Sighash from "@headwater/core/evm/Sighash"
import * as Hash from "@headwater/core/Hash"
import type { EvmConnection } from "@headwater/indexer/families/evm/EvmConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { invalidField } from "../../contract/Errors.ts"
import * as CoinAmount from "../CoinAmount.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"
import * as SafeInteger from "./SafeInteger.ts"
import * as TokenData from "./TokenData.ts"
import * as TokenNames from "./TokenNames.ts"

type Operation = ChainOperations["simulate"]
type Request = Parameters<Operation>[0]

/** The highest price that a request allows, and its form; nothing where it names none, which is a price of nothing. */
const pricesOf = Effect.fnUntraced(function* ({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: Request) {
  if (gasPrice !== undefined && (maxFeePerGas ?? maxPriorityFeePerGas) !== undefined) {
    return yield* invalidField("gasPrice", "must be left out where maxFeePerGas or maxPriorityFeePerGas is given")
  }
  if (maxPriorityFeePerGas !== undefined && maxFeePerGas === undefined) {
    return yield* invalidField("maxFeePerGas", "is missing beside maxPriorityFeePerGas")
  }
  const cap = BigInt(maxFeePerGas ?? gasPrice ?? "0")
  const tip = maxFeePerGas === undefined ? cap : BigInt(maxPriorityFeePerGas ?? "0")
  if (tip > cap) return yield* invalidField("maxPriorityFeePerGas", "must be at most maxFeePerGas")
  const type = maxFeePerGas === undefined ? ("legacy-transaction" as const) : ("gas-fee-market-transaction" as const)
  // Before a node sees the price: nodes in Rust take none of more than 128 bits, and refuse the whole call.
  const shownCap = yield* SafeInteger.of(maxFeePerGas === undefined ? "gasPrice" : "maxFeePerGas", cap)
  return { cap, shownCap, tip, type }
})

const depthOf = (operation: string) => operation.split("_").length - 1

/** Contracts whose names are asked for: a transaction may make any number of them. */
const maxNamed = 100

/** What is not sent may make contracts that the chain does not have, and that have no name yet: nobody else is to see that. */
const unkept = { keepTokens: () => Effect.void }

const simulate = Effect.fnUntraced(function* (
  record: ChainReader,
  freshness: Freshness<EvmConnection>,
  request: Request
) {
  const chain: Chain = record.chain
  const from = yield* decodeAddress(chain, "sender", request.sender)
  const to = yield* decodeAddress(chain, "recipient", request.recipient)
  const value = yield* decodeAmount(chain, "amount", request.amount)
  const { cap, shownCap, tip, type } = yield* pricesOf(request)
  const data = Buffer.from((request.inputData ?? "0x").slice(2), "hex")
  const { evm, source } = yield* freshness.node
  const gasLimit = BigInt(request.gasLimit)
  const account = yield* evm.account(from)
  const chainId = chain.evm?.chainId === undefined ? yield* evm.chainId : BigInt(chain.evm.chainId)
  const parts = { chainId, nonce: BigInt(account.pending), gasLimit, to, value, data }
  const isContract = yield* evm.hasCode(to)
  const { block, failed, gasUsed, moves } = yield* evm.simulate({ from, to, value, data, gasLimit, gasPrice: cap })
  const contracts = new Map(moves?.tokens.map((transfer) => [Bytes.key(transfer.contract), transfer]))
  const mentions = [...contracts.values()].slice(0, maxNamed)
  const tokens = yield* TokenNames.find({ ...record, ...unkept }, source, block.height, mentions)
  const address = (bytes: Address.AddressBytes) => Address.encode(chain, bytes)!
  const coins = (wei: bigint) => CoinAmount.of(chain, wei)
  const gas = gasUsed ?? gasLimit
  const shown = (price: bigint) => ({ amount: String(price), unit: "Wei" })
  return {
    ...(isContract ? { contract: address(to) } : {}),
    gasLimit: request.gasLimit,
    ...(gasUsed === undefined ? {} : { gasUsed: yield* SafeInteger.of("gasUsed", gasUsed) }),
    hash: Sighash.digestText(Preparation.transaction(type, { cap, tip }, parts)),
    inputData: Hex.prefixed(data),
    ...(moves === undefined
      ? {}
      : {
          internalTransactions: moves.internal.map(({ amount, from, operation, operationType, to }) => ({
            depth: depthOf(operation),
            ...{ operationType, recipient: address(to), sender: address(from), value: coins(amount) }
          })),
          tokenTransfers: moves.tokens.map((transfer) => {
            const metadata = tokens.get(Bytes.key(transfer.contract))
            const tokenData = TokenData.withDecimals(TokenData.of(chain, transfer, metadata), transfer, metadata)
            return { recipient: address(transfer.to), sender: address(transfer.from), tokenData }
          })
        }),
    nonce: account.pending,
    positionInBlock: 0,
    status: failed ? ("failed" as const) : ("success" as const),
    timestamp: block.time,
    fee: coins(gas * cap),
    gasPrice: { amount: shownCap, unit: "Wei" },
    ...(type === "legacy-transaction" ? {} : { maxFeePerGas: shown(cap), maxPriorityFeePerGas: shown(tip) }),
    minedInBlock: { hash: Hash.encode(chain, block.hash), height: block.height },
    value: coins(value)
  }
})

export const make = (record: ChainReader, freshness: Freshness<EvmConnection>): Operation =>
  Effect.fn("Simulate.simulate")((request: Request) => freshness.orUnavailable(simulate(record, freshness, request)))
