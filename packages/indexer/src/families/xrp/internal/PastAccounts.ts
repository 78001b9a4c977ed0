/**
 * Whether an address ever was an account. The ledger of today does not show one that was deleted: only the transactions of
 * the past name the account, as far back as a server keeps them.
 */
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type NodeError, NodeInconsistent } from "../../node/NodeError.ts"
import type { XrpNode } from "../XrpNode.ts"

export interface PastAccounts {
  /** The keys of the addresses that a transaction names, as `Bytes.key` has them. */
  readonly used: ReadonlySet<string>
  /** The first ledger of which all this is known; 0 where no account can have been deleted before. */
  readonly completeFrom: number
}

/** Ledgers for which an account has to be there before it can be deleted. */
const leastAge = 256

/** Requests in flight for one wallet. */
const concurrency = 10

const Answer = Schema.Struct({
  account: Schema.String,
  ledger_index_min: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  transactions: Schema.Array(Schema.Unknown)
})
const decode = Schema.decodeUnknownEffect(Answer)

export const find = Effect.fn("PastAccounts.find")(function* (
  chain: Chain,
  node: XrpNode,
  addresses: ReadonlyArray<Address.AddressBytes>
): Effect.fn.Return<PastAccounts, NodeError> {
  const beginning = chain.xrp?.firstLedger ?? leastAge
  const inconsistent = (rule: string) =>
    new NodeInconsistent({ node: node.name, method: "account_tx", message: rule.slice(0, 300) })
  const found = yield* Effect.forEach(
    addresses,
    Effect.fnUntraced(function* (address) {
      const account = Address.encode(chain, address) ?? ""
      // All ledgers that the server has, from the first to the last.
      const range = { ledger_index_min: -1, ledger_index_max: -1 }
      const answer = yield* node.requestLedger("account_tx", { account, ...range, limit: 1 })
      const past = yield* Effect.mapError(decode(answer), ({ message }) => inconsistent(message))
      if (past.account !== account) return yield* inconsistent("transactions are of another account")
      return { key: Bytes.key(address), isUsed: past.transactions.length > 0, first: past.ledger_index_min }
    }),
    { concurrency }
  )
  return {
    used: new Set(found.filter(({ isUsed }) => isUsed).map(({ key }) => key)),
    completeFrom: Math.max(0, ...found.map(({ first }) => (first <= beginning ? 0 : first)))
  }
})
