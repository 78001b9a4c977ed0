/** Names, symbols and decimals as token contracts give them: strings, bytes32, nothing, or garbage. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { chunksOf } from "../../Chunks.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import * as ContractAnswers from "./internal/ContractAnswers.ts"
import * as Headers from "./internal/Headers.ts"
import * as Hex from "./internal/Hex.ts"

export interface TokenMetadata {
  readonly contract: AddressBytes
  /** Empty where the contract has none that can be read. */
  readonly name: string
  readonly symbol: string
  readonly decimals: number | undefined
}

/** First four bytes of keccak256 of `name()`, `symbol()`, `decimals()`. */
const decimalsSelector = "0x313ce567"
const selectors = ["0x06fdde03", "0x95d89b41", decimalsSelector] as const

/**
 * Gas for one question, far above what an honest contract needs: a contract that computes until the node gives up must
 * not look like a node that fails.
 */
const gas = "0xf4240"

/** Bytes of a name or symbol that anybody would show; longer ones are abuse. */
const maxTextBytes = 512

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Control characters, and those that change the direction of the text around them. */
const unprintable = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const textOf = (bytes: Uint8Array): string =>
  Result.getOrElse(
    Result.map(
      Result.try(() => utf8.decode(bytes)),
      (text) => text.replace(unprintable, "").trim()
    ),
    () => ""
  )

const withoutPadding = (bytes: Uint8Array): Uint8Array => {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.subarray(0, end)
}

/** The ABI word at `index`, if it is a number below 2^48. */
const smallWord = (bytes: Uint8Array, index: number): number | undefined => {
  const word = bytes.subarray(index * 32, index * 32 + 32)
  return word.length < 32 || word.subarray(0, 26).some((byte) => byte !== 0)
    ? undefined
    : word.subarray(26).reduce((number, byte) => number * 256 + byte, 0)
}

/** An ABI string, or text in one word (bytes32) as tokens of 2016 and 2017 have it. */
export const decodeText = (answer: unknown): string => {
  const bytes = bytesOf(answer)
  if (bytes.length === 32) return textOf(withoutPadding(bytes))
  const offset = smallWord(bytes, 0)
  if (offset === undefined || offset % 32 !== 0) return ""
  const length = smallWord(bytes, offset / 32)
  if (length === undefined || length > maxTextBytes || offset + 32 + length > bytes.length) return ""
  return textOf(bytes.subarray(offset + 32, offset + 32 + length))
}

/** A `uint8`. */
export const decodeDecimals = (answer: unknown): number | undefined => {
  const decimals = smallWord(bytesOf(answer), 0)
  return decimals === undefined || decimals > 255 ? undefined : decimals
}

const bytesOf = (answer: unknown): Uint8Array =>
  Result.getOrElse(
    Result.try(() => Hex.data(answer, "eth_call")),
    () => new Uint8Array(0)
  )

const callOf = (contract: AddressBytes, selector: string) => ({
  method: "eth_call",
  params: [{ to: Hex.encode(contract), data: selector, gas }, "latest"]
})

/**
 * The decimals by which an amount is to be written into a transfer, after the newest block; undefined where the contract says
 * none. An answer that may be the node's in trouble is a failure: a transfer of another amount would be signed.
 */
export const decimals = Effect.fn("TokenMetadata.decimals")(function* (rpc: JsonRpc, contract: AddressBytes) {
  const [answer] = yield* ContractAnswers.of(rpc, [callOf(contract, decimalsSelector)], "node")
  return decodeDecimals(answer)
})

/** With the block that is asked for beside them, as many as go into one request. */
const contractsAtOnce = 33

const fetchSome = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  contracts: ReadonlyArray<AddressBytes>,
  height: number | undefined
): Effect.fn.Return<ReadonlyArray<TokenMetadata>, NodeError> {
  const calls = contracts.flatMap((contract) => selectors.map((selector) => callOf(contract, selector)))
  const block = height === undefined ? [] : [Headers.blockCall(Hex.encodeQuantity(height), false)]
  const found = yield* ContractAnswers.of(rpc, [...block, ...calls])
  if (height !== undefined && found[0] == null) return yield* Headers.missing(rpc, String(height))
  const answers = found.slice(block.length)
  return contracts.map((contract, index) => ({
    contract,
    name: decodeText(answers[3 * index]),
    symbol: decodeText(answers[3 * index + 1]),
    decimals: decodeDecimals(answers[3 * index + 2])
  }))
})

/**
 * Asks all contracts at the newest block, in the order given. A contract that reverts, lacks a function or answers
 * garbage has an empty name or symbol, or undefined decimals; a node that could not answer is a failure.
 *
 * So is one that does not have the block at `height` yet, in which the contracts were seen: of several nodes behind one
 * address another may have shown the block, and a contract that is not there yet looks like one that says nothing.
 */
export const fetch = Effect.fn("TokenMetadata.fetch")(
  (
    rpc: JsonRpc,
    contracts: ReadonlyArray<AddressBytes>,
    height?: number
  ): Effect.Effect<ReadonlyArray<TokenMetadata>, NodeError> =>
    Effect.map(
      Effect.forEach(chunksOf(contracts, contractsAtOnce), (some) => fetchSome(rpc, some, height), {
        concurrency: "unbounded"
      }),
      Arr.flatten
    )
)
