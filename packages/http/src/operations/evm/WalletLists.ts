/** Lists of a synced wallet of an EVM chain or Tron: its addresses and transactions, and new addresses. */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Hash from "@headwater/core/Hash"
import * as Explorer from "@headwater/indexer/families/evm/Explorer"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import * as Effect from "effect/Effect"
import { XpubSyncInProgress } from "../../contract/Errors.ts"
import * as AllTransactions from "../AllTransactions.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"
import * as Wallet from "../Wallet.ts"
import * as NodeCalls from "../NodeCalls.ts"
import * as AddressUse from "./AddressUse.ts"
import type { WalletNode } from "./Assets.ts"
import type { ManagedWallets } from "./ManagedWallets.ts"

/** Addresses of a branch, of which the recorded ones come first. */
export const addresses = (
  { chain }: ChainReader,
  { recordedOf }: Pick<ManagedWallets, "recordedOf">
): ChainOperations["evmWalletAddresses"] =>
  Effect.fn("WalletLists.evmWalletAddresses")(function* (request) {
    const { isChangeAddress = true, limit, offset } = request
    if (isChangeAddress && request.derivation === "bip32") return yield* Wallet.noChange
    const recorded = new Set((yield* recordedOf(request)).map(Bytes.key))
    const branch = (yield* Wallet.branches(chain, request))[isChangeAddress ? 1 : 0]!
    const derived = (from: number, count: number) => WalletBranches.derive(branch, from, from + count - 1)
    const isRecorded = (index: number) => derived(index, 1).every(({ bytes }) => recorded.has(Bytes.key(bytes)))
    // The end of what is recorded: twice as far until it is behind, then halves.
    let [low, high] = [0, 1]
    while (high <= recorded.size && isRecorded(high - 1)) [low, high] = [high, high * 2]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (middle < recorded.size && isRecorded(middle)) low = middle + 1
      else high = middle
    }
    return {
      total: low,
      items: derived(offset, Math.max(0, Math.min(limit, low - offset))).map(({ address, index }) => ({
        address,
        index
      }))
    }
  })

/** Transactions of all addresses, newest first. */
export const transactions = <Node extends ConnectedNode & { readonly explorer: Explorer.Explorer }>(
  record: ChainReader,
  freshness: Freshness<Node>,
  { recordedOf }: Pick<ManagedWallets, "recordedOf">
): ChainOperations["evmWalletTransactions"] => {
  const { chain } = record
  return Effect.fn("WalletLists.evmWalletTransactions")(function* (request) {
    const recorded = yield* recordedOf(request)
    const { node } = yield* freshness.recorded(true)
    const completeness = yield* Effect.orDie(record.completeness(recorded))
    let whole = (yield* Effect.orDie(record.wholeFrom)).coin
    for (const address of recorded) {
      const { transactions } = completeness.get(Bytes.key(address)) ?? {}
      if (transactions === undefined) {
        return yield* new XpubSyncInProgress({
          message: "It is not known yet from which block on the wallet is recorded: try again after the next block"
        })
      }
      whole = Math.max(whole, transactions)
    }
    const all = yield* AllTransactions.atOneMoment(record, recorded)
    const page = all.slice(request.offset, request.offset + request.limit)
    const shown = yield* freshness.orUnavailable(node.explorer.mined(page.map(Explorer.minedOf)))
    const own = new Set(recorded.map(Bytes.key))
    const member = (address: Address.AddressBytes | undefined, amount: string) =>
      address === undefined
        ? []
        : [{ address: Address.encode(chain, address)!, amount, isMember: own.has(Bytes.key(address)) }]
    return {
      total: all.length,
      ...{ answeredFrom: "record" as const, completeFrom: RecordedAddress.completeFrom(whole) },
      items: shown.map(({ block, fee, from, hash, position, succeeded, to, value }) => {
        // Nothing else in the item says that a transaction failed, and moved nothing.
        const amount = Amount.format(succeeded ? value : 0n, chain.decimals)
        return {
          ...{ hash: Hash.encode(chain, hash), positionInBlock: position, timestamp: block.time },
          fee: { amount: Amount.format(fee, chain.decimals) },
          minedInBlock: { hash: Hash.encode(chain, block.hash), height: block.height },
          ...{ recipient: member(to, amount), sender: member(from, amount) }
        }
      })
    }
  })
}

/** Addresses that an account is given at a time. */
const batchSize = 100

export interface Options {
  /** Unused addresses in a row after which a wallet ends. */
  readonly gapLimit: number
  /** Calls of the node that one request may take. */
  readonly nodeCalls: number
}

/** The next receiving addresses behind the last used one, which are recorded from now on with all before them. */
export const derive = <Node extends ConnectedNode>(
  record: ChainReader,
  freshness: Freshness<Node>,
  nodeOf: (node: Node) => Pick<WalletNode, "accountsAt">,
  { watch }: Pick<ManagedWallets, "watch">,
  { gapLimit, nodeCalls }: Options
): ChainOperations["evmDerive"] => {
  const { chain } = record
  const lookup = AddressUse.lookupOf(record)
  return Effect.fn("WalletLists.evmDerive")(function* (request) {
    const branches = yield* Wallet.branches(chain, request)
    const { node, tip } = yield* freshness.recorded(true)
    const takeCalls = NodeCalls.make(nodeCalls, "a wallet with so many used addresses")
    const look = lookup(nodeOf(node), tip, takeCalls)
    const scanned = yield* Effect.forEach(branches, (branch) =>
      freshness.orUnavailable(Wallet.scan(branch, gapLimit, look))
    )
    const [receiving = []] = scanned
    const first = receiving.findLastIndex(({ isUsed }) => isUsed) + 1
    const derived = WalletBranches.derive(branches[0]!, 0, first + batchSize - 1)
    const given = derived.filter(({ index }) => index >= first)
    const all = [...scanned.flat().map(({ address }) => address), ...derived.map(({ bytes }) => bytes)]
    const distinct = [...new Map(all.map((address) => [Bytes.key(address), address])).values()]
    yield* watch(request, distinct, given.length)
    return {
      items: given.map(({ address, index }) => ({
        ...{ address, index, format: "STANDARD", type: "receiving" },
        derivationType: request.derivation ?? "account"
      }))
    }
  })
}
