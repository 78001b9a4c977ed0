/** Bitcoin Core's and BIP-341's vectors, as whether an input may spend the output of a script. */
import { readFileSync } from "node:fs"
import * as bitcoinjs from "bitcoinjs-lib"
import { assert } from "vitest"
import type { Vector } from "./Answers.ts"

const OPS = bitcoinjs.script.OPS as unknown as Readonly<Record<string, number>>
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const vector = (
  script: Uint8Array,
  scriptSig: Uint8Array,
  witness: ReadonlyArray<Uint8Array>,
  expected: boolean
): Vector => ({
  kind: "unlocking",
  question: { script: hexOf(script), scriptSig: hexOf(scriptSig), witness: witness.map(hexOf) },
  expected
})

/** A script in the notation of Bitcoin Core's tests. */
const assemble = (text: string): Uint8Array =>
  Buffer.concat(
    text
      .split(/\s+/)
      .filter((word) => word !== "")
      .map((word) => {
        if (/^0x/.test(word)) return Buffer.from(word.slice(2), "hex")
        if (/^'.*'$/.test(word)) return bitcoinjs.script.compile([Buffer.from(word.slice(1, -1))])
        if (!/^-?\d+$/.test(word)) return Uint8Array.of(OPS[`OP_${word.replace(/^OP_/, "")}`] ?? assert.fail(word))
        const number = Number(word)
        if (number === 0 || number === -1 || (number >= 1 && number <= 16)) {
          return Uint8Array.of(number === 0 ? 0 : 0x50 + number)
        }
        return bitcoinjs.script.compile([bitcoinjs.script.number.encode(number)])
      })
  )

const form = (script: Uint8Array) =>
  /^(76a914.{40}88ac)$|^(a914.{40}87)$|^(00(?:14.{40}|20.{64}))$|^(5120.{64})$/.exec(hexOf(script))

/** Whether rules that are in force make a script of this form one that hides another. */
const isEnforced = (script: Uint8Array, has: (rule: string) => boolean) => {
  const [, keyHash, scriptHash, version0, taproot] = form(script) ?? []
  return (
    keyHash !== undefined ||
    (scriptHash !== undefined && has("P2SH")) ||
    (version0 !== undefined && has("WITNESS")) ||
    (taproot !== undefined && has("TAPROOT"))
  )
}

/** script_tests.json: what is valid is never called somebody else's. */
const scripts = (rows: ReadonlyArray<ReadonlyArray<unknown>>): ReadonlyArray<Vector> =>
  rows.flatMap((row) => {
    if (row.length < 4 || JSON.stringify(row).includes("#")) return []
    const [stack, sig, locking, flags, result] = (typeof row[0] === "string" ? [[], ...row] : row) as unknown as [
      ReadonlyArray<string | number>,
      ...ReadonlyArray<string>
    ]
    const script = assemble(locking!)
    if (!isEnforced(script, (rule) => flags!.split(",").includes(rule))) return []
    const isMismatch = result === "WITNESS_PROGRAM_MISMATCH" && form(script)?.[3] !== undefined
    if (result !== "OK" && !isMismatch) return []
    const witness = stack.filter((item) => typeof item === "string").map((item) => Buffer.from(item, "hex"))
    return [vector(script, assemble(sig!), witness, result === "OK")]
  })

/** tx_valid.json: no input is called somebody else's. */
const transactions = (rows: ReadonlyArray<ReadonlyArray<unknown>>): ReadonlyArray<Vector> =>
  rows.flatMap((row) => {
    if (row.length < 3) return []
    const [spent, hex, excluded] = row as [ReadonlyArray<readonly [string, number, string]>, string, string]
    return bitcoinjs.Transaction.fromHex(hex).ins.flatMap(({ hash, index, script: scriptSig, witness }) => {
      const id = hexOf(Buffer.from(hash).reverse())
      const [, , locking] = spent.find(([txid, vout]) => txid === id && vout >>> 0 === index)!
      const script = assemble(locking)
      return isEnforced(script, (rule) => !excluded.split(",").includes(rule))
        ? [vector(script, scriptSig, witness, true)]
        : []
    })
  })

/** bip341_wallet_vectors.json: every control block is for its own output only. */
const controlBlocks = (outputs: ReadonlyArray<unknown>): ReadonlyArray<Vector> => {
  interface Output {
    readonly given: { readonly scriptTree: unknown }
    readonly expected: { readonly scriptPubKey: string; readonly scriptPathControlBlocks?: ReadonlyArray<string> }
  }
  interface Leaf {
    readonly id: number
    readonly script: string
  }
  const leavesOf = (tree: unknown): ReadonlyArray<Leaf> =>
    Array.isArray(tree) ? tree.flatMap(leavesOf) : tree === null ? [] : [tree as Leaf]
  const all = outputs as ReadonlyArray<Output>
  return all.flatMap(({ expected, given }) =>
    leavesOf(given.scriptTree).flatMap(({ id, script }) => {
      const witness = [script, expected.scriptPathControlBlocks![id]!].map((part) => Buffer.from(part, "hex"))
      return all.map((other) => {
        const { scriptPubKey } = other.expected
        return vector(
          Buffer.from(scriptPubKey, "hex"),
          new Uint8Array(),
          witness,
          scriptPubKey === expected.scriptPubKey
        )
      })
    })
  )
}

/** All of them, from the folder of Bitcoin Core's data. */
export const all = (folder: URL): ReadonlyArray<Vector> => {
  const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8"))
  return [
    ...scripts(read("script_tests.json")),
    ...transactions(read("tx_valid.json")),
    ...controlBlocks(read("bip341_wallet_vectors.json").scriptPubKey)
  ]
}
