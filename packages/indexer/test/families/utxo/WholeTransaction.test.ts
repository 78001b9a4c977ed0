/** Raw transactions with all of their parts, against recorded answers of nodes and against bitcoinjs-lib. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ZcashTransactionId from "@headwater/core/utxo/ZcashTransactionId"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { RawBytes } from "@headwater/indexer/families/utxo/internal/RawBytes"
import * as ShieldedParts from "@headwater/indexer/families/utxo/internal/ShieldedParts"
import * as MinedOutputs from "@headwater/indexer/families/utxo/MinedOutputs"
import * as WholeTransaction from "@headwater/indexer/families/utxo/WholeTransaction"
import { Transaction } from "bitcoinjs-lib"
import * as Effect from "effect/Effect"
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

/**
 * Vectors of version 6 (zcash-test-vectors, `ironwood_v6_tx_hash`, MIT and Apache-2.0) up to their last anchor; what comes
 * behind it is proofs and signatures, which are no part of an id. Their version group and branch are made up.
 */
const vectors = {
  "a Sapling spend": {
    effects: [
      "06000080ffffffffffffffffc7ca1b544bc4a0100000014899f0308c715180a8822c287c98ee9d28fa53f7a6130a2994e664e1f3b57386",
      "fe955ef33fcea114b8c7d7e129bf3fc31a6428ba3a4513ad8e97bc3718a5ae3a6fc6831991f8ed01c9e7f3524c217385fd4d1c2f4ad1cf",
      "a7ff6f1ceaf5712abc00e8030000000000003afc7a31d4497b3fbc67a0817cddcfacd659bd2dbe89559c1fce302ffd2f5806"
    ],
    behind: 192 + 64 + 64 + 2,
    txid: "5a8ab0201eab1431fcd4d48ca900f7fe87fd6a4a02e31aa793fe629ee9532ce9"
  },
  "an Orchard action": {
    effects: [
      "06000080ffffffffffffffff3da9330572b960040000000001a6ae1677adf42ec698a1d6edee0b51c6cba30f8c90b44842194b74887d8b",
      "8a1969478c4c7d985969b287926a5326cd8e2186df14478e9fb10c27096c3b5cbd019de5c0242b5303ba7421347f1ebb51aa6c8da9c612",
      "0a1df655dd619785aba90968c99f45f32be3b518a807a227682b9cdbd0d3729b09bc9edfad5067eb91d5181b40b3fb30cf50508a6a0f50",
      "ab437fa14b628d6df2b04f36d799d00b5126032a256d6afa1b875de68cb553ee252917c2a0899c4bae8e08502d8c23b467a4603a18c5b0",
      "6ff87f31ff06912b31739814bfbd013f94c0077d8d165209ba3400a3d1f3b3bae8da5655cad340f6d74f9f4474c804b3d4d2ce52669a6c",
      "9575e378fc0b601656bb27578dedee842a82bed4f816119e65a42bbdfb35b4f27fdcd2ba28dc4f67ffa9562bffee98ae89c019b8d54690",
      "c643ca4d6ac9242689d0f29595aa4c5d47f750a88d52dc9e483497768b6ac31dca5abf139b0389dd2e63245c5e1456c4f0cf4f9fbad738",
      "c972be57309e8f09cc60afd4a2975c354e7a695ba1b116813b0ffce8107572b12cde1c6149af92cb3f55819288bda27a245be888def8ca",
      "c6f8558dd96afc9b7dfef12ae40cc70efc0751de8f8a8321ae49a70e24183763317a8adf18ba36f3edabfa344ddafc1aff2dfbd13908ad",
      "d42b9bad3401f087d0c4bbe38a3af268d98c639791c8b6196539481a327c421e657e91fbb45371cbd2c6722c5f40ec3df03f80095ca108",
      "c606c029fc98c9d6a7098b5f733209ff0c77264f559df3237a7b43ec2b4d27dfac3e9b29e9e002e1783e7013cb08216e454663392ab012",
      "c6b1e19f123763d8b005b26fc23184e89a3e65ac88da7ac9298aca167e93dabfbaa69bf951ff53f41980a2ad82b817bbd87a3e5a722b59",
      "8d6d6c4f449a5a6ec0de15e43404319afd37060e74a6e1f31cdfacab96f708dc3d53d2b7155d2e88eee87a28485561328ceff8d80a401c",
      "6570695cee80e57f709fc6ad534f6836616629199c2cfd5ad3094310781175d7ed5126bc29f8b8e12d4883e871ab3862a0f4dcda91c37b",
      "21e9bd5478b337512efefb5896f15919cfe11c729a7b7dee1bb543353b3747f19be440bdb80ef483cbb2054026c8faa977a53619a11fe6",
      "1a0910a27e6afea8fcb9baf2cc16789cd034e9ef03e803000000000000bb7a01c0135cdb51fe49a51bf9199ef5849aca887bed64e91025",
      "c8ead8f03733"
    ],
    behind: 3 + 4992 + 64 + 64 + 1,
    txid: "f4e598370bb913468559691dcb144434f6921483532b2404ea0b01a6e80608fb"
  },
  "two inputs, two outputs and an Ironwood action": {
    effects: [
      "06000080ffffffffffffffff11096c8303d3701202f7a2e26119e3ee59af8c770bf4aa01dffb81545cd112fb4ca252fd6b2e1fb80527fb",
      "9cb10863525153005300529f9557f0f97c14936295c4f87f70b29c3be19d926964a24d3cdc3133e78c3b0ad2cb07a37fb9bcc2025253da",
      "5bb23e02edb59b7b2e6f0600095100636500526a52523402840edb8c0400026363000000019413670e073a21e24e46194b89198b92c367",
      "1a02e0619d92fecb8609c78ae7172bc63516351cc7a1c61199896e638bd84963d53e27af1fd086cb83b252361c234841849729c8898965",
      "f3aa30bdc2ad072bf4783677edd265d0ced3ce6f001ebadc8af6f8a8a0aa743a8d1a536e16f976c18bff4f199aa4464b7e7f1b59e4a41d",
      "b6616ef354dfa7054ccab46c86e1a768d7d0d0fb100c9db87da57942213032ad0e61a3c8c918205518ceaf718d274c17127d679214f9d5",
      "bc6fd0128b7ae0f7d8b55e1c029641e75f3cf35da3f6faeb05a4bd6d54cca2da2de2423aa86eb368913513f8184f24df1b424ad65f987f",
      "b3e790a6ef2d45367c89d60cf8c5ab4582d38f418113e669cd09e667bf0d78f797445f740ea87a0b58e2238c2445ee961081bfc63d516f",
      "17602ebb33e41295c57a2f67b3d37e13164d6171d0cefe16233f6f5f8149fc2cdecaa2eb4f6a6ee4e45d250b3e3a810842008999741ef4",
      "3ae41e3b508dfc3a3285edf0f9661c0cc6224cdb95dfa4d1b356eaf4614eaad7c524753c82ba3f2733379aaa47f0f5069df252a9094759",
      "f328b51465be64e84191ee0515cf71685530e14d417ac10ec277d80045431cae55e15c9c3095234ffc5cb45ba162d0cc8f7aa9a8c3efd5",
      "ddf48a1ff1d6cebd0b1d0fb7d0a559fca1dd7759a0113540e45765c793c5218e3e6db44447fb9834fcdce7c1cfb1593dc79083e8d41244",
      "b25b1c0b3ff5a7980392eae46d15d8e3d27aa6bd41e65f7663eb65ca70fed9f67a59514905f5de18d155158bc90e5ff5e3f214c3374129",
      "07f405a1c5407230ed10c870c209bcfc95d1528a68e5e1054622bb68a9ec4e6780b3af3d2f2abf380b37af29000fff94906cc7ab1ef765",
      "4dd2173f6e4d50e7e803507c3b47fbed55c2ade49241fcfb36c4a42a6242e28870a1979ffda12fdb4e909fa1b021020a8a519a5b953653",
      "a60381f463ccbb5007326e0a29028b9cbc083dc4d67d8ef32dfc5e5a47b489a16d671edc175ec5d15bb5a4485313f63dd99477fd96c3dd",
      "e9273d6428ca1476741a14c7be115f1b2ff695bfbcb52c4b63f1222de06b8d99b5ba06a411c03874d4b393db706b2e21a41de2b1524e9d",
      "e1b3c555f5462e811e1019eb025099c3acc57d820f5ce747540a05ab7380416f070100000000000000735a5b70f73aec0d081c0cc782ee",
      "e58f17992a3bc3e5c399e7c14b961994162d"
    ],
    behind: 3 + 4992 + 64 + 64,
    txid: "37158d8a36cea4f0174de58d582116bed20c1718dcaaeb605eba53603ec32b38"
  }
}

/** Behind the anchor: the size of the proof, where there are actions, then nothing but zeros. */
const whole = ({ behind, effects }: (typeof vectors)["a Sapling spend"]) => {
  const end = Buffer.alloc(behind)
  if (behind > 4992) end.set([0xfd, 0x80, 0x13])
  return Buffer.concat([Buffer.from(effects.join(""), "hex"), end])
}

describe("Zcash transactions of version 6 (ZIP-229)", () => {
  for (const [name, vector] of Object.entries(vectors)) {
    it(`the id of one with ${name}`, () => {
      const raw = new RawBytes(whole(vector))
      raw.skip(4)
      const header = { version: 6, versionGroupId: raw.uint32(), branchId: raw.uint32() } as const
      const [locktime, expiryHeight] = [raw.uint32(), raw.uint32()]
      const inputs = Array.from({ length: raw.size() }, () => {
        const outpoint = { transactionId: raw.hash(), index: raw.uint32() }
        raw.skip(raw.size())
        return { ...outpoint, sequence: raw.uint32() }
      })
      const outputs = Array.from({ length: raw.size() }, () => ({ amount: raw.uint64(), script: raw.take(raw.size()) }))
      const end = ShieldedParts.readNew(raw, 6, locktime)
      assert.strictEqual(raw.at, raw.bytes.length)
      const id = ZcashTransactionId.of({ ...header, ...end, locktime, expiryHeight, inputs, outputs })
      assert.strictEqual(hex(id.reverse()), vector.txid)
    })
  }

  /** Of testnet block 4,368,633: pays a memo and its change. */
  const mined = [
    "0600008098b684d85b16a537000000005ca942000174809dd1e32df6a22e4aecbc1fb8feff1fd62fdba80e3f8f1666bc1419a3b5",
    "d2000000006b483045022100b78a1461db30d256ececae36738faa4af79f9b89f79a5cb531bc411aded93cd702204753b0e80e4e",
    "eae7a4c8fbe9338597a0622ee00f09734e5a5fe643141d69680f012102e6a829db766cdf6488cfae3cd9588b1871317b625becdd",
    "5381c356923004a8cdffffffff020000000000000000266a2441524f3274f6ba041e253bb75e523e1b0d00422e44221c7a024075",
    "7cd1a40ad15d51366220ac9700000000001976a914210c1452fa23b003f258d03dbfad4eb5e063eb7988ac00000000"
  ].join("")

  it("one of the chain is decoded, with its id", () => {
    const decoded = Result.getOrThrow(WholeTransaction.decode(chainOf("zcash"), Buffer.from(mined, "hex")))
    assert.strictEqual(hex(decoded.id), "eeaa894c3c46814f7228a7ecf2be84c0006c1154b5101688dd413d9a419689c0")
    assert.deepStrictEqual([decoded.version, decoded.zcash?.versionGroupId], [6, 0xd884b698])
    assert.strictEqual(decoded.zcash?.expiryHeight, 4_368_732)
    assert.deepStrictEqual(
      decoded.outputs.map(({ amount, script }) => [amount, script.length]),
      [
        [0n, 38],
        [9_940_000n, 25]
      ]
    )
  })

  it("what comes out of Ironwood is counted", () => {
    const { behind, effects } = vectors["two inputs, two outputs and an Ironwood action"]
    const ofChain = `0600008098b684d8${effects.join("").slice(16)}`
    const decoded = WholeTransaction.decode(chainOf("zcash"), whole({ behind, effects: [ofChain], txid: "" }))
    const { shielded, zcash } = Result.getOrThrow(decoded)
    assert.deepStrictEqual(shielded, { joinSplits: 0, spends: 0, outputs: 0, actions: 1 })
    assert.deepStrictEqual(zcash?.revealed, { valueBalance: 0n, all: 1n })
  })

  it("another form of the same number is not decoded", () => {
    const decoded = WholeTransaction.decode(chainOf("zcash"), whole(vectors["a Sapling spend"]))
    assert.deepStrictEqual(decoded, Result.fail("is of version 6, which is not decoded here"))
  })

  it.effect("an output of one is found by its node's index", () =>
    Effect.gen(function* () {
      const transactionId = Buffer.from("eeaa894c3c46814f7228a7ecf2be84c0006c1154b5101688dd413d9a419689c0", "hex")
      const rpc = { node: "zebra", results: () => Effect.succeed([Result.succeed(mined)]) } as unknown as JsonRpc
      const [output] = yield* MinedOutputs.make(chainOf("zcash"), [rpc])([{ transactionId, index: 1 }])
      assert.strictEqual(output?.amount, 9_940_000n)
    })
  )
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

  // As Bitcoin Core reads them: the id of such bytes would be one that no node ever has.
  it("of a form that no node takes are refused: longer lengths, and a mark of witnesses without any", () => {
    const transaction = new Transaction()
    transaction.addInput(Buffer.alloc(32, 1), 0)
    transaction.addOutput(Buffer.from("51", "hex"), 1n)
    const plain = Buffer.from(transaction.toBuffer())
    assert.isTrue(Result.isSuccess(WholeTransaction.decode(chainOf("bitcoin"), plain)))
    const [version, rest] = [plain.subarray(0, 4), plain.subarray(5)]
    for (const one of ["fd0100", "fe01000000", "ff0100000000000000"]) {
      const longer = Buffer.concat([version, Buffer.from(one, "hex"), rest])
      assert.deepStrictEqual(
        WholeTransaction.decode(chainOf("bitcoin"), longer),
        Result.fail("has a length that takes more bytes than it needs")
      )
    }
    const [inputs, locktime] = [plain.subarray(4, -4), plain.subarray(-4)]
    const marked = Buffer.concat([version, Buffer.of(0, 1), inputs, Buffer.of(0), locktime])
    assert.deepStrictEqual(
      WholeTransaction.decode(chainOf("bitcoin"), marked),
      Result.fail("has the mark of witnesses, and none")
    )
  })
})
