/** Read-only calls of contracts (`/wallet/triggerconstantcontract`), after the newest block. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as TokenDetails from "../../evm/TokenDetails.ts"
import { decodeDecimals, decodeText } from "../../evm/TokenMetadata.ts"
import { type NodeError, NodeRejected } from "../../node/NodeError.ts"
import type { TronHttp } from "../TronHttp.ts"
import * as TronJson from "./TronJson.ts"

const path = "/wallet/triggerconstantcontract"

const Answer = Schema.Struct({
  result: Schema.optionalKey(
    Schema.Struct({
      result: Schema.optionalKey(Schema.Boolean),
      code: Schema.optionalKey(Schema.String),
      message: Schema.optionalKey(Schema.String)
    })
  ),
  constant_result: Schema.optionalKey(Schema.Array(TronJson.Hex)),
  /** With the penalty of a busy contract. */
  energy_used: Schema.optionalKey(TronJson.Count),
  /** Where a call that was undone says so. */
  transaction: Schema.optionalKey(
    Schema.Struct({
      ret: Schema.optionalKey(Schema.Array(Schema.Struct({ ret: Schema.optionalKey(Schema.String) })))
    })
  )
})

/** Who asks: nobody. */
const caller = TronJson.addressHex(new Uint8Array(20))

const noContract = /contract is not exist|no contract/i

/**
 * The virtual machine gave a contract up, by what that contract does: an invalid operation, as in contracts of 2018 that
 * lack the function, or too much energy. java-tron names the exception (`Wallet.callConstantContract`).
 */
const gaveUp = /\bvm\.program\.Program\$(?!OutOfTime)\w+Exception\b/

/** More than 80 ms: a contract that never ends, or a node that was busy (java-tron #4416). */
const isTooSlow = (error: NodeError) =>
  error._tag === "NodeRejected" && /\bvm\.program\.Program\$OutOfTimeException\b/.test(error.message)

/** Messages are hexadecimal in answers to POST. */
const textOf = (message = ""): string =>
  /^(?:[0-9a-f]{2})+$/i.test(message) ? Buffer.from(message, "hex").toString() : message

type Answered = typeof Answer.Type

/** What calling a function came to; undefined where there is no such contract or function. */
const ask = Effect.fnUntraced(function* (
  http: TronHttp,
  owner: string,
  contract: AddressBytes,
  signature: string,
  parameter: string
): Effect.fn.Return<Answered | undefined, NodeError> {
  const answer = yield* http.read(
    Answer,
    path,
    JSON.stringify({
      owner_address: owner,
      contract_address: TronJson.addressHex(contract),
      function_selector: signature,
      parameter
    })
  )
  const { code, message, result = false } = answer.result ?? {}
  if (result) return answer
  const said = textOf(message)
  return noContract.test(said) || gaveUp.test(said)
    ? undefined
    : yield* new NodeRejected({
        node: http.name,
        method: path,
        code: 0,
        message: `${code ?? "refused"}: ${said}`.slice(0, 300)
      })
})

const wasUndone = ({ transaction }: Answered) => transaction?.ret?.some(({ ret }) => ret === "FAILED") === true

/**
 * What a function of a contract returned, as `0x` hex; undefined where there is no such contract or function, or where
 * it was undone. `parameter` is ABI-encoded hex. A node that does not run such calls is a failure.
 */
const call = (http: TronHttp, contract: AddressBytes, signature: string, parameter: string) =>
  Effect.map(ask(http, caller, contract, signature, parameter), (answer) => {
    if (answer === undefined || wasUndone(answer)) return undefined
    const returned = answer.constant_result?.[0]
    return returned === undefined || returned === "" ? undefined : `0x${returned}`
  })

/**
 * What a call by an account would take, in energy, and why it would fail, if it would. What it returns says nothing: tokens
 * that move return `false` here (USDT). Undefined where there is no contract.
 */
export const run = Effect.fn("TronContract.run")(function* (
  http: TronHttp,
  owner: AddressBytes,
  contract: AddressBytes,
  signature: string,
  parameter: string
) {
  const answer = yield* ask(http, TronJson.addressHex(owner), contract, signature, parameter)
  if (answer === undefined) return undefined
  const said = textOf(answer.result?.message)
  return {
    energy: answer.energy_used ?? 0,
    failure: wasUndone(answer) || said !== "" ? said || "the contract undoes the call" : undefined
  }
})

const concurrency = 8

/** As `call`, up to three times where the contract was too slow. */
const patiently = (http: TronHttp, contract: AddressBytes, signature: string, parameter = "") =>
  Effect.retry(call(http, contract, signature, parameter), {
    ...{ times: 2, schedule: Schedule.spaced("500 millis"), while: isTooSlow }
  })

/** Undefined for a contract that is too slow three times, so that whoever deploys such a one stops no chain. */
const told = (...asked: Parameters<typeof patiently>) =>
  Effect.catchIf(patiently(...asked), isTooSlow, () => Effect.undefined)

/**
 * The decimals by which an amount is to be written into a transfer; undefined where the contract says none. A node that was too
 * busy to run the contract is a failure: a transfer of another amount would be signed.
 */
export const decimals = Effect.fn("TronContract.decimals")((http: TronHttp, contract: AddressBytes) =>
  Effect.map(patiently(http, contract, "decimals()"), decodeDecimals)
)

/** Names, symbols and decimals, in the order of the contracts; empty or undefined where a contract does not say. */
export const metadata = Effect.fn("TronContract.metadata")(
  (http: TronHttp, contracts: ReadonlyArray<AddressBytes>): Effect.Effect<ReadonlyArray<TokenMetadata>, NodeError> =>
    Effect.forEach(
      contracts,
      (contract) =>
        Effect.all({
          name: Effect.map(told(http, contract, "name()"), decodeText),
          symbol: Effect.map(told(http, contract, "symbol()"), decodeText),
          decimals: Effect.map(told(http, contract, "decimals()"), decodeDecimals)
        }),
      { concurrency }
    )
)

/** A number that a call returned. */
const numberOf = (returned: string | undefined) =>
  returned === undefined || returned.length !== 66 ? undefined : BigInt(returned)

const holderOf = (holder: AddressBytes) => Buffer.from(holder).toString("hex").padStart(64, "0")

/** What a contract says of itself; undefined where there is no contract of a token. */
export const details = Effect.fn("TronContract.details")(function* (http: TronHttp, contract: AddressBytes) {
  const [own] = yield* metadata(http, [contract])
  const number = (signature: string, parameter = "") => Effect.map(told(http, contract, signature, parameter), numberOf)
  const supports = (id: string) => number("supportsInterface(bytes4)", id.padEnd(64, "0"))
  const answers = yield* Effect.all(
    {
      totalSupply: number("totalSupply()"),
      balance: number("balanceOf(address)", holderOf(contract)),
      isNonFungible: supports(TokenDetails.interfaces["non-fungible"]),
      isMulti: supports(TokenDetails.interfaces.multi)
    },
    { concurrency }
  )
  return TokenDetails.of({ ...own!, contract }, answers)
})

/** What holders have of tokens, in the smallest units; undefined where the contract gives no answer. */
export const balances = Effect.fn("TronContract.balances")(
  (
    http: TronHttp,
    holdings: ReadonlyArray<{ readonly contract: AddressBytes; readonly holder: AddressBytes }>
  ): Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError> =>
    Effect.forEach(
      holdings,
      ({ contract, holder }) => Effect.map(call(http, contract, "balanceOf(address)", holderOf(holder)), numberOf),
      { concurrency }
    )
)
