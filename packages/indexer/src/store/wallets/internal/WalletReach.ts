/**
 * How far a wallet reaches behind the last used address of a branch, and whether every coin of the wallet is known.
 *
 * To a wallet belong the used addresses of each branch and `gapLimit` addresses behind the last of them (BIP-44). More are
 * watched than belong, and their coins are looked for beforehand: where a payment moves the gap, the addresses that come to
 * belong are known already. Where payments are faster than the search, the wallet has no balance until the search is done.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"
import * as WalletAddresses from "./WalletAddresses.ts"

/** Addresses that an account is given at a time. */
export const batchSize = 100

/** Unused addresses that are watched behind the last used one of a branch. */
interface Ahead {
  /** With fewer the branch is watched further. */
  readonly least: number
  readonly most: number
}

/**
 * An account may have given out any address of its last batch. On chains of outputs, `most - least` addresses come into
 * use between two searches, and the rest may do so while the search runs.
 */
export const aheadOf = ({ ledger }: Pick<Chain, "ledger">, gapLimit: number): Ahead => {
  const batch = Math.max(batchSize, gapLimit)
  return ledger === "outputs" ? { least: batch + Math.ceil(batch / 2), most: 2 * batch } : { least: batch, most: batch }
}

/** The addresses of one branch, called `a`, from an index on and before another, with what is recorded of them, `c`. */
const recorded = Effect.fnUntraced(function* (
  { branch, wallet }: WalletAddresses.WalletBranch,
  from: number,
  to: number
) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom("wallet_address as a")
      .leftJoin("completeness as c", (on) => on.onRef("c.chain", "=", "a.chain").onRef("c.address", "=", "a.address"))
      .select((of) => [of.fn.max("c.coins").as("coins"), of.fn.count<number>("c.coins").as("known")])
      .where("a.wallet", "=", wallet)
      .where("a.branch", "=", branch)
      .where("a.address_index", ">=", from)
      .where("a.address_index", "<", to)
  )
  return { coins: row?.coins ?? 0, isKnown: Number(row?.known ?? 0) >= to - from }
})

/** The block at which coins were looked for that are known from the given one on. */
const searchedFor = (coins: number) => Math.max(0, coins - 1)

/** Whether every coin of these addresses is known. */
export const isKnown = (branch: WalletAddresses.WalletBranch, from: number, to: number) =>
  Effect.map(recorded(branch, from, to), ({ isKnown }) => isKnown)

/**
 * Takes a wallet's balance away, which was known, where the coins of an address are not that has come to belong to a branch,
 * until the next search; `before` is the index after the branch's last used address as it was.
 */
export const grow = Effect.fnUntraced(function* (
  branch: WalletAddresses.WalletBranch,
  before: number,
  gapLimit: number
) {
  const { defer, query } = yield* Database
  const [row] = yield* query((db) => db.selectFrom("wallet").select("scan_height").where("id", "=", branch.wallet))
  const known = row?.scan_height ?? null
  if (known === null) return
  const used = yield* WalletAddresses.endOf(branch, "used")
  const { coins, isKnown } = yield* recorded(branch, before, used + gapLimit)
  const changed = isKnown
    ? { scan_height: Math.max(known, searchedFor(coins)) }
    : { scan_height: null, state: "scanning" as const }
  if (changed.scan_height === known) return
  yield* defer((db) => db.updateTable("wallet").set(changed).where("id", "=", branch.wallet))
})

/**
 * The branches that come to reach further while addresses come into use: each is noted before its first one does, and grows
 * once all are marked.
 */
export const growth = (gapLimit: number) => {
  const before = new Map<string, readonly [branch: WalletAddresses.WalletBranch, used: number]>()
  return {
    note: Effect.fnUntraced(function* ({ branch, wallet }: WalletAddresses.WalletBranch) {
      const key = `${wallet} ${branch}`
      if (before.has(key)) return
      before.set(key, [{ wallet, branch }, yield* WalletAddresses.endOf({ wallet, branch }, "used")])
    }),
    grow: Effect.suspend(() =>
      Effect.forEach(before.values(), ([branch, used]) => grow(branch, used, gapLimit), { discard: true })
    )
  }
}

/** Notes what is known of a wallet after coins were looked for. */
export const settle = Effect.fnUntraced(function* (wallet: number, branches: number, gapLimit: number) {
  const { defer } = yield* Database
  let searched: number | null = 0
  let isWhole = true
  for (let branch = 0; branch < branches; branch++) {
    const one = { wallet, branch }
    const belongs = (yield* WalletAddresses.endOf(one, "used")) + gapLimit
    const near = yield* recorded(one, 0, belongs)
    searched = searched === null || !near.isKnown ? null : Math.max(searched, searchedFor(near.coins))
    isWhole &&= near.isKnown && (yield* isKnown(one, belongs, yield* WalletAddresses.endOf(one, "watched")))
  }
  const known = { state: isWhole ? ("synced" as const) : ("scanning" as const), scan_height: searched }
  yield* defer((db) => db.updateTable("wallet").set(known).where("id", "=", wallet))
})
