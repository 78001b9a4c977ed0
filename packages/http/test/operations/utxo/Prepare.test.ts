/**
 * Prepared transactions of every UTXO chain over a node in memory: sums, fees, change and coins by plain rules, and the hashes
 * by plain readings of BIP-143 and of Bitcoin's first rules, and by a signer of PSBTs.
 */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import type * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { keyOf as outpointKey } from "@headwater/core/utxo/Coin"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import * as Steps from "@headwater/core/Steps"
import * as ZcashSighash from "@headwater/core/utxo/ZcashSighash"
import * as UtxoOperations from "@headwater/http/operations/utxo/UtxoOperations"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { Ancestors, CoinState, FeeRates, UtxoPreparation } from "@headwater/indexer/families/utxo/UtxoPreparation"
import type { UtxoSource } from "@headwater/indexer/families/utxo/UtxoSource"
import type { MempoolTransaction } from "@headwater/indexer/families/SideSources"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Follow from "@headwater/indexer/sync/Follow"
import { BIP32Factory } from "bip32"
import { initEccLib, Psbt } from "bitcoinjs-lib"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as ecc from "tiny-secp256k1"
import { takenStores } from "../../../../../test/Stores.ts"
import { UtxoChain } from "../../../../indexer/test/families/utxo/UtxoChain.ts"

initEccLib(ecc)

const master = BIP32Factory(ecc).fromSeed(new Uint8Array(32).fill(18))
const bitcoin = Chain.ofName("bitcoin/mainnet")!

/** A key one step below its master, whose fingerprint it says. */
const account = master.derivePath("m/0'")
const textOf = (chain: Chain.Chain) =>
  ExtendedPublicKey.encode(chain, Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, account.neutered().toBase58())))

const sha256d = (bytes: Uint8Array) => {
  const once = createHash("sha256").update(bytes).digest()
  return createHash("sha256").update(once).digest()
}

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const uint64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
const sized = (hex: string) => Buffer.concat([Uint8Array.of(hex.length / 2), Buffer.from(hex, "hex")])

type Answer = Effect.Success<ReturnType<Effect.Success<ReturnType<typeof UtxoOperations.make>>["utxoPrepare"]>>

const parts = ({ inputs, outputs }: Answer) => ({
  outpoints: inputs.map(({ outputIndex, transactionId }) =>
    Buffer.concat([Buffer.from(transactionId, "hex").reverse(), uint32(outputIndex)])
  ),
  outputs: Buffer.concat(
    outputs.map(({ satoshis, script }) => Buffer.concat([uint64(BigInt(satoshis)), sized(script)]))
  )
})

/** BIP-143. */
const segwitHash = (answer: Answer, at: number, scriptCode: string, type: number) => {
  const { outpoints, outputs } = parts(answer)
  const { inputs, locktime, version } = answer
  const sequences = Buffer.concat(inputs.map(({ sequence }) => uint32(sequence)))
  return sha256d(
    Buffer.concat([
      ...[uint32(version), sha256d(Buffer.concat(outpoints)), sha256d(sequences), outpoints[at]!],
      ...[sized(scriptCode), uint64(BigInt(inputs[at]!.satoshis)), uint32(inputs[at]!.sequence)],
      ...[sha256d(outputs), uint32(locktime), uint32(type)]
    ])
  )
}

/** Of Bitcoin's first release. */
const legacyHash = (answer: Answer, at: number, type: number) => {
  const { outpoints, outputs } = parts(answer)
  const inputs = answer.inputs.map(({ script, sequence }, i) =>
    Buffer.concat([outpoints[i]!, sized(i === at ? script : ""), uint32(sequence)])
  )
  const counts = [inputs.length, answer.outputs.length].map((count) => Uint8Array.of(count))
  return sha256d(
    Buffer.concat([
      uint32(answer.version),
      counts[0]!,
      ...inputs,
      counts[1]!,
      outputs,
      uint32(answer.locktime),
      uint32(type)
    ])
  )
}

const branchId = 0x4dec4df0

/** The hash of an input, as the chain's rules have it. */
const hashOf = (name: string, answer: Answer, at: number): Uint8Array => {
  if (name === "zcash") {
    const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))
    const digests = ZcashSighash.digests({
      branchId,
      locktime: answer.locktime,
      expiryHeight: answer.blockchainSpecific!.expiryHeight!,
      inputs: answer.inputs.map((input) => ({
        ...{ transactionId: bytes(input.transactionId), index: input.outputIndex, sequence: input.sequence },
        ...{ amount: BigInt(input.satoshis), script: bytes(input.script) }
      })),
      outputs: answer.outputs.map(({ satoshis, script }) => ({ amount: BigInt(satoshis), script: bytes(script) }))
    })
    return Steps.atOnce(digests)[at]!
  }
  const { change, derivationIndex, script } = answer.inputs[at]!
  if (name === "bitcoin-cash") return segwitHash(answer, at, script, 0x41)
  if (script.startsWith("76a9")) return legacyHash(answer, at, 1)
  const { identifier } = account.derive(change).derive(derivationIndex)
  return segwitHash(answer, at, Buffer.from(LockingScript.pubKeyHash(identifier)).toString("hex"), 1)
}

const cases = [
  { name: "bitcoin", format: "P2WPKH", dust: 294n },
  { name: "bitcoin", format: "P2SH-P2WPKH", dust: 540n },
  { name: "bitcoin", format: "P2PKH", dust: 546n },
  { name: "bitcoin", format: "P2TR", dust: 330n },
  { name: "litecoin", format: "P2WPKH", dust: 2_940n },
  { name: "dogecoin", format: "P2PKH", dust: 1_000_000n },
  { name: "dash", format: "P2PKH", dust: 546n },
  { name: "bitcoin-cash", format: "P2PKH", dust: 546n },
  { name: "zcash", format: "P2PKH", dust: 5_000n }
] as const

const randomOf = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A wallet with random coins, some of which cannot be spent, and its operations. */
const setup = Effect.fnUntraced(function* (
  name: string,
  format: Derivation.Format,
  seed: number,
  derivation: Derivation.Derivation = "account"
) {
  const chain = Chain.ofName(`${name}/regtest`)!
  const random = randomOf(seed)
  const world = new UtxoChain(chain)
  const states = new Map<string, CoinState>()
  const pool = {
    ancestors: { count: 2, size: 1_000, fee: 1_000n, own: { size: 200, fee: 400n } } as
      | (Omit<Ancestors, "hasChild"> & Partial<Ancestors>)
      | "absent"
      | "unsaid",
    maker: undefined as Uint8Array | undefined,
    transactions: [] as ReadonlyArray<MempoolTransaction>,
    rates: { rate: 4_321n, longTermRate: 10_000n, least: 1_000n } as FeeRates
  }
  const preparation: UtxoPreparation = {
    smartFee: () => Effect.undefined,
    feeRates: () => Effect.sync(() => pool.rates),
    statesOf: (coins) => Effect.succeed(coins.map(({ outpoint }) => states.get(outpointKey(outpoint)) ?? "spendable")),
    makersOf: (coins) => Effect.sync(() => coins.map(() => pool.maker)),
    feeFault: (fee, bytes) =>
      Effect.succeed(fee * 1_000n > 1_000_000n * BigInt(bytes) ? "the fee must be at most a lot" : undefined),
    ancestorsOf: () =>
      Effect.sync(() => {
        const { ancestors } = pool
        return typeof ancestors === "string" ? ancestors : { hasChild: false, ...ancestors }
      }),
    nextBranch: Effect.sync(() => ({ id: branchId, height: world.tip.height + 1 }))
  }
  const search = { isAvailable: Effect.succeed(false) }
  const source = { ...world.source, search } as unknown as UtxoSource
  yield* (yield* ConnectedNodes).connect(chain, {
    family: "utxo",
    source,
    preparation,
    sideSources: { mempool: { transactions: () => Effect.sync(() => pool.transactions) } }
  } as unknown as UtxoConnection)
  const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 100, gapLimit: 20 })
  const operations = yield* UtxoOperations.make(chain, { record: "all", gapLimit: 20, reservationSeconds: 600 })
  const follow = yield* Follow.make(source, store, {
    ...{ pollInterval: Duration.millis(1), concurrency: 2, undoDepth: 100, start: 0 }
  })
  const extendedPublicKey = textOf(chain)
  const request = {
    ...{ account: 1, extendedPublicKey, format, derivation },
    paying: ((change: Effect.Effect<unknown>) => change) as never
  }
  // Before the first block nothing says that the record will lack coins.
  const early = yield* Effect.flip(operations.utxoDerive(request))
  assert.deepInclude(early, { _tag: "node_unavailable" })
  assert.match(early.message, /is being read: at block \(none\)/)
  yield* follow.step
  yield* operations.utxoDerive(request)
  const key = Result.getOrThrow(keyOf(1, chain, extendedPublicKey, derivation, format))
  const scripts = WalletBranches.of(chain, { ...key, public_key: key.publicKey }).map((branch) =>
    WalletBranches.derive(branch, 0, 9).map(({ bytes }) => bytes)
  )
  const unit = name === "dogecoin" ? 10_000_000 : 100_000
  for (let i = 0; i < 12; i++) {
    const to = scripts[random(scripts.length)]![random(10)]!
    const { transactions } = world.mine([{ spends: [], pays: [{ to, amount: BigInt(unit + random(10 * unit)) }] }])
    const state = (["spent", "immature", "token"] as const)[i]
    if (state !== undefined) states.set(outpointKey({ transactionId: transactions[0]!, index: 0 }), state)
  }
  yield* follow.step
  return { chain, operations, pool, random, request, scripts, states, unit }
})

for (const store of takenStores(import.meta.url)) {
  const layer = Layer.mergeAll(Outbox.layer, Wallets.layer).pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer),
    Layer.provideMerge(Layer.mergeAll(ConnectedNodes.layer, ChainStatus.layer))
  )

  describe(`Preparation of UTXO transactions on ${store.name}`, () => {
    // Stores differ in how coins are reserved, chains in all else.
    for (const { dust, format, name } of store.name === "sqlite" ? cases : cases.slice(0, 1)) {
      it.live(`is right to the unit on ${name}, ${format}`, () =>
        Effect.gen(function* () {
          const { chain, operations, random, request, scripts, states, unit } = yield* setup(
            name,
            format,
            dust === 294n ? 7 : 8
          )
          const stranger = Address.encode(
            chain,
            Address.fromBytes(LockingScript.pubKeyHash(new Uint8Array(20).fill(9)))
          )!
          const used = new Set<string>()
          let made = 0
          for (let i = 0; i < 4; i++) {
            const amount = BigInt(unit + random(2 * unit))
            const answers = yield* Effect.forEach(
              [1, 2],
              () =>
                Effect.result(
                  operations.utxoPrepare({
                    ...request,
                    recipients: [{ address: stranger, amount: `0.${amount.toString().padStart(8, "0")}` }],
                    fee: { priority: "standard" },
                    locktime: 3
                  })
                ),
              { concurrency: "unbounded" }
            )
            for (const result of answers) {
              if (Result.isFailure(result)) {
                assert.strictEqual(result.failure._tag, "invalid_data")
                assert.match(result.failure.message, /is reserved by transactions that were prepared before/)
                continue
              }
              made++
              const answer = result.success
              const taken = answer.inputs.reduce((sum, { satoshis }) => sum + BigInt(satoshis), 0n)
              const paid = answer.outputs.reduce((sum, { satoshis }) => sum + BigInt(satoshis), 0n)
              const fee = BigInt(Math.round(Number(answer.fee.amount) * 1e8))
              assert.strictEqual(taken, paid + fee)
              for (const [at, input] of answer.inputs.entries()) {
                const outpoint = { transactionId: Buffer.from(input.transactionId, "hex"), index: input.outputIndex }
                assert.isFalse(used.has(outpointKey(outpoint)))
                used.add(outpointKey(outpoint))
                assert.isFalse(states.has(outpointKey(outpoint)), "a coin that cannot be spent")
                assert.strictEqual(
                  input.script,
                  Buffer.from(scripts[input.change]![input.derivationIndex]!).toString("hex")
                )
                if (format !== "P2TR") {
                  assert.strictEqual(input.sighash, Buffer.from(hashOf(name, answer, at)).toString("hex"))
                }
              }
              const change = answer.outputs.slice(1)
              if (change.length > 0) assert.isTrue(BigInt(change[0]!.satoshis) >= dust)
              const least =
                name === "zcash"
                  ? 5_000n * BigInt(Math.max(2, Math.ceil((answer.inputs.length * 148) / 150), answer.outputs.length))
                  : (4_321n * BigInt(answer.size) + 999n) / 1_000n
              if (change.length > 0) assert.strictEqual(fee, least)
              else assert.isTrue(fee >= least)
              assert.strictEqual(answer.version, { zcash: 5, dogecoin: 1 }[name as string] ?? 2)
              // Nodes of the others replace nothing, Litecoin's unless they are told to (`-mempoolreplacement`).
              const isReplaceable = name === "bitcoin"
              const sequence = isReplaceable ? 0xffff_fffd : 0xffff_fffe
              assert.isTrue(answer.inputs.every((input) => input.sequence === sequence))
              const isSaid = ["bitcoin", "litecoin", "zcash"].includes(name)
              assert.strictEqual(answer.blockchainSpecific?.replaceable, isSaid ? isReplaceable : undefined)
              assert.strictEqual(answer.psbt === undefined, format === "P2PKH")
              if (answer.psbt === undefined) continue
              // Each signature is one of the hash that is answered.
              const psbt = Psbt.fromBase64(answer.psbt)
              for (const [at, input] of psbt.data.inputs.entries()) {
                const path = (input.tapBip32Derivation ?? input.bip32Derivation)![0]!
                assert.deepStrictEqual(Buffer.from(path.masterFingerprint), Buffer.from(master.fingerprint))
                const signer = master.derivePath(path.path)
                const { change, derivationIndex, sighash } = answer.inputs[at]!
                assert.strictEqual(path.path, `m/0'/${change}/${derivationIndex}`)
                if (format !== "P2TR") {
                  psbt.signInput(at, signer)
                  continue
                }
                const xOnly = signer.publicKey.slice(1)
                const tweaked = signer.tweak(createTapTweak(xOnly))
                psbt.signInput(at, tweaked)
                const outputKey = Buffer.from(answer.inputs[at]!.script, "hex").subarray(2)
                assert.isTrue(
                  ecc.verifySchnorr(Buffer.from(sighash, "hex"), outputKey, psbt.data.inputs[at]!.tapKeySig!)
                )
              }
              psbt.finalizeAllInputs()
              assert.isAtLeast(answer.size, psbt.extractTransaction(true).virtualSize())
            }
          }
          assert.isAtLeast(made, 2)
        }).pipe(Effect.provide(layer), Effect.scoped)
      )
    }

    it.live("spends a coin that waits where that is asked for, and pays for what it waits for", () =>
      Effect.gen(function* () {
        const { chain, operations, pool, request, scripts, states } = yield* setup("bitcoin", "P2WPKH", 11)
        const parentId = new Uint8Array(32).fill(5)
        const id = Buffer.from(parentId).toString("hex")
        const stranger = Address.fromBytes(LockingScript.pubKeyHash(new Uint8Array(20).fill(9)))
        const to = [stranger, scripts[0]![3]!, scripts[1]![0]!]
        const amounts = [900_000n, 200_000n, 300_000n]
        pool.transactions = [
          {
            id: parentId,
            transfers: to.map((to, position) => ({
              transaction: 0,
              position,
              from: undefined,
              to,
              amount: amounts[position]!
            })),
            spends: []
          }
        ] as never
        const prepare = (amount: string, item: Record<string, unknown> = {}) =>
          Effect.result(
            operations.utxoPrepare({
              ...{ ...request, recipients: [{ address: Address.encode(chain, stranger)!, amount }], fee: {} },
              ...{ parentTransactionId: id, ...item }
            })
          )
        const refused = Effect.fnUntraced(function* (tag: string, message: RegExp) {
          const failure = Result.getOrThrow(Result.flip(yield* prepare("0.001")))
          assert.strictEqual(failure._tag, tag)
          assert.match(failure.message, message)
        })
        const at = (size: number) => (4_321n * BigInt(size) + 999n) / 1_000n
        const feeOf = ({ fee }: Answer) => BigInt(Math.round(Number(fee.amount) * 1e8))
        // What the two that wait pay below the rate.
        const extra = 4_321n - 1_000n

        // The larger of its two coins alone.
        const first = Result.getOrThrow(yield* prepare("0.001"))
        assert.deepStrictEqual(
          first.inputs.map(({ outputIndex, transactionId }) => [transactionId, outputIndex]),
          [[id, 2]]
        )
        assert.strictEqual(feeOf(first), at(first.size) + extra)
        assert.strictEqual(first.inputs[0]!.sighash, Buffer.from(hashOf("bitcoin", first, 0)).toString("hex"))
        // The other one, as the first is reserved, with coins of blocks; what waits pays enough by itself.
        pool.ancestors = { count: 1, size: 200, fee: 100_000n, own: { size: 200, fee: 100_000n } }
        const second = Result.getOrThrow(yield* prepare("0.004"))
        assert.deepStrictEqual([second.inputs[0]!.transactionId, second.inputs[0]!.outputIndex], [id, 1])
        assert.isAbove(second.inputs.length, 1)
        assert.isTrue(feeOf(second) >= at(second.size) && feeOf(second) < at(second.size) + 1_000n)
        yield* refused("invalid_data", /reserved/)

        pool.transactions = [{ ...pool.transactions[0]!, id: new Uint8Array(32).fill(6) }]
        pool.ancestors = { count: 1, size: 200, fee: 100n, own: { size: 200, fee: 100n } }
        const exact = Result.getOrThrow(yield* prepare("0.001", { fee: { exactAmount: "0.00001" } }))
        assert.strictEqual(feeOf(exact), 1_000n)
        // What could not be broadcast is not prepared: 0.0016 for some 150 bytes, but as much for a parent of 60,000.
        pool.transactions = [{ ...pool.transactions[0]!, id: new Uint8Array(32).fill(8) }]
        pool.ancestors = { count: 1, size: 10, fee: 100n, own: { size: 10, fee: 100n } }
        const slip = Result.getOrThrow(Result.flip(yield* prepare("0.0001", { fee: { exactAmount: "0.0016" } })))
        assert.strictEqual(slip._tag, "invalid_data")
        assert.include(slip.message, "fee.exactAmount: the fee must be at most a lot")
        pool.ancestors = { count: 1, size: 60_000, fee: 100n, own: { size: 60_000, fee: 100n } }
        assert.isAbove(Number(feeOf(Result.getOrThrow(yield* prepare("0.0001")))), 200_000)
        pool.ancestors = { count: 25, size: 5_000, fee: 5_000n, own: { size: 200, fee: 200n } }
        yield* refused("invalid_data", /no more than 25/)
        pool.ancestors = { count: 2, size: 100_900, fee: 500_000n, own: { size: 200, fee: 1_000n } }
        yield* refused("invalid_data", /no more than 101000 virtual bytes/)
        // What it spends from pays for itself, and is mined without it.
        pool.ancestors = { count: 2, size: 400, fee: 100_000n, own: { size: 200, fee: 300n } }
        pool.transactions = [{ ...pool.transactions[0]!, id: new Uint8Array(32).fill(9) }]
        const beside = Result.getOrThrow(yield* prepare("0.001"))
        assert.strictEqual(feeOf(beside), at(beside.size) + at(200) - 300n)
        pool.ancestors = "unsaid"
        yield* refused("unimplemented", /does not say/)
        pool.ancestors = "absent"
        yield* refused("invalid_data", /must wait in the node's mempool/)
        pool.ancestors = { count: 1, size: 200, fee: 100n, own: { size: 200, fee: 100n } }
        for (const index of [1, 2]) {
          states.set(outpointKey({ transactionId: new Uint8Array(32).fill(7), index }), "spent")
        }
        pool.transactions = [{ ...pool.transactions[0]!, id: new Uint8Array(32).fill(7) }]
        yield* refused("invalid_data", /must have an unspent output/)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("spends from a waiting transaction of version 3 as nodes relay that: once, by version 3, and small", () =>
      Effect.gen(function* () {
        const worlds = { bitcoin: yield* setup("bitcoin", "P2WPKH", 11), dash: yield* setup("dash", "P2PKH", 11) }
        let parents = 0
        const prepare = ({
          payments = 1,
          version = 3,
          name = "bitcoin" as keyof typeof worlds,
          others = {},
          amount = "0.0001"
        }) => {
          const { chain, operations, pool, request, scripts } = worlds[name]
          const id = new Uint8Array(32).fill(++parents)
          pool.transactions = [
            {
              ...{ id, spends: [] },
              transfers: [{ transaction: 0, position: 0, from: undefined, to: scripts[0]![3]!, amount: 20_000n }]
            }
          ] as never
          pool.ancestors = { count: 1, size: 200, fee: 0n, own: { size: 200, fee: 0n }, hasChild: false, ...others }
          pool.maker = Uint8Array.of(version, 0, 0, 0, 1)
          return operations.utxoPrepare({
            ...{ ...request, fee: {}, parentTransactionId: Buffer.from(id).toString("hex") },
            recipients: Array.from({ length: payments }, () => ({
              ...{ address: Address.encode(chain, Address.fromBytes(scripts[0]![4]!))!, amount }
            }))
          })
        }
        const child = yield* prepare({})
        assert.strictEqual(child.version, 3)
        assert.strictEqual(child.inputs[0]!.sighash, Buffer.from(hashOf("bitcoin", child, 0)).toString("hex"))
        assert.strictEqual(Psbt.fromBase64(child.psbt!).version, 3)
        const sized = yield* prepare({ payments: 25 })
        assert.isAbove(sized.inputs.length, 1)
        assert.isAtMost(sized.size, 1_000)
        const refused = Effect.fnUntraced(function* (asked: Parameters<typeof prepare>[0], message: RegExp) {
          assert.match((yield* Effect.flip(prepare(asked))).message, message)
        })
        yield* refused({ payments: 30 }, /more than 0 coins of the wallet beside the waiting one/)
        yield* refused({ payments: 30, amount: "0.00000294" }, /no more than 1000 virtual bytes .* version 3/)
        for (const others of [{ count: 2 }, { hasChild: true }]) {
          yield* refused({ others }, /no more than two transactions of version 3/)
          for (const usual of [{ version: 2 }, { name: "dash" }] as const) {
            assert.strictEqual((yield* prepare({ others, ...usual })).version, 2)
          }
        }
        assert.isAbove((yield* prepare({ payments: 30, version: 2 })).size, 1_000)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("refuses a fee of Dogecoin by which miners leave a parent out, and the payment with it", () =>
      Effect.gen(function* () {
        const { chain, operations, pool, request, scripts } = yield* setup("dogecoin", "P2PKH", 11)
        const parentId = new Uint8Array(32).fill(5)
        pool.transactions = [
          {
            ...{ id: parentId, spends: [] },
            transfers: [{ transaction: 0, position: 0, from: undefined, to: scripts[0]![3]!, amount: 500_000_000n }]
          }
        ] as never
        pool.ancestors = { count: 1, size: 1_000, fee: 100_000n, own: { size: 1_000, fee: 100_000n } }
        const prepare = (exactAmount: string) =>
          operations.utxoPrepare({
            ...{ ...request, parentTransactionId: Buffer.from(parentId).toString("hex"), fee: { exactAmount } },
            recipients: [{ address: Address.encode(chain, Address.fromBytes(scripts[0]![4]!))!, amount: "1" }]
          })
        // 0.009 DOGE lack for its 1,000 bytes, beside the node's least for some 230 of the payment.
        const { message } = yield* Effect.flip(prepare("0.009"))
        assert.match(message, /fee\.exactAmount: nodes and miners take no less than 0\.00900\d+ DOGE/)
        assert.strictEqual((yield* prepare("0.00901")).fee.amount, "0.00901")
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("ends behind its lock on Zcash: one that ended before could never be mined", () =>
      Effect.gen(function* () {
        const { operations, request, scripts } = yield* setup("zcash", "P2PKH", 5)
        const address = Address.encode(Chain.ofName("zcash/regtest")!, Address.fromBytes(scripts[0]![0]!))!
        const expiryOf = Effect.fnUntraced(function* (locktime: number) {
          const recipients = [{ address, amount: "0.0002" }]
          const answer = yield* operations.utxoPrepare({ ...request, recipients, fee: {}, locktime })
          assert.strictEqual(answer.inputs[0]!.sighash, Buffer.from(hashOf("zcash", answer, 0)).toString("hex"))
          return answer.blockchainSpecific!.expiryHeight
        })
        const soon = yield* expiryOf(0)
        assert.isBelow(soon!, 200)
        // The first block that may have it is the next one.
        assert.strictEqual(yield* expiryOf(5_000), 5_001 + 120)
        // A time has no height.
        assert.strictEqual(yield* expiryOf(1_900_000_000), 0)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("takes on Zcash what the node says that an action costs, for a named fee, too", () =>
      Effect.gen(function* () {
        const { operations, pool, request, scripts } = yield* setup("zcash", "P2PKH", 6)
        const address = Address.encode(Chain.ofName("zcash/regtest")!, Address.fromBytes(scripts[0]![0]!))!
        const recipients = [{ address, amount: "0.0002" }]
        const prepare = (fee: { readonly exactAmount?: string }) =>
          operations.utxoPrepare({ ...request, recipients, fee })
        assert.match((yield* Effect.flip(prepare({ exactAmount: "0.00002" }))).message, /no less than 0\.0001 ZEC/)
        pool.rates = { ...pool.rates, action: 1_000n }
        assert.strictEqual((yield* prepare({ exactAmount: "0.00002" })).fee.amount, "0.00002")
        const { fee, inputs } = yield* prepare({})
        assert.deepStrictEqual([fee.amount, inputs.length], ["0.00002", 1])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("gives change of a wallet without addresses for change to nobody else: unused ones may be somebody's", () =>
      Effect.gen(function* () {
        const { operations, request, scripts, unit } = yield* setup("bitcoin", "P2WPKH", 9, "bip32")
        const chain = Chain.ofName("bitcoin/regtest")!
        const address = Address.encode(chain, Address.fromBytes(LockingScript.pubKeyHash(new Uint8Array(20).fill(9))))!
        const recipients = [{ address, amount: `0.${String(14 * unit + 1).padStart(8, "0")}` }]
        const { inputs, outputs } = yield* operations.utxoPrepare({ ...request, recipients, fee: {} })
        const [largest] = inputs.toSorted((a, b) => b.satoshis - a.satoshis)
        assert.isAbove(inputs.length, 1)
        assert.strictEqual(outputs[1]!.address, largest!.address)
        // One that is named is taken all the same.
        const named = Address.encode(chain, Address.fromBytes(scripts[0]![9]!))!
        const other = yield* operations.utxoPrepare({
          ...{ ...request, recipients: [{ address, amount: "0.00100001" }], fee: { address: named } }
        })
        assert.strictEqual(other.outputs[1]!.address, named)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("is refused where nothing could spend the wallet's form of addresses, and none of these is given out", () =>
      Effect.gen(function* () {
        const { chain, operations, request: other } = yield* setup("dogecoin", "P2PKH", 3)
        const format = "P2SH-P2WPKH" as const
        const request = { ...other, format }
        const underived = yield* Effect.flip(operations.utxoDerive(request))
        assert.strictEqual(underived._tag, "unimplemented")
        // The wallet may be watched all the same.
        const key = Result.getOrThrow(keyOf(1, chain, request.extendedPublicKey, request.derivation, format))
        yield* (yield* Wallets).sync<never, never>(key, 20, (change) => change)
        const recipients = [{ address: "mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8", amount: "1" }]
        const refused = yield* Effect.flip(operations.utxoPrepare({ ...request, recipients, fee: {} }))
        assert.strictEqual(refused._tag, "unimplemented")
      }).pipe(Effect.provide(layer), Effect.scoped)
    )
  })
}

function createTapTweak(xOnly: Uint8Array) {
  const tag = createHash("sha256").update("TapTweak").digest()
  return createHash("sha256").update(tag).update(tag).update(xOnly).digest()
}
