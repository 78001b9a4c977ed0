/**
 * The opcodes and pushes of a script, read without making an object of each: a script may have hundreds of thousands. A push
 * of a byte or none that has an opcode of its own counts as that opcode (BIP-62, rule 3).
 */
import { OPS } from "bitcoinjs-lib/src/ops"

const OP_PUSHDATA1 = 0x4c
const OP_PUSHDATA4 = 0x4e
const OP_0 = 0
const OP_1NEGATE = 0x4f
const OP_RESERVED = 0x50

/** The opcode in place of a push of a byte, or undefined. */
const opcodeOf = (byte: number): number | undefined =>
  byte >= 1 && byte <= 16 ? OP_RESERVED + byte : byte === 0x81 ? OP_1NEGATE : undefined

interface Visitor {
  readonly opcode?: (opcode: number) => void
  /** The bytes between two places are pushed. */
  readonly push?: (from: number, to: number) => void
}

/** Tells the parts of a script one after another; false where a push ends behind the script. */
const visit = (script: Uint8Array, { opcode: onOpcode, push: onPush }: Visitor): boolean => {
  for (let at = 0; at < script.length; ) {
    const opcode = script[at++]!
    if (opcode === OP_0 || opcode > OP_PUSHDATA4) {
      onOpcode?.(opcode)
      continue
    }
    let length = opcode
    if (opcode >= OP_PUSHDATA1) {
      const size = 1 << (opcode - OP_PUSHDATA1)
      length = 0
      for (let index = size - 1; index >= 0; index--) length = length * 256 + (script[at + index] ?? 0)
      at += size
    }
    const from = at
    at += length
    if (at > script.length) return false
    const short = length === 0 ? OP_0 : length === 1 ? opcodeOf(script[from]!) : undefined
    if (short === undefined) onPush?.(from, at)
    else onOpcode?.(short)
  }
  return true
}

/** Whether every push ends within the script. */
export const isWhole = (script: Uint8Array): boolean => visit(script, {})

/** The opcodes of a script, each once; none where a push ends behind the script. */
export const opcodesOf = (script: Uint8Array): ReadonlySet<number> => {
  const opcodes = new Set<number>()
  return visit(script, { opcode: (opcode) => opcodes.add(opcode) }) ? opcodes : new Set()
}

/** The number of a script's parts, and the last two of them that are pushes; of opcodes there are no bytes. */
export interface End {
  readonly parts: number
  readonly last: Uint8Array | undefined
  readonly lastButOne: Uint8Array | undefined
}

/** How a script ends; as one without parts where a push ends behind the script. */
export const endOf = (script: Uint8Array): End => {
  let [parts, from, to, fromBefore, toBefore] = [0, -1, -1, -1, -1]
  const next = (newFrom: number, newTo: number) => {
    parts++
    fromBefore = from
    toBefore = to
    from = newFrom
    to = newTo
  }
  if (!visit(script, { opcode: () => next(-1, -1), push: next }))
    return { parts: 0, last: undefined, lastButOne: undefined }
  const pushed = (from: number, to: number) => (from === -1 ? undefined : script.subarray(from, to))
  return { parts, last: pushed(from, to), lastButOne: pushed(fromBefore, toBefore) }
}

const names = Array.from({ length: 256 }, (_, opcode) => ` ${(OPS as Readonly<Record<number, unknown>>)[opcode] ?? ""}`)

/** A script as people read it: names of opcodes, and pushes in hexadecimal; empty where a push ends behind the script. */
export const asm = (script: Uint8Array): string => {
  const hex = Buffer.from(script.buffer, script.byteOffset, script.length).toString("hex")
  let text = ""
  const isWhole = visit(script, {
    opcode: (opcode) => (text += names[opcode]),
    push: (from, to) => (text += ` ${hex.slice(2 * from, 2 * to)}`)
  })
  return isWhole ? text.slice(1) : ""
}
