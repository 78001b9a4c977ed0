/** A transaction that is not sent yet, as nodes are asked about it. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Hex from "./internal/Hex.ts"

export interface TransactionRequest {
  readonly from: AddressBytes
  readonly to: AddressBytes
  /** In Wei. */
  readonly value: bigint
  readonly data: Uint8Array
}

/** The arguments of `eth_call` and its relatives. */
export const requestJson = ({ data, from, to, value }: TransactionRequest) => ({
  from: Hex.encode(from),
  to: Hex.encode(to),
  value: `0x${value.toString(16)}`,
  ...(data.length === 0 ? {} : { data: Hex.encode(data) })
})
