/** One event of a contract's ABI (Solidity ABI specification, *Events*): which logs are of it, and what they say. */
import { hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { EventFragment, Indexed, Interface, type LogDescription, type ParamType } from "ethers/abi"
import * as Address from "../address/Address.ts"
import type { Chain } from "../chains/Chain.ts"
import type { DecodedEvent } from "../events/CallbackItem.ts"

/** The text or object is no event of an ABI. */
export class InvalidEventAbi extends Schema.TaggedError<InvalidEventAbi>()("InvalidEventAbi", {
  message: Schema.String
}) {}

/** Characters that the ABI of an event has at most, as text. */
const maxLength = 4_096

/**
 * The event's ABI in one form, from how Solidity declares the event or from the ABI's JSON.
 *
 * @example
 * ```ts
 * import * as EventAbi from "@headwater/core/evm/EventAbi"
 * import * as Result from "effect/Result"
 *
 * const abi = EventAbi.parse("Transfer(address indexed from, address indexed to, uint value)")
 * Result.getOrThrow(abi) // => "event Transfer(address indexed from, address indexed to, uint256 value)"
 * ```
 */
export const parse = (abi: string | object): Result.Result<string, InvalidEventAbi> => {
  const text = typeof abi === "string" ? abi : (JSON.stringify(abi) ?? "")
  if (text.length > maxLength) {
    return Result.fail(new InvalidEventAbi({ message: `must have at most ${maxLength} characters` }))
  }
  const declared = typeof abi === "string" && !/^\s*event\s/.test(abi) ? `event ${abi}` : abi
  const fragment = Result.try(() => EventFragment.from(declared))
  if (Result.isFailure(fragment)) {
    return Result.fail(
      new InvalidEventAbi({
        message: "must be an event as Solidity declares it, or an event's object in a contract's ABI"
      })
    )
  }
  return fragment.success.anonymous
    ? Result.fail(new InvalidEventAbi({ message: "must not be anonymous: nothing in a log tells such an event" }))
    : Result.succeed(fragment.success.format("full"))
}

/** ABIs that are kept parsed. */
const kept = 1_000
const interfaces = new Map<string, Interface>()

/** `abi` as {@link parse} writes it. */
const interfaceOf = (abi: string): Interface => {
  const known = interfaces.get(abi)
  if (known !== undefined) return known
  const made = new Interface([abi])
  if (interfaces.size >= kept) interfaces.clear()
  interfaces.set(abi, made)
  return made
}

const fragmentOf = (abi: string) => interfaceOf(abi).fragments[0] as EventFragment

/** The first topic of the event's logs, as 0x and hex digits; `abi` as {@link parse} writes it. */
export const topicOf = (abi: string): string => fragmentOf(abi).topicHash

const valueOf = (chain: Chain, type: ParamType, value: unknown): Schema.Json => {
  if (value instanceof Indexed) return value.hash ?? null
  if (type.arrayChildren !== null) {
    const children = type.arrayChildren
    return [...(value as ReadonlyArray<unknown>)].map((each) => valueOf(chain, children, each))
  }
  if (type.components !== null) {
    const values = [...(value as ReadonlyArray<unknown>)]
    return type.components.map((component, i) => valueOf(chain, component, values[i]))
  }
  if (type.type === "address") {
    const bytes = Address.fromBytes(hexToBytes(String(value).slice(2)))
    return Address.encode(chain, bytes) ?? String(value)
  }
  return typeof value === "bigint" ? String(value) : (value as string | boolean)
}

const decodedOf = (chain: Chain, { args, fragment, signature }: LogDescription): DecodedEvent => ({
  event: fragment.name,
  signature,
  arguments: fragment.inputs.map((input, i) => ({
    name: input.name,
    type: input.type,
    value: valueOf(chain, input, args[i])
  }))
})

/**
 * What a log says by the event's ABI, as {@link parse} writes it; undefined where the log is none of the event, or does not
 * fit: anybody can emit a log of any shape.
 */
export const decode = (
  chain: Chain,
  abi: string,
  log: { readonly topics: ReadonlyArray<string>; readonly data: string }
): DecodedEvent | undefined =>
  Result.getOrUndefined(
    Result.try(() => {
      const parsed = interfaceOf(abi).parseLog(log)
      return parsed === null ? undefined : decodedOf(chain, parsed)
    })
  )
