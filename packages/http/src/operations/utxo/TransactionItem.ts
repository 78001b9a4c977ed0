/** A transaction of a UTXO chain in the words of the interface. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import type { ExplorerTransaction } from "@headwater/indexer/families/utxo/ExplorerTransaction"
import type { Mined } from "@headwater/indexer/families/utxo/TransactionExplorer"
import type { PlacedTransaction } from "@headwater/indexer/store/chain/ChainReader"
import * as CoinAmount from "../CoinAmount.ts"
import * as Hex from "../Hex.ts"
import { typeOf } from "./ScriptType.ts"

const waits = { hash: "", height: -1, position: -1 }

/** Each address once, in the order of its first amount, with the sum of its amounts. */
const byAddress = (moved: ReadonlyArray<readonly [address: string | undefined, amount: bigint]>) => {
  const sums = new Map<string, bigint>()
  for (const [address, amount] of moved) {
    if (address !== undefined) sums.set(address, (sums.get(address) ?? 0n) + amount)
  }
  return [...sums]
}

/** A recorded transaction, as nodes are asked for those of which it is known where they are. */
export const minedOf = (chain: Chain, { block, height, index, transactionId }: PlacedTransaction): Mined => ({
  id: Hex.encode(transactionId),
  block: { hash: Hash.encode(chain, block.hash), height, position: index },
  time: block.time
})

export const of = (chain: Chain, shown: ExplorerTransaction) => {
  const { isCoinbase, isSpent, spent, transaction } = shown
  const coins = (amount: bigint) => CoinAmount.of(chain, amount)
  const addressOf = (script: Uint8Array) => Address.encode(chain, Address.fromBytes(script))
  const addressesOf = (script: Uint8Array | undefined) => {
    const address = script && addressOf(script)
    return address === undefined ? {} : { addresses: [address] }
  }
  const moved = (all: Parameters<typeof byAddress>[0]) =>
    byAddress(all).map(([address, amount]) => ({ address, addresses: address, value: coins(amount) }))
  const { height, hash, position } = shown.block ?? waits
  const { outputs, zcash } = transaction
  const id = Hex.encode(transaction.id)
  return {
    ...{ id, transactionID: id, hash: Hex.encode(transaction.hash), isConfirmed: shown.block !== undefined },
    locktime: transaction.lockTime,
    size: transaction.size,
    version: transaction.version,
    fee: coins(shown.fee),
    inputs: transaction.inputs.map(({ outputIndex, scriptSig, transactionId, witness }, index) => {
      const output = spent[index]
      return {
        ...addressesOf(output?.script),
        ...(isCoinbase ? { coinbase: Hex.encode(scriptSig) } : {}),
        ...{
          outputIndex,
          oututIndex: outputIndex,
          transactionId: Hex.encode(transactionId),
          witnesses: witness.map(Hex.encode)
        },
        script: { type: output === undefined ? "nonstandard" : typeOf(chain, output.script) },
        ...(output === undefined ? {} : { value: coins(output.amount) })
      }
    }),
    outputs: outputs.map(({ amount, script }, index) => ({
      ...addressesOf(script),
      isSpent: isSpent[index]!,
      script: { type: typeOf(chain, script) },
      value: coins(amount)
    })),
    positionInBlock: position,
    recipients: moved(outputs.map(({ amount, script }) => [addressOf(script), amount])),
    senders: moved(
      spent.flatMap((output) => (output === undefined ? [] : [[addressOf(output.script), output.amount]]))
    ),
    timestamp: shown.time,
    minedInBlock: { hash, height },
    ...(zcash === undefined
      ? {}
      : {
          blockchainSpecific: {
            expiryHeight: zcash.expiryHeight,
            overwintered: zcash.overwintered,
            valueBalance: coins(zcash.revealed.valueBalance),
            versionGroupId: zcash.versionGroupId.toString(16).padStart(8, "0")
          }
        })
  }
}
