/** A transaction of an EVM chain in the words of the interface. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import type { ExplorerTransaction, Resources } from "@headwater/indexer/families/evm/Explorer"
import * as CoinAmount from "../CoinAmount.ts"
import * as Hex from "../Hex.ts"

/** What the chain has beside gas, by each of the names that clients know. */
const resourcesOf = ({ bandwidth, energy }: Resources) => ({
  ...{ bandwidth, bandwidthUsed: bandwidth, energy, energyUsed: String(energy) }
})

export const of = (chain: Chain, transaction: ExplorerTransaction) => {
  const { block, called, created, resources } = transaction
  const address = (bytes: Address.AddressBytes | undefined) =>
    bytes === undefined ? "" : Address.encode(chain, bytes)!
  const coins = (amount: bigint) => CoinAmount.of(chain, amount)
  return {
    contract: address(created ?? called),
    fee: coins(transaction.fee),
    gasLimit: transaction.gasLimit,
    gasUsed: transaction.gasUsed,
    hash: Hash.encode(chain, transaction.hash),
    inputData: Hex.prefixed(transaction.input),
    positionInBlock: transaction.position,
    recipient: address(transaction.to),
    sender: address(transaction.from),
    status: transaction.succeeded ? ("success" as const) : ("failed" as const),
    timestamp: block.time,
    gasPrice: coins(transaction.gasPrice),
    minedInBlock: { hash: Hash.encode(chain, block.hash), height: block.height },
    nonce: transaction.nonce,
    value: coins(transaction.value),
    ...(resources === undefined ? {} : { blockchainSpecific: resourcesOf(resources) })
  }
}

/** A transaction by itself, with the function that it calls, of which clients of lists know nothing. */
export const single = (chain: Chain, transaction: ExplorerTransaction) => {
  const { called, input } = transaction
  const item = of(chain, transaction)
  if (called === undefined || input.length < 4) return item
  const signatureData = { signature: Hex.prefixed(input.subarray(0, 4)) }
  return { ...item, blockchainSpecific: { ...item.blockchainSpecific, signatureData } }
}

/** With a field of clients that know the bandwidth by another name. */
export const withBandwith = ({ blockchainSpecific: specific, ...item }: ReturnType<typeof of>) =>
  specific === undefined ? item : { ...item, blockchainSpecific: { ...specific, bandwithUsed: specific.bandwidth } }
