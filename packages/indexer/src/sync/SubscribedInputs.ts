/**
 * A committed block with what its inputs spend, as far as an input may be a subscribed address's own: the node's block
 * shows that, or the store remembers, or a block before has paid the coin, or a node with an index of transactions is
 * asked.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Spend } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf } from "@headwater/core/utxo/Coin"
import * as Inputs from "@headwater/core/utxo/Inputs"
import { scriptsOf } from "@headwater/core/utxo/Unlocking"
import * as Effect from "effect/Effect"
import type { MinedOutputs, Output } from "../families/SideSources.ts"
import * as UtxoSet from "../store/chain/UtxoSet.ts"
import * as CoinSubscribers from "../store/subscriptions/CoinSubscribers.ts"

export interface SubscribedInputs {
  readonly block: Block
  /**
   * Subscriptions to coins of the block's addresses, active or not, by the hex of the address; with those that were told,
   * as inactive ones, where the address has left their list.
   */
  readonly subscribers: ReadonlyMap<string, ReadonlyArray<CoinSubscribers.CoinSubscriber>>
  /** Inputs that show the key or the script of a subscribed address, and whose output nobody shows. */
  readonly unknown: ReadonlyArray<{ readonly transaction: number; readonly address: AddressBytes }>
}

const hex = (address: AddressBytes) => Buffer.from(address).toString("hex")

/** An input without a transfer, with the scripts of which it may spend one; undefined where it does not tell. */
interface Unshown {
  readonly spend: Spend
  readonly scripts: ReadonlyArray<AddressBytes> | undefined
}

/** Whether an input of the block has no transfer: its node does not show what inputs spend. */
export const isIncomplete = (block: Block): boolean => Inputs.unshown(block).length > 0

/** Addresses by their hex. */
const addressesOf = ({ transfers }: Block) => {
  const found = new Map<string, AddressBytes>()
  for (const { from, to } of transfers) {
    for (const address of [from, to]) if (address !== undefined) found.set(hex(address), address)
  }
  return found
}

/** Outputs that are remembered: the newest ones, some 100 MB. */
const most = 500_000

/** Outputs of subscribed addresses in blocks that were looked at, by the key of the outpoint. */
class PaidOutputs {
  readonly #outputs = new Map<string, Output>()

  add({ transactions, transfers }: Block, isSubscribed: (address: AddressBytes) => boolean) {
    for (const { amount, kind, to, transaction, ...rest } of transfers) {
      if (kind !== "coin" || to === undefined || !isSubscribed(to)) continue
      const index = (rest as CoinTransfer).position
      this.#outputs.set(keyOf({ transactionId: transactions[transaction]!, index }), { script: to, amount })
      if (this.#outputs.size > most) this.#outputs.delete(this.#outputs.keys().next().value!)
    }
  }

  find(spends: ReadonlyArray<Spend>): ReadonlyArray<Inputs.Input> {
    return spends.flatMap((spend) => {
      const coin = this.#outputs.get(keyOf(spend.outpoint))
      return coin === undefined ? [] : [{ spend, coin }]
    })
  }
}

/** Resolves blocks of a chain, the lowest first; without `minedOutputs` no node is asked. */
export const make = (chain: Chain, minedOutputs: MinedOutputs | undefined) => {
  const paid = new PaidOutputs()

  const shownByNodes = Effect.fnUntraced(function* (inputs: ReadonlyArray<Unshown>) {
    if (minedOutputs === undefined || inputs.length === 0) return []
    const outputs = yield* minedOutputs(inputs.map(({ spend }) => spend.outpoint))
    return inputs.flatMap(({ spend }, i): ReadonlyArray<Inputs.Input> => {
      const coin = outputs[i]
      return coin === undefined ? [] : [{ spend, coin }]
    })
  })

  /**
   * The subscribers of addresses, and with them those of the addresses that were told something and have left their list
   * since: what was told of these stays true, and nothing more is.
   */
  const subscribersOf = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<AddressBytes>,
    told: ReadonlyArray<CoinSubscribers.CoinSubscriber>
  ) {
    const found = new Map<string, ReadonlyArray<CoinSubscribers.CoinSubscriber>>(
      yield* CoinSubscribers.of(chain, addresses)
    )
    const wanted = new Set(addresses.map(hex))
    for (const [key, own] of Map.groupBy(told, ({ address }) => hex(address))) {
      const present = found.get(key) ?? []
      const left = new Map(own.map((one) => [one.id, { ...one, active: false }]))
      for (const { id } of present) left.delete(id)
      if (wanted.has(key) && left.size > 0) found.set(key, [...present, ...left.values()])
    }
    return found
  })

  return Effect.fn("SubscribedInputs.of")(function* (
    shown: Block,
    told: ReadonlyArray<CoinSubscribers.CoinSubscriber> = []
  ) {
    const recalled = yield* UtxoSet.known(chain, shown)
    const known = Inputs.show(recalled, paid.find(Inputs.unshown(recalled)))
    const unshown = Inputs.unshown(known).map((spend): Unshown => ({ spend, scripts: scriptsOf(spend.unlocking?.()) }))
    const addresses = addressesOf(known)
    for (const { scripts = [] } of unshown) for (const script of scripts) addresses.set(hex(script), script)
    const subscribers = yield* subscribersOf([...addresses.values()], told)
    const asked = unshown.filter(
      ({ scripts }) => scripts === undefined || scripts.some((script) => subscribers.has(hex(script)))
    )
    const inputs = yield* shownByNodes(asked)
    const others = inputs.flatMap(({ coin: { script } }) => (addresses.has(hex(script)) ? [] : [script]))
    for (const [key, some] of yield* subscribersOf(others, told)) subscribers.set(key, some)
    const block = Inputs.show(known, inputs)
    paid.add(block, (address) => subscribers.has(hex(address)))
    const left = new Set(Inputs.unshown(block))
    const unknown = asked.flatMap(({ scripts = [], spend }) =>
      left.has(spend)
        ? scripts.flatMap((address) =>
            subscribers.has(hex(address)) ? [{ transaction: spend.transaction, address }] : []
          )
        : []
    )
    return { block, subscribers, unknown } satisfies SubscribedInputs
  })
}
