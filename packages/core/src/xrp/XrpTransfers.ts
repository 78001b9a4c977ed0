/** The XRP that a transaction of the XRP Ledger moved: of every account, what its balance changed by beside its fee. */
import type * as XrpTransaction from "./XrpTransaction.ts"

/** XRP from one classic address to another; one side is absent where only the other one's balance tells. */
export interface Transfer {
  readonly from: string | undefined
  readonly to: string | undefined
  /** Drops, above zero. */
  readonly drops: bigint
  /** The tag by which the payer tells its user apart, and that of the recipient. */
  readonly fromTag: number | undefined
  readonly toTag: number | undefined
  /** The tags that the transaction, or what it fulfils, names for the two sides of this transfer. */
  readonly sourceTag: number | undefined
  readonly destinationTag: number | undefined
}

type Tags = Pick<Transfer, "fromTag" | "toTag" | "sourceTag" | "destinationTag">

/**
 * The tags of a transfer. They are those of an escrow, a payment channel or a check that is fulfilled, else those of the
 * transaction. A destination tag is told to the destination and to who pays it, never to anybody else: an account whose
 * offer was taken, or that gets its escrow back, must not take the tag for one of its own users.
 */
const tagsOf = ({ parties }: XrpTransaction.XrpTransaction, from: string | undefined, to: string | undefined): Tags => {
  const paid = to === undefined ? undefined : parties.find(({ destination }) => destination === to)
  const own = parties.find(({ account }) => account === (from ?? to))
  const fromTag = from === undefined ? undefined : own?.sourceTag
  const toTag = to === undefined ? undefined : paid === undefined ? own?.sourceTag : paid.destinationTag
  const told = from === undefined ? paid : own
  const sourceTag = told === undefined ? own?.sourceTag : told.sourceTag
  return { fromTag, toTag, sourceTag, destinationTag: told?.destinationTag }
}

/**
 * The transfers of a transaction that succeeded; what failed moved nothing. A payment of XRP in XRP is one transfer from
 * sender to recipient, of what was delivered. The recipient of any other payment gains the XRP delivered, and every
 * account of every transaction what the metadata shows of its balance beyond what is told already, the fee that it paid
 * left out: so the transfers of an account, less its fees, are the change of its balance.
 *
 * The order is part of the keys of callbacks, and stays.
 */
export const of = (transaction: XrpTransaction.XrpTransaction): ReadonlyArray<Transfer> => {
  const { amount, balanceChanges, delivered, recipient, result, sendMax, sender, type } = transaction
  if (result !== "tesSUCCESS") return []
  const found: Array<Transfer> = []
  const add = (from: string | undefined, to: string | undefined, drops: bigint) =>
    found.push({ from, to, drops, ...tagsOf(transaction, from, to) })

  const inXrp = amount?.kind === "xrp" && (sendMax === undefined || sendMax.kind === "xrp")
  const received = type === "Payment" && delivered?.kind === "xrp" && delivered.drops > 0n ? delivered.drops : 0n
  const receiver = received > 0n ? recipient : undefined
  const payer = receiver !== undefined && inXrp && sender !== "" ? sender : undefined
  if (receiver !== undefined) add(payer, receiver, received)

  const isReceiver = ([account]: readonly [string, bigint]) => account === receiver
  const changes = [...(balanceChanges ?? [])]
  for (const change of [...changes.filter((change) => !isReceiver(change)), ...changes.filter(isReceiver)]) {
    const [account, drops] = change
    const rest = drops - (isReceiver(change) ? received : 0n) + (account === payer ? received : 0n)
    if (rest > 0n) add(undefined, account, rest)
    if (rest < 0n) add(account, undefined, -rest)
  }
  return found
}
