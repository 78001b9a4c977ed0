/**
 * A chain as it truly is: a tree of blocks of which one branch is the best. What a transaction moves is plain; each
 * family has a node that tells of it in the family's own form.
 */
import { createHash } from "node:crypto"
import type { Chance } from "./Chance.ts"
import type { Family } from "./Families.ts"

export interface Movement {
  readonly kind: "coin" | "token" | "internal"
  /** Places of the addresses in the chain's list of them. */
  readonly from: number
  readonly to: number
  readonly amount: bigint
}

export interface Transaction {
  readonly id: string
  /** 64 hex digits that no other transaction has. */
  readonly nonce: string
  /** The transaction that it spends the coin of, where it replaces that one. */
  readonly spends?: string
  readonly failed: boolean
  /** At most one of the coin, which is the transaction's own. */
  readonly movements: ReadonlyArray<Movement>
}

/** A block as far as its hash is of it. */
export interface Unsealed {
  readonly height: number
  readonly parent: string
  /** 64 hex digits that no other block has. */
  readonly nonce: string
  /** Seconds since the Unix epoch. */
  readonly time: number
  readonly transactions: ReadonlyArray<Transaction>
}

export interface Block extends Unsealed {
  /** 64 hex digits. */
  readonly hash: string
  /** When it came to be, in milliseconds since the Unix epoch. */
  readonly bornAt: number
}

/** The blocks of a branch from the first one on. */
export type Branch = ReadonlyArray<Block>

/** A transaction that waits for a block. */
export interface Waiting {
  readonly transaction: Transaction
  /** Since when, in milliseconds since the Unix epoch. */
  readonly at: number
}

export interface SimulatedChain {
  readonly family: Family
  readonly best: () => Branch
  /** Every block that ever was on a best branch, by its hash. */
  readonly blocks: ReadonlyMap<string, Block>
  /** What waits at the nodes of a chain where transactions do. */
  readonly waiting: () => ReadonlyArray<Waiting>
  /** Everything that ever waited, with the time since which it waited first. */
  readonly waited: ReadonlyMap<Transaction, number>
  readonly send: (transactions: ReadonlyArray<Transaction>, now: number) => void
  /** Has a transaction wait no more, and another one in its place. */
  readonly leave: (transaction: Transaction, instead: Transaction | undefined, now: number) => void
  readonly mine: (transactions: ReadonlyArray<Transaction>, now: number) => Block
  /** Leaves the newest blocks for a branch that is longer; the number of blocks that were left. */
  readonly fork: (depth: number, longer: number, now: number, keeps: (transaction: Transaction) => boolean) => number
  /** Goes back to the branch that the last fork has left, which has become the longer one; whether there is such a branch. */
  readonly goBack: (now: number) => boolean
  /** The newest height that nodes call final, which no fork goes below. */
  readonly final: () => number
}

export const digest = (text: string) => createHash("sha256").update(text).digest("hex")

export const make = (family: Family, chance: Chance, now: number): SimulatedChain => {
  const blocks = new Map<string, Block>()
  let salt = 0
  let final = 0
  const blockOn = (parent: Block | undefined, transactions: ReadonlyArray<Transaction>, bornAt: number): Block => {
    const height = parent === undefined ? 0 : parent.height + 1
    const unsealed = {
      height,
      parent: parent?.hash ?? "0".repeat(64),
      nonce: digest(`${family.chain} ${parent?.hash ?? ""} ${height} ${salt++} ${chance.next()}`),
      time: Math.floor(bornAt / 1000),
      transactions
    }
    const block = { ...unsealed, hash: family.hashOf(unsealed), bornAt }
    blocks.set(block.hash, block)
    return block
  }
  /** The branch that was left last. */
  let former: Branch = []
  let best: Branch = [blockOn(undefined, [], now)]
  if (family.first.length > 0) {
    const own = { nonce: digest(`first of ${family.chain}`), failed: false, movements: family.first }
    best = [...best, blockOn(best[0]!, [family.transaction(own)], now)]
  }
  let waiting: ReadonlyArray<Waiting> = []
  const waited = new Map<Transaction, number>()
  const send = (transactions: ReadonlyArray<Transaction>, at: number) => {
    for (const transaction of transactions) {
      waiting = [...waiting, { transaction, at }]
      if (!waited.has(transaction)) waited.set(transaction, at)
    }
  }
  const spentBy = ({ id, spends = id }: Transaction) => spends

  /** What has left the best branch waits again; what the new one has, or has spent otherwise, waits no more. */
  const follow = (branch: Branch, now: number) => {
    const left = best.filter(({ hash, height }) => branch[height]?.hash !== hash)
    best = branch
    if (!family.hasMempool) return
    const spent = new Set(best.flatMap(({ transactions }) => transactions.map(spentBy)))
    for (const { transaction } of waiting) {
      if (spent.has(spentBy(transaction))) waiting = waiting.filter((one) => one.transaction !== transaction)
    }
    const taken = new Set([...spent, ...waiting.map(({ transaction }) => spentBy(transaction))])
    send(
      left.flatMap(({ transactions }) => transactions.filter((one) => !taken.has(spentBy(one)))),
      now
    )
  }
  const isFinal = (branch: Branch) => branch[final]?.hash === best[final]?.hash

  return {
    family,
    blocks,
    best: () => best,
    final: () => final,
    waiting: () => waiting,
    waited,
    send,
    leave: (transaction, instead, now) => {
      waiting = waiting.filter((one) => one.transaction !== transaction)
      if (instead !== undefined) send([instead], now)
    },
    mine: (transactions, now) => {
      const block = blockOn(best.at(-1)!, transactions, now)
      follow([...best, block], now)
      final = Math.max(final, block.height - family.mostForked)
      return block
    },
    fork: (depth, longer, now, keeps) => {
      const tip = best.at(-1)!.height
      const base = Math.max(tip - depth, final)
      const left = best.slice(base + 1)
      const waiting = left.flatMap(({ transactions }) => transactions.filter(keeps))
      let branch: Branch = best.slice(0, base + 1)
      const count = left.length + longer
      for (let i = 0; i < count; i++) {
        const own = waiting.splice(0, i === count - 1 ? waiting.length : chance.between(0, 2))
        branch = [...branch, blockOn(branch.at(-1)!, own, now)]
      }
      former = best
      follow(branch, now)
      final = Math.max(final, best.length - 1 - family.mostForked)
      return left.length
    },
    goBack: (now) => {
      if (former.length === 0 || !isFinal(former)) return false
      let branch = former
      while (branch.length <= best.length) branch = [...branch, blockOn(branch.at(-1)!, [], now)]
      const left = best
      follow(branch, now)
      former = left
      return true
    }
  }
}
