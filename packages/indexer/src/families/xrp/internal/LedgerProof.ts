/**
 * Proof that the transactions that a server shows, metadata included, are those that the ledger's header commits to.
 *
 * `delivered_amount` is the server's own addition: what it may say follows from fields that the ledger commits to.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Proof from "../../node/Proof.ts"
import * as LedgerBinary from "./LedgerBinary.ts"
import * as LedgerHash from "./LedgerHash.ts"
import * as TransactionTree from "./TransactionTree.ts"

/** A transaction as the server shows it, of either API version: fields, metadata, hash. */
const partsOf = (entry: LedgerBinary.Json) => {
  const { hash, meta, metaData, ...flat } = entry
  const { DeliverMax, ...fields } = Predicate.isReadonlyObject(entry.tx_json) ? entry.tx_json : flat
  return {
    hash,
    metadata: metaData ?? meta,
    // API version 2 has another name for the amount of a payment; version 1 shows it under both.
    transaction: DeliverMax === undefined || fields.Amount !== undefined ? fields : { ...fields, Amount: DeliverMax },
    contradicts: DeliverMax !== undefined && fields.Amount !== undefined && !isSame(DeliverMax, fields.Amount)
  }
}

const isSame = (a: unknown, b: unknown): boolean =>
  Predicate.isReadonlyObject(a) && Predicate.isReadonlyObject(b)
    ? Object.keys({ ...a, ...b }).every((key) => isSame(a[key], b[key]))
    : Object.is(a, b)

/** Whether what the server says was delivered is what metadata and transaction say. */
const isDeliveredRight = (transaction: LedgerBinary.Json, metadata: LedgerBinary.Json): boolean => {
  const said = metadata.delivered_amount
  return (
    said === undefined ||
    (said === "unavailable"
      ? metadata.DeliveredAmount === undefined
      : isSame(said, metadata.DeliveredAmount ?? transaction.Amount))
  )
}

/** The first transaction whose form is not known. */
interface Odd {
  readonly name: string
  readonly reason: string
}

/**
 * Proves all transactions of a ledger by `root`, 64 hex digits. One whose form is not known leaves the tree unproven;
 * every other one still has to have the hash that it is shown under.
 */
export function* ofTransactions(
  chain: Chain,
  entries: ReadonlyArray<unknown>,
  root: string
): Generator<void, Proof.Outcome> {
  const writer = LedgerBinary.make(chain)
  const leaves: Array<TransactionTree.Leaf> = []
  let odd: Odd | undefined
  const keys = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    yield
    const { contradicts, hash, metadata, transaction } = partsOf(Predicate.isReadonlyObject(entry) ? entry : {})
    const name = typeof hash === "string" && /^[0-9A-Fa-f]{64}$/.test(hash) ? hash.toUpperCase() : String(index)
    if (!Predicate.isReadonlyObject(metadata) || name === String(index)) {
      odd ??= { name, reason: Predicate.isReadonlyObject(metadata) ? "no hash" : "no metadata" }
      continue
    }
    const written = Result.all([writer.bytesOf(transaction), writer.bytesOf(metadata)])
    if (Result.isFailure(written)) {
      odd ??= { name, reason: `${written.failure} is of no known form` }
      continue
    }
    const [bytes, metadataBytes] = written.success
    const key = TransactionTree.transactionHash(bytes)
    const computed = key.toString("hex").toUpperCase()
    if (computed !== name) return Proof.mismatch(`transaction ${name} does not hash to its hash`)
    if (keys.has(name)) return Proof.mismatch(`transaction ${name} is there twice`)
    keys.add(name)
    if (contradicts) return Proof.mismatch(`transaction ${name}: DeliverMax is not Amount`)
    if (!isDeliveredRight(transaction, metadata)) {
      return Proof.mismatch(`transaction ${name}: delivered_amount is not what the ledger says`)
    }
    leaves.push(TransactionTree.leafOf(key, bytes, metadataBytes))
  }
  if (odd !== undefined) {
    return Proof.allBut(Proof.unknown("transactions", `transaction ${odd.name}: ${odd.reason}`))
  }
  return (yield* TransactionTree.rootOf(leaves)).toString("hex") === root.toLowerCase()
    ? Proof.nothing
    : Proof.mismatch("transaction_hash is not the root of the transactions: some are missing, foreign or changed")
}

const isHash = (value: unknown): value is string => typeof value === "string" && /^[0-9A-Fa-f]{64}$/.test(value)
const isCount = (value: unknown, below: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < below

/** Proves a header, whose fields are read as they are. */
const ofHeader = (header: LedgerBinary.Json): Proof.Outcome => {
  const bytes = (value: string) => Buffer.from(value, "hex")
  const { account_hash, close_flags, close_time, close_time_resolution, parent_close_time, total_coins } = header
  const { ledger_hash, parent_hash, transaction_hash } = header
  const index = Number(header.ledger_index)
  const odd = Object.entries({
    account_hash: isHash(account_hash),
    close_flags: isCount(close_flags, 2 ** 8),
    close_time_resolution: isCount(close_time_resolution, 2 ** 8),
    parent_close_time: isCount(parent_close_time, 2 ** 32),
    total_coins: typeof total_coins === "string" && /^\d{1,19}$/.test(total_coins),
    transaction_hash: isHash(transaction_hash)
  }).find(([, is]) => !is)
  if (odd !== undefined) {
    return Proof.allBut(Proof.unknown("header", `the server does not show ${odd[0]}`))
  }
  // What the links between blocks rest on is read, and refused, elsewhere.
  if (!isHash(ledger_hash) || !isHash(parent_hash) || !isCount(close_time, 2 ** 32) || !isCount(index, 2 ** 32)) {
    return Proof.nothing
  }
  const hash = LedgerHash.of({
    ledgerIndex: index,
    totalCoins: BigInt(total_coins as string),
    parentHash: bytes(parent_hash),
    transactionHash: bytes(transaction_hash as string),
    accountHash: bytes(account_hash as string),
    parentCloseTime: parent_close_time as number,
    closeTime: close_time,
    closeTimeResolution: close_time_resolution as number,
    closeFlags: close_flags as number
  })
  return Buffer.compare(hash, bytes(ledger_hash)) === 0
    ? Proof.nothing
    : Proof.mismatch("ledger_hash is not the hash of the header")
}

/** Proves a validated ledger as the `ledger` command answers it with expanded transactions. */
export function* of(chain: Chain, answer: unknown, level: Proof.Level): Generator<void, Proof.Outcome> {
  if (
    level === "links" ||
    !Predicate.isReadonlyObject(answer) ||
    answer.validated !== true ||
    !Predicate.isReadonlyObject(answer.ledger)
  ) {
    return Proof.nothing
  }
  const { transaction_hash: root, transactions } = answer.ledger
  const header = ofHeader(answer.ledger)
  if (header.mismatch !== undefined || !isHash(root) || !Array.isArray(transactions)) return header
  const { mismatch, unproven } = yield* ofTransactions(chain, transactions, root)
  return { mismatch, unproven: [...header.unproven, ...unproven] }
}
