/**
 * Which subscriptions a text may mean: those of an address on any chain, by themselves or by a list, of a transaction's id, of a
 * reference or its beginning, of a host, or of an account's name. Each meaning is a condition that one index answers.
 */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type SqlBool, sql } from "kysely"
import { transactionEvent } from "../../chain/TransactionSubscriptions.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import * as HashText from "./HashText.ts"
import * as Scope from "./Scope.ts"

export type Condition = ReturnType<typeof sql<SqlBool>>

/** Accounts in which a search looks for names and hosts, the oldest first. */
const accountLimit = 500
/** Accounts whose name has the text in it, of which a search shows the subscriptions. */
const namedLimit = 10
/** Subscriptions with the same address, host or beginning of a reference that are put in order. */
const sameLimit = 1_000

/** A condition whose index does not have the subscriptions in the order of their ids. */
const unordered = (where: Condition, scope: Scope.Scope): Condition =>
  sql<SqlBool>`subscription.id in (
    select id from subscription where ${where} ${Scope.filter(scope, "account")} limit ${sql.raw(String(sameLimit))})`

/** The host of a URL, or of the beginning of one. */
export const hostOf = (text: string) => text.replace(/^https?:\/\//, "").replace(/\/.*$/, "")

/** The first text after all that begin with `prefix`, in the order of both stores for plain ASCII. */
export const after = (prefix: string) => `${prefix}\u007f`

type Named = { readonly id: number; readonly name: string }

/** Of an account's own alone: the rows that the limits leave may be others'. */
const ofAddress = (chains: ReadonlyArray<Named>, text: string, scope: Scope.Scope): ReadonlyArray<Condition> =>
  chains.flatMap(({ id, name }) => {
    const chain = Chain.ofName(name)
    const address = chain === undefined ? undefined : Result.getOrUndefined(Address.decodeWithTag(chain, text))
    if (address === undefined) return []
    return [
      unordered(sql<SqlBool>`chain = ${id} and address = ${address}`, scope),
      sql<SqlBool>`subscription.id in (
        select listed.subscription from listed_address listed
        inner join subscription owner on owner.id = listed.subscription ${Scope.filter(scope, "owner.account")}
        where listed.chain = ${id} and listed.address = ${address} and listed.left_revision is null
        limit ${sql.raw(String(sameLimit))})`
    ]
  })

const ofTransaction = (chains: ReadonlyArray<Named>, text: string, scope: Scope.Scope): ReadonlyArray<Condition> => {
  const id = HashText.decode(text)
  return id === undefined
    ? []
    : chains.map((chain) =>
        unordered(sql<SqlBool>`chain = ${chain.id} and address = ${id} and event = ${transactionEvent}`, scope)
      )
}

/** Of so many characters of a reference few subscriptions are another account's. */
const ownReference = 4

const ofReference = (text: string, scope: Scope.Scope): ReadonlyArray<Condition> =>
  /^[0-9a-f-]{1,36}$/.test(text) && (scope === undefined || text.length >= ownReference)
    ? [unordered(sql<SqlBool>`reference_id >= ${text} and reference_id < ${after(text)}`, scope)]
    : []

const ofHost = (accounts: ReadonlyArray<Named>, text: string): ReadonlyArray<Condition> => {
  const host = hostOf(text)
  if (accounts.length === 0 || !/^[a-z0-9.-]+$/.test(host)) return []
  const ids = sql.join(accounts.map(({ id }) => id))
  return [unordered(sql<SqlBool>`account in (${ids}) and host >= ${host} and host < ${after(host)}`, undefined)]
}

/** The index of lists has a chain's subscriptions in the order of their ids: the newest are its end. */
const ofAccountName = (
  accounts: ReadonlyArray<Named>,
  chains: ReadonlyArray<Named>,
  text: string
): ReadonlyArray<Condition> =>
  accounts
    .filter(({ name }) => name.toLowerCase().includes(text))
    .slice(0, namedLimit)
    .flatMap(({ id: account }) =>
      chains.map(({ id: chain }) => sql<SqlBool>`subscription.account = ${account} and subscription.chain = ${chain}`)
    )

/** The accounts in which a search looks for names and hosts; `searched`: how many, where there are more. */
export const accountsOf = Effect.fnUntraced(function* (scope: Scope.Scope) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    db
      .selectFrom("account")
      .select(["id", "name"])
      .$if(scope !== undefined, (select) => select.where("id", "=", scope!))
      .orderBy("id")
      .limit(accountLimit + 1)
  )
  return { accounts: found.slice(0, accountLimit), searched: found.length > accountLimit ? accountLimit : null }
})

/** The conditions, of which a subscription has to meet one; for an account those of its own, all of them for an empty text. */
export const conditions = Effect.fnUntraced(function* (search: string, scope: Scope.Scope) {
  if (search === "" && scope === undefined) return { any: [sql<SqlBool>`1 = 1`], searched: null }
  const chains = yield* ChainRow.all
  const { accounts, searched } = yield* accountsOf(scope)
  const lower = search.toLowerCase()
  const any = [
    ...ofAddress(chains, search, scope),
    ...ofTransaction(chains, search, scope),
    ...ofReference(lower, scope),
    ...ofHost(accounts, lower),
    ...ofAccountName(accounts, chains, lower)
  ]
  return { any, searched }
})
