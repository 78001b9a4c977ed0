/**
 * A transfer of TRX: its `raw_data` bytes, their bandwidth, and the check that a node built the transfer asked for.
 *
 * Source: java-tron's `Tron.proto` and `balance_contract.proto`.
 */
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Bytes from "../Bytes.ts"
import type { AddressBytes } from "../address/Address.ts"
import * as TronAddress from "./TronAddress.ts"
import * as Protobuf from "./internal/Protobuf.ts"
import * as TronTransaction from "./TronTransaction.ts"

/** The node built another transaction than the one asked for; the message names the difference. */
export class TamperedTransaction extends Schema.TaggedError<TamperedTransaction>()("TamperedTransaction", {
  message: Schema.String
}) {}

/** All fields of a transfer's `raw_data`. */
export interface TronTransfer {
  readonly owner: AddressBytes
  readonly to: AddressBytes
  /** Sun, above zero. */
  readonly amount: bigint
  /** Empty for none. */
  readonly memo: Uint8Array
  /** Bytes 6 and 7 of the height of a recent block, and bytes 8 to 15 of its id. */
  readonly refBlockBytes: Uint8Array
  readonly refBlockHash: Uint8Array
  /** Milliseconds since the Unix epoch. */
  readonly expiration: number
  readonly timestamp: number
}

/** Version byte and account, as messages hold an address. */
const prefixed = (account: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(21)
  bytes[0] = 0x41
  bytes.set(account, 1)
  return bytes
}

const transferUrl = "type.googleapis.com/protocol.TransferContract"

/** The `raw_data` of a transaction with one contract, byte for byte as java-tron writes it. */
const encodeRaw = (
  raw: Pick<TronTransfer, "refBlockBytes" | "refBlockHash" | "expiration" | "timestamp">,
  {
    memo,
    ...contract
  }: { readonly type: number; readonly url: string; readonly value: Uint8Array; readonly memo: Uint8Array },
  feeLimit = 0n
): Uint8Array =>
  Protobuf.encode([
    [TronTransaction.rawFields.refBlockBytes, raw.refBlockBytes],
    [TronTransaction.rawFields.refBlockHash, raw.refBlockHash],
    [TronTransaction.rawFields.expiration, BigInt(raw.expiration)],
    [TronTransaction.rawFields.data, memo],
    [
      TronTransaction.rawFields.contract,
      Protobuf.encode([
        [1, BigInt(contract.type)],
        [
          2,
          Protobuf.encode([
            [1, utf8ToBytes(contract.url)],
            [2, contract.value]
          ])
        ]
      ])
    ],
    [TronTransaction.rawFields.timestamp, BigInt(raw.timestamp)],
    [TronTransaction.rawFields.feeLimit, feeLimit]
  ])

/** The `raw_data` of a transfer. */
export const encode = (transfer: TronTransfer): Uint8Array =>
  encodeRaw(transfer, {
    ...{ type: TronTransaction.contractTypes.transfer, url: transferUrl, memo: transfer.memo },
    value: Protobuf.encode([
      [1, prefixed(transfer.owner)],
      [2, prefixed(transfer.to)],
      [3, transfer.amount]
    ])
  })

const callUrl = "type.googleapis.com/protocol.TriggerSmartContract"

/** All fields of the `raw_data` of a call of a contract that takes no coins with it. */
export interface TronCall
  extends Pick<TronTransfer, "owner" | "refBlockBytes" | "refBlockHash" | "expiration" | "timestamp"> {
  readonly contract: AddressBytes
  /** ABI-encoded, with the selector. */
  readonly data: Uint8Array
  /** The most that the call may burn for energy, in sun. */
  readonly feeLimit: bigint
}

/** The `raw_data` of a call of a contract. */
export const encodeCall = (call: TronCall): Uint8Array =>
  encodeRaw(
    call,
    {
      ...{ type: TronTransaction.contractTypes.triggerSmartContract, url: callUrl, memo: new Uint8Array() },
      value: Protobuf.encode([
        [1, prefixed(call.owner)],
        [2, prefixed(call.contract)],
        [4, call.data]
      ])
    },
    call.feeLimit
  )

/** Bytes that a result may take, for which the chain charges in advance (`Constant.MAX_RESULT_SIZE_IN_TX`). */
const resultBytes = 64
const signatureBytes = 65

const withLength = (length: number): number => 1 + (length < 0x80 ? 1 : length < 0x4000 ? 2 : 3) + length

/** Bandwidth points that a transaction with so many signatures costs (java-tron's `BandwidthProcessor`). */
export const bandwidthOf = (rawData: Uint8Array, signatures = 1): number =>
  withLength(rawData.length) + signatures * withLength(signatureBytes) + resultBytes

/** Text of a number, or the number: nodes' JSON is read either way. */
const Integer = Schema.Union([Schema.String, Schema.Int])

/** An unsigned transaction as the HTTP API writes it. */
const NodeTransaction = Schema.Struct({
  txID: Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{64}$/, { message: "must be 64 hexadecimal digits" })),
  raw_data_hex: Schema.String.check(
    Schema.isPattern(/^(?:[0-9a-fA-F]{2}){1,4096}$/, { message: "must be at most 8192 hexadecimal digits" })
  ),
  raw_data: Schema.optionalKey(
    Schema.Struct({
      contract: Schema.Array(
        Schema.Struct({
          type: Schema.String,
          parameter: Schema.Struct({
            type_url: Schema.optionalKey(Schema.String),
            value: Schema.Struct({
              owner_address: Schema.optionalKey(Schema.String),
              to_address: Schema.optionalKey(Schema.String),
              amount: Schema.optionalKey(Integer)
            })
          })
        })
      ),
      expiration: Schema.optionalKey(Integer)
    })
  )
})
type NodeTransaction = typeof NodeTransaction.Type

const decodeNodeTransaction = Schema.decodeUnknownResult(NodeTransaction)

/** The transfer asked for. */
export interface Wanted extends Pick<TronTransfer, "owner" | "to" | "amount" | "memo"> {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** How far ahead the chain lets a transaction expire (`MAXIMUM_TIME_UNTIL_EXPIRATION`). */
const maxLifeMillis = 24 * 60 * 60 * 1000

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at])

const isAddress = (text: string | undefined, account: Uint8Array): boolean => {
  const decoded = TronAddress.decode(text ?? "")
  return Result.isSuccess(decoded) && same(decoded.success, account)
}

/** How the readable part of the answer differs from the bytes; undefined where both agree. */
const contradiction = ({ raw_data: json }: NodeTransaction, wanted: Wanted, expiration: number): string | undefined => {
  if (json === undefined) return undefined
  const [contract, ...more] = json.contract
  if (contract === undefined || more.length > 0) return "raw_data must have one contract"
  const { type_url: typeUrl, value } = contract.parameter
  if (contract.type !== "TransferContract" || (typeUrl ?? transferUrl) !== transferUrl) {
    return "raw_data must have a TransferContract"
  }
  if (!isAddress(value.owner_address, wanted.owner)) return "raw_data has another sender"
  if (!isAddress(value.to_address, wanted.to)) return "raw_data has another recipient"
  if (String(value.amount) !== String(wanted.amount)) return "raw_data has another amount"
  if (json.expiration !== undefined && String(json.expiration) !== String(expiration)) {
    return "raw_data has another expiration than raw_data_hex"
  }
  return undefined
}

/** A transfer that may be signed. */
export interface Verified {
  readonly rawData: Uint8Array
  readonly id: Uint8Array
  readonly transfer: TronTransfer
}

/**
 * Checks an unsigned transfer that a node built (`/wallet/createtransaction`) against the transfer asked for: the id is
 * the hash of the bytes, the bytes are exactly those of this transfer written again here, and the transfer expires
 * between now and 24 hours from now. Only the reference to a recent block is taken on trust.
 */
export const verify = (answer: unknown, wanted: Wanted): Result.Result<Verified, TamperedTransaction> =>
  Result.gen(function* () {
    const refuse = (message: string) => Result.fail(new TamperedTransaction({ message }))
    const node = yield* Result.mapError(
      decodeNodeTransaction(answer),
      (error) =>
        new TamperedTransaction({ message: `the answer is no unsigned transaction: ${error.message.slice(0, 300)}` })
    )
    const rawData = hexToBytes(node.raw_data_hex)
    const found = yield* Result.mapError(
      TronTransaction.decode(rawData),
      ({ message }) => new TamperedTransaction({ message })
    )
    const txId = TronTransaction.id(rawData)
    if (Bytes.hex(txId) !== node.txID.toLowerCase()) return yield* refuse("txID is not the hash of raw_data_hex")
    const [contract, ...more] = found.contracts
    if (contract === undefined || more.length > 0) return yield* refuse("raw_data_hex must have one contract")
    const { transfer: coins } = contract
    if (
      contract.type !== TronTransaction.contractTypes.transfer ||
      contract.typeUrl !== transferUrl ||
      coins?.to === undefined
    ) {
      return yield* refuse("raw_data_hex must have a TransferContract")
    }
    if (!same(coins.from, wanted.owner)) return yield* refuse("raw_data_hex has another sender")
    if (!same(coins.to, wanted.to)) return yield* refuse("raw_data_hex has another recipient")
    if (coins.amount !== wanted.amount) return yield* refuse("raw_data_hex has another amount")
    if (!same(found.data, wanted.memo)) return yield* refuse("raw_data_hex has another memo")
    if (found.refBlockBytes.length !== 2 || found.refBlockHash.length !== 8) {
      return yield* refuse("raw_data_hex must refer to a block by 2 bytes of its height and 8 of its id")
    }
    if (found.expiration <= wanted.now || found.expiration > wanted.now + maxLifeMillis) {
      return yield* refuse("raw_data_hex must expire between now and 24 hours from now")
    }
    const transfer: TronTransfer = {
      owner: coins.from,
      to: coins.to,
      amount: coins.amount,
      memo: found.data,
      refBlockBytes: found.refBlockBytes,
      refBlockHash: found.refBlockHash,
      expiration: found.expiration,
      timestamp: found.timestamp
    }
    if (!same(encode(transfer), rawData)) return yield* refuse("raw_data_hex has more in it than the transfer")
    const differs = contradiction(node, wanted, transfer.expiration)
    if (differs !== undefined) return yield* refuse(differs)
    return { rawData, id: txId, transfer }
  })
