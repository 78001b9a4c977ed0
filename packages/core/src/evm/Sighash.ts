/**
 * The bytes that an EVM wallet signs: serialisation and digest of unsigned transactions.
 *
 * Legacy with and without EIP-155, access list (EIP-2930) and fee market (EIP-1559). Pure; nothing here sees a private
 * key.
 */
import { keccak_256 } from "@noble/hashes/sha3.js"
import { concatBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Bytes from "../Bytes.ts"
import * as TransactionJson from "./internal/TransactionJson.ts"
import * as TransactionRules from "./internal/TransactionRules.ts"
import * as Rlp from "./Rlp.ts"
import type { AccessListEntry, UnsignedTransaction } from "./UnsignedTransaction.ts"

export type { UnsignedTransaction } from "./UnsignedTransaction.ts"

/** This is no unsigned transaction; the message is the field and the rule that it breaks. */
export class InvalidTransaction extends Schema.TaggedError<InvalidTransaction>()("InvalidTransaction", {
  message: Schema.String
}) {}

/** An ECDSA signature over {@link digest}. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  /** Parity of the y of the curve point: what recovery needs. */
  readonly yParity: 0 | 1
}

const empty = new Uint8Array()
const { integer } = Rlp

const accessListItem = (accessList: ReadonlyArray<AccessListEntry>): Rlp.Item =>
  accessList.map(({ address, storageKeys }) => [address, storageKeys])

/** The fields that every form of a transaction has, in the order of its standard. */
const fields = (transaction: UnsignedTransaction): ReadonlyArray<Rlp.Item> => {
  Result.getOrThrowWith(TransactionRules.check(transaction), (message) => new InvalidTransaction({ message }))
  const { data, gasLimit, nonce, to, value } = transaction
  const call = [integer(gasLimit), to === null ? empty : to, integer(value), data]
  switch (transaction.type) {
    case 0:
      return [integer(nonce), integer(transaction.gasPrice), ...call]
    case 1:
      return [
        integer(transaction.chainId),
        integer(nonce),
        integer(transaction.gasPrice),
        ...call,
        accessListItem(transaction.accessList)
      ]
    case 2:
      return [
        integer(transaction.chainId),
        integer(nonce),
        integer(transaction.maxPriorityFeePerGas),
        integer(transaction.maxFeePerGas),
        ...call,
        accessListItem(transaction.accessList)
      ]
  }
}

const enveloped = (type: 0 | 1 | 2, items: ReadonlyArray<Rlp.Item>): Uint8Array =>
  type === 0 ? Rlp.encode(items) : concatBytes(Uint8Array.of(type), Rlp.encode(items))

/**
 * The bytes whose Keccak-256 is signed. Throws {@link InvalidTransaction} where a value is not what its type says, as do
 * {@link digest}, {@link digestText} and {@link serialiseSigned}: no digest is made of it.
 */
export const serialise = (transaction: UnsignedTransaction): Uint8Array => {
  const items = fields(transaction)
  const suffix =
    transaction.type === 0 && transaction.chainId !== undefined ? [integer(transaction.chainId), empty, empty] : []
  return enveloped(transaction.type, [...items, ...suffix])
}

/** The 32 bytes to sign. */
export const digest = (transaction: UnsignedTransaction): Uint8Array => keccak_256(serialise(transaction))

/**
 * {@link digest} as `0x` hexadecimal.
 *
 * @example
 * ```ts
 * import * as Sighash from "@headwater/core/evm/Sighash"
 * import * as Result from "effect/Result"
 *
 * // The example of EIP-155.
 * const line = JSON.stringify({
 *   ...{ type: 0, chainId: 1, nonce: 9, gasPrice: "20000000000", gasLimit: 21000 },
 *   ...{ to: "0x3535353535353535353535353535353535353535", value: "1000000000000000000" }
 * })
 * const transaction = Result.getOrThrow(Sighash.parseLine(line))
 * Sighash.digestText(transaction) // => "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"
 * ```
 */
export const digestText = (transaction: UnsignedTransaction): string => `0x${Bytes.hex(digest(transaction))}`

/** The bytes that a node takes in `eth_sendRawTransaction`; their Keccak-256 is the transaction hash. */
export const serialiseSigned = (transaction: UnsignedTransaction, { r, s, yParity }: Signature): Uint8Array => {
  const items = fields(transaction)
  const parity = BigInt(yParity)
  const v =
    transaction.type !== 0
      ? parity
      : transaction.chainId === undefined
        ? 27n + parity
        : transaction.chainId * 2n + 35n + parity
  return enveloped(transaction.type, [...items, integer(v), integer(r), integer(s)])
}

/**
 * Reads one line of `headwater sighash`: `{"type": 0|1|2, "chainId"?, "from"?, "nonce", "gasPrice" | "maxFeePerGas",
 * "maxPriorityFeePerGas", "gasLimit" | "gas", "to", "value", "data" | "input", "accessList"?}`.
 *
 * Numbers are decimal or 0x text or safe integers, written in digits. `gasLimit` and `to` must be there, `to` as null for
 * the creation of a contract; the other fields are zero or empty where they are absent or null. A `chainId` absent or 0
 * in a type 0 means pre-EIP-155; in types 1 and 2 no chain takes a signature for 0. A field that stands twice is refused,
 * and one that no type has, with the one that may be meant; those that other types have are ignored, since wallets print
 * all.
 */
export const parseLine = (line: string): Result.Result<UnsignedTransaction, InvalidTransaction> =>
  Result.mapError(TransactionJson.parse(line), (message) => new InvalidTransaction({ message }))

/**
 * {@link parseLine} of an object, whose numbers may be bigints as well.
 *
 * @example
 * ```ts
 * import * as Sighash from "@headwater/core/evm/Sighash"
 * import * as Result from "effect/Result"
 *
 * const to = "0x3535353535353535353535353535353535353535"
 * const message = (json: object) => Result.merge(Result.mapError(Sighash.parse(json), ({ message }) => message))
 * message({ gas: 21000, recipient: to }) // => "\"recipient\": is no field of an unsigned transaction; did you mean \"to\"?"
 * ```
 */
export const parse = (json: object): Result.Result<UnsignedTransaction, InvalidTransaction> =>
  Result.mapError(TransactionJson.read(json), (message) => new InvalidTransaction({ message }))
