/**
 * Transactions as they are hashed, by type (EIP-2718): Ethereum's own, deposits of the OP stack and what Arbitrum makes
 * (Nitro, `arb_types.go`). Only these hash as the root of a block's transactions commits to them.
 */
import { depositType, postExecType, type Transaction } from "./BlockAnswer.ts"
import * as Fields from "./Fields.ts"
import * as Hex from "./Hex.ts"
import * as Rlp from "./Rlp.ts"

/** A field of the node's answer; the second name is that of nodes which do not know the first one. */
type Field = readonly [name: string, encode: Fields.Encode, otherName?: string]

interface Form {
  readonly fields: ReadonlyArray<Field>
  /** A signature follows the fields, which are what is signed. */
  readonly signed?: true
  /** The field whose bytes stand behind the type as they are, in place of a list of fields. */
  readonly whole?: string
  /** What nodes answer beside the fields, the same for each transaction of the type. */
  readonly constant?: Readonly<Record<string, string>>
}

const accessList: Fields.Encode = (value, field) =>
  Hex.array(value ?? [], field).map((item) => {
    const { address, storageKeys } = Hex.object(item, field)
    return [
      Fields.address(address, `${field}.address`),
      Hex.array(storageKeys ?? [], `${field}.storageKeys`).map((key) => Fields.hash(key, `${field}.storageKeys`))
    ]
  })

const authorizations: Fields.Encode = (value, field) =>
  Hex.array(value, field).map((item) => {
    const { address, chainId, nonce, r, s, v, yParity } = Hex.object(item, field)
    return [
      Fields.quantity(chainId, `${field}.chainId`),
      Fields.address(address, `${field}.address`),
      ...[nonce, yParity ?? v, r, s].map((number) => Fields.quantity(number, field))
    ]
  })

const chainId: Field = ["chainId", Fields.quantity]
const nonce: Field = ["nonce", Fields.quantity]
const gasPrice: Field = ["gasPrice", Fields.quantity]
const gas: Field = ["gas", Fields.quantity]
const from: Field = ["from", Fields.address]
const to: Field = ["to", Fields.recipient]
const value: Field = ["value", Fields.quantity]
const input: Field = ["input", Fields.data]
const call: ReadonlyArray<Field> = [gas, to, value, input]
const feeMarket: ReadonlyArray<Field> = [
  chainId,
  nonce,
  ["maxPriorityFeePerGas", Fields.quantity],
  ["maxFeePerGas", Fields.quantity],
  ...call,
  ["accessList", accessList]
]
/** Nitro's `GasFeeCap`. */
const gasFeeCap: Field = ["maxFeePerGas", Fields.quantity, "gasPrice"]
const requestId: Field = ["requestId", Fields.hash]

const forms: ReadonlyMap<number, Form> = new Map<number, Form>([
  [0, { fields: [nonce, gasPrice, ...call], signed: true }],
  [1, { fields: [chainId, nonce, gasPrice, ...call, ["accessList", accessList]], signed: true }],
  [2, { fields: feeMarket, signed: true }],
  [
    3,
    {
      fields: [...feeMarket, ["maxFeePerBlobGas", Fields.quantity], ["blobVersionedHashes", Fields.list(Fields.hash)]],
      signed: true
    }
  ],
  [4, { fields: [...feeMarket, ["authorizationList", authorizations]], signed: true }],
  [
    depositType,
    {
      fields: [
        ["sourceHash", Fields.hash],
        from,
        to,
        ["mint", (mint, field) => (mint == null ? "0x" : Fields.quantity(mint, field))],
        value,
        gas,
        ["isSystemTx", Fields.flag],
        input
      ]
    }
  ],
  [postExecType, { fields: [], whole: "input", constant: { from: `0x${"00".repeat(20)}`, value: "0x0" } }],
  [0x64, { fields: [chainId, requestId, from, ["to", Fields.address], value] }],
  [0x65, { fields: [chainId, from, nonce, gasFeeCap, ...call] }],
  [0x66, { fields: [chainId, requestId, from, gasFeeCap, ...call] }],
  [
    0x68,
    {
      fields: [
        ...[chainId, nonce, from, gasFeeCap, ...call],
        ["ticketId", Fields.hash],
        ["refundTo", Fields.address],
        ["maxRefund", Fields.quantity],
        ["submissionFeeRefund", Fields.quantity]
      ]
    }
  ],
  [
    0x69,
    {
      fields: [
        ...[chainId, requestId, from],
        ["l1BaseFee", Fields.quantity],
        ["depositValue", Fields.quantity],
        gasFeeCap,
        gas,
        ["retryTo", Fields.recipient],
        ["retryValue", Fields.quantity],
        ["beneficiary", Fields.address],
        ["maxSubmissionFee", Fields.quantity],
        ["refundTo", Fields.address],
        ["retryData", (data, field) => Fields.data(data ?? "0x", field)]
      ],
      constant: { to: `0x${"6e".padStart(40, "0")}`, value: "0x0" }
    }
  ],
  [
    0x6a,
    {
      fields: [chainId, input],
      constant: { from: `0x${"a4b05".padStart(40, "0")}`, to: `0x${"a4b05".padStart(40, "0")}`, value: "0x0" }
    }
  ]
])

export const isKnown = (type: number): boolean => forms.has(type)

/** Whether the hash of a transaction of this type commits to who sent the transaction. */
export const namesSender = (type: number): boolean => forms.get(type)?.signed !== true

export interface Hashed {
  /** The bytes whose hash is the transaction's id, and which the root commits to. */
  readonly bytes: Uint8Array
  /** What a signature signs, but for EIP-155's suffix; absent where there is none. */
  readonly signed?: ReadonlyArray<Rlp.Item>
}

/** The items in the envelope of a typed transaction. */
export const enveloped = (type: number, items: ReadonlyArray<Rlp.Item>): Uint8Array => {
  const list = Rlp.encode(items)
  if (type === 0) return list
  const typed = new Uint8Array(1 + list.length)
  typed[0] = type
  typed.set(list, 1)
  return typed
}

/** The parity of a typed transaction's signature: nodes answer `yParity`, `v`, or both. */
const parity = ({ v, yParity }: Hex.Json): Rlp.Item => {
  const item = Fields.quantity(yParity ?? v, "transaction.yParity")
  const other = v == null ? item : Fields.quantity(v, "transaction.v")
  if (other !== item && (other === "0x" || other === "0x01")) {
    throw new Hex.Mismatch({ message: "v and yParity of a transaction differ" })
  }
  return item
}

/**
 * The transaction as it is hashed; undefined for a type that is not known. Throws {@link Hex.Malformed} where a field is
 * missing or not of its form, and {@link Hex.Mismatch} where one that is not hashed is not as the type has it.
 */
export const hashed = ({ json, type }: Transaction): Hashed | undefined => {
  const form = forms.get(type)
  if (form === undefined) return undefined
  for (const name in form.constant) {
    if (Fields.quantity(json[name], `transaction.${name}`) !== Fields.quantity(form.constant[name], name)) {
      throw new Hex.Mismatch({
        message: `${name} of a transaction of type 0x${type.toString(16)} is not ${form.constant[name]}`
      })
    }
  }
  if (form.whole !== undefined) {
    const content = Hex.data(json[form.whole], `transaction.${form.whole}`)
    return { bytes: Uint8Array.of(type, ...content) }
  }
  const items = form.fields.map(([name, encode, otherName]) =>
    encode(json[name] ?? (otherName === undefined ? undefined : json[otherName]), `transaction.${name}`)
  )
  if (form.signed !== true) return { bytes: enveloped(type, items) }
  const signature = [
    type === 0 ? Fields.quantity(json.v, "transaction.v") : parity(json),
    Fields.quantity(json.r, "transaction.r"),
    Fields.quantity(json.s, "transaction.s")
  ]
  return { bytes: enveloped(type, [...items, ...signature]), signed: items }
}
