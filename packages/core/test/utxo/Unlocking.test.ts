import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import { mayUnlock, scriptsOf, shownScripts, type Unlocking } from "@headwater/core/utxo/Unlocking"
import * as bitcoinjs from "bitcoinjs-lib"
import * as ecc from "tiny-secp256k1"

bitcoinjs.initEccLib(ecc)
const { payments } = bitcoinjs
const OPS = bitcoinjs.script.OPS as unknown as Readonly<Record<string, number>>

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))
const unlocks = (script: Uint8Array, ...inputs: ReadonlyArray<Unlocking | undefined>) =>
  mayUnlock(inputs)(Address.fromBytes(script))
const scriptSig = (scriptSig: Uint8Array): Unlocking => ({ scriptSig, witness: [] })
const witness = (...witness: ReadonlyArray<Uint8Array>): Unlocking => ({ scriptSig: new Uint8Array(), witness })

/** A DER signature of the usual length; nobody checks any here. */
const signature = bytes(`30440220${"11".repeat(32)}0220${"22".repeat(32)}01`)
const schnorrSignature = new Uint8Array(64).fill(7)
const annex = bytes("50aa")
const keyOf = (number: number) => ecc.pointFromScalar(new Uint8Array(32).fill(number))!

interface Example {
  readonly script: Uint8Array
  readonly unlocking: Unlocking
}

/** Outputs of one owner, each with what spends it. */
const examplesOf = (owner: number): Readonly<Record<string, Example>> => {
  const pubkey = keyOf(owner)
  const multisig = payments.p2ms({ m: 1, pubkeys: [pubkey, keyOf(owner + 100)] })
  const redeem = payments.p2ms({ output: multisig.output!, signatures: [signature] })
  const key = payments.p2wpkh({ pubkey, signature })
  const leaf = { output: bitcoinjs.script.compile([pubkey.subarray(1), OPS.OP_CHECKSIG!]) }
  const scriptTree: NonNullable<bitcoinjs.Payment["scriptTree"]> = [
    { output: multisig.output! },
    [leaf, { output: bytes("51") }]
  ]
  const tree = { internalPubkey: keyOf(owner + 50).subarray(1), scriptTree }
  const path = payments.p2tr({ ...tree, redeem: leaf })
  const made = ({ input, output, witness }: bitcoinjs.Payment): Example => ({
    script: output!,
    unlocking: { scriptSig: input ?? new Uint8Array(), witness: witness ?? [] }
  })
  return {
    p2pkh: made(payments.p2pkh({ pubkey, signature })),
    "p2pkh of a long key": made(payments.p2pkh({ pubkey: ecc.pointCompress(pubkey, false), signature })),
    "p2sh of multisig": made(payments.p2sh({ redeem })),
    "p2sh of p2wpkh": made(payments.p2sh({ redeem: key })),
    "p2sh of p2wsh": made(payments.p2sh({ redeem: payments.p2wsh({ redeem }) })),
    "p2sh of 32 bytes": {
      script: bytes(`aa20${Buffer.from(bitcoinjs.crypto.hash256(multisig.output!)).toString("hex")}87`),
      unlocking: scriptSig(bitcoinjs.script.compile([OPS.OP_0!, signature, multisig.output!]))
    },
    p2wpkh: made(key),
    p2wsh: made(payments.p2wsh({ redeem })),
    "p2tr by script": { script: path.output!, unlocking: witness(signature, ...path.witness!) },
    "p2tr by script, with an annex": {
      script: payments.p2tr({ ...tree, redeem: { output: multisig.output! } }).output!,
      unlocking: witness(...path.witness!, annex)
    }
  }
}

describe("mayUnlock", () => {
  const [ours, theirs] = [examplesOf(1), examplesOf(2)]

  for (const [name, { script, unlocking }] of Object.entries(ours)) {
    it(`${name}: its own input, and nobody else's`, () => {
      assert.isTrue(unlocks(script, unlocking))
      for (const [other, example] of Object.entries(theirs)) {
        assert.isFalse(unlocks(script, example.unlocking), other)
        assert.isTrue(unlocks(script, example.unlocking, unlocking), `behind ${other}`)
      }
      for (const [other, example] of Object.entries(ours)) {
        const same = Buffer.compare(example.script, script) === 0
        // One script, hashed in two ways for two forms.
        const twin = [name, other].every((one) => one === "p2sh of multisig" || one === "p2sh of 32 bytes")
        assert.strictEqual(unlocks(script, example.unlocking), same || twin, other)
      }
    })
  }

  it("p2tr: a key path shows no owner; a public key behind a signature is none", () => {
    const { script } = ours["p2tr by script"]!
    for (const path of [witness(schnorrSignature), witness(new Uint8Array(65)), witness(schnorrSignature, annex)]) {
      assert.isTrue(unlocks(script, path))
      for (const [name, example] of Object.entries(ours)) {
        assert.strictEqual(unlocks(example.script, path), name.startsWith("p2tr"), name)
      }
    }
    for (const other of [witness(), witness(keyOf(3)), witness(annex), scriptSig(schnorrSignature)]) {
      assert.isFalse(unlocks(script, other))
    }
    const [leaf, control] = ours["p2tr by script"]!.unlocking.witness.slice(-2) as [Uint8Array, Uint8Array]
    const changed = (at: number) => control.map((byte, index) => (index === at ? byte ^ 4 : byte))
    for (const other of [changed(0), changed(5), changed(40), control.subarray(0, 40), control.subarray(0, 33)]) {
      assert.isFalse(unlocks(script, witness(leaf, other)))
    }
  })

  it("nothing but pushes is run: all else may leave anything on the stack", () => {
    const pushed = ours.p2pkh!.unlocking.scriptSig
    for (const { script } of [ours.p2pkh!, ours["p2sh of multisig"]!, ours["p2sh of 32 bytes"]!]) {
      for (const [name, hex, expected] of [
        ["empty", "", false],
        ["an empty push", "00", false],
        ["small numbers", "4f515260", false],
        ["an opcode behind the key", `${Buffer.from(pushed).toString("hex")}61`, true],
        ["an opcode in front", `6102${"ab".repeat(2)}`, true],
        ["reserved", "50", true],
        ["a push beyond the end", "05aabb", true],
        ["a length beyond the end", "4d05", true],
        ["a long length beyond the end", "4effffffffaa", true]
      ] as const) {
        assert.strictEqual(unlocks(script, scriptSig(bytes(hex))), expected, name)
      }
    }
  })

  it("pushes of every width, and scripts of one byte", () => {
    const hash = (script: string) =>
      bytes(`a914${Buffer.from(bitcoinjs.crypto.hash160(bytes(script))).toString("hex")}87`)
    const long = "ab".repeat(300)
    for (const [script, push] of [
      ["", "5100"],
      ["81", "514f"],
      ["10", "60"],
      ["51", "0151"],
      ["51", "4c0151"],
      [long, `4d2c01${long}`],
      [long, `4e2c010000${long}`]
    ] as const) {
      assert.isTrue(unlocks(hash(script), scriptSig(bytes(push))), push)
    }
  })

  it("what cannot be told may be: an input not shown, a script without an address, a later witness version", () => {
    const { unlocking } = theirs.p2wpkh!
    assert.isTrue(unlocks(ours.p2pkh!.script, theirs.p2pkh!.unlocking, undefined))
    assert.isTrue(unlocks(ours.p2pkh!.script, undefined))
    assert.isTrue(unlocks(bitcoinjs.script.compile([keyOf(1), OPS.OP_CHECKSIG!]), unlocking))
    assert.isTrue(unlocks(bytes(`5220${"ab".repeat(32)}`), unlocking))
    assert.isFalse(unlocks(bytes(`5220${"ab".repeat(32)}`), theirs.p2pkh!.unlocking))
    assert.isFalse(unlocks(ours.p2pkh!.script))
    assert.isFalse(unlocks(bytes("51")))
  })
})

describe("scriptsOf", () => {
  const hexOf = (scripts: ReadonlyArray<Uint8Array> | undefined) =>
    scripts?.map((script) => Buffer.from(script).toString("hex"))

  for (const [name, { script, unlocking }] of Object.entries(examplesOf(1))) {
    it(`${name}: its own script is among those that its input may spend`, () => {
      const scripts = scriptsOf(unlocking)
      assert.include(hexOf(scripts)!, Buffer.from(script).toString("hex"))
      for (const one of scripts!) assert.isTrue(mayUnlock([unlocking])(one))
    })
  }

  it("says nothing where an input does not tell", () => {
    assert.isUndefined(scriptsOf(undefined))
    assert.isUndefined(scriptsOf(witness(schnorrSignature)), "a key path of taproot")
    assert.isUndefined(scriptsOf(scriptSig(bytes("5193"))), "more than pushes")
  })
})

describe("shownScripts", () => {
  const has = (script: Uint8Array, unlocking: Unlocking) =>
    shownScripts(unlocking).some((shown) => Buffer.compare(shown, script) === 0)
  const [ours, theirs] = [examplesOf(1), examplesOf(2)]

  for (const [name, { script, unlocking }] of Object.entries(ours)) {
    it(`${name}: its own script, and nobody else's`, () => {
      assert.isTrue(has(script, unlocking))
      for (const [other, example] of Object.entries(theirs)) assert.isFalse(has(script, example.unlocking), other)
    })
  }

  it("nothing where an input shows nobody", () => {
    for (const silent of [witness(), scriptSig(bytes("00")), scriptSig(bytes("ac")), scriptSig(bytes("05aabb"))]) {
      const shown = shownScripts(silent)
      assert.isFalse(Object.values(ours).some(({ script }) => shown.some((one) => Buffer.compare(one, script) === 0)))
    }
    const taproot = ours["p2tr by script"]!.script
    for (const path of [witness(schnorrSignature), witness(schnorrSignature, annex)]) assert.isFalse(has(taproot, path))
  })
})
