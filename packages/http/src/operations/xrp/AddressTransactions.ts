/** The validated transactions of any account of the XRP Ledger, from its servers. */
import * as Hash from "@headwater/core/Hash"
import type { ExplorerTransaction } from "@headwater/indexer/families/xrp/LedgerExplorer"
import type { XrpConnection } from "@headwater/indexer/families/xrp/XrpConnection"
import type { Chain } from "@headwater/core/chains/Chain"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { decodeAddress } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import * as RecordedAddress from "../RecordedAddress.ts"

const itemOf = (chain: Chain, { item, ledger: { hash, height } }: ExplorerTransaction) => ({
  ...item,
  minedInBlock: { hash: Hash.encode(chain, hash), height }
})

export const make = (
  { chain }: ChainReader,
  freshness: Freshness<XrpConnection>
): Pick<ChainOperations, "xrpAddressTransactions"> => ({
  xrpAddressTransactions: Effect.fn("AddressTransactions.xrpAddressTransactions")(function* (request) {
    const { after, limit, sortingOrder, transactionType } = request
    const address = yield* decodeAddress(chain, "address", request.address)
    const { source } = yield* freshness.node
    const { completeFrom, items, next } = yield* freshness.orUnavailable(
      source.accountTransactions(address, {
        ...{ limit, type: transactionType },
        order: sortingOrder === "ASCENDING" ? "ascending" : "descending",
        after: after === undefined ? undefined : [after[0]!, after[1]!]
      })
    )
    return {
      next: next && [...next, 0],
      ...{ answeredFrom: "node" as const, completeFrom: RecordedAddress.completeFrom(completeFrom) },
      items: items.map((each) => itemOf(chain, each))
    }
  })
})
