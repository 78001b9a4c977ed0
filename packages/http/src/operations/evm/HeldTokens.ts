/**
 * The tokens that an address has: which contracts moved any to or from the address is recorded, and the node says what there
 * is now. Of contracts whose tokens have ids and amounts the record alone tells how many there are.
 */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenKind } from "@headwater/core/chains/Blockchain"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import * as Effect from "effect/Effect"
import { Conflict } from "../../contract/Errors.ts"
import { decodeAddress } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations, Position } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"
import type { WalletNode } from "./Assets.ts"
import * as RecordedAmount from "./RecordedAmount.ts"
import * as TokenNames from "./TokenNames.ts"

export interface Options {
  readonly record: RecordingMode
}

/** Transfers that are looked through for one answer. */
const mostTransfers = 50_000

interface Moved {
  readonly contract: Address.AddressBytes
  readonly kind: TokenKind
  /** For each id what the address has at the least, as far as that is recorded. */
  readonly amounts: Map<bigint | undefined, bigint>
}

/** Bytes of each number of a position. */
const numberBytes = [6, 6, 6, 2]

/** The place of a contract in the order of contracts: all of its bytes, since chains have contracts of their own in a row. */
const positionOf = (contract: Address.AddressBytes): Position => {
  const bytes = Buffer.from(contract)
  return numberBytes.map((length, part) => bytes.readUIntBE(part * numberBytes[0]!, length))
}

const isAfter = (a: Position, b: Position): boolean => {
  const differs = a.findIndex((number, index) => number !== b[index])
  return differs >= 0 && a[differs]! > b[differs]!
}

export const make = <Node extends ConnectedNode>(
  record: ChainReader,
  freshness: Freshness<Node>,
  nodeOf: (node: Node) => Pick<WalletNode, "tokenBalancesAt">,
  { record: mode }: Options
): ChainOperations["evmHeldTokens"] => {
  const { chain } = record

  /** Contracts whose tokens came to or went from an address, in their order. */
  const movedOf = Effect.fnUntraced(function* (address: Address.AddressBytes, recordedFrom: number, upTo: number) {
    const found = new Map<string, Moved>()
    let transfers = 0
    const each = record.each("token", address, upTo, (transfer, height) => {
      if (++transfers > mostTransfers) return false
      const { contract, token, tokenId } = transfer
      const key = Bytes.key(contract)
      const moved = found.get(key) ?? { contract, kind: token, amounts: new Map<bigint | undefined, bigint>() }
      found.set(key, moved)
      // What came before, and is recorded for somebody else's sake, may have left in a block that is not.
      if (height < recordedFrom) return true
      moved.amounts.set(tokenId, RecordedAmount.after(moved.amounts.get(tokenId) ?? 0n, address, transfer))
      return true
    })
    yield* Effect.orDie(each)
    if (transfers > mostTransfers) {
      return yield* new Conflict({
        message: `The address has more than ${mostTransfers} token transfers: list those instead`
      })
    }
    return [...found.values()].sort((a, b) => Buffer.compare(a.contract, b.contract))
  })

  return Effect.fn("HeldTokens.evmHeldTokens")(function* ({ account, address: text, after, limit }) {
    const address = yield* decodeAddress(chain, "address", text)
    yield* RecordedAddress.checkSynced(record, mode, account, address)
    const { node, tip } = yield* freshness.recorded(true)
    const recordedFrom = yield* RecordedAddress.recordedFrom(record, address, "tokens")
    const moved = yield* movedOf(address, recordedFrom, tip.height)
    const rest = after === undefined ? moved : moved.filter(({ contract }) => isAfter(positionOf(contract), after))
    const page = rest.slice(0, limit)
    const contracts = page.map(({ contract }) => contract)
    const balances = yield* freshness.orUnavailable(
      nodeOf(node).tokenBalancesAt(
        contracts.map((contract) => ({ contract, holder: address })),
        tip.hash
      )
    )
    const mentions = page.map(({ contract, kind }) => ({ contract, token: kind }))
    const names = yield* freshness.orUnavailable(TokenNames.find(record, node.source, tip.height, mentions))
    const last = contracts.at(-1)
    return {
      next: rest.length > limit && last !== undefined ? positionOf(last) : undefined,
      ...{ completeFrom: RecordedAddress.completeFrom(recordedFrom), answeredFrom: "record" as const },
      items: page.flatMap(({ amounts, contract, kind }, index) => {
        const held =
          kind === "multi" ? [...amounts.values()].reduce((sum, amount) => sum + amount, 0n) : (balances[index] ?? 0n)
        const { decimals = 0, name = "", symbol = "" } = names.get(Bytes.key(contract)) ?? {}
        return held <= 0n
          ? []
          : {
              ...{ name, symbol, contractAddress: Address.encode(chain, contract)! },
              fungibleValues: { amount: Amount.format(held, kind === "fungible" ? decimals : 0) },
              standard: chain.tokenStandards?.[kind] ?? ""
            }
      })
    }
  })
}
