/**
 * The use of a wallet's addresses by blocks. A wallet is watched some unused addresses behind the last used one of each
 * branch: an address that comes into use moves that end.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Watched from "@headwater/core/events/Watched"
import type { Branch } from "@headwater/core/keys/Derivation"
import * as Steps from "@headwater/core/Steps"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as KnownCoins from "../../chain/KnownCoins.ts"
import type { Commit, OpenChain, Undone } from "../../chain/Projection.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { forEachChunk } from "../../database/Statements.ts"
import * as WalletBranches from "../WalletBranches.ts"
import * as AddressOwners from "./AddressOwners.ts"
import * as WalletAddresses from "./WalletAddresses.ts"
import * as WalletReach from "./WalletReach.ts"

type Owner = AddressOwners.Owner

/** Wallets whose branches are kept at hand. */
const branchesKept = 1_000

/** The branches of wallets, those of the last ones at hand: reading a key costs more than a query. */
const branchesAtHand = ({ chain }: Pick<OpenChain, "chain">) => {
  const branches = new Map<number, ReadonlyArray<Branch>>()
  return Effect.fnUntraced(function* (wallet: number) {
    const known = branches.get(wallet)
    if (known !== undefined) return known
    const { query } = yield* Database
    const [row] = yield* query((db) =>
      db.selectFrom("wallet").select(["public_key", "derivation", "format"]).where("id", "=", wallet)
    )
    const found = WalletBranches.of(chain, row!)
    if (branches.size >= branchesKept) branches.clear()
    branches.set(wallet, found)
    return found
  })
}

function* paidInSteps(block: Block, { set }: OpenChain["watched"]): Generator<void, ReadonlyMap<string, Uint8Array>> {
  const paid = new Map<string, Uint8Array>()
  yield* Steps.forEach(block.transfers, (transfer) => {
    if (transfer.kind !== "coin" || !Watched.isPaid(set, transfer)) return
    const to = transfer.to!
    paid.set(Bytes.key(to), to)
  })
  return paid
}

/** Watched addresses that the block pays, by their key. */
const paidBy = (block: Block, watched: OpenChain["watched"]) =>
  TimeSlice.runInTransaction(() => paidInSteps(block, watched))

/** Addresses whose owners are kept at hand beyond a commit, with some 300 bytes each. */
const ownersKept = 50_000

/**
 * The owners of what blocks pay: those of all blocks of a commit are found together, and those of addresses that are used
 * already stay at hand as long as nobody else changes the chain. What this process changes of them in the commit is told to
 * `forget`; nobody else changes them meanwhile.
 */
const ownersOfCommits = (chain: number, watched: OpenChain["watched"]) => {
  let of: Commit | undefined
  /** By the key of the address; empty of addresses that are watched for others than wallets. */
  const owners = new Map<string, ReadonlyArray<Owner>>()
  /** Those that were found for the commit under way. */
  let found: Array<string> = []

  /** Goes from the last commit to the next one; the last one has entered only if that one `continues` it. */
  const moveOn = (commit: Commit) => {
    if (!commit.continues || owners.size > ownersKept) owners.clear()
    // Of an unused address, the search of a wallet may say that it was used.
    for (const key of found) if (owners.get(key)?.some(({ used_height }) => used_height === null)) owners.delete(key)
    found = []
    of = commit
  }

  const findAll = Effect.fnUntraced(function* (addresses: ReadonlyMap<string, Uint8Array>) {
    const unknown = [...addresses].filter(([key]) => !owners.has(key))
    const known = yield* AddressOwners.find(
      chain,
      unknown.map(([, address]) => address)
    )
    for (const [key] of unknown) {
      owners.set(key, known.get(key) ?? [])
      found.push(key)
    }
  })

  return {
    /** Whoever owns the addresses that a block pays, and others; by key. */
    find: Effect.fnUntraced(function* (paid: ReadonlyMap<string, Uint8Array>, commit: Commit) {
      if (of !== commit) moveOn(commit)
      if ([...paid.keys()].every((key) => owners.has(key))) return owners
      const all = new Map(paid)
      if (found.length === 0 && commit.blocks.length > 1)
        for (const block of commit.blocks)
          for (const [key, address] of yield* paidBy(block, watched)) all.set(key, address)
      yield* findAll(all)
      return owners
    }),
    /** These addresses have come to have other owners. */
    forget: (addresses: ReadonlyArray<Uint8Array>) => {
      for (const address of addresses) owners.delete(Bytes.key(address))
    }
  }
}

/** The furthest of these addresses in each branch of each wallet, by both. */
const furthest = (owners: ReadonlyArray<Owner>): ReadonlyMap<string, Owner> => {
  const found = new Map<string, Owner>()
  for (const owner of owners) {
    const key = `${owner.wallet} ${owner.branch}`
    const before = found.get(key)
    if (before === undefined || before.address_index < owner.address_index) found.set(key, owner)
  }
  return found
}

const noteUse = Effect.fnUntraced(function* (owners: ReadonlyArray<Owner>, height: number) {
  const { defer } = yield* Database
  const ids = owners.map(({ id }) => id)
  yield* forEachChunk(ids, (some) =>
    defer((db) => db.updateTable("wallet_address").set({ used_height: height }).where("id", "in", some))
  )
})

export const make = ({ chain, gapLimit, id, watched }: OpenChain) => {
  const branchesOf = branchesAtHand({ chain })
  const ahead = WalletReach.aheadOf(chain, gapLimit)
  const hasCoins = chain.ledger === "outputs"

  const ownersPaid = ownersOfCommits(id, watched)

  /** Watches a branch further where few unused addresses are watched; whether that is further than before. */
  const watchFurther = Effect.fnUntraced(function* ({ address_index, branch, wallet }: Owner, height: number) {
    const { defer } = yield* Database
    let used = address_index + 1
    for (let isFurther = false; ; isFurther = true) {
      const from = yield* WalletAddresses.endOf({ wallet, branch }, "watched")
      if (from - used >= ahead.least) return isFurther
      const derived = WalletBranches.derive((yield* branchesOf(wallet))[branch]!, from, used + ahead.most - 1)
      const row = yield* ChainRow.lockAndBumpRevision(id)
      const known = yield* WalletAddresses.watch(row, { wallet, branch }, derived, height - 1)
      for (const { bytes } of derived) watched.set.add(bytes)
      ownersPaid.forget(derived.map(({ bytes }) => bytes))
      used = Math.max(used, (derived.findLast(({ bytes }) => known.has(Bytes.key(bytes)))?.index ?? -1) + 1)
      if (!hasCoins || KnownCoins.hasAll(row)) continue
      yield* defer((db) => db.updateTable("wallet").set({ state: "scanning" }).where("id", "=", wallet))
    }
  })

  /**
   * Notes which addresses a block uses for the first time, and watches further where that shortens a gap, until no
   * address that was added is paid in the same block. The owners of all addresses that the block pays.
   */
  const markUsed = Effect.fn("AddressUse.markUsed")(function* (block: Block, commit: Commit) {
    const growth = WalletReach.growth(gapLimit)
    while (true) {
      const paid = yield* paidBy(block, watched)
      const owners: AddressOwners.Owners = yield* ownersPaid.find(paid, commit)
      const used: Array<Owner> = []
      for (const key of paid.keys())
        for (const owner of owners.get(key)!) if (owner.used_height === null) used.push(owner)
      const last = furthest(used)
      if (hasCoins) for (const owner of last.values()) yield* growth.note(owner)
      yield* noteUse(used, block.height)
      for (const owner of used) owner.used_height = block.height
      let isFurther = false
      for (const owner of last.values()) if (yield* watchFurther(owner, block.height)) isFurther = true
      if (isFurther) continue
      yield* growth.grow
      return owners
    }
  })

  /**
   * Notes which addresses a block uses that was committed before, when some of its payments may not have been understood.
   * Nothing is watched further: no block behind it would be matched against that.
   */
  const markUsedBefore = Effect.fn("AddressUse.markUsedBefore")(function* (block: Block) {
    const owners = yield* AddressOwners.find(id, [...(yield* paidBy(block, watched)).values()])
    const used = [...owners.values()].flat().filter(({ used_height }) => used_height === null)
    yield* noteUse(used, block.height)
  })

  /** Addresses of coins that an undo brings back, with the first of their blocks where no use so early is known. */
  const usedByReturning = (fork: number) =>
    Effect.flatMap(Database, ({ query }) =>
      query((db) =>
        db
          .selectFrom("spent_output as o")
          .innerJoin("wallet_address as a", (on) =>
            on.onRef("a.chain", "=", "o.chain").onRef("a.address", "=", "o.script")
          )
          .select((of) => [...AddressOwners.columns, of.fn.min("o.height").as("height")])
          .where("o.chain", "=", id)
          .where("o.spent_height", ">", fork)
          .where("o.height", "<=", fork)
          .where((of) => of.or([of("a.used_height", "is", null), of("a.used_height", ">", of.ref("o.height"))]))
          .groupBy("a.id")
      )
    )

  const forgetUse = Effect.fnUntraced(function* (fork: number) {
    const { defer } = yield* Database
    yield* defer((db) =>
      db
        .updateTable("wallet_address")
        .set({ used_height: null })
        .where("chain", "=", id)
        .where("used_height", ">", fork)
    )
  })

  /**
   * Addresses that are paid above the fork alone are unused again. An address that came to be watched when its coins were
   * spent, and gets them back, was used by them: it is watched further behind it as behind one that a block pays. Before
   * balances and the UTXO set leave the blocks, since the coins of what is added count in both as they are before.
   */
  const undo = Effect.fnUntraced(function* ({ fork }: Undone) {
    yield* forgetUse(fork)
    if (!hasCoins) return
    const growth = WalletReach.growth(gapLimit)
    while (true) {
      const returning = yield* usedByReturning(fork)
      if (returning.length === 0) break
      const last = furthest(returning)
      for (const owner of last.values()) yield* growth.note(owner)
      for (const [height, owners] of Map.groupBy(returning, ({ height }) => height)) yield* noteUse(owners, height)
      for (const owner of last.values()) yield* watchFurther(owner, fork + 1)
      // What is added may be paid above the fork.
      yield* forgetUse(fork)
    }
    yield* growth.grow
  })

  return { markUsed, markUsedBefore, undo }
}
