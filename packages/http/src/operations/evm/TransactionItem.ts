/** A transaction of an EVM chain in the words of the interface. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import type { ExplorerTransaction } from "@headwater/indexer/families/evm/Explorer"
import * as CoinAmount from "../CoinAmount.ts"

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`

export const of = (chain: Chain, transaction: ExplorerTransaction) => {
  const { block, contract, input } = transaction
  const address = (bytes: Address.AddressBytes | undefined) =>
    bytes === undefined ? "" : Address.encode(chain, bytes)!
  const coins = (amount: bigint) => CoinAmount.of(chain, amount)
  const isCall = contract === transaction.to && contract !== undefined && input.length >= 4
  return {
    contract: address(contract),
    fee: coins(transaction.fee),
    gasLimit: transaction.gasLimit,
    gasUsed: transaction.gasUsed,
    hash: Hash.encode(chain, transaction.hash),
    inputData: hex(input),
    positionInBlock: transaction.position,
    recipient: address(transaction.to),
    sender: address(transaction.from),
    status: transaction.succeeded ? ("success" as const) : ("failed" as const),
    timestamp: block.time,
    gasPrice: coins(transaction.gasPrice),
    minedInBlock: { hash: Hash.encode(chain, block.hash), height: block.height },
    nonce: transaction.nonce,
    value: coins(transaction.value),
    ...(isCall ? { blockchainSpecific: { signatureData: { signature: hex(input.subarray(0, 4)) } } } : {})
  }
}
