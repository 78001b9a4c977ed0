/**
 * The content of the `raw_data` bytes of a Tron transaction, and the transaction's id. {@link TronTransfer} writes such
 * bytes.
 *
 * Source: java-tron's `Tron.proto`, `balance_contract.proto`, `smart_contract.proto`, `asset_issue_contract.proto`.
 */
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Address from "../address/Address.ts"
import * as Protobuf from "./internal/Protobuf.ts"

/** Numbers of `Transaction.Contract.ContractType` that this project reads. */
export const contractTypes = {
  transfer: 1,
  /** Of TRC-10 tokens. */
  transferAsset: 2,
  /** Buys a TRC-10 token from its issuer with TRX. */
  participateAssetIssue: 9,
  createSmartContract: 30,
  triggerSmartContract: 31
} as const

/** Every number of `ContractType` in java-tron 4.8: what a contract of a later type moves is not known. */
const knownTypes: ReadonlySet<number> = new Set([
  ...[
    0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 30, 31, 32, 33, 41, 42, 43, 44, 45, 46, 48
  ],
  ...[49, 51, 52, 53, 54, 55, 56, 57, 58, 59]
])

/** Whether contracts of this type were there when this project was made: one that reads no coins of such moves none. */
export const isKnownType = (type: number): boolean => knownTypes.has(type)

/** Contracts of other types move no coin from one account to another. */
const coinTypes: ReadonlySet<number> = new Set(
  Object.values(contractTypes).filter((type) => type !== contractTypes.transferAsset)
)

/** The coins that a contract transfers if its transaction succeeds. */
export interface CoinTransfer {
  readonly from: Address.AddressBytes
  /** Absent for a contract that is being created, whose address is in the transaction's info. */
  readonly to: Address.AddressBytes | undefined
  /** Sun, above zero. */
  readonly amount: bigint
}

export interface Contract {
  /** Number of its `ContractType`. */
  readonly type: number
  readonly typeUrl: string
  readonly permissionId: number
  /** Whose contract it is; absent where it names none, as of coins that come out of the shielded pool. */
  readonly owner: Address.AddressBytes | undefined
  /** Absent for a contract that moves no coin from one account to another. */
  readonly transfer: CoinTransfer | undefined
  /** The contract's message, as bytes: {@link partiesOf} reads it. */
  readonly value: Uint8Array
}

/** The fields of `raw_data`; times in milliseconds since the Unix epoch. */
export interface TronTransaction {
  readonly refBlockBytes: Uint8Array
  readonly refBlockHash: Uint8Array
  readonly expiration: number
  /** Any number of the sender's: the chain does not check it. */
  readonly timestamp: number
  /** The memo. */
  readonly data: Uint8Array
  /** The chain takes one contract a transaction. */
  readonly contracts: ReadonlyArray<Contract>
  /** The most that calls of contracts may burn for energy, in sun. */
  readonly feeLimit: bigint
}

/** The bytes are not the `raw_data` of a transaction; the message names the field and the rule. */
export class InvalidTransaction extends Schema.TaggedError<InvalidTransaction>()("InvalidTransaction", {
  message: Schema.String
}) {}

/** Field numbers of `Transaction.raw`. */
export const rawFields = {
  refBlockBytes: 1,
  refBlockHash: 4,
  expiration: 8,
  data: 10,
  contract: 11,
  timestamp: 14,
  feeLimit: 18
} as const

/** The id of a transaction, which is also the hash to sign: 32 bytes from its `raw_data`. */
export const id = (rawData: Uint8Array): Uint8Array => sha256(rawData)

/**
 * The account whose key signed a hash — of a transaction, its id; of a block, the hash of its header — by 65 bytes: r, s
 * and the number of the point, which may begin at 27. Undefined where the bytes are no signature.
 */
export const signer = (hash: Uint8Array, signature: Uint8Array): Address.AddressBytes | undefined => {
  const last = signature[64]
  if (last === undefined || signature.length !== 65) return undefined
  const recoverable = new Uint8Array(65)
  recoverable[0] = last >= 27 ? last - 27 : last
  recoverable.set(signature.subarray(0, 64), 1)
  const key = Result.try(() => secp256k1.recoverPublicKey(recoverable, hash, { prehash: false }))
  if (Result.isFailure(key)) return undefined
  const point = secp256k1.Point.fromBytes(key.success).toBytes(false)
  return Address.fromBytes(keccak_256(point.subarray(1)).subarray(12))
}

type Parsed<A> = Result.Result<A, InvalidTransaction>

const invalid = (message: string): Parsed<never> => Result.fail(new InvalidTransaction({ message }))

const message = (bytes: Uint8Array, field: string): Parsed<ReadonlyArray<Protobuf.Field>> =>
  Result.mapError(Protobuf.decode(bytes), (rule) => new InvalidTransaction({ message: `${field} ${rule}` }))

const accountOf = (fields: ReadonlyArray<Protobuf.Field>, number: number): Address.AddressBytes | undefined => {
  const bytes = Protobuf.bytesOf(fields, number)
  return bytes.length === 21 && bytes[0] === 0x41 ? Address.fromBytes(bytes.subarray(1)) : undefined
}

/** The message of a field. Nodes join several to one, whose fields are those of all, one behind another. */
const joined = (fields: ReadonlyArray<Protobuf.Field>, number: number, field: string) =>
  Result.map(
    Result.all(
      fields.flatMap((each) =>
        each.number === number && each.value instanceof Uint8Array ? [message(each.value, field)] : []
      )
    ),
    (messages) => messages.flat()
  )

/** As {@link joined}, of a field of which there is one at the most. */
const inner = (fields: ReadonlyArray<Protobuf.Field>, number: number, field: string) =>
  fields.filter((each) => each.number === number && each.value instanceof Uint8Array).length > 1
    ? invalid(`there must be one ${field}`)
    : message(Protobuf.bytesOf(fields, number), field)

const address = (
  fields: ReadonlyArray<Protobuf.Field>,
  number: number,
  field: string
): Parsed<Address.AddressBytes> => {
  const account = accountOf(fields, number)
  return account === undefined ? invalid(`${field} must be 0x41 and 20 bytes`) : Result.succeed(account)
}

const sun = (fields: ReadonlyArray<Protobuf.Field>, number: number, field: string): Parsed<bigint> => {
  const amount = Protobuf.integerOf(fields, number)
  return amount < 0n ? invalid(`${field} must not be negative`) : Result.succeed(amount)
}

const time = (fields: ReadonlyArray<Protobuf.Field>, number: number, field: string): Parsed<number> => {
  const milliseconds = Number(Protobuf.integerOf(fields, number))
  return milliseconds >= 0 && Number.isSafeInteger(milliseconds)
    ? Result.succeed(milliseconds)
    : invalid(`${field} must be milliseconds since 1970`)
}

const transferTo = (
  fields: ReadonlyArray<Protobuf.Field>,
  sum: Parsed<bigint>,
  to: { readonly number: number; readonly field: string } | undefined
): Parsed<CoinTransfer | undefined> => {
  if (Result.isFailure(sum)) return Result.fail(sum.failure)
  const amount = sum.success
  if (amount === 0n) return Result.succeed(undefined)
  const from = address(fields, 1, "owner_address")
  if (Result.isFailure(from)) return Result.fail(from.failure)
  if (to === undefined) return Result.succeed({ from: from.success, to, amount })
  return Result.map(address(fields, to.number, to.field), (to) => ({ from: from.success, to, amount }))
}

/** `content`: the fields of the contract's message. */
const transferOf = (type: number, content: Parsed<ReadonlyArray<Protobuf.Field>>): Parsed<CoinTransfer | undefined> => {
  if (!coinTypes.has(type)) return Result.succeed(undefined)
  if (Result.isFailure(content)) return Result.fail(content.failure)
  const fields = content.success
  switch (type) {
    case contractTypes.transfer:
      return transferTo(fields, sun(fields, 3, "amount"), { number: 2, field: "to_address" })
    case contractTypes.participateAssetIssue:
      return transferTo(fields, sun(fields, 4, "amount"), { number: 2, field: "to_address" })
    case contractTypes.triggerSmartContract:
      return transferTo(fields, sun(fields, 3, "call_value"), { number: 2, field: "contract_address" })
    default:
      return Result.flatMap(joined(fields, 2, "new_contract"), (created) =>
        transferTo(fields, sun(created, 5, "call_value"), undefined)
      )
  }
}

const utf8 = new TextDecoder()

const noFields: ReadonlyArray<Protobuf.Field> = []

/** The types whose first field is a name. */
const accountUpdate = 10
const setAccountId = 19

/** Types that name a second account without moving coins to it: one that is created, or that a stake is for. */
const accountCreate = 0
const freezeBalance = 11
const unfreezeBalance = 12
const shieldedTransfer = 51
const delegateResource = 57
const unDelegateResource = 58

/** The fields that name the parties, of types that have a recipient, or their owner elsewhere than others. */
const partyFields: Readonly<Record<number, { readonly sender: number; readonly recipient?: number }>> = {
  [accountCreate]: { sender: 1, recipient: 2 },
  [accountUpdate]: { sender: 2 },
  [setAccountId]: { sender: 2 },
  [contractTypes.transfer]: { sender: 1, recipient: 2 },
  [contractTypes.transferAsset]: { sender: 2, recipient: 3 },
  [contractTypes.participateAssetIssue]: { sender: 1, recipient: 2 },
  [freezeBalance]: { sender: 1, recipient: 15 },
  [unfreezeBalance]: { sender: 1, recipient: 15 },
  [contractTypes.triggerSmartContract]: { sender: 1, recipient: 2 },
  [shieldedTransfer]: { sender: 1, recipient: 6 },
  [delegateResource]: { sender: 1, recipient: 4 },
  [unDelegateResource]: { sender: 1, recipient: 4 }
}

const contractOf = (bytes: Uint8Array): Parsed<Contract> =>
  Result.flatMap(message(bytes, "contract"), (fields) =>
    Result.flatMap(inner(fields, 2, "parameter"), (parameter) => {
      const type = Number(Protobuf.integerOf(fields, 1))
      const value = Protobuf.bytesOf(parameter, 2)
      const content = message(value, "contract")
      return Result.map(transferOf(type, content), (transfer) => ({
        type,
        typeUrl: utf8.decode(Protobuf.bytesOf(parameter, 1)),
        permissionId: Number(Protobuf.integerOf(fields, 5)),
        // The first field of the contracts of almost every type.
        owner: accountOf(
          Result.getOrElse(content, () => noFields),
          partyFields[type]?.sender ?? 1
        ),
        transfer,
        value
      }))
    })
  )

/** A signed transaction as it is broadcast. */
export interface SignedTransaction {
  readonly rawData: Uint8Array
  readonly signatures: ReadonlyArray<Uint8Array>
  /** Signatures by keys that no quantum computer finds, with these keys, as messages that are not read here (TIP-899). */
  readonly otherSignatures: ReadonlyArray<Uint8Array>
}

/** Reads the bytes of a signed transaction. */
export const decodeSigned = (bytes: Uint8Array): Parsed<SignedTransaction> =>
  Result.gen(function* () {
    const fields = yield* message(bytes, "the transaction")
    const bytesOf = (wanted: number) =>
      fields.flatMap(({ number, value }) => (number === wanted && value instanceof Uint8Array ? [value] : []))
    const [rawData = new Uint8Array(0), ...more] = bytesOf(1)
    // Nodes would join them to one that is neither.
    if (more.length > 0) return yield* invalid("the transaction must have one raw_data")
    return { rawData, signatures: bytesOf(2), otherSignatures: bytesOf(6) }
  })

/** Reads the bytes of `raw_data`. Fields that this project does not use are skipped. */
export const decode = (rawData: Uint8Array): Parsed<TronTransaction> =>
  Result.flatMap(message(rawData, "raw_data"), (fields) => {
    const contracts: Array<Contract> = []
    for (const { number, value } of fields) {
      if (number !== rawFields.contract || !(value instanceof Uint8Array)) continue
      const contract = contractOf(value)
      if (Result.isFailure(contract)) return Result.fail(contract.failure)
      contracts.push(contract.success)
    }
    return Result.map(time(fields, rawFields.expiration, "raw_data.expiration"), (expiration) => ({
      refBlockBytes: Protobuf.bytesOf(fields, rawFields.refBlockBytes),
      refBlockHash: Protobuf.bytesOf(fields, rawFields.refBlockHash),
      expiration,
      timestamp: Number(Protobuf.integerOf(fields, rawFields.timestamp)),
      data: Protobuf.bytesOf(fields, rawFields.data),
      contracts,
      feeLimit: Protobuf.integerOf(fields, rawFields.feeLimit)
    }))
  })

/** Whom a contract goes from and to, as far as its type names them, and the call that it makes. */
export interface Parties {
  readonly sender: Address.AddressBytes | undefined
  readonly recipient: Address.AddressBytes | undefined
  /** Of a call of a contract: ABI-encoded, with the selector. */
  readonly callData: Uint8Array
}

/** The parties of a contract. */
export const partiesOf = ({ owner, type, value }: Contract): Parties => {
  const fields = Result.getOrElse(Protobuf.decode(value), () => noFields)
  const recipient = partyFields[type]?.recipient
  return {
    sender: owner,
    recipient: recipient === undefined ? undefined : accountOf(fields, recipient),
    callData: type === contractTypes.triggerSmartContract ? Protobuf.bytesOf(fields, 4) : new Uint8Array()
  }
}
