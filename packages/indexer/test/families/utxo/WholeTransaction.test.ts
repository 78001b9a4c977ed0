/** Raw transactions with all of their parts, against recorded answers of nodes and against bitcoinjs-lib. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as WholeTransaction from "@headwater/indexer/families/utxo/WholeTransaction"
import { Transaction } from "bitcoinjs-lib"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 200)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))
const fixtures = join(import.meta.dirname, "../../../../../../shared/fixtures/utxo-blocks")
const present = existsSync(fixtures)

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const chainOf = (name: string) => Result.getOrThrow(Chain.find(name, "mainnet"))

/** A transaction as nodes show it. */
interface Shown {
  readonly txid: string
  readonly hex: string
  readonly hash?: string
  readonly size?: number
  readonly weight?: number
  readonly version: number
  readonly locktime: number
  readonly vjoinsplit?: ReadonlyArray<unknown>
  readonly vShieldedSpend?: ReadonlyArray<unknown>
  readonly vShieldedOutput?: ReadonlyArray<unknown>
  readonly orchard?: { readonly actions?: ReadonlyArray<unknown>; readonly valueBalanceZat?: number }
  readonly valueBalanceZat?: number
  readonly overwintered?: boolean
  readonly versiongroupid?: string
  readonly expiryheight?: number
  readonly vin: ReadonlyArray<{
    readonly txid?: string
    readonly vout?: number
    readonly scriptSig?: { readonly hex: string }
    readonly sequence?: number
    readonly txinwitness?: ReadonlyArray<string>
  }>
  readonly vout: ReadonlyArray<{ readonly scriptPubKey: { readonly hex: string }; readonly value: number }>
}

const isShown = (value: unknown): value is Shown =>
  Predicate.isObject(value) && "txid" in value && "vin" in value && "vout" in value && "hex" in value

const shownIn = (value: unknown): ReadonlyArray<Shown> =>
  isShown(value)
    ? [value]
    : Array.isArray(value) || Predicate.isObject(value)
      ? Object.values(value as object).flatMap(shownIn)
      : []

describe.skipIf(!present)("recorded answers of nodes", () => {
  // Those of other publishers are cut.
  for (const folder of ["bitcoin-etl", "zebra"]) {
    it(folder, () => {
      const files = readdirSync(join(fixtures, folder), { recursive: true, encoding: "utf8" })
      let seen = 0
      let zcash = 0
      for (const file of files.filter((name) => name.endsWith(".json"))) {
        const text = readFileSync(join(fixtures, folder, file), "utf8")
        const parsed = Result.try(() => JSON.parse(text) as unknown)
        if (Result.isFailure(parsed)) continue
        const chain = chainOf(folder === "zebra" ? "zcash" : file.includes("dogecoin") ? "dogecoin" : "bitcoin")
        for (const shown of shownIn(parsed.success)) {
          const decoded = WholeTransaction.decode(chain, Buffer.from(shown.hex, "hex"))
          const transaction = Result.getOrThrow(decoded)
          if (shown.vShieldedSpend !== undefined) {
            assert.deepStrictEqual(transaction.shielded, {
              ...{ joinSplits: shown.vjoinsplit?.length ?? 0, spends: shown.vShieldedSpend.length },
              ...{ outputs: shown.vShieldedOutput!.length, actions: shown.orchard?.actions?.length ?? 0 }
            })
          }
          if (folder === "zebra" && shown.vShieldedSpend !== undefined && transaction.zcash !== undefined) {
            const { expiryHeight, overwintered, revealed, versionGroupId } = transaction.zcash
            assert.strictEqual(Number(revealed.valueBalance), shown.valueBalanceZat ?? 0)
            assert.strictEqual(
              Number(revealed.all),
              (shown.valueBalanceZat ?? 0) + (shown.orchard?.valueBalanceZat ?? 0)
            )
            if (shown.overwintered !== undefined) assert.strictEqual(overwintered, shown.overwintered)
            if (shown.versiongroupid !== undefined) {
              assert.strictEqual(versionGroupId, Number.parseInt(shown.versiongroupid, 16))
            }
            if (shown.expiryheight !== undefined) assert.strictEqual(expiryHeight, shown.expiryheight)
            zcash++
          }
          seen++
          assert.deepStrictEqual(
            [hex(transaction.id), transaction.version, transaction.lockTime],
            [shown.txid, shown.version, shown.locktime]
          )
          if (shown.hash !== undefined) assert.strictEqual(hex(transaction.hash), shown.hash)
          if (shown.size !== undefined) assert.strictEqual(transaction.size, shown.size)
          if (shown.weight !== undefined) assert.strictEqual(transaction.weight, shown.weight)
          assert.deepStrictEqual(
            transaction.outputs.map(({ amount, script }) => [Number(amount), hex(script)]),
            shown.vout.map(({ scriptPubKey, value }) => [Math.round(value * 1e8), scriptPubKey.hex])
          )
          for (const [i, input] of shown.vin.entries()) {
            if (input.txid === undefined) continue
            const { outputIndex, scriptSig, sequence, transactionId, witness } = transaction.inputs[i]!
            assert.deepStrictEqual(
              [hex(transactionId), outputIndex, hex(scriptSig), sequence, witness.map(hex)],
              [input.txid, input.vout, input.scriptSig!.hex, input.sequence, input.txinwitness ?? []]
            )
          }
        }
      }
      assert.isAbove(seen, 0)
      if (folder === "zebra") assert.isAbove(zcash, 0)
    })
  }
})

const bytes = (maxLength: number) => fc.uint8Array({ maxLength })

const made = fc
  .record({
    version: fc.integer({ min: 1, max: 2 }),
    locktime: fc.integer({ min: 0, max: 0xffff_ffff }),
    inputs: fc.array(
      fc.record({
        hash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
        index: fc.integer({ min: 0, max: 0xffff_fffe }),
        script: bytes(300),
        sequence: fc.integer({ min: 0, max: 0xffff_ffff }),
        witness: fc.array(bytes(300), { maxLength: 3 })
      }),
      { minLength: 1, maxLength: 4 }
    ),
    outputs: fc.array(fc.record({ value: fc.bigInt({ min: 0n, max: 21n * 10n ** 14n }), script: bytes(300) }), {
      minLength: 1,
      maxLength: 4
    })
  })
  .map(({ inputs, locktime, outputs, version }) => {
    const transaction = new Transaction()
    transaction.version = version
    transaction.locktime = locktime
    inputs.forEach(({ hash, index, script, sequence, witness }, i) => {
      transaction.addInput(hash, index, sequence, script)
      transaction.setWitness(i, witness)
    })
    for (const { script, value } of outputs) transaction.addOutput(script, value)
    return transaction
  })

describe("what shielded pools reveal", () => {
  const uint64 = (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  }
  const zcash = (...parts: ReadonlyArray<string | Uint8Array>) =>
    Result.getOrThrow(
      WholeTransaction.decode(
        chainOf("zcash"),
        Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "hex") : part)))
      )
    ).zcash

  it("is what comes out of JoinSplits, less what goes in", () => {
    const joinSplit = (put: bigint, taken: bigint) => [uint64(put), uint64(taken), new Uint8Array(1802 - 16)]
    const signature = new Uint8Array(32 + 64)
    const read = zcash("02000000", "0000", "00000000", "02", ...joinSplit(5n, 0n), ...joinSplit(1n, 9n), signature)
    assert.deepStrictEqual(read, {
      ...{ overwintered: false, versionGroupId: 0, expiryHeight: 0, revealed: { valueBalance: 0n, all: 3n } }
    })
  })

  it("is Sapling's balance as well, which may be negative", () => {
    const spend = new Uint8Array(384)
    const end = new Uint8Array(64)
    const header = ["04000080", "85202f89", "0000", "00000000", "40420f00"]
    assert.deepStrictEqual(zcash(...header, uint64(-7n), "01", spend, "00", "00", end), {
      ...{ overwintered: true, versionGroupId: 0x892f2085, expiryHeight: 1_000_000 },
      revealed: { valueBalance: -7n, all: -7n }
    })
  })
})

describe("random transactions", () => {
  it(`are as bitcoinjs-lib has them (seed ${seed})`, () => {
    fc.assert(
      fc.property(made, (transaction) => {
        const decoded = Result.getOrThrow(
          WholeTransaction.decode(chainOf("bitcoin"), Buffer.from(transaction.toBuffer()))
        )
        assert.deepStrictEqual(
          [hex(decoded.id), hex(decoded.hash), decoded.weight, decoded.lockTime, decoded.size],
          [
            ...[transaction.getId(), hex(Uint8Array.from(transaction.getHash(true)).reverse()), transaction.weight()],
            ...[transaction.locktime, transaction.byteLength()]
          ]
        )
        assert.deepStrictEqual(
          decoded.inputs.map((input) => [hex(input.transactionId), input.outputIndex, hex(input.scriptSig)]),
          transaction.ins.map(({ hash, index, script }) => [hex(Uint8Array.from(hash).reverse()), index, hex(script)])
        )
        assert.deepStrictEqual(
          decoded.inputs.map(({ witness }) => witness.map(hex)),
          transaction.ins.map(({ witness }) => witness.map(hex))
        )
        assert.deepStrictEqual(
          decoded.outputs.map(({ amount, script }) => [amount, hex(script)]),
          transaction.outs.map(({ script, value }) => [value, hex(script)])
        )
      }),
      { numRuns: runs, seed }
    )
  })

  it(`that are cut or have bytes too many are refused, on every chain (seed ${seed})`, () => {
    const chains = Chain.all.filter(({ family, network }) => family === "utxo" && network === "mainnet")
    fc.assert(
      fc.property(made, fc.nat(), fc.constantFrom(...chains), (transaction, at, chain) => {
        const whole = Buffer.from(transaction.toBuffer())
        // A witness is none on some chains.
        fc.pre(Result.isSuccess(WholeTransaction.decode(chain, whole)))
        const cut = whole.subarray(0, at % whole.length)
        for (const wrong of [cut, Buffer.concat([whole, Buffer.of(0xff)])]) {
          assert.isTrue(Result.isFailure(WholeTransaction.decode(chain, wrong)))
        }
      }),
      { numRuns: runs, seed }
    )
  })
})
