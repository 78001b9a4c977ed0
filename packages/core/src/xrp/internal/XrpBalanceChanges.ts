/** How a transaction changed the XRP of accounts, from the ledger entries that its metadata says it touched. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Fields = Schema.optionalKey(Schema.Unknown)
const Entry = Schema.optionalKey(
  Schema.Struct({ LedgerEntryType: Schema.String, NewFields: Fields, FinalFields: Fields, PreviousFields: Fields })
)
const decodeNode = Schema.decodeUnknownResult(
  Schema.Struct({ CreatedNode: Entry, ModifiedNode: Entry, DeletedNode: Entry })
)

/** No balance is below zero; a fault of the ledger that made one so is read as it stands. */
const Drops = Schema.String.check(Schema.isPattern(/^-?\d{1,20}$/))
const decodeAccountRoot = Schema.decodeUnknownResult(
  Schema.Struct({
    /** Of an account that was created; without the fields that are zero. */
    NewFields: Schema.optionalKey(Schema.Struct({ Account: Schema.String, Balance: Schema.optionalKey(Drops) })),
    /** Of any other; absent where no field changed. */
    FinalFields: Schema.optionalKey(Schema.Struct({ Account: Schema.String, Balance: Drops })),
    /** What the transaction changed. */
    PreviousFields: Schema.optionalKey(Schema.Struct({ Balance: Schema.optionalKey(Drops) }))
  })
)

/**
 * Drops by classic address, in the order of the metadata, without those that stayed as they were; the fee is given back
 * to its payer. Entries that are no accounts do not count. Undefined where an entry cannot be read: any account's balance
 * may then have changed.
 */
export const of = (
  nodes: ReadonlyArray<unknown>,
  feePayer: string,
  fee: bigint
): ReadonlyMap<string, bigint> | undefined => {
  const changes = new Map<string, bigint>()
  const add = (account: string, drops: bigint) => changes.set(account, (changes.get(account) ?? 0n) + drops)
  for (const json of nodes) {
    const node = Result.getOrUndefined(decodeNode(json))
    const entry = node?.CreatedNode ?? node?.ModifiedNode ?? node?.DeletedNode
    if (entry === undefined) return undefined
    if (entry.LedgerEntryType !== "AccountRoot") continue
    const read = decodeAccountRoot(entry)
    if (Result.isFailure(read)) return undefined
    const { FinalFields, NewFields, PreviousFields } = read.success
    if (NewFields !== undefined) {
      add(NewFields.Account, BigInt(NewFields.Balance ?? "0"))
    } else if (FinalFields !== undefined) {
      add(FinalFields.Account, BigInt(FinalFields.Balance) - BigInt(PreviousFields?.Balance ?? FinalFields.Balance))
    }
  }
  if (changes.has(feePayer)) add(feePayer, fee)
  for (const [account, drops] of changes) if (drops === 0n) changes.delete(account)
  return changes
}
