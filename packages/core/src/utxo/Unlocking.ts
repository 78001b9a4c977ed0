/**
 * Whose output an input may spend, told by the input alone: for nodes that do not show spent outputs.
 *
 * A locking script with an address holds a hash or a key, and an input shows the public key or the script behind that.
 * Only the key path of taproot shows neither.
 *
 * Sources: BIP-16 (P2SH), BIP-141 (witness programs), BIP-341 (taproot), CHIP-2022-05 (P2SH32 of Bitcoin Cash).
 */
import { ripemd160 } from "@noble/hashes/legacy.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { type AddressBytes, fromBytes } from "../address/Address.ts"
import { key } from "../Bytes.ts"
import { hash160 } from "./BitcoinHash.ts"
import * as ControlBlock from "./internal/ControlBlock.ts"
import * as LockingScript from "./LockingScript.ts"

/** The parts of an input that unlock an output. */
export interface Unlocking {
  readonly scriptSig: Uint8Array
  /** Of the witness the last {@link witnessItems} items, or all where there are fewer. The top of the stack is last. */
  readonly witness: ReadonlyArray<Uint8Array>
}

/** A script, its control block and an annex are the most that tells an owner; a witness may have a million items. */
export const witnessItems = 3

/** Bytes that an input shows; `any` where the bytes could be any, undefined where there are none. */
type Shown = Uint8Array | "any" | undefined

const OP_PUSHDATA1 = 0x4c
const OP_PUSHDATA4 = 0x4e
const OP_1NEGATE = 0x4f
const OP_1 = 0x51
const OP_16 = 0x60

/** The top of the stack behind a `scriptSig` of pushes alone; any other script would have to be run. */
const topOf = (scriptSig: Uint8Array): Shown => {
  // A script may have hundreds of thousands of pushes: the bytes are those of the last alone.
  let from = 0
  let opcode = 0
  for (let at = 0; at < scriptSig.length; ) {
    opcode = scriptSig[at++]!
    if (opcode === OP_1NEGATE || (opcode >= OP_1 && opcode <= OP_16)) continue
    if (opcode > OP_PUSHDATA4) return "any"
    let length = opcode
    if (opcode >= OP_PUSHDATA1) {
      const lengthSize = 1 << (opcode - OP_PUSHDATA1)
      length = 0
      for (let i = lengthSize - 1; i >= 0; i--) length = length * 256 + (scriptSig[at + i] ?? 0)
      at += lengthSize
    }
    from = at
    at += length
    if (at > scriptSig.length) return "any"
  }
  if (scriptSig.length === 0) return undefined
  if (opcode >= OP_1NEGATE) return Uint8Array.of(opcode === OP_1NEGATE ? 0x81 : opcode - OP_1 + 1)
  return scriptSig.subarray(from)
}

const hashed = (shown: Shown, hash: (bytes: Uint8Array) => Uint8Array): Shown =>
  shown === undefined || shown === "any" ? shown : hash(shown)

const annexTag = 0x50

const taprootKey = (witness: ReadonlyArray<Uint8Array>): Shown => {
  const annexed = witness.length > 1 && witness.at(-1)![0] === annexTag
  const stack = annexed ? witness.slice(0, -1) : witness
  const top = stack.at(-1)
  if (top === undefined) return undefined
  // A key path: one signature of 64 bytes, or 65 with its type.
  if (stack.length === 1) return top.length === 64 || top.length === 65 ? "any" : undefined
  return ControlBlock.outputKey(top, stack.at(-2)!)
}

/** The hash or key of the script in the form of `template` that an input unlocks. */
const shownFor = (template: LockingScript.Template, { scriptSig, witness }: Unlocking): Shown => {
  if (template.kind === "pubKeyHash") return hashed(topOf(scriptSig), hash160)
  if (template.kind === "scriptHash") {
    return hashed(topOf(scriptSig), template.hash.length === 20 ? hash160 : (script) => sha256(sha256(script)))
  }
  if (scriptSig.length > 0) return undefined
  const { program, version } = template
  if (version === 0 && program.length === 20) return witness.length === 2 ? hash160(witness[1]!) : undefined
  if (version === 0 && program.length === 32) return hashed(witness.at(-1), sha256)
  if (version === 1 && program.length === 32) return taprootKey(witness)
  return "any"
}

/**
 * Whether one of the inputs may spend what a script locks: false is certain. True stands also for what cannot be told:
 * a key path of taproot, a script that has no address or a later witness version, a `scriptSig` of more than pushes, an
 * input of which the node shows nothing (undefined).
 */
export const mayUnlock = (inputs: ReadonlyArray<Unlocking | undefined>): ((script: AddressBytes) => boolean) => {
  // By form of script: a transaction may have thousands of inputs, and pay as many watched addresses.
  const shownByForm = new Map<string, ReadonlySet<string>>()
  return (script) => {
    const template = LockingScript.parse(script)
    if (template === undefined) return inputs.length > 0
    const content = template.kind === "witness" ? template.program : template.hash
    const form = `${template.kind} ${template.kind === "witness" ? template.version : ""} ${content.length}`
    let shown = shownByForm.get(form)
    if (shown === undefined) {
      const found = inputs.map((input) => (input === undefined ? "any" : shownFor(template, input)))
      shown = new Set(found.flatMap((one) => (one === undefined ? [] : one === "any" ? one : key(one))))
      shownByForm.set(form, shown)
    }
    return shown.has("any") || shown.has(key(content))
  }
}

/** Lengths of a public key, short and long. */
const keyLengths: ReadonlySet<number> = new Set([33, 65])
/** Scripts of taproot have leaf versions from here on; what stands lower is the sign of a public key. */
const firstLeafVersion = 0xc0

/** Hashes of many keys and scripts, of each kind one behind another. */
export interface Hashes {
  /** SHA-256, 32 bytes each. */
  readonly sha256: Uint8Array
  /** RIPEMD-160 of SHA-256, 20 bytes each. */
  readonly hash160: Uint8Array
  /** SHA-256 of SHA-256, 32 bytes each. */
  readonly sha256d: Uint8Array
}

/** The hashes of keys and scripts, in their order; `sha256d` holds anything where that is not asked for. */
export type HashesOf = (contents: ReadonlyArray<Uint8Array>, needsSha256d?: boolean) => Hashes

/** As every engine computes them. */
export const hashesOf: HashesOf = (contents, needsSha256d = true) => {
  const [first, short, second] = [32, 20, 32].map((size) => new Uint8Array(contents.length * size))
  for (const [index, content] of contents.entries()) {
    const hash = sha256(content)
    first!.set(hash, index * 32)
    short!.set(ripemd160(hash), index * 20)
    if (needsSha256d) second!.set(sha256(hash), index * 32)
  }
  return { sha256: first!, hash160: short!, sha256d: second! }
}

/** Whether anybody looks for locking scripts of this length that begin with this byte. */
export type IsSought = (length: number, first: number) => boolean

/** A script of each form of which an input shows the hash or the key. */
const [hash, longHash] = [new Uint8Array(20), new Uint8Array(32)]
const forms = {
  keyHash: LockingScript.pubKeyHash(hash),
  scriptHash: LockingScript.scriptHash(hash),
  longScriptHash: LockingScript.scriptHash(longHash),
  witnessKeyHash: LockingScript.witness(0, hash),
  witnessScriptHash: LockingScript.witness(0, longHash),
  taproot: LockingScript.witness(1, longHash)
}

/** Which of the forms anybody looks for: to find the key of a taproot output takes a thousand times as long as a hash. */
type Sought = { readonly [form in keyof typeof forms]: boolean }

const soughtBy = (isSought: IsSought): Sought => {
  const of = (form: Uint8Array) => isSought(form.length, form[0]!)
  const { keyHash, longScriptHash, scriptHash, taproot, witnessKeyHash, witnessScriptHash } = forms
  return {
    ...{ keyHash: of(keyHash), scriptHash: of(scriptHash), longScriptHash: of(longScriptHash) },
    ...{ witnessKeyHash: of(witnessKeyHash), witnessScriptHash: of(witnessScriptHash), taproot: of(taproot) }
  }
}

/** The key or script by whose hash an output of a form that is sought may be locked that the input unlocks. */
const contentOf = ({ scriptSig, witness }: Unlocking, sought: Sought): Uint8Array | undefined => {
  if (scriptSig.length === 0) {
    const isSought = sought.witnessScriptHash || (sought.witnessKeyHash && witness.length === 2)
    return isSought ? witness.at(-1) : undefined
  }
  const shown = topOf(scriptSig)
  if (shown === undefined || shown === "any") return undefined
  const isSought = sought.scriptHash || sought.longScriptHash || (sought.keyHash && keyLengths.has(shown.length))
  return isSought ? shown : undefined
}

const byScriptSig = (content: Uint8Array, { hash160, sha256d }: Hashes, index: number, sought: Sought) => [
  ...(sought.keyHash && keyLengths.has(content.length) ? [LockingScript.pubKeyHash(hash160, index * 20)] : []),
  ...(sought.scriptHash ? [LockingScript.scriptHash(hash160, index * 20, 20)] : []),
  ...(sought.longScriptHash ? [LockingScript.scriptHash(sha256d, index * 32, 32)] : [])
]

const byWitness = (witness: ReadonlyArray<Uint8Array>, { hash160, sha256 }: Hashes, index: number, sought: Sought) => [
  ...(sought.witnessScriptHash ? [LockingScript.witness(0, sha256, index * 32, 32)] : []),
  ...(sought.witnessKeyHash && witness.length === 2 ? [LockingScript.witness(0, hash160, index * 20, 20)] : [])
]

const byTaproot = (witness: ReadonlyArray<Uint8Array>) => {
  const key = witness.some((item) => item.length > 0 && item[0]! >= firstLeafVersion) ? taprootKey(witness) : undefined
  return key === undefined || key === "any" ? [] : [LockingScript.witness(1, key)]
}

/**
 * As {@link shownScripts}, of many inputs: their keys and scripts are hashed at once, and each input's scripts made when
 * asked for; those alone that have a form that is sought.
 */
export const shownScriptsOfEach = (
  inputs: ReadonlyArray<Unlocking>,
  hashesOf: HashesOf,
  isSought: IsSought = () => true
): ((input: number) => ReadonlyArray<AddressBytes>) => {
  const sought = soughtBy(isSought)
  const contents: Array<Uint8Array> = []
  const places = inputs.map((input) => {
    const content = contentOf(input, sought)
    return content === undefined ? -1 : contents.push(content) - 1
  })
  const hashes = hashesOf(contents, sought.longScriptHash)
  return (input) => {
    const place = places[input]!
    const { scriptSig, witness } = inputs[input]!
    const isScriptSig = scriptSig.length > 0
    const byKey = sought.taproot && !isScriptSig ? byTaproot(witness) : []
    if (place < 0) return byKey.map(fromBytes)
    const byHash = isScriptSig
      ? byScriptSig(contents[place]!, hashes, place, sought)
      : byWitness(witness, hashes, place, sought)
    return [...byHash, ...byKey].map(fromBytes)
  }
}

/**
 * The locking scripts one of which an input unlocks by the key or script that the input shows; a key path of taproot, and
 * a `scriptSig` of more than pushes, show none.
 *
 * @example
 * ```ts
 * import { hash160 } from "@headwater/core/utxo/BitcoinHash"
 * import * as LockingScript from "@headwater/core/utxo/LockingScript"
 * import * as Unlocking from "@headwater/core/utxo/Unlocking"
 *
 * const [signature, key] = [new Uint8Array(71), new Uint8Array(33)]
 * const shown = Unlocking.shownScripts({ scriptSig: new Uint8Array(), witness: [signature, key] })
 * shown[1] // => LockingScript.witness(0, hash160(key))
 * ```
 */
export const shownScripts = (input: Unlocking): ReadonlyArray<AddressBytes> => shownScriptsOfEach([input], hashesOf)(0)

/**
 * As {@link shownScripts}; undefined where the input does not tell: a key path of taproot, a `scriptSig` of more than
 * pushes, an input of which the node shows nothing.
 */
export const scriptsOf = (input: Unlocking | undefined): ReadonlyArray<AddressBytes> | undefined => {
  if (input === undefined) return undefined
  const { scriptSig, witness } = input
  const shown = scriptSig.length > 0 ? topOf(scriptSig) : taprootKey(witness)
  return shown === "any" ? undefined : shownScripts(input)
}
