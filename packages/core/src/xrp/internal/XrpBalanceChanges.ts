/** How a transaction changed the XRP of accounts, from the ledger entries that its metadata says it touched. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Drops = Schema.String.check(Schema.isPattern(/^\d{1,20}$/))
const Root = Schema.Literal("AccountRoot")
const Account = Schema.Struct({ Account: Schema.String, Balance: Drops })

const Created = Schema.Struct({ LedgerEntryType: Root, NewFields: Account })
const Changed = Schema.Struct({
  LedgerEntryType: Root,
  FinalFields: Account,
  /** What the transaction changed. */
  PreviousFields: Schema.optionalKey(Schema.Struct({ Balance: Schema.optionalKey(Drops) }))
})

const decodeNode = Schema.decodeUnknownResult(
  Schema.Union([
    Schema.Struct({ CreatedNode: Created }),
    Schema.Struct({ ModifiedNode: Changed }),
    Schema.Struct({ DeletedNode: Changed })
  ])
)

/**
 * Drops by classic address, in the order of the metadata, without those that stayed as they were; the fee is given back
 * to its payer. Entries that are no accounts do not count.
 */
export const of = (nodes: ReadonlyArray<unknown>, feePayer: string, fee: bigint): ReadonlyMap<string, bigint> => {
  const changes = new Map<string, bigint>()
  const add = (account: string, drops: bigint) => changes.set(account, (changes.get(account) ?? 0n) + drops)
  for (const json of nodes) {
    const read = decodeNode(json)
    if (Result.isFailure(read)) continue
    const node = read.success
    if ("CreatedNode" in node) {
      add(node.CreatedNode.NewFields.Account, BigInt(node.CreatedNode.NewFields.Balance))
      continue
    }
    const { FinalFields, PreviousFields } = "ModifiedNode" in node ? node.ModifiedNode : node.DeletedNode
    add(FinalFields.Account, BigInt(FinalFields.Balance) - BigInt(PreviousFields?.Balance ?? FinalFields.Balance))
  }
  if (changes.has(feePayer)) add(feePayer, fee)
  for (const [account, drops] of changes) if (drops === 0n) changes.delete(account)
  return changes
}
