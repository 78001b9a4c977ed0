/** Signed transactions of the XRP Ledger: decoded and checked, submitted to the servers, and looked for there. */
import { createHash } from "node:crypto"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Broadcasting from "../Broadcasting.ts"
import { type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import * as CompleteLedgers from "./internal/CompleteLedgers.ts"
import { isTransactionMissing } from "./internal/XrpReply.ts"
import * as OpenLedger from "./OpenLedger.ts"
import type { XrpClient, XrpNode } from "./XrpNode.ts"

export interface Options {
  readonly maximumFee: number
}

type Json = Readonly<Record<string, unknown>>

interface Decoded {
  readonly json: Json
  readonly id: Uint8Array
  readonly account: string
  /** Whose keys sign it, and who pays its fee unless a sponsor does: the account, or its `Delegate` (XLS-75). */
  readonly actor: string
  readonly fee: bigint
  /** 0 where a ticket stands in place of a sequence. */
  readonly sequence: number
  /** The last ledger that may have it; undefined for any. */
  readonly lastLedger: number | undefined
  /** The address that the one key is of; undefined where several have signed. */
  readonly signer: string | undefined
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex").toUpperCase()

/** `TXN`, before what is hashed for the id of a signed transaction. */
const idPrefix = Uint8Array.of(0x54, 0x58, 0x4e, 0)

/** The first half of SHA-512. */
const idOf = (raw: Uint8Array): Uint8Array =>
  new Uint8Array(createHash("sha512").update(idPrefix).update(raw).digest().subarray(0, 32))

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** Loaded with the first transaction: a chain is followed without them. */
const libraries = Effect.map(
  Effect.promise(() => Promise.all([import("ripple-binary-codec"), import("ripple-keypairs")])),
  ([codec, keypairs]) => ({ ...codec, ...keypairs, decodeBinary: codec.decode })
)
type Libraries = Effect.Success<typeof libraries>

/** Whether each of several signatures is of its key. */
const signersSigned = ({ encodeForMultisigning, verify }: Libraries, json: Json): boolean =>
  Array.isArray(json.Signers) &&
  json.Signers.length > 0 &&
  json.Signers.every(({ Signer: { Account, SigningPubKey, TxnSignature } }) =>
    verify(encodeForMultisigning(json, Account), TxnSignature, SigningPubKey)
  )

const isSigned = (libraries: Libraries, json: Json): boolean =>
  isText(json.SigningPubKey)
    ? isText(json.TxnSignature) &&
      libraries.verify(libraries.encodeForSigning(json), json.TxnSignature, json.SigningPubKey)
    : signersSigned(libraries, json)

const integer = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined)

/** Networks above this id name themselves in their transactions, others must not. */
const lastUnnamedNetwork = 1024

const networkFault = ({ xrp }: Chain, { NetworkID: named }: Json): string | undefined => {
  const { networkId } = xrp!
  const wanted = networkId > lastUnnamedNetwork ? networkId : undefined
  return named === wanted
    ? undefined
    : `its NetworkID must be ${wanted ?? "absent"}, and is ${String(named ?? "absent")}`
}

const read = (
  libraries: Libraries,
  chain: Chain,
  raw: Uint8Array
): Result.Result<Decoded, Broadcasting.BroadcastRefused> => {
  const { decodeBinary, deriveAddress, encode } = libraries
  const fail = (message: string) => Result.fail(Broadcasting.invalid(message))
  const text = hexOf(raw)
  const parsed = Result.try((): Json => decodeBinary(text))
  if (Result.isFailure(parsed)) return fail("must be a serialised transaction of the XRP Ledger")
  const json = parsed.success
  const { Account, Fee } = json
  if (!isText(Account) || !isText(Fee) || !/^\d+$/.test(Fee)) return fail("must have an Account and a Fee")
  if (Result.getOrUndefined(Result.try(() => encode(json))) !== text) return fail("must be in its canonical form")
  const network = networkFault(chain, json)
  if (network !== undefined) return fail(network)
  const signed = Result.try(() => isSigned(libraries, json))
  if (Result.isFailure(signed) || !signed.success) return fail("must be signed by the key, or the keys, that it names")
  return Result.succeed({
    ...{ json, account: Account, actor: isText(json.Delegate) ? json.Delegate : Account },
    ...{ fee: BigInt(Fee), id: idOf(raw) },
    sequence: integer(json.Sequence) ?? 0,
    lastLedger: integer(json.LastLedgerSequence),
    signer: isText(json.SigningPubKey) ? deriveAddress(json.SigningPubKey) : undefined
  })
}

const decode = (chain: Chain, raw: Uint8Array) =>
  Effect.flatMap(libraries, (libraries) => Effect.fromResult(read(libraries, chain, raw)))

/** Types whose fee is what an owned thing reserves. */
const dearTypes: ReadonlySet<unknown> = new Set(["AccountDelete", "AMMCreate", "VaultCreate", "LedgerStateFix"])

/** Among the flags of a sponsoring (XLS-68): the fee is the sponsor's. */
const sponsorsFee = 1

const isFeeSponsored = ({ Sponsor, SponsorFlags }: Json): boolean =>
  Sponsor !== undefined && ((integer(SponsorFlags) ?? 0) & sponsorsFee) !== 0

/** The fields in which a type has XRP that it spends, the first one that is there (rippled's `TxConsequences`). */
const spendingFields: Readonly<Record<string, ReadonlyArray<string>>> = {
  Payment: ["SendMax", "Amount"],
  OfferCreate: ["TakerGets"],
  EscrowCreate: ["Amount"],
  PaymentChannelCreate: ["Amount"],
  PaymentChannelFund: ["Amount"]
}

/** The most that a transaction takes of its account, in drops. */
const costOf = ({ account, actor, fee, json }: Decoded): bigint => {
  const fields = spendingFields[String(json.TransactionType)] ?? []
  const amount = fields.map((field) => json[field]).find((found) => found !== undefined)
  const spent = typeof amount === "string" && /^\d+$/.test(amount) ? BigInt(amount) : 0n
  return spent + (actor === account && !isFeeSponsored(json) ? fee : 0n)
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0)

/** How many keys have signed in place of one, of the account and of its sponsor: each costs as much as a transaction. */
const signersOf = ({ Signers, SponsorSignature: sponsor }: Json): number =>
  lengthOf(Signers) + lengthOf(Predicate.isReadonlyObject(sponsor) ? sponsor.Signers : undefined)

/** Results with which a server keeps the transaction: applied, queued, held for an earlier one, or had already. */
const taken = /^(?:tes|tec|terQUEUED|terPRE_SEQ|tefALREADY)/

const give = (raw: Uint8Array) => (server: XrpClient) =>
  server.request("submit", { tx_blob: hexOf(raw) }).pipe(
    Effect.map(({ engine_result: code, engine_result_message: said, accepted }): Broadcasting.Answer => {
      if (typeof code !== "string") return { state: "unanswered", message: "the server gave no engine_result" }
      return accepted === true || taken.test(code)
        ? { state: "taken" }
        : { state: "refused", message: `${code}: ${String(said ?? "")}`.slice(0, 300) }
    })
  )

const inconsistent = (server: XrpClient, method: string, message: string) =>
  new NodeInconsistent({ node: server.name, method, message })

/** Hash of a validated ledger. */
const ledgerHash = Effect.fnUntraced(function* (server: XrpClient, index: number) {
  const { ledger_hash: hash } = yield* server.requestLedger("ledger", { ledger_index: index })
  if (typeof hash === "string" && /^[0-9A-F]{64}$/.test(hash)) return new Uint8Array(Buffer.from(hash, "hex"))
  return yield* inconsistent(server, "ledger", "ledger_hash must be 64 hexadecimal digits")
})

/** Whether a server has all of these ledgers: many keep those of the last half hour alone, or lack some in between. */
const hasAll = Effect.fnUntraced(function* (server: XrpClient, first: number, last: number) {
  const { info } = yield* server.request("server_info", {})
  const complete = Predicate.isReadonlyObject(info) ? info.complete_ledgers : undefined
  const ranges = CompleteLedgers.parse(typeof complete === "string" ? complete : "")
  return first > last || ranges.some(([from, to]) => from <= first && to >= last)
})

/** What became of it, where no ledger that the server has holds it. */
const withoutLedger = Effect.fnUntraced(function* (
  server: XrpClient,
  { account, lastLedger, sequence }: Decoded,
  since: number | undefined
) {
  const asked = server.request("account_info", { account, ledger_index: "validated" })
  const answer = yield* Effect.catchTag(asked, "NodeRejected", () => Effect.succeed<Json>({}))
  const { account_data: data, ledger_index: validated } = answer
  const last = Math.min(lastLedger ?? Infinity, integer(validated) ?? Infinity)
  if (since !== undefined && !(yield* hasAll(server, since, last))) {
    return { state: "absent", mayCome: true, hidden: true } satisfies Broadcasting.Standing
  }
  const next = Predicate.isReadonlyObject(data) ? (integer(data.Sequence) ?? 0) : 0
  if (sequence !== 0 && next > sequence) {
    const message = `another transaction of the sender with the sequence ${sequence} was validated`
    return { state: "replaced", message } satisfies Broadcasting.Standing
  }
  if (lastLedger !== undefined && (integer(validated) ?? 0) > lastLedger) {
    return { state: "dropped", message: `its LastLedgerSequence ${lastLedger} is past` } satisfies Broadcasting.Standing
  }
  return { state: "absent", mayCome: lastLedger !== undefined } satisfies Broadcasting.Standing
})

const locatedAt = (id: Uint8Array) =>
  Effect.fnUntraced(function* (server: XrpClient): Effect.fn.Return<Broadcasting.Located, NodeError> {
    const found = yield* Effect.result(server.request("tx", { transaction: hexOf(id), binary: false }))
    if (Result.isFailure(found)) {
      return isTransactionMissing(found.failure) ? { state: "absent" } : yield* found.failure
    }
    const { ledger_index: index, meta, validated } = found.success
    if (validated !== true) return { state: "waiting" }
    const height = integer(index)
    const code = Predicate.isReadonlyObject(meta) ? meta.TransactionResult : undefined
    if (height === undefined || typeof code !== "string") {
      return yield* inconsistent(server, "tx", "must have a ledger_index and a TransactionResult")
    }
    const hash = yield* ledgerHash(server, height)
    return { state: "mined", height, hash, ...(code === "tesSUCCESS" ? {} : { error: code }) }
  })

/** A server that has not come to the ledger at which it is asked knows nothing of those since. */
const locatedUpTo = (id: Uint8Array, upTo: number) =>
  Effect.fnUntraced(function* (server: XrpClient): Effect.fn.Return<Broadcasting.Located, NodeError> {
    // Before it is looked for: a ledger may have it in between.
    const { ledger_index: index } = yield* server.requestLedger("ledger", { ledger_index: "validated" })
    const located = yield* locatedAt(id)(server)
    if (located.state !== "absent" || Number(index) >= upTo) return located
    return yield* inconsistent(server, "tx", `the server is at ledger ${index}, and has not come to ledger ${upTo}`)
  })

const standingAt = (decoded: Decoded, since: number | undefined) =>
  Effect.fnUntraced(function* (server: XrpClient): Effect.fn.Return<Broadcasting.Standing, NodeError> {
    const located = yield* locatedAt(decoded.id)(server)
    return located.state === "absent" ? yield* withoutLedger(server, decoded, since) : located
  })

export const make = (chain: Chain, node: XrpNode, { maximumFee }: Options): Broadcasting.Broadcasting => {
  const ledger = OpenLedger.make(chain, node)

  /** What is usual for its type, and for so many signatures. */
  const usualFee = Effect.fnUntraced(function* ({ json }: Decoded) {
    const { minimum, openLedger } = yield* ledger.fees
    const dear = dearTypes.has(json.TransactionType) ? (yield* ledger.reserves).increment : 0n
    const usual = [minimum, openLedger, dear].reduce((most, fee) => (fee > most ? fee : most))
    return usual * BigInt(1 + signersOf(json))
  })

  return {
    idOf: Effect.fn("XrpBroadcasting.idOf")((raw) => Effect.map(decode(chain, raw), ({ id }) => id)),
    numberOf: (raw) =>
      Effect.map(Effect.orDie(decode(chain, raw)), (decoded) => {
        const { account, sequence } = decoded
        const sender = Address.decode(chain, account)
        return sequence === 0 || Result.isFailure(sender)
          ? undefined
          : { sender: sender.success, number: sequence, cost: costOf(decoded) }
      }),
    check: Effect.fn("XrpBroadcasting.check")(function* (raw) {
      const decoded = yield* decode(chain, raw)
      const { account, actor, fee, json, lastLedger, sequence, signer } = decoded
      const fault = Broadcasting.feeFault(fee, yield* usualFee(decoded), maximumFee, "drops")
      if (fault !== undefined) return yield* Broadcasting.invalid(fault)
      const accountOf = Effect.fnUntraced(function* (text: string, field: string) {
        const address = Address.decode(chain, text)
        const found = Result.isSuccess(address) ? yield* ledger.account(address.success) : undefined
        return found ?? (yield* Broadcasting.contradicted(`its ${field} is not in the ledger`))
      })
      const owner = yield* accountOf(account, "Account")
      const acting = actor === account ? owner : yield* accountOf(actor, "Delegate")
      const maySign = signer === undefined || (signer === actor ? !acting.masterDisabled : signer === acting.regularKey)
      if (!maySign) {
        const field = actor === account ? "Account" : "Delegate"
        return yield* Broadcasting.contradicted(`its key may not sign for its ${field}`)
      }
      // Those of the open ledger and of the queue are counted: one of them may be replaced by a higher fee.
      const { account_data: data } = yield* node.request("account_info", { account, ledger_index: "validated" })
      const next = Predicate.isReadonlyObject(data) ? (integer(data.Sequence) ?? 0) : 0
      if (sequence !== 0 && sequence < next) {
        return yield* Broadcasting.contradicted(`its Sequence must be ${next} or above, and is ${sequence}`)
      }
      const validated = yield* ledger.validated
      if (lastLedger !== undefined && lastLedger <= validated) {
        return yield* Broadcasting.contradicted(
          `its LastLedgerSequence must be above the newest ledger, ${validated}, and is ${lastLedger}`
        )
      }
      if (!isFeeSponsored(json) && fee > acting.balance) {
        return yield* Broadcasting.contradicted(`its payer has ${acting.balance} drops, and its Fee is ${fee}`)
      }
    }),
    send: Effect.fn("XrpBroadcasting.send")((raw) => Broadcasting.toEvery(node.each, give(raw))),
    standing: Effect.fn("XrpBroadcasting.standing")(function* (raw, since) {
      const decoded = yield* Effect.orDie(decode(chain, raw))
      return yield* Broadcasting.ofEvery(node.each, standingAt(decoded, since))
    }),
    find: Effect.fn("XrpBroadcasting.find")((id, upTo) => Broadcasting.ofAny(node.each, locatedUpTo(id, upTo)))
  }
}
