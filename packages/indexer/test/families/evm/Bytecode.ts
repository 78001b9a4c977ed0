/** Just enough of an EVM assembler to write test contracts without a compiler. Every piece is hex without `0x`. */

const push = (hex: string): string => `${(0x5f + hex.length / 2).toString(16)}${hex}`
const number = (value: number | bigint): string => {
  const hex = value.toString(16)
  return push(hex.length % 2 === 0 ? hex : `0${hex}`)
}
const account = (address: string): string => push(address.slice(2).toLowerCase())

const [calldatasize, calldatacopy, codecopy, mstore, gas, pop] = ["36", "37", "39", "52", "5a", "50"]

/** Calls without data, with all gas or so much. */
export const call = (to: string, value: number | bigint, limit?: number): string =>
  `${number(0).repeat(4)}${number(value)}${account(to)}${limit === undefined ? gas : number(limit)}f1${pop}`

/** A call of whose code it is run as. */
export const callSelf = (value: number): string => `${number(0).repeat(4)}${number(value)}30${gas}f1${pop}`

/** CALLCODE and DELEGATECALL: the other's code on the own account. */
export const callCode = (to: string, value: number | bigint): string =>
  `${number(0).repeat(4)}${number(value)}${account(to)}${gas}f2${pop}`
export const delegateCall = (to: string): string => `${number(0).repeat(4)}${account(to)}${gas}f4${pop}`
export const staticCall = (to: string): string => `${number(0).repeat(4)}${account(to)}${gas}fa${pop}`

export const stop = "00"
/** At the beginning of a program: ends it where coins come with the call. */
export const stopIfPaid = "3415600657005b"
export const revert = `${number(0)}${number(0)}fd`
/** Burns all gas of its frame. */
export const invalid = "fe"
export const selfDestruct = (to: string): string => `${account(to)}ff`
/** In favour of whose code it is run as. */
export const selfDestructToSelf = "30ff"

/** Writes `code` to memory from 0, a word at a time. */
const toMemory = (code: string): string =>
  (code.match(/.{1,64}/g) ?? []).map((part, index) => push(part.padEnd(64, "0")) + number(index * 32) + mstore).join("")

/** CREATE and CREATE2 (with a salt) of a contract by its creation code, with an endowment. */
export const create = (code: string, value: number | bigint): string =>
  `${toMemory(code)}${number(code.length / 2)}${number(0)}${number(value)}f0${pop}`
export const create2 = (code: string, value: number | bigint, salt: number): string =>
  `${toMemory(code)}${number(salt)}${number(code.length / 2)}${number(0)}${number(value)}f5${pop}`

/** Creation code of a contract that runs `runtime` when called. */
export const deploy = (runtime: string): string => {
  const size = push((runtime.length / 2).toString(16).padStart(4, "0"))
  const start = (3 + 2 + 2 + 1 + 3 + 2 + 1).toString(16).padStart(2, "0")
  return `${size + push(start) + push("00") + codecopy + size + push("00")}f3${runtime}`
}

/** LOG with these topics and data (hex with `0x`). */
export const log = (topics: ReadonlyArray<string>, data: string): string =>
  toMemory(data.slice(2)) +
  [...topics]
    .reverse()
    .map((topic) => push(topic.slice(2)))
    .join("") +
  number((data.length - 2) / 2) +
  number(0) +
  (0xa0 + topics.length).toString(16)

/** Runs the calldata as creation code of a child, with the value that came: an arbitrary program from a fixed contract. */
export const runner = `${calldatasize}${number(0)}${number(0)}${calldatacopy}${calldatasize}${number(0)}34f0${pop}${stop}`
