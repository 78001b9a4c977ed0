/** A transaction's metadata, read for XRP: the ledger entries that it touched, as they were before and after. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** No balance is below zero; a fault of the ledger that made one so is read as it stands. */
const Drops = Schema.String.check(Schema.isPattern(/^-?\d{1,20}$/))
const decodeAccountRoot = Schema.decodeUnknownResult(
  Schema.Struct({
    /** Of an account that was created; without the fields that are zero. */
    NewFields: Schema.optionalKey(Schema.Struct({ Account: Schema.String, Balance: Schema.optionalKey(Drops) })),
    /** Of any other; absent where no field changed. */
    FinalFields: Schema.optionalKey(Schema.Struct({ Account: Schema.String, Balance: Drops })),
    /** Ledger entries that the transaction changed. */
    PreviousFields: Schema.optionalKey(Schema.Struct({ Balance: Schema.optionalKey(Drops) }))
  })
)

type Json = Readonly<Record<string, unknown>>

const objectOf = (json: unknown): Json | undefined =>
  typeof json === "object" && json !== null ? (json as Json) : undefined

/** An entry of a type that is known; undefined for what is no entry. */
const entryOf = (json: unknown): Json | undefined => {
  const node = objectOf(json)
  const entry = objectOf(node?.CreatedNode ?? node?.ModifiedNode ?? node?.DeletedNode)
  return typeof entry?.LedgerEntryType === "string" ? entry : undefined
}

/**
 * Drops by classic address of every account that the metadata shows, in its order; the fee is given back to its payer.
 * Entries that are no accounts do not count. Undefined where an entry cannot be read: any account's balance may then
 * have changed.
 */
export const balanceChanges = (
  nodes: ReadonlyArray<unknown>,
  feePayer: string,
  fee: bigint
): ReadonlyMap<string, bigint> | undefined => {
  const changes = new Map<string, bigint>()
  const add = (account: string, drops: bigint) => changes.set(account, (changes.get(account) ?? 0n) + drops)
  for (const json of nodes) {
    const entry = entryOf(json)
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
  return changes
}

const TokenAmount = Schema.String.check(Schema.isPattern(/^\d{1,20}$/))
const decodeTokens = Schema.decodeUnknownResult(
  Schema.Struct({
    /** Of a holder; an amount of none is left out. */
    Account: Schema.optionalKey(Schema.String),
    MPTokenIssuanceID: Schema.optionalKey(Schema.String),
    MPTAmount: Schema.optionalKey(TokenAmount),
    /** Of an issuance, whose id is the sequence before the issuer. */
    Issuer: Schema.optionalKey(Schema.String),
    Sequence: Schema.optionalKey(Schema.Int),
    OutstandingAmount: Schema.optionalKey(TokenAmount)
  })
)

/** The multi-purpose tokens (XLS-33) that the recipient of a payment gained, or its issuer took back; undefined where no entry tells. */
export const tokensGained = (nodes: ReadonlyArray<unknown>, account: string, issuance: string): bigint | undefined => {
  for (const json of nodes) {
    const entry = entryOf(json)
    const read = Result.all([
      decodeTokens(entry?.FinalFields ?? entry?.NewFields),
      decodeTokens(entry?.PreviousFields ?? {})
    ])
    if (Result.isFailure(read)) continue
    const [after, before] = read.success
    if (entry?.LedgerEntryType === "MPToken" && after.Account === account) {
      if (after.MPTokenIssuanceID?.toUpperCase() !== issuance.toUpperCase()) continue
      return BigInt(after.MPTAmount ?? "0") - BigInt(before.MPTAmount ?? "0")
    }
    if (entry?.LedgerEntryType === "MPTokenIssuance" && after.Issuer === account) {
      if (after.Sequence !== Number.parseInt(issuance.slice(0, 8), 16)) continue
      const left = after.OutstandingAmount ?? "0"
      return BigInt(before.OutstandingAmount ?? left) - BigInt(left)
    }
  }
  return undefined
}

const decodeSponsorship = Schema.decodeUnknownResult(Schema.Struct({ Owner: Schema.String, Sponsee: Schema.String }))

/**
 * Whether a sponsor had put XRP by for the fees of an account (XLS-68): where there was such an entry before, fees are taken
 * from that alone.
 */
export const areFeesFunded = (nodes: ReadonlyArray<unknown>, sponsor: string, sponsee: string): boolean =>
  nodes.some((json) => {
    const entry = entryOf(json)
    if (entry?.LedgerEntryType !== "Sponsorship") return false
    // An entry that was created has no final fields.
    const read = decodeSponsorship(entry.FinalFields)
    return Result.isSuccess(read) && read.success.Owner === sponsor && read.success.Sponsee === sponsee
  })

/** Who gives XRP to whom, and the tags by which the two tell their users apart. */
export interface Parties {
  readonly account: string
  readonly destination: string | undefined
  readonly sourceTag: number | undefined
  readonly destinationTag: number | undefined
}

/** Entries that hold or promise XRP of one account for another: what they pay is tagged as they are. */
const promises: ReadonlySet<unknown> = new Set(["Escrow", "PayChannel", "Check"])

const Tag = Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 32 - 1 })))
const decodePromise = Schema.decodeUnknownResult(
  Schema.Struct({ Account: Schema.String, Destination: Schema.String, SourceTag: Tag, DestinationTag: Tag })
)

/** The parties of the escrows, payment channels and checks that were there before, and that the transaction touched. */
export const partiesOfPromises = (nodes: ReadonlyArray<unknown>): ReadonlyArray<Parties> =>
  nodes.flatMap((json) => {
    const entry = entryOf(json)
    if (!promises.has(entry?.LedgerEntryType)) return []
    const read = decodePromise(entry?.FinalFields)
    if (Result.isFailure(read)) return []
    const { Account, Destination, DestinationTag, SourceTag } = read.success
    return [{ account: Account, destination: Destination, sourceTag: SourceTag, destinationTag: DestinationTag }]
  })

/** The fields of the escrow that was there before, and that the transaction ended; undefined where there is none. */
export const endedEscrow = (nodes: ReadonlyArray<unknown>): Json | undefined => {
  const escrow = nodes.map(entryOf).find((entry) => entry?.LedgerEntryType === "Escrow")
  return objectOf(escrow?.FinalFields)
}
