/**
 * Subscriptions on extended public keys and descriptors: the list of their addresses is derived by the store, as far as a
 * window behind the furthest used index of each branch, and nobody edits it.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import type * as Derivation from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as TimeSlice from "../../TimeSlice.ts"
import * as Limits from "../accounts/Limits.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as WalletBranches from "../wallets/WalletBranches.ts"
import * as DerivedBranches from "./internal/DerivedBranches.ts"
import * as KeyWindows from "./internal/KeyWindows.ts"
import * as SubscriptionRow from "./internal/SubscriptionRow.ts"
import { DuplicateSubscription, filterText, type NewSubscription, type SubscriptionKey } from "./Subscription.ts"

/** A branch of a key, and how far its owner knows that it is used. */
interface NewBranch {
  readonly type: Derivation.AddressType
  /** Undefined where no address is known to be used. */
  readonly furthestUsedIndex: number | undefined
}

export interface NewKey {
  /** As `ExtendedPublicKey.encode` writes it. */
  readonly publicKey: string
  readonly derivation: Derivation.Derivation
  readonly format: Derivation.Format
  readonly branches: ReadonlyArray<NewBranch>
  /** Addresses behind the furthest used one of each branch, at least 1. */
  readonly window: number
}

interface BranchState extends NewBranch {
  /** Addresses from index 0 on that blocks are matched against. */
  readonly addresses: number
}

interface KeyState extends NewKey {
  readonly branches: ReadonlyArray<BranchState>
  /** Addresses of all branches. */
  readonly total: number
  /** The first block of which every payment is told to what is derived; undefined where no block was committed yet. */
  readonly completeFrom: number | undefined
  /** Whether steps are still to look for what addresses had before a window reached them. */
  readonly isLookingBack: boolean
}

/** The subscription is not on an extended public key. */
export class NotAKey extends Schema.TaggedError<NotAKey>()("NotAKey", { referenceId: Schema.String }) {}

const branchNumbers = { receive: 0, change: 1 } as const

/** How many addresses the windows of a new key have. */
const sizeOf = ({ branches, window }: NewKey) =>
  branches.reduce((sum, { furthestUsedIndex = -1 }) => sum + furthestUsedIndex + 1 + window, 0)

/** Fails where the windows of a new key, with all that the account has or is about to have, are too many addresses. */
export const checkLimit = Effect.fn("ExtendedKeys.checkLimit")(function* (
  account: number,
  key: NewKey,
  limits: Limits.Maxima
) {
  const { query } = yield* Database
  const [behind] = yield* query(
    rows(sql<{ readonly total: number | null }>`
      select sum(b.used + k.window_size - b.derived) as total
      from address_list l
      join extended_key k on k.subscription = l.subscription
      join extended_key_branch b on b.subscription = l.subscription
      where l.account = ${account} and b.behind_from is not null`)
  )
  const present = (yield* Limits.listedAddressesOf(account)) + Number(behind?.total ?? 0)
  yield* Limits.check("listedAddresses", present + sizeOf(key) - 1, limits)
})

/**
 * Fails where the account has a subscription that tells the same of the same branches of the key to the same URL, whatever
 * its window. `chain`: the id of its row.
 */
export const checkDuplicate = Effect.fnUntraced(function* (
  { account, callbackUrl, confirmations, event, filter }: NewSubscription,
  chain: number,
  { branches, derivation, format, publicKey }: NewKey
) {
  const { query } = yield* Database
  // Each of the branches counts otherwise, so that a sum says which there are.
  const some = branches.reduce((sum, { type }) => sum + branchNumbers[type] + 1, 0)
  const [same] = yield* query(
    rows(sql<{ readonly reference_id: string }>`
      select s.reference_id
      from extended_key k
      join subscription s on s.id = k.subscription
      where k.public_key = ${publicKey} and k.derivation = ${derivation} and k.format = ${format}
        and s.account = ${account} and s.chain = ${chain} and s.event = ${event}
        and s.confirmations = ${confirmations} and s.callback_url = ${callbackUrl}
        and coalesce(s.filter, '') = ${filterText(filter) ?? ""}
        and (select sum(b.branch + 1) from extended_key_branch b where b.subscription = k.subscription) = ${some}
      limit 1`)
  )
  if (same !== undefined) return yield* new DuplicateSubscription({ referenceId: same.reference_id })
})

/**
 * The first addresses of a new key's branches: derived before the transaction that stores them, which holds up commits. Where
 * the branches have many, the steps that move windows derive the others.
 */
export const firstAddresses = Effect.fn("ExtendedKeys.firstAddresses")(function* (chain: Chain, key: NewKey) {
  const branches = WalletBranches.of(chain, { ...key, public_key: key.publicKey })
  const { branch: most } = yield* KeyWindows.Bounds
  return yield* Effect.forEach(key.branches, ({ furthestUsedIndex = -1, type }) => {
    const branch = branchNumbers[type]
    const window = { used: furthestUsedIndex + 1, derived: 0, window_size: key.window }
    const reached = TimeSlice.run(() =>
      KeyWindows.reach(
        DerivedBranches.make(() => branches[branch]!),
        window,
        () => false,
        most
      )
    )
    return Effect.map(reached, (reached) => ({ branch, reached }))
  })
})

export type FirstAddresses = Effect.Success<ReturnType<typeof firstAddresses>>

/** In the transaction that makes the subscription, whose list is empty, and has counted the chain's revision up. */
export const begin = Effect.fnUntraced(function* (
  { account, from_height, id }: Pick<Row<"subscription">, "account" | "from_height" | "id">,
  chain: ChainRow.ChainRow,
  newKey: NewKey,
  first: FirstAddresses,
  limits: Limits.Maxima
) {
  const { insertMany, query } = yield* Database
  const { derivation, format, publicKey: public_key, window: window_size } = newKey
  yield* checkLimit(account, newKey, limits)
  const key = { public_key, derivation, format, window_size }
  yield* query((db) => db.insertInto("extended_key").values({ subscription: id, chain: chain.id, ...key }))
  const branches = first.map(({ branch, reached: { used } }) => ({
    ...{ subscription: id, branch, used, derived: 0, behind_from: null }
  }))
  yield* insertMany(
    "extended_key_branch",
    branches.map((branch) => ({ ...branch, chain: chain.id }))
  )
  yield* KeyWindows.store(
    chain,
    first.map(({ reached }, i) => ({
      window: { ...branches[i]!, ...key, from_height, total: 0 },
      ...{ reached, since: chain.height, behindFrom: (chain.height ?? -1) + 1 }
    }))
  )
})

/** The state of a key's list, whatever the number of its addresses. */
export const listOf = Effect.fnUntraced(function* (subscription: number) {
  const { read } = yield* Database
  const [list] = yield* read(
    rows(sql<{ readonly total: number; readonly complete: number | null; readonly unread: number }>`
      select total,
        (
          select max(from_height) from listed_address
          where subscription = ${subscription} and left_revision is null and branch is not null
        ) as complete,
        case when exists (select 1 from listed_address where subscription = ${subscription} and past_from is not null)
          or exists (select 1 from past_payment where subscription = ${subscription})
        then 1 else 0 end as unread
      from address_list where subscription = ${subscription}`)
  )
  return list
})

/** The state of a subscription's key. */
export const get = Effect.fn("ExtendedKeys.get")(function* (key: SubscriptionKey) {
  const { read } = yield* Database
  const chain = yield* ChainRow.find(key.chain)
  const { id } = yield* SubscriptionRow.find(key, chain?.id, read)
  const [found] = yield* read((db) => db.selectFrom("extended_key").selectAll().where("subscription", "=", id))
  if (found === undefined) return yield* new NotAKey({ referenceId: key.referenceId })
  const branches = yield* read((db) =>
    db.selectFrom("extended_key_branch").selectAll().where("subscription", "=", id).orderBy("branch")
  )
  const list = yield* listOf(id)
  const complete = list?.complete ?? null
  return {
    publicKey: found.public_key,
    derivation: found.derivation,
    format: found.format,
    window: found.window_size,
    branches: branches.map(({ branch, derived, used }) => ({
      type: branch === branchNumbers.change ? "change" : "receive",
      furthestUsedIndex: used === 0 ? undefined : used - 1,
      addresses: derived
    })),
    total: Number(list?.total ?? 0),
    completeFrom: complete === null ? undefined : Number(complete) + 1,
    isLookingBack: list?.unread === 1 || branches.some(({ behind_from }) => behind_from !== null)
  } satisfies KeyState as KeyState
})
