/** What the addresses of a wallet hold, asked of the node: no record of them is needed. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type NodeError, NodeInconsistent } from "../../node/NodeError.ts"
import type { XrpNode } from "../XrpNode.ts"
import { isAccountMissing } from "./XrpReply.ts"

/** Addresses of one branch of a wallet at `count` indices from `from` on, in order; an index without one is left out. */
export type Branch = (from: number, count: number) => ReadonlyArray<Address.AddressBytes>

const AccountInfo = Schema.Struct({
  account_data: Schema.Struct({
    Account: Schema.String,
    Balance: Schema.String.check(Schema.isPattern(/^\d{1,20}$/, { message: "must be drops of XRP" }))
  })
})
const decodeAccountInfo = Schema.decodeUnknownEffect(AccountInfo)

/** Requests in flight for one wallet. */
const concurrency = 10

/** Drops of each address after ledger `height`, the reserve included; undefined where there is no such account. */
export const balances = (
  chain: Chain,
  node: XrpNode,
  height: number,
  addresses: ReadonlyArray<Address.AddressBytes>
): Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError> => {
  const balanceOf = (address: Address.AddressBytes): Effect.Effect<bigint | undefined, NodeError> => {
    const account = Address.encode(chain, address) ?? ""
    return node.requestLedger("account_info", { account, ledger_index: height, strict: true }).pipe(
      Effect.flatMap((answer) =>
        decodeAccountInfo(answer).pipe(
          Effect.map(({ account_data: data }) => (data.Account === account ? data.Balance : undefined)),
          Effect.filterOrFail(
            (balance) => balance !== undefined,
            () => "account_data is of another account"
          ),
          Effect.mapBoth({
            onFailure: (rule) =>
              new NodeInconsistent({
                node: node.name,
                method: "account_info",
                message: typeof rule === "string" ? rule : rule.message.slice(0, 300)
              }),
            onSuccess: BigInt
          })
        )
      ),
      Effect.catchIf(isAccountMissing, () => Effect.undefined)
    )
  }
  return Effect.forEach(addresses, balanceOf, { concurrency })
}

/**
 * Drops that the addresses of all branches held after ledger `height`, the reserve included. A branch ends where
 * `gapLimit` addresses in a row have no account in that ledger, but not before the index that `least` has for it.
 */
export const fetch = Effect.fn("WalletBalance.fetch")(function* (
  chain: Chain,
  node: XrpNode,
  height: number,
  branches: ReadonlyArray<Branch>,
  gapLimit: number,
  least: ReadonlyArray<number> = []
): Effect.fn.Return<bigint, NodeError> {
  let total = 0n
  for (const [number, branch] of branches.entries()) {
    const end = least[number] ?? 0
    let unused = 0
    for (let from = 0; from < end || unused < gapLimit; from += gapLimit) {
      const found = yield* balances(chain, node, height, branch(from, gapLimit))
      if (found.length === 0) break
      for (const [i, balance] of found.entries()) {
        if (from + i >= end && unused >= gapLimit) break
        unused = balance === undefined ? unused + 1 : 0
        total += balance ?? 0n
      }
    }
  }
  return total
})
