/**
 * Calls within a transaction that moved TRX, as a transaction's info lists them, where its node keeps them
 * (`vm.saveInternalTx`, off by default).
 *
 * The list is flat and in order of execution; an operation is named by its place in it. Moves of TRC-10 tokens are none,
 * nor are the entries for staking, voting and resources, whose amounts do not go to another account.
 */
import type { InternalTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Capability from "../../Capability.ts"
import * as TronJson from "./TronJson.ts"

export const InternalTransaction = Schema.Struct({
  caller_address: Schema.String,
  transferTo_address: Schema.optionalKey(Schema.String),
  callValueInfo: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        /** Negative where a contract asked to stake 2^63 sun or more, which is refused: java-tron lists the lowest 64 bits. */
        callValue: Schema.optionalKey(TronJson.SignedSun),
        tokenId: Schema.optionalKey(Schema.String)
      })
    )
  ),
  /** Hexadecimal text: what kind of operation it was. */
  note: Schema.optionalKey(Schema.String),
  /** The operation, or a call around it, was undone. */
  rejected: Schema.optionalKey(Schema.Boolean)
})
export type InternalTransaction = typeof InternalTransaction.Type

/** The operations that move TRX from one account to another, in the words that other chains use. */
const movingTypes: ReadonlyMap<string, string> = new Map([
  ["call", "call"],
  ["create", "create"],
  ["suicide", "selfdestruct"]
])

const typeOf = (note = ""): string | undefined =>
  movingTypes.get(note) ?? movingTypes.get(Buffer.from(note, "hex").toString())

const read = Schema.decodeUnknownResult(InternalTransaction)

/**
 * The internal transfer that entry number `index` of transaction number `transaction` tells, which did not fail;
 * undefined for one that moves no TRX. The failure is the rule that the entry breaks.
 */
export const decode = (
  chain: Chain,
  entry: unknown,
  transaction: number,
  index: number
): Result.Result<InternalTransfer | undefined, string> =>
  Result.gen(function* () {
    const internal = yield* Result.mapError(
      read(entry),
      ({ message }) => `internal_transactions[${index}]: ${message.split("\n")[0]}`
    )
    const operationType = typeOf(internal.note)
    if (operationType === undefined || internal.rejected === true) return undefined
    const amount = (internal.callValueInfo ?? [])
      .filter(({ tokenId }) => tokenId === undefined || tokenId === "")
      .reduce((sum, { callValue = 0 }) => sum + BigInt(callValue), 0n)
    if (amount === 0n) return undefined
    if (amount < 0n) return yield* Result.fail(`internal_transactions[${index}]: callValue must not be negative`)
    const from = yield* TronJson.address(chain, internal.caller_address, "caller_address")
    const to = yield* TronJson.address(chain, internal.transferTo_address ?? "", "transferTo_address")
    // CALLCODE is listed so, and moves nothing; a call of the account itself with coins fails (`validateForSmartContract`). What
    // a contract leaves to itself with its own end is burnt, or stays where it is.
    if (operationType !== "create" && Bytes.equal(from, to)) return undefined
    return { kind: "internal", transaction, operation: `call_${index}`, operationType, from, to, amount }
  })

/** What of a transaction's info tells whether its node keeps internal transactions. */
const Telling = Schema.Struct({
  contract_address: Schema.optionalKey(Schema.String),
  log: Schema.optionalKey(Schema.Array(Schema.Struct({ address: Schema.String }))),
  internal_transactions: Schema.optionalKey(Schema.Array(Schema.Unknown))
})
const isTelling = Schema.is(Telling)

/** The 40 digits of an address of the API, with or without version. */
const account = (hex: string): string => hex.slice(-40).toLowerCase()

/**
 * Whether a node keeps internal transactions, as far as these infos show it: true if an info lists some; false if a
 * contract other than the one called has logged, which takes a call, and no call is listed; else undefined.
 */
export function* areKept(infos: ReadonlyArray<unknown>): Generator<void, boolean | undefined> {
  const telling = (yield* TimeSlice.map(infos, (info) => (isTelling(info) ? info : undefined))).filter(
    (info) => info !== undefined
  )
  if (telling.some(({ internal_transactions: internals = [] }) => internals.length > 0)) return true
  const called = telling.some(
    ({ contract_address: contract, log = [] }) =>
      contract !== undefined && log.some(({ address }) => account(address) !== account(contract))
  )
  return called ? false : undefined
}

const advice =
  "set vm.saveInternalTx = true in its configuration and restart it, which helps for blocks from then on; or set " +
  "internalTransactions = false, and do without"

/** Whether a node keeps internal transactions; `kept` is undefined where no block has shown it yet. */
export const capability = (wanted: boolean, kept: boolean | undefined): Capability.Capability => {
  const name = Capability.internalTransactions
  if (!wanted) return Capability.lacks(name, "not fetched: switched off by the settings", { advice })
  if (kept === true) return Capability.has(name, "internal_transactions in the infos of transactions")
  return kept === false
    ? Capability.lacks(
        name,
        "the node does not keep internal transactions: set vm.saveInternalTx = true in its configuration",
        { advice }
      )
    : Capability.lacks(
        name,
        "no block has shown yet whether the node keeps internal transactions (vm.saveInternalTx = true)",
        { advice, unsure: true }
      )
}
