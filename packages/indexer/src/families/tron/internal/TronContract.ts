/** Read-only calls of contracts (`/wallet/triggerconstantcontract`), after the newest block. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
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

/** Messages are hexadecimal in answers to POST. */
const textOf = (message = ""): string =>
  /^(?:[0-9a-f]{2})+$/i.test(message) ? Buffer.from(message, "hex").toString() : message

/**
 * What a function of a contract returned, as `0x` hex; undefined where there is no such contract or function, or where
 * it was undone. `parameter` is ABI-encoded hex. A node that does not run such calls is a failure.
 */
const call = Effect.fnUntraced(function* (
  http: TronHttp,
  contract: AddressBytes,
  signature: string,
  parameter: string
): Effect.fn.Return<string | undefined, NodeError> {
  const answer = yield* http.read(
    Answer,
    path,
    JSON.stringify({
      owner_address: caller,
      contract_address: TronJson.addressHex(contract),
      function_selector: signature,
      parameter
    })
  )
  const { code, message, result = false } = answer.result ?? {}
  if (!result) {
    const said = textOf(message)
    return noContract.test(said)
      ? undefined
      : yield* new NodeRejected({
          node: http.name,
          method: path,
          code: 0,
          message: `${code ?? "refused"}: ${said}`.slice(0, 300)
        })
  }
  if (answer.transaction?.ret?.some(({ ret }) => ret === "FAILED") === true) return undefined
  const returned = answer.constant_result?.[0]
  return returned === undefined || returned === "" ? undefined : `0x${returned}`
})

const concurrency = 8

/** Names, symbols and decimals, in the order of the contracts; empty or undefined where a contract does not say. */
export const metadata = Effect.fn("TronContract.metadata")(
  (http: TronHttp, contracts: ReadonlyArray<AddressBytes>): Effect.Effect<ReadonlyArray<TokenMetadata>, NodeError> =>
    Effect.forEach(
      contracts,
      (contract) =>
        Effect.all({
          name: Effect.map(call(http, contract, "name()", ""), decodeText),
          symbol: Effect.map(call(http, contract, "symbol()", ""), decodeText),
          decimals: Effect.map(call(http, contract, "decimals()", ""), decodeDecimals)
        }),
      { concurrency }
    )
)

/** What holders have of tokens, in the smallest units; undefined where the contract gives no answer. */
export const balances = Effect.fn("TronContract.balances")(
  (
    http: TronHttp,
    holdings: ReadonlyArray<{ readonly contract: AddressBytes; readonly holder: AddressBytes }>
  ): Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError> =>
    Effect.forEach(
      holdings,
      ({ contract, holder }) => {
        const parameter = Buffer.from(holder).toString("hex").padStart(64, "0")
        return Effect.map(call(http, contract, "balanceOf(address)", parameter), (returned) =>
          returned === undefined || returned.length !== 66 ? undefined : BigInt(returned)
        )
      },
      { concurrency }
    )
)
