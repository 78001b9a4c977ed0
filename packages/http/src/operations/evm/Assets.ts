/**
 * What an HD wallet has (interface section 4.9): balances of all its addresses after one block, from the node; which
 * tokens there are, and what was received and spent, from the record up to that block.
 *
 * Totals count every coin and internal transaction of each address, from its first one on; the fees of transactions are
 * not in them. They are refused where the record lacks any of these. A token moves without a trace in its holder's
 * account, so that tokens are those that have moved since the addresses were recorded, and the answer says since when.
 */

import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { ChainReader, Tip } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { NodeUnavailable } from "../../contract/Errors.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations, WalletRequest } from "../Operations.ts"
import * as NodeCalls from "../NodeCalls.ts"
import * as Wallet from "../Wallet.ts"
import * as AddressUse from "./AddressUse.ts"
import * as RecordedAmount from "./RecordedAmount.ts"
import * as TokenNames from "./TokenNames.ts"
import * as WalletCompleteness from "./WalletCompleteness.ts"

export interface Options extends WalletCompleteness.Options {
  /** Calls of the node that one request may take. */
  readonly nodeCalls: number
}

/** What a wallet is read from. */
export interface WalletNode extends Pick<EvmNode, "accountsAt" | "tokenBalancesAt"> {
  /** Whether the block of this hash is still the newest, of a node that knows no other state. */
  readonly isStillAt?: (block: Uint8Array) => Effect.Effect<boolean, NodeError>
}

/** Readings of a wallet, before the client is told to come back. */
const maxReadings = 10

/** One id of a token contract, and how much of the id an address of the wallet has at the least. */
interface NonFungibleToken {
  readonly contract: Address.AddressBytes
  readonly tokenId: bigint
  readonly kind: "non-fungible" | "multi"
  amount: bigint
}

const sum = (numbers: Iterable<bigint>): bigint => {
  let total = 0n
  for (const number of numbers) total += number
  return total
}

/** Contracts in the order of their addresses, so that the same wallet is always answered alike. */
const byContract = <A extends { readonly contract: Address.AddressBytes }>(all: Iterable<A>): ReadonlyArray<A> =>
  [...all].sort((a, b) => Buffer.compare(a.contract, b.contract))

/** What the record has of the wallet's tokens. */
const tokensOf = Effect.fnUntraced(function* (
  record: ChainReader,
  tip: Tip,
  addresses: ReadonlyArray<Address.AddressBytes>,
  tokensFrom: ReadonlyMap<string, number>
) {
  const fungible = new Map<string, Address.AddressBytes>()
  const nonFungible = new Map<string, NonFungibleToken>()
  for (const address of addresses) {
    const held = new Map<string, NonFungibleToken>()
    const from = tokensFrom.get(Bytes.key(address)) ?? 0
    yield* record.each("token", address, tip.height, (transfer, height) => {
      const { contract, token, tokenId } = transfer
      if (token === "fungible" || tokenId === undefined) {
        fungible.set(Bytes.key(contract), contract)
        return
      }
      // What came before, and is recorded for somebody else's sake, may have left in a block that is not.
      if (height < from) return
      const key = `${Bytes.key(contract)}:${tokenId}`
      const entry = held.get(key) ?? { contract, tokenId, kind: token, amount: 0n }
      held.set(key, entry)
      entry.amount = RecordedAmount.after(entry.amount, address, transfer)
    })
    // Of each address by itself: where the record begins late, it has a part of what moved between two of them.
    for (const [key, token] of held) if (token.amount > 0n) nonFungible.set(key, token)
  }
  return { fungible: [...fungible.values()], nonFungible: byContract(nonFungible.values()) }
})

/** What went to and from the addresses. */
const totalsOf = Effect.fnUntraced(function* (
  record: ChainReader,
  tip: Tip,
  addresses: ReadonlyArray<Address.AddressBytes>
) {
  const pruned = yield* record.prunedTotals(addresses)
  let received = sum([...pruned.values()].map((totals) => totals.received))
  let spent = sum([...pruned.values()].map((totals) => totals.spent))
  for (const address of addresses) {
    const coins = yield* record.coinTotals(address, tip.height)
    received += coins.received
    spent += coins.spent
    // Of the last days alone: what is older is among the pruned.
    yield* record.each("internal", address, tip.height, ({ amount, from, to }) => {
      if (Buffer.compare(to, address) === 0) received += amount
      if (Buffer.compare(from, address) === 0) spent += amount
    })
  }
  return { received, spent, pruned }
})

type Totals = Effect.Success<ReturnType<typeof totalsOf>>

const samePruned = (a: Totals["pruned"], b: Totals["pruned"]) =>
  a.size === b.size &&
  [...a].every(([key, { received, spent }]) => {
    const other = b.get(key)
    return other !== undefined && other.received === received && other.spent === spent
  })

/** Balances of contracts over all addresses of the wallet; contracts that it has nothing of are left out. */
const fungibleBalances = Effect.fnUntraced(function* (
  evm: WalletNode,
  tip: Tip,
  contracts: ReadonlyArray<Address.AddressBytes>,
  addresses: ReadonlyArray<Address.AddressBytes>,
  takeCalls: NodeCalls.NodeCalls
) {
  yield* takeCalls(contracts.length * addresses.length)
  const holdings = contracts.flatMap((contract) => addresses.map((holder) => ({ contract, holder })))
  const balances = yield* evm.tokenBalancesAt(holdings, tip.hash)
  const all = contracts.map((contract, i) => ({
    contract,
    amount: sum(balances.slice(i * addresses.length, (i + 1) * addresses.length).map((balance) => balance ?? 0n))
  }))
  return byContract(all.filter(({ amount }) => amount > 0n))
})

export const make = <Node extends ConnectedNode>(
  record: ChainReader,
  freshness: Freshness<Node>,
  nodeOf: (node: Node) => WalletNode,
  options: Options
): ChainOperations["evmAssets"] => {
  const chain: Chain = record.chain
  const standards = chain.tokenStandards!
  const coins = (wei: bigint) => Amount.format(wei, chain.decimals)

  const lookupAt = AddressUse.lookupOf(record)
  const { checkComplete, checkWatched } = WalletCompleteness.make(record, options)

  const read = Effect.fnUntraced(function* (request: WalletRequest, takeCalls: NodeCalls.NodeCalls) {
    const branches = yield* Wallet.branches(chain, request)
    const { node, tip } = yield* freshness.recorded(true)
    const evm = nodeOf(node)
    const wallet = (yield* Effect.forEach(branches, (branch) =>
      Wallet.scan(branch, options.gapLimit, lookupAt(evm, tip, takeCalls))
    )).flat()
    yield* checkWatched(
      request,
      wallet.map(({ address }) => address)
    )
    const from = yield* checkComplete(request, wallet)
    const tokensFrom = [...from.values()].reduce((last, height) => Math.max(last, height), 0)
    // Where tokens are not known from the beginning, an address that looks unused may have some.
    const addresses = wallet.filter(({ isUsed }) => isUsed || tokensFrom > 0).map(({ address }) => address)
    const totals = yield* totalsOf(record, tip, addresses)
    const { fungible, nonFungible } = yield* tokensOf(record, tip, addresses, from)
    const balances = yield* fungibleBalances(evm, tip, fungible, addresses, takeCalls)
    const mentions = [
      ...balances.map(({ contract }) => ({ contract, token: "fungible" as const })),
      ...nonFungible.map(({ contract, kind }) => ({ contract, token: kind }))
    ]
    const tokens = yield* TokenNames.find(record, node.source, tip.height, mentions)
    const described = (contract: Address.AddressBytes, kind: keyof typeof standards) => ({
      contractAddress: Address.encode(chain, contract)!,
      standard: standards[kind],
      symbol: tokens.get(Bytes.key(contract))?.symbol ?? ""
    })
    const after = yield* record.tip
    const isOfOneMoment =
      after?.reorganisations === tip.reorganisations &&
      samePruned(totals.pruned, yield* record.prunedTotals(addresses)) &&
      (evm.isStillAt === undefined || (yield* evm.isStillAt(tip.hash)))
    const item = {
      confirmedBalance: coins(sum(wallet.map(({ balance }) => balance))),
      fungibleTokens: balances.map(({ amount, contract }) => ({
        amount: Amount.format(amount, tokens.get(Bytes.key(contract))?.decimals ?? 0),
        ...described(contract, "fungible")
      })),
      nonFungibleTokens: nonFungible.map(({ contract, kind, tokenId }) => ({
        ...described(contract, kind),
        tokenId: String(tokenId)
      })),
      totalReceived: coins(totals.received),
      totalSpent: coins(totals.spent),
      unit: chain.unit,
      ...(tokensFrom === 0 ? {} : { completeFrom: tokensFrom })
    }
    return { item, isOfOneMoment }
  })

  return Effect.fn("Assets.evmAssets")(function* (request) {
    const takeCalls = NodeCalls.make(options.nodeCalls, "a wallet with so many used addresses or tokens")
    // What changed while it was read is read again: a reorganisation, internal transactions that grew too old, or the
    // newest block where a node knows the state of no other.
    for (let reading = 1; reading <= maxReadings; reading++) {
      const { isOfOneMoment, item } = yield* read(request, takeCalls).pipe(
        freshness.orUnavailable,
        Effect.catchTag("DatabaseError", Effect.die)
      )
      if (isOfOneMoment) return item
    }
    return yield* new NodeUnavailable({
      message: `${record.name} changes faster than its node shows the wallet; try again`,
      retryAfter: Math.max(1, Math.ceil(chain.blockSeconds))
    })
  })
}
