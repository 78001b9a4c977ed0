/** The functions of contracts that nodes are asked to run, by their ABI. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Call } from "../../node/JsonRpc.ts"
import * as Hex from "./Hex.ts"

/** First four bytes of keccak256 of the functions' signatures. */
const selectors = {
  totalSupply: "0x18160ddd",
  supportsInterface: "0x01ffc9a7",
  balanceOf: "0x70a08231",
  transfer: "0xa9059cbb",
  getL1Fee: "0x49948e0e",
  getOperatorFee: "0x275aedd2"
} as const

/** The OP stack's contract that knows its fees. */
const gasPriceOracle = "0x420000000000000000000000000000000000000f"

const word = (value: bigint): string => value.toString(16).padStart(64, "0")
const digits = (bytes: Uint8Array): string => Hex.encode(bytes).slice(2)

const ethCall = (to: string, data: string, block: unknown): Call => ({
  method: "eth_call",
  params: [{ to, data }, block]
})

/**
 * Gas for one question to a contract of a token, far above what an honest one needs: anybody may make a contract that computes
 * until the node gives up, and send its tokens to an address that is asked about.
 */
const tokenGas = "0x4c4b40"

const tokenCall = (contract: AddressBytes, data: string, block: unknown): Call => ({
  method: "eth_call",
  params: [{ to: Hex.encode(contract), data, gas: tokenGas }, block]
})

/** Tokens of a holder after a block, as `eth_call` takes it. */
export const balanceOf = (contract: AddressBytes, holder: AddressBytes, block: unknown): Call =>
  tokenCall(contract, `${selectors.balanceOf}${word(0n).slice(40)}${digits(holder)}`, block)

/** All tokens of a contract, after the newest block. */
export const totalSupply = (contract: AddressBytes): Call => tokenCall(contract, selectors.totalSupply, "latest")

/** Whether a contract has an interface, by the interface's id as hex (ERC-165), after the newest block. */
export const supportsInterface = (contract: AddressBytes, id: string): Call =>
  tokenCall(contract, `${selectors.supportsInterface}${id.padEnd(64, "0")}`, "latest")

/** Digits of two words behind a selector: a recipient, and an amount. */
const transferDigits = selectors.transfer.length + 2 * 64

/** The amount that a call's data has where that is a transfer of tokens (ERC-20), in their smallest unit. */
export const transferred = (data: string): bigint | undefined =>
  data.startsWith(selectors.transfer) && data.length >= transferDigits
    ? BigInt(`0x${data.slice(transferDigits - 64, transferDigits)}`)
    : undefined

/** What the OP stack charges for the bytes of an unsigned transaction on the layer below, in Wei. */
export const getL1Fee = (unsigned: Uint8Array): Call => {
  const text = digits(unsigned)
  const padded = text.padEnd(Math.ceil(text.length / 64) * 64, "0")
  const data = `${selectors.getL1Fee}${word(32n)}${word(BigInt(unsigned.length))}${padded}`
  return ethCall(gasPriceOracle, data, "latest")
}

/** What the operator of an OP stack chain charges, in Wei; chains before the Isthmus upgrade do not know the function. */
export const getOperatorFee = (gasLimit: bigint): Call =>
  ethCall(gasPriceOracle, `${selectors.getOperatorFee}${word(gasLimit)}`, "latest")

/** The 256-bit number that a call returned; undefined where it returned none. */
export const returned = (answer: unknown): bigint | undefined => {
  const bytes = Hex.data(answer, "eth_call")
  return bytes.length < 32 ? undefined : BigInt(Hex.encode(bytes.subarray(0, 32)))
}
