/** The validated transactions of any account, as servers list them (`account_tx`): what changed the account, whoever sent it. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import type * as Ledger from "./internal/Ledger.ts"
import * as LedgerInParts from "./internal/LedgerInParts.ts"
import { isAccountMissing, type Json } from "./internal/XrpReply.ts"
import { type ExplorerTransaction, type Reader, transactionOf } from "./LedgerExplorer.ts"
import type { XrpClient } from "./XrpNode.ts"

/** The place of a transaction: the index of its ledger, and its own there. */
export type Place = readonly [ledger: number, index: number]

export interface Request {
  readonly order: "ascending" | "descending"
  readonly limit: number
  /** Begin beyond this place. */
  readonly after?: Place | undefined
  /** The type of transactions, in any letter case; all if not given. */
  readonly type?: string | undefined
}

export interface Page {
  readonly items: ReadonlyArray<ExplorerTransaction>
  /** Where the search ended, if there may be more. */
  readonly next: Place | undefined
  /** The first ledger of which the server has all; 0 where no account was there before. */
  readonly completeFrom: number
}

export type AccountTransactions = (address: Address.AddressBytes, request: Request) => Effect.Effect<Page, NodeError>

/** The most that servers answer at a time. */
const mostAtOnce = 200
/** Answers that are looked through for one page: a type of transactions may be rare. */
const mostAnswers = 10
/** As many until what comes lies beyond the place that was asked for: a ledger may have thousands of an account's. */
const mostAnswersBefore = 50
/** Ledgers that are asked for at the same time. */
const concurrency = 8

const Answer = Schema.Struct({
  account: Schema.String,
  ledger_index_min: Schema.Int,
  marker: Schema.optionalKey(Schema.Unknown),
  transactions: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
})
const decode = Schema.decodeUnknownEffect(Answer)

interface Found {
  readonly place: Place
  readonly transaction: XrpTransaction.XrpTransaction
}

/** An entry of either API version: the transaction in `tx`, or in `tx_json` with its hash beside it. */
const entryOf = (entry: Json): Json =>
  Predicate.isReadonlyObject(entry.tx) ? { ...(entry.tx as Json), meta: entry.meta } : entry

export const make = (chain: Chain, node: XrpClient, reader: Pick<Reader, "header">): AccountTransactions => {
  const inconsistent = (message: string) =>
    new NodeInconsistent({ node: node.name, method: "account_tx", message: message.slice(0, 300) })

  const readEntry = Effect.fnUntraced(function* (given: Json) {
    const entry = entryOf(given)
    const own = Predicate.isReadonlyObject(entry.tx_json) ? entry.tx_json : {}
    const ledger = [given.ledger_index, entry.ledger_index, own.ledger_index].find(Number.isSafeInteger)
    if (typeof ledger !== "number") return yield* inconsistent("ledger_index is no index")
    const transaction = XrpTransaction.decode(LedgerInParts.entryOf(entry), ledger)
    const { position } = transaction
    if (position === undefined) return yield* inconsistent("TransactionIndex is not there")
    return { place: [ledger, position], transaction } satisfies Found as Found
  })

  const answerTo = Effect.fnUntraced(function* (account: string, range: Json) {
    const answer = yield* Effect.catchIf(
      node.requestLedger("account_tx", { account, ...range }),
      isAccountMissing,
      () => Effect.undefined
    )
    if (answer === undefined) return undefined
    const read = yield* Effect.mapError(decode(answer), ({ message }) => inconsistent(message))
    return read.account === account ? read : yield* inconsistent("transactions are of another account")
  })

  return Effect.fn("AccountTransactions.page")(function* (
    address: Address.AddressBytes,
    { after, limit, order, type }: Request
  ): Effect.fn.Return<Page, NodeError> {
    const forward = order === "ascending"
    const isBeyond = ([ledger, index]: Place) => {
      if (after === undefined) return true
      const difference = ledger - after[0] || index - after[1]
      return forward ? difference > 0 : difference < 0
    }
    const account = Address.encode(chain, address) ?? ""
    const range = {
      ledger_index_min: forward && after !== undefined ? after[0] : -1,
      ledger_index_max: !forward && after !== undefined ? after[0] : -1,
      forward,
      limit: type === undefined ? Math.min(mostAtOnce, limit + 10) : mostAtOnce
    }
    /** Behind the first answer: that one has the whole page, but where a ledger has many before it. */
    const more = { ...range, limit: mostAtOnce }
    const found: Array<Found> = []
    let last: Place | undefined
    let marker: unknown
    const isLater = forward && after !== undefined
    // Of a range that begins somewhere the answer does not say where the server does.
    const whole = isLater
      ? yield* answerTo(account, { ledger_index_min: -1, ledger_index_max: -1, forward, limit: 1 })
      : undefined
    let first = whole?.ledger_index_min ?? 0
    let hasMore = true
    const most = () => (last === undefined ? mostAnswersBefore : mostAnswers)
    for (let answers = 0; hasMore && found.length <= limit && answers < most(); answers++) {
      const answer = yield* answerTo(account, marker === undefined ? range : { ...more, marker })
      if (answer === undefined) return { items: [], next: undefined, completeFrom: 0 }
      if (answers === 0 && !isLater) first = answer.ledger_index_min
      for (const given of answer.transactions) {
        if (given.validated === false) continue
        const one = yield* readEntry(given)
        if (!isBeyond(one.place)) continue
        last = one.place
        if (type === undefined || one.transaction.type.toLowerCase() === type.toLowerCase()) found.push(one)
        if (found.length > limit) break
      }
      marker = answer.marker
      hasMore = marker !== undefined && marker !== null
    }
    if (hasMore && last === undefined) return yield* inconsistent("the transactions that were asked for do not come")
    const shown = found.slice(0, limit)
    const headers = new Map<number, Ledger.LedgerHeader>(
      yield* Effect.forEach(
        new Set(shown.map(({ place: [ledger] }) => ledger)),
        (ledger) => Effect.map(reader.header({ ledger_index: ledger }), (header) => [ledger, header] as const),
        { concurrency }
      )
    )
    const beginning = chain.xrp?.firstLedger ?? 0
    return {
      items: shown.map(({ place: [height, position], transaction }) =>
        transactionOf(transaction, position, headers.get(height)!)
      ),
      next: found.length > limit ? shown.at(-1)!.place : hasMore ? last : undefined,
      completeFrom: first <= beginning ? 0 : first
    }
  })
}
