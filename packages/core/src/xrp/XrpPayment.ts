/** The transfers of XRP by a payment on the XRP Ledger. No other transaction counts as a transfer. */
import type * as XrpTransaction from "./XrpTransaction.ts"

/** XRP from one classic address to another; one side is absent where another currency was exchanged on the way. */
export interface Transfer {
  readonly from: string | undefined
  readonly to: string | undefined
  /** Drops, above zero. */
  readonly drops: bigint
}

/**
 * The transfers of a transaction: one from sender to recipient for a payment of XRP in XRP, of what was delivered. Where a
 * payment exchanges currencies, or does not say clearly that it does not, the recipient gains the XRP delivered, and of
 * everybody else — the sender, and those whose offers were taken — what the payment changed in their balance, the fee
 * left out. None for a payment that failed, for one that moves no XRP, and for every other type: fees, reserves, offers,
 * escrows, deleted accounts.
 */
export const transfers = (transaction: XrpTransaction.XrpTransaction): ReadonlyArray<Transfer> => {
  const { amount, balanceChanges, delivered, recipient, result, sendMax, sender, type } = transaction
  if (type !== "Payment" || result !== "tesSUCCESS") return []
  const inXrp = amount?.kind === "xrp" && (sendMax === undefined || sendMax.kind === "xrp")
  const received = delivered?.kind === "xrp" && recipient !== undefined ? delivered.drops : 0n
  if (inXrp && received > 0n && sender !== "") return [{ from: sender, to: recipient, drops: received }]
  const found: Array<Transfer> = received > 0n ? [{ from: undefined, to: recipient, drops: received }] : []
  for (const [account, drops] of balanceChanges ?? []) {
    if (received > 0n && account === recipient) continue
    found.push(drops > 0n ? { from: undefined, to: account, drops } : { from: account, to: undefined, drops: -drops })
  }
  return found
}
