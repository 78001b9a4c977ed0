/** What the addresses of a wallet hold, and which were used, asked of the node: no record of them is needed. */
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type NodeError, NodeInconsistent } from "../../node/NodeError.ts"
import type { XrpNode } from "../XrpNode.ts"
import * as PastAccounts from "./PastAccounts.ts"
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

/** Whether each address has an account after ledger `height`, or had one before. */
export const wereUsed = Effect.fn("WalletBalance.wereUsed")(function* (
  chain: Chain,
  node: XrpNode,
  height: number,
  addresses: ReadonlyArray<Address.AddressBytes>
): Effect.fn.Return<ReadonlyArray<boolean>, NodeError> {
  const held = yield* balances(chain, node, height, addresses)
  const { used } = yield* PastAccounts.find(
    chain,
    node,
    addresses.filter((_, i) => held[i] === undefined)
  )
  return addresses.map((address, i) => held[i] !== undefined || used.has(Bytes.key(address)))
})

export interface Found {
  /** Drops of all addresses, the reserve included. */
  readonly drops: bigint
  /** As in `PastAccounts`, of the addresses at which the branches end. */
  readonly completeFrom: number
}

/**
 * What the addresses of all branches held after ledger `height`. A branch ends where `gapLimit` addresses in a row never
 * had an account, but not before the index that `least` has for it: those behind an account that was deleted belong to
 * the wallet.
 */
export const fetch = Effect.fn("WalletBalance.fetch")(function* (
  chain: Chain,
  node: XrpNode,
  height: number,
  branches: ReadonlyArray<Branch>,
  gapLimit: number,
  least: ReadonlyArray<number> = []
): Effect.fn.Return<Found, NodeError> {
  let drops = 0n
  let completeFrom = 0
  for (const [number, branch] of branches.entries()) {
    const given = least[number] ?? 0
    let end = given + gapLimit
    for (let from = 0; from < end; ) {
      const addresses = branch(from, end - from)
      const held = yield* balances(chain, node, height, addresses)
      // Which of the addresses that were given out were used is of no matter: all of them count.
      const mayEnd = addresses.filter((_, i) => from + i >= given && held[i] === undefined)
      const past = yield* PastAccounts.find(chain, node, mayEnd)
      completeFrom = Math.max(completeFrom, past.completeFrom)
      const first = from
      from = end
      for (const [i, address] of addresses.entries()) {
        drops += held[i] ?? 0n
        const isUsed = held[i] !== undefined || past.used.has(Bytes.key(address))
        if (isUsed) end = Math.max(end, first + i + 1 + gapLimit)
      }
    }
  }
  return { drops, completeFrom }
})
