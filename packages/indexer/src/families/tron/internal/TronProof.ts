/**
 * Proof that a block's id is the hash of its header, that the header commits to the transactions with their results and
 * signatures, and whose signatures they are.
 *
 * Source: java-tron's `Tron.proto`, `BlockCapsule`, `MerkleTree`. The node's JSON is read as it is: what the wire format
 * does not know is unproven, and stops nothing.
 *
 * Nothing in a block commits to the infos of its transactions: logs, hence tokens, and internal transactions.
 */
import { hash } from "node:crypto"
import type { UnprovenPart } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import * as TronJson from "./TronJson.ts"

type Json = Readonly<Record<string, unknown>>

const objectOf = (value: unknown): Json => (Predicate.isReadonlyObject(value) ? value : {})
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const sha256 = (bytes: Uint8Array): Buffer => hash("sha256", bytes, "buffer")

/** The bytes of a number; below 2^31 without bigints, which take several times as long. */
const varint = (value: bigint | number): Array<number> => {
  const out: Array<number> = []
  let small = Number(value)
  if (small < 0 || small >= 2 ** 31) {
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest >= 2n ** 31n; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80)
    small = Number(rest)
  }
  for (; small >= 0x80; small >>>= 7) out.push((small & 0x7f) | 0x80)
  out.push(small)
  return out
}

/** What stands before the content of a field of bytes. */
const bytesPrefix = (number: number, length: number): Uint8Array =>
  Uint8Array.from([...varint(number * 8 + 2), ...varint(length)])

const bytesField = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([bytesPrefix(number, bytes.length), bytes])

/** A number in JSON, or its text where a float could have changed it. */
const integer = /^-?\d{1,19}$/

/** The bytes of a text that is not empty, in either case of letters. */
const bytesOf = (text: unknown): Uint8Array | undefined => (text === "" ? undefined : TronJson.bytesOf(text))

type Kind = "integer" | "bytes" | Readonly<Record<string, number>>
type Fields = Readonly<Record<string, readonly [number: number, kind: Kind]>>

/** A field in wire format, none for a zero or nothing, which proto3 leaves out; undefined for what is none of its kind. */
const fieldOf = (value: unknown, number: number, kind: Kind): Buffer | undefined => {
  if (kind === "bytes") {
    if (value === "") return Buffer.alloc(0)
    const bytes = bytesOf(value)
    return bytes && bytesField(number, bytes)
  }
  const text = kind === "integer" ? String(value) : String(kind[String(value)])
  if (!integer.test(text)) return undefined
  const read = BigInt(text)
  return read === 0n ? Buffer.alloc(0) : Buffer.from([...varint(number * 8), ...varint(read)])
}

/** A message of these fields; the failure names the field that is not known. */
const messageOf = (json: Json, fields: Fields): Result.Result<Buffer, string> => {
  const parts: Array<readonly [number, Buffer]> = []
  for (const [name, value] of Object.entries(json)) {
    const [number, kind] = Object.hasOwn(fields, name) ? fields[name]! : [0, "bytes" as const]
    const field = number === 0 ? undefined : fieldOf(value, number, kind)
    if (field === undefined) return Result.fail(`field ${name.slice(0, 64)} is of no known form`)
    parts.push([number, field])
  }
  return Result.succeed(Buffer.concat(parts.sort(([a], [b]) => a - b).map(([, field]) => field)))
}

const headerFields: Fields = {
  timestamp: [1, "integer"],
  txTrieRoot: [2, "bytes"],
  parentHash: [3, "bytes"],
  number: [7, "integer"],
  witness_id: [8, "integer"],
  witness_address: [9, "bytes"],
  version: [10, "integer"],
  accountStateRoot: [11, "bytes"]
}

/** `Transaction.Result`, as far as blocks have it. */
const resultFields: Fields = {
  fee: [1, "integer"],
  ret: [2, { SUCESS: 0, FAILED: 1 }],
  contractRet: [
    3,
    {
      ...{ DEFAULT: 0, SUCCESS: 1, REVERT: 2, BAD_JUMP_DESTINATION: 3, OUT_OF_MEMORY: 4, PRECOMPILED_CONTRACT: 5 },
      ...{ STACK_TOO_SMALL: 6, STACK_TOO_LARGE: 7, ILLEGAL_OPERATION: 8, STACK_OVERFLOW: 9, OUT_OF_ENERGY: 10 },
      ...{ OUT_OF_TIME: 11, JVM_STACK_OVER_FLOW: 12, UNKNOWN: 13, TRANSFER_FAILED: 14, INVALID_CODE: 15 }
    }
  ]
}

/** `PQAuthSig`: a signature by a key that no quantum computer finds (TIP-899). */
const otherSignatureFields: Fields = {
  scheme: [1, { UNKNOWN_PQ_SCHEME: 0, FN_DSA_512: 1, ML_DSA_44: 2 }],
  public_key: [2, "bytes"],
  signature: [3, "bytes"]
}

/** What nodes write of a transaction: its fields, and what follows from these. */
const transactionNames: ReadonlySet<string> = new Set([
  ...["raw_data", "raw_data_hex", "signature", "ret", "pq_auth_sig"],
  ...["txID", "contract_address", "visible"]
])

/** The hash that a witness signs, and the id that the block has by it. */
const headerHash = (header: Json): Result.Result<Buffer, string> => Result.map(messageOf(header, headerFields), sha256)

const idOf = (height: number, headerHash: Buffer): Buffer => {
  const id = Buffer.from(headerHash)
  id.writeBigUInt64BE(BigInt(height), 0)
  return id
}

/** The id of a block by its header, as the node's JSON has both. Throws where a field of the header is not known. */
export const idOfHeader = (header: Json): string =>
  idOf(Number(header.number ?? 0), Result.getOrThrow(headerHash(header))).toString("hex")

/** The whole transaction in wire format, signatures and results included. */
const wireOf = (transaction: Json): Result.Result<Buffer, string> => {
  const rawData = bytesOf(transaction.raw_data_hex)
  if (rawData === undefined) return Result.fail("raw_data_hex is not there")
  const parts = [bytesPrefix(1, rawData.length), rawData]
  for (const text of listOf(transaction.signature)) {
    const signature = bytesOf(text)
    if (signature === undefined) return Result.fail("a signature is no bytes")
    parts.push(bytesPrefix(2, signature.length), signature)
  }
  const messages = [
    ...listOf(transaction.ret).map((result) => [5, result, resultFields] as const),
    ...listOf(transaction.pq_auth_sig).map((signature) => [6, signature, otherSignatureFields] as const)
  ]
  for (const [number, json, fields] of messages) {
    const message = messageOf(objectOf(json), fields)
    if (Result.isFailure(message)) return message
    parts.push(bytesPrefix(number, message.success.length), message.success)
  }
  return Result.succeed(Buffer.concat(parts))
}

/**
 * A transaction with a field that is not known here: one of a later version, or one that anybody has put there, since neither id
 * nor signature covers what stands beside `raw_data`.
 */
const withForeignField = (transactions: ReadonlyArray<Json>): string | undefined => {
  for (const transaction of transactions) {
    const name = Object.keys(transaction).find((name) => !transactionNames.has(name))
    if (name !== undefined) return `transaction ${String(transaction.txID).slice(0, 64)}: field ${name} is not known`
  }
  return undefined
}

/** A leaf of the tree. */
const leafOf = (transaction: Json): Result.Result<Buffer, string> => Result.map(wireOf(transaction), sha256)

/** The bytes of a field of bytes: its number, which is below 16, and its length come first. */
const fieldSize = (content: Uint8Array): number => bytesField(1, content).length

/** How many bytes the block has in wire format, by the node's JSON; the failure names the field that is not known. */
export function* sizeOf(answer: unknown): Generator<void, Result.Result<number, string>> {
  const { block_header: header, transactions } = objectOf(answer)
  const { pq_auth_sig: other, raw_data: raw, witness_signature: signature = "" } = objectOf(header)
  const wire = messageOf(objectOf(raw), headerFields)
  if (Result.isFailure(wire)) return Result.fail(wire.failure)
  const signed = fieldOf(signature, 2, "bytes")
  if (signed === undefined) return Result.fail("witness_signature is no bytes")
  const otherSigned =
    other === undefined
      ? Result.succeed(Buffer.alloc(0))
      : Result.map(messageOf(objectOf(other), otherSignatureFields), (message) => bytesField(3, message))
  if (Result.isFailure(otherSigned)) return Result.fail(otherSigned.failure)
  let size = fieldSize(Buffer.concat([bytesField(1, wire.success), signed, otherSigned.success]))
  for (const transaction of listOf(transactions)) {
    const bytes = wireOf(objectOf(transaction))
    if (Result.isFailure(bytes)) return Result.fail(bytes.failure)
    size += fieldSize(bytes.success)
    yield
  }
  return Result.succeed(size)
}

const noTransactions = Buffer.alloc(32)

/** The root of java-tron's tree: an odd node is moved up as it is. */
function* rootOf(leaves: ReadonlyArray<Buffer>): Generator<void, Buffer> {
  let level = leaves
  while (level.length > 1) {
    const above: Array<Buffer> = []
    for (let at = 0; at < level.length; at += 2) {
      const right = level[at + 1]
      above.push(right === undefined ? level[at]! : sha256(Buffer.concat([level[at]!, right])))
      yield
    }
    level = above
  }
  return level[0] ?? noTransactions
}

/** The root over transactions in the node's JSON. Throws where one of them is of a form that is not known. */
export const rootOfTransactions = (transactions: ReadonlyArray<Json>): string =>
  TimeSlice.atOnce(rootOf(transactions.map((transaction) => Result.getOrThrow(leafOf(transaction))))).toString("hex")

const isBytes = (text: unknown, bytes: Uint8Array): boolean => {
  const stated = bytesOf(text)
  return stated !== undefined && Bytes.equal(stated, bytes)
}

/** Whether the first signature is that of the account whose contract it is. */
const isSignedByOwner = ({ raw_data_hex: rawDataHex, signature }: Json): boolean => {
  const [signed, ...more] = listOf(signature)
  if (typeof rawDataHex !== "string" || typeof signed !== "string" || more.length > 0) return false
  const rawData = Buffer.from(rawDataHex, "hex")
  const read = TronTransaction.decode(rawData)
  const owner =
    Result.isSuccess(read) && read.success.contracts.length === 1 ? read.success.contracts[0]!.owner : undefined
  const signer = TronTransaction.signer(TronTransaction.id(rawData), Buffer.from(signed, "hex"))
  return owner !== undefined && signer !== undefined && Bytes.equal(owner, signer)
}

const fine: ReadonlySet<unknown> = new Set([undefined, "SUCCESS", "DEFAULT"])

/** Whether an info says otherwise of a transaction's result than the block, which commits to it. */
const contradicts = (transaction: Json, info: Json): boolean => {
  const [{ contractRet } = {} as Json, ...more] = listOf(transaction.ret).map(objectOf)
  if (more.length > 0 || typeof contractRet !== "string" || contractRet === "DEFAULT") return false
  const said = objectOf(info.receipt).result
  const failed = info.result === "FAILED" || !fine.has(said)
  return failed !== !fine.has(contractRet) && (failed || said !== undefined)
}

const infosUnproven = Proof.uncommitted(
  "transaction infos",
  "no block commits to logs and internal transactions: tokens and internal transactions are on the node's word"
)

/** What is not proved of signatures: a key that an account's permission names is known to the state alone. */
function* signaturesOf(
  answer: Json,
  header: Json,
  headerHash: Buffer | undefined
): Generator<void, ReadonlyArray<UnprovenPart>> {
  const transactions = listOf(answer.transactions).map(objectOf)
  const others = (yield* TimeSlice.map(transactions, isSignedByOwner)).filter((isOwn) => !isOwn).length
  const { witness_signature: signed } = objectOf(answer.block_header)
  const witness =
    headerHash === undefined || typeof signed !== "string"
      ? undefined
      : TronTransaction.signer(headerHash, Buffer.from(signed, "hex"))
  const address = witness && Buffer.concat([Uint8Array.of(0x41), witness])
  return [
    ...(others === 0
      ? []
      : [
          Proof.uncommitted(
            "signatures",
            `${others} of ${transactions.length} transactions are not signed by the owner's key alone: permissions of accounts are not in blocks`
          )
        ]),
    ...(address !== undefined && isBytes(header.witness_address, address)
      ? []
      : [
          Proof.uncommitted(
            "witness",
            "the block is not signed by the witness's own key: permissions are not in blocks"
          )
        ])
  ]
}

/**
 * Proves the block that a node answered with, `infos` beside it. Signatures too at `full`: those of other keys than the
 * owner's are unproven, since an account may give others permission.
 */
export function* of(
  answer: unknown,
  infos: ReadonlyArray<unknown>,
  level: Proof.Level
): Generator<void, Proof.Outcome> {
  if (level === "links") return Proof.nothing
  const block = objectOf(answer)
  const header = objectOf(objectOf(block.block_header).raw_data)
  const height = Number(header.number ?? 0)
  // The first block is known by its id, which is in no header.
  if (height === 0) return Proof.allBut(Proof.unknown("block", "the first block has rules of its own"))
  const unproven: Array<UnprovenPart> = []
  const hashed = headerHash(header)
  if (Result.isFailure(hashed)) unproven.push(Proof.unknown("header", hashed.failure))
  else if (!isBytes(block.blockID, idOf(height, hashed.success))) {
    return Proof.mismatch(`blockID is not the hash of the header of block ${height}`)
  }

  const transactions = listOf(block.transactions).map(objectOf)
  const leaves: Array<Buffer> = []
  let odd: string | undefined
  for (const transaction of transactions) {
    const leaf = leafOf(transaction)
    if (Result.isSuccess(leaf)) leaves.push(leaf.success)
    else odd ??= `transaction ${String(transaction.txID).slice(0, 64)}: ${leaf.failure}`
    yield
  }
  if (odd === undefined && !isBytes(header.txTrieRoot, yield* rootOf(leaves))) {
    odd = withForeignField(transactions)
    if (odd === undefined) {
      return Proof.mismatch("txTrieRoot is not that of the transactions: some are missing, foreign or changed")
    }
  }
  if (odd !== undefined) unproven.push(Proof.unknown("transactions", odd))

  const byId = new Map(transactions.map((transaction) => [String(transaction.txID).toLowerCase(), transaction]))
  for (const info of infos.map(objectOf)) {
    yield
    const transaction = byId.get(String(info.id).toLowerCase())
    if (transaction !== undefined && contradicts(transaction, info)) {
      return Proof.mismatch(`the info of transaction ${info.id} has another result than the block, which commits to it`)
    }
  }
  if (infos.length > 0) unproven.push(infosUnproven)
  if (level === "full") unproven.push(...(yield* signaturesOf(block, header, Result.getOrUndefined(hashed))))
  return Proof.allBut(...unproven)
}
