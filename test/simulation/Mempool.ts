/** What becomes of payments on a chain whose transactions wait at its nodes: they are mined, replaced, or leave. */
import type { Chance } from "./Chance.ts"
import { digest, type SimulatedChain, type Transaction } from "./Chains.ts"

/** Of what waits, the share that the next block has; of what is left, what is replaced, and what leaves. */
const [minedShare, replacedShare, leavingShare] = [0.6, 0.15, 0.15]
/** Of what is paid, the share that waits. */
const waitingShare = 0.4

/** Pays once more what a transaction pays, from the same coin. */
const insteadOf = ({ family }: SimulatedChain, { id, spends = id, ...own }: Transaction): Transaction =>
  family.transaction({ ...own, spends, nonce: digest(`instead of ${id}`) })

/** Mines a block with some of what waits and some of the transactions; the others wait. */
export const mine = (
  chain: SimulatedChain,
  transactions: ReadonlyArray<Transaction>,
  chance: Chance,
  now: number
): void => {
  const waiting = chain.waiting().map(({ transaction }) => transaction)
  const mined = waiting.filter(() => chance.happens(minedShare))
  for (const one of waiting.filter((one) => !mined.includes(one))) {
    if (chance.happens(replacedShare)) chain.leave(one, insteadOf(chain, one), now)
    else if (chance.happens(leavingShare)) chain.leave(one, undefined, now)
  }
  const sent = transactions.filter(() => chance.happens(waitingShare))
  chain.mine([...mined, ...transactions.filter((one) => !sent.includes(one))], now)
  chain.send(sent, now)
}
