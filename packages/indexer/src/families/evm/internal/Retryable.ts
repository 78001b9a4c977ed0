/**
 * Coins of Arbitrum's retryable tickets, which move beside all calls: a ticket's transaction (0x69) makes the deposited
 * coins, puts the value of the call that is to come into escrow, and refunds what the fees did not need; the call (0x68)
 * takes the value out of escrow, and back into it where the call fails (Nitro, `tx_processor.go`).
 *
 * Nitro's `callTracer` lists such moves before and after the call with their purpose, and those that happen while the
 * transaction runs, as all of a ticket's, as frames of type INVALID without a purpose.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Transaction } from "./BlockAnswer.ts"
import * as Hex from "./Hex.ts"

/** A side is absent where the coins were made or destroyed. */
export interface TicketMove {
  readonly purpose: Purpose
  readonly from: AddressBytes | undefined
  readonly to: AddressBytes | undefined
  readonly amount: bigint
}

const submitType = 0x69
const retryType = 0x68

/** All other purposes are fees: what is paid for them, collected, and given back to their payer. */
const purposes = ["deposit", "escrow", "refund"] as const
type Purpose = (typeof purposes)[number]

const listed = (items: unknown): ReadonlyArray<TicketMove> =>
  Hex.array(items ?? [], "EVMTransfers").flatMap((item) => {
    const { from, purpose: said, to, value } = Hex.object(item, "EVMTransfers")
    const purpose = purposes.find((known) => known === said)
    if (purpose === undefined) return []
    return [
      {
        purpose,
        from: from == null ? undefined : Hex.address(from, "EVMTransfers.from"),
        to: to == null ? undefined : Hex.address(to, "EVMTransfers.to"),
        amount: Hex.quantity(value, "EVMTransfers.value")
      }
    ]
  })

/** Whether the tracer may show moves of a transaction of this type. */
export const isTicket = (type: number): boolean => type === submitType || type === retryType

/** Who gets what the fees did not need; undefined for every other transaction. Throws {@link Hex.Malformed}. */
export const refundTo = ({ json, type }: Transaction): AddressBytes | undefined =>
  !isTicket(type) || json.refundTo == null ? undefined : Hex.address(json.refundTo, "transaction.refundTo")

/** The deposit and the refunds among the frames of a ticket's transaction; the others are fees and the escrow. */
const framed = (transaction: Transaction, frame: Hex.Json): ReadonlyArray<TicketMove> => {
  const { from: sender } = transaction
  const refunded = refundTo(transaction)
  return Hex.array(frame.calls ?? [], "frame.calls").flatMap((item): ReadonlyArray<TicketMove> => {
    const call = Hex.object(item, "frame")
    if (call.type !== "INVALID" || call.value == null) return []
    const from = Hex.address(call.from, "frame.from")
    const to = Hex.address(call.to, "frame.to")
    const amount = Hex.quantity(call.value, "frame.value")
    if (Bytes.isZero(from) && Bytes.equal(to, sender)) return [{ purpose: "deposit", from: undefined, to, amount }]
    const isRefund = refunded !== undefined && Bytes.equal(from, sender) && Bytes.equal(to, refunded)
    return isRefund ? [{ purpose: "refund", from, to, amount }] : []
  })
}

/** The moves that the tracer shows; undefined for every other transaction, and where it shows none of them. */
export const movesOf = (transaction: Transaction, frame: Hex.Json): ReadonlyArray<TicketMove> | undefined => {
  if (!isTicket(transaction.type)) return undefined
  if (frame.beforeEVMTransfers === undefined && frame.afterEVMTransfers === undefined) return undefined
  return [
    ...listed(frame.beforeEVMTransfers),
    ...(transaction.type === submitType ? framed(transaction, frame) : []),
    ...listed(frame.afterEVMTransfers)
  ]
}

/**
 * The moves as transfers, net for each address. The frames do not tell the escrow from a fee: its amount is the ticket's,
 * and a ticket that failed has put nothing into it.
 */
export const transfers = (
  { from: sender, json, type }: Transaction,
  moves: ReadonlyArray<TicketMove>,
  transaction: number,
  succeeded: boolean
): ReadonlyArray<CoinTransfer> => {
  const sums = new Map<string, { readonly address: AddressBytes; sum: bigint }>()
  const add = (address: AddressBytes | undefined, amount: bigint) => {
    if (address === undefined) return
    const key = Bytes.key(address)
    const entry = sums.get(key)
    if (entry === undefined) sums.set(key, { address, sum: amount })
    else entry.sum += amount
  }
  const isTicket = type === submitType
  for (const { amount, from, purpose, to } of moves) {
    if (isTicket && purpose === "escrow" && !succeeded) continue
    add(from, -amount)
    add(to, amount)
  }
  if (isTicket && succeeded && !moves.some(({ purpose }) => purpose === "escrow")) {
    add(sender, -Hex.quantity(json.retryValue ?? "0x0", "transaction.retryValue"))
  }
  return [...sums.values()].flatMap(({ address, sum }): ReadonlyArray<CoinTransfer> => {
    const coin = { kind: "coin", transaction, position: 1 } as const
    if (sum > 0n) return [{ ...coin, from: undefined, to: address, amount: sum }]
    return sum < 0n ? [{ ...coin, from: address, to: undefined, amount: -sum }] : []
  })
}
