import { randomBytes } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Span } from "@headwater/core/Block"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as UtxoSet from "@headwater/indexer/store/chain/UtxoSet"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as KeptCoins from "../../../src/store/chain/internal/KeptCoins.ts"
import * as SpentCoins from "../../../src/store/chain/internal/SpentCoins.ts"
import type { Commit } from "../../../src/store/chain/Projection.ts"
import { takenStores } from "../../../../../test/Stores.ts"

/** These bytes among others. */
const span = (bytes: Iterable<number>): Span => {
  const alone = Uint8Array.from(bytes)
  return { bytes: Uint8Array.of(7, 7, 7, ...alone, 7), at: 3, length: alone.length }
}

const script = (number: number) => Uint8Array.of(0x51, number) as AddressBytes

interface Unspent {
  readonly id: Uint8Array
  readonly index: number
  readonly owner: number
  readonly amount: bigint
}

const all = {
  ...{ isWatched: () => true, keepsAll: true },
  take: (spends: Block["spends"]) => UtxoSet.take(1, spends)
}

/** Builds random blocks that spend outputs of earlier transactions, also of their own block, and mirrors them plainly. */
class Wallets {
  unspent: Array<Unspent> = []
  #nonce = 0
  #history: Array<{ readonly height: number; readonly unspent: Array<Unspent> }> = []
  height = 0

  block(choices: ReadonlyArray<number>): { readonly block: Block; readonly inputs: ReadonlyArray<Unspent> } {
    this.#history.push({ height: this.height, unspent: [...this.unspent] })
    this.height++
    const transactions: Array<Uint8Array> = []
    const transfers: Array<CoinTransfer> = []
    const spends: Array<Block["spends"][number]> = []
    const inputs: Array<Unspent> = []
    for (const choice of choices) {
      const transaction = transactions.length
      const id = new Uint8Array(32)
      new DataView(id.buffer).setUint32(0, ++this.#nonce)
      transactions.push(id)
      if (choice % 3 !== 0 && this.unspent.length > 0) {
        const [input] = this.unspent.splice(choice % this.unspent.length, 1)
        inputs.push(input!)
        const outpoint = { transactionId: input!.id, index: input!.index }
        const index = Uint8Array.of(outpoint.index, 0, 0, 0)
        const outpointSpan = span([...outpoint.transactionId.toReversed(), ...index])
        spends.push({ transaction, position: 0, outpoint, ...(choice % 2 === 0 ? {} : { outpointSpan }) })
      }
      for (let index = 0; index < 1 + (choice % 2); index++) {
        const output = { id, index, owner: choice % 5, amount: BigInt(this.#nonce) * 10n ** 15n + BigInt(index) }
        this.unspent.push(output)
        transfers.push({
          ...{ kind: "coin", transaction, position: index, from: undefined },
          ...{ to: script(output.owner), amount: output.amount },
          ...(choice % 4 < 2 ? {} : { toSpan: span(script(output.owner)) })
        })
      }
    }
    const header = { height: this.height, hash: new Uint8Array(32), parent: new Uint8Array(32), time: 0 }
    return { block: { ...header, transactions, transfers, spends }, inputs }
  }

  undo(fork: number) {
    const entry = this.#history.find(({ height }) => height === fork)
    if (entry === undefined) return
    this.unspent = [...entry.unspent]
    this.#history = this.#history.filter(({ height }) => height < fork)
    this.height = fork
  }
}

const rows = Effect.flatMap(Database, ({ read }) =>
  read((db) => db.selectFrom("unspent_output").selectAll().orderBy("transaction_id").orderBy("output_index"))
)

for (const store of takenStores(import.meta.url)) {
  describe(`UtxoSet on ${store.name}`, () => {
    it.live("resolves every input and follows reorganisations, as a plain list of coins does", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const context = yield* Effect.context<Database>()
        const step = fc.oneof(
          fc.record({ choices: fc.array(fc.nat(1000), { maxLength: 8 }) }),
          fc.record({ depth: fc.integer({ min: 1, max: 4 }) })
        )
        const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), (steps) =>
          Effect.runPromiseWith(context)(
            Effect.gen(function* () {
              yield* query((db) => db.deleteFrom("unspent_output"))
              yield* query((db) => db.deleteFrom("spent_output"))
              const wallets = new Wallets()
              for (const step of steps) {
                if ("depth" in step) {
                  const fork = Math.max(0, wallets.height - step.depth)
                  yield* transaction(UtxoSet.undo(1, fork))
                  wallets.undo(fork)
                } else {
                  const { block, inputs } = wallets.block(step.choices)
                  const applied = yield* transaction(UtxoSet.apply(1, block, all))
                  const taken = applied.transfers.filter(
                    (transfer) => transfer.kind === "coin" && transfer.to === undefined
                  )
                  assert.deepStrictEqual(
                    taken.map(({ amount, from }) => [[...from!], amount]),
                    inputs.map(({ amount, owner }) => [[...script(owner)], amount])
                  )
                }
                assert.deepStrictEqual(
                  (yield* rows).map((row) => [
                    Buffer.from(row.transaction_id).readUInt32BE(),
                    row.output_index,
                    row.amount
                  ]),
                  wallets.unspent
                    .map(({ amount, id, index }) => [Buffer.from(id).readUInt32BE(), index, amount.toString()])
                    .sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]))
                )
              }
            })
          )
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: store.name === "sqlite" ? 25 : 7 }))
      }).pipe(Effect.provide(store.layer))
    )

    it.live("gives the blocks of a commit what each by itself would have taken", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const context = yield* Effect.context<Database>()
        const step = fc.oneof(
          fc.array(fc.array(fc.nat(1000), { maxLength: 8 }), { minLength: 1, maxLength: 4 }),
          fc.record({ depth: fc.integer({ min: 1, max: 4 }) })
        )
        const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), (steps, keepsAll) =>
          Effect.runPromiseWith(context)(
            Effect.gen(function* () {
              yield* query((db) => db.deleteFrom("unspent_output"))
              yield* query((db) => db.deleteFrom("spent_output"))
              const wallets = new Wallets()
              const isKept = (owner: number) => keepsAll || owner < 2
              const isWatched = (script: Uint8Array) => isKept(script[1]!)
              const spent = SpentCoins.make(1, keepsAll ? undefined : KeptCoins.make(1, 1))
              let isAsLeft = false
              for (const step of steps) {
                if ("depth" in step) {
                  const fork = Math.max(0, wallets.height - step.depth)
                  yield* transaction(UtxoSet.undo(1, fork))
                  wallets.undo(fork)
                  isAsLeft = false
                  continue
                }
                const made = step.map((choices) => wallets.block(choices))
                const commit = { blocks: made.map(({ block }) => block), continues: isAsLeft } as unknown as {
                  -readonly [K in keyof Commit]: Commit[K]
                }
                yield* transaction(
                  Effect.forEach(made, ({ block, inputs }) =>
                    Effect.gen(function* () {
                      yield* spent.begin(commit)
                      const take = (spends: Block["spends"]) => spent.take(spends, commit)
                      const { created, taken } = yield* UtxoSet.apply(1, block, { isWatched, keepsAll, take })
                      spent.add(created as ReadonlyArray<Coin>, commit)
                      commit.continues = true
                      assert.deepStrictEqual(
                        taken.map(({ amount, script }) => [script[1], amount]),
                        inputs
                          .filter(({ id, owner }) => isKept(owner) && !block.transactions.includes(id))
                          .map(({ amount, owner }) => [owner, amount])
                      )
                    })
                  )
                )
                isAsLeft = true
                assert.deepStrictEqual(
                  (yield* rows).map((row) => [row.transaction_id, row.output_index]),
                  wallets.unspent
                    .filter(({ owner }) => isKept(owner))
                    .sort((a, b) => Buffer.compare(a.id, b.id) || a.index - b.index)
                    .map(({ id, index }) => [id, index])
                )
              }
            })
          )
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: store.name === "sqlite" ? 40 : 10 }))
      }).pipe(Effect.provide(store.layer))
    )

    it.live("takes an output once that a block names twice, alone and among the blocks of a commit", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        for (const count of [1, 2]) {
          const coin = {
            outpoint: { transactionId: randomBytes(32), index: 0 },
            script: script(1),
            amount: 5n,
            height: 1
          }
          yield* transaction(UtxoSet.add(1, [coin], []))
          const spends = [0, 1].map((transaction) => ({ transaction, position: 0, outpoint: coin.outpoint }))
          const hash = new Uint8Array(32)
          const transactions = [randomBytes(32), randomBytes(32)]
          const block: Block = { height: 1 + count, hash, parent: hash, time: 0, transactions, transfers: [], spends }
          const spent = SpentCoins.make(1)
          const commit = { blocks: Array.from({ length: count }, () => block) } as unknown as Commit
          const take = (spends: Block["spends"]) => spent.take(spends, commit)
          const applied = yield* transaction(
            Effect.andThen(
              spent.begin(commit),
              UtxoSet.apply(1, block, { isWatched: () => true, keepsAll: true, take })
            )
          )
          assert.deepStrictEqual([applied.taken.length, applied.transfers.length], [1, 1])
        }
      }).pipe(Effect.provide(store.layer))
    )

    it.live("leaves out what touches nobody who is watched, and looks for no input that the set cannot have", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const context = yield* Effect.context<Database>()
        const isWatchedOwner = (owner: number) => owner < 2
        const isWatched = (script: Uint8Array) => isWatchedOwner(script[1]!)
        const step = fc.oneof(
          fc.record({ choices: fc.array(fc.nat(1000), { maxLength: 12 }), isForeign: fc.boolean() }),
          fc.record({ depth: fc.integer({ min: 1, max: 4 }) })
        )
        const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), (steps) =>
          Effect.runPromiseWith(context)(
            Effect.gen(function* () {
              yield* query((db) => db.deleteFrom("unspent_output"))
              yield* query((db) => db.deleteFrom("spent_output"))
              const wallets = new Wallets()
              const kept = KeptCoins.make(1, 1)
              let continues = false
              for (const step of steps) {
                if ("depth" in step) {
                  const fork = Math.max(0, wallets.height - step.depth)
                  yield* transaction(UtxoSet.undo(1, fork))
                  wallets.undo(fork)
                  continues = false
                  continue
                }
                const { block, inputs } = wallets.block(step.choices)
                let sought = 0
                if (!continues || step.isForeign) kept.forget()
                const take = (spends: Block["spends"]) =>
                  Effect.flatMap(kept.among(spends), (some) => {
                    sought += some.length
                    return UtxoSet.take(1, some)
                  })
                const isWatchedAt = ({ at, bytes, length }: Span) => isWatched(bytes.slice(at, at + length))
                const keeping = { isWatched, isWatchedAt, keepsAll: false, take }
                const applied = yield* transaction(UtxoSet.apply(1, block, keeping))
                kept.add(applied.created)
                continues = true

                const isOwn = ({ id }: Unspent) => block.transactions.includes(id)
                const isKnown = (input: Unspent) => isOwn(input) || isWatchedOwner(input.owner)
                const touched = new Set(
                  block.transfers.flatMap(({ to, transaction }) => (isWatched(to!) ? [transaction] : []))
                )
                for (const [index, input] of inputs.entries()) {
                  if (isWatchedOwner(input.owner)) touched.add(block.spends[index]!.transaction)
                }
                const outputs = applied.transfers.filter(({ to }) => to !== undefined)
                assert.deepStrictEqual(
                  outputs,
                  block.transfers
                    .filter(({ transaction }) => touched.has(transaction))
                    .map((transfer) => {
                      const { toSpan: _, ...shown } = transfer as CoinTransfer
                      return shown
                    })
                )
                assert.deepStrictEqual(
                  applied.transfers.flatMap(({ from, transaction }) =>
                    from === undefined ? [] : [[transaction, from[1]]]
                  ),
                  inputs.flatMap((input, index) => {
                    const { transaction } = block.spends[index]!
                    return touched.has(transaction) && isKnown(input) ? [[transaction, input.owner]] : []
                  })
                )
                assert.deepStrictEqual(
                  applied.spends,
                  block.spends.filter(({ transaction }, index) => touched.has(transaction) || !isKnown(inputs[index]!))
                )
                assert.deepStrictEqual(
                  (yield* rows).map((row) => [row.transaction_id, row.output_index]),
                  wallets.unspent
                    .filter(({ owner }) => isWatchedOwner(owner))
                    .sort((a, b) => Buffer.compare(a.id, b.id) || a.index - b.index)
                    .map(({ id, index }) => [id, index])
                )
                assert.isAtMost(sought, inputs.filter((input) => !isOwn(input)).length)
              }
            })
          )
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: store.name === "sqlite" ? 25 : 7 }))
      }).pipe(Effect.provide(store.layer))
    )

    it.live(
      "remembers the set as soon as looking has taken as long as reading it, and asks for nothing else then",
      () =>
        Effect.gen(function* () {
          const { transaction } = yield* Database
          const id = (number: number) => new Uint8Array(32).fill(number)
          const coin = (number: number) => ({
            ...{ outpoint: { transactionId: id(number), index: 0 }, script: script(1), amount: 1n, height: 1 }
          })
          yield* transaction(UtxoSet.add(1, [coin(1), coin(2)], []))
          const spends = [1, 3, 4].map((number, transaction) => ({ transaction, position: 0, ...coin(number) }))
          const kept = KeptCoins.make(1, 60)
          const among = Effect.map(
            Effect.suspend(() => transaction(kept.among(spends))),
            (some) => some.map(({ transaction }) => transaction)
          )
          assert.deepStrictEqual(yield* among, [0, 1, 2])
          assert.deepStrictEqual(yield* among, [0])
          kept.add([coin(4)])
          assert.deepStrictEqual(yield* among, [0, 2])
          yield* transaction(UtxoSet.add(1, [coin(3)], []))
          kept.forget()
          assert.deepStrictEqual(yield* among, [0, 1, 2])
          assert.deepStrictEqual(yield* among, [0, 1])
        }).pipe(Effect.provide(store.layer))
    )

    it.live("survives a transaction id that was there before, as Bitcoin's first coinbases", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const block = (height: number): Block => ({
          ...{ height, hash: new Uint8Array(32), parent: new Uint8Array(32), time: 0 },
          transactions: [new Uint8Array(32).fill(7)],
          transfers: [
            { kind: "coin", transaction: 0, position: 0, from: undefined, to: script(1), amount: 5_000_000_000n }
          ],
          spends: []
        })
        yield* transaction(UtxoSet.apply(1, block(1), all))
        yield* transaction(UtxoSet.apply(1, block(2), all))
        assert.strictEqual((yield* rows).length, 1)
      }).pipe(Effect.provide(store.layer))
    )

    it.live("takes the longest scripts that can be spent, which have no address", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        // Nothing that the store could make shorter.
        const long = Uint8Array.from(randomBytes(10_000)) as AddressBytes
        const id = new Uint8Array(32).fill(7)
        const block = (height: number): Omit<Block, "spends"> => ({
          ...{ height, hash: new Uint8Array(32), parent: new Uint8Array(32), time: 0 },
          transactions: [new Uint8Array(32).fill(6 + height)],
          transfers: [{ kind: "coin", transaction: 0, position: 0, from: undefined, to: long, amount: 5n }]
        })
        const spend = { transaction: 0, position: 0, outpoint: { transactionId: id, index: 0 } }
        yield* transaction(UtxoSet.apply(1, { ...block(1), spends: [] }, all))
        const { transfers } = yield* transaction(UtxoSet.apply(1, { ...block(2), spends: [spend] }, all))
        assert.deepStrictEqual(
          transfers.map(({ amount }) => amount),
          [5n, 5n]
        )
        assert.lengthOf(yield* rows, 1)
        yield* transaction(UtxoSet.undo(1, 1))
        assert.deepStrictEqual(
          (yield* rows).map(({ transaction_id }) => transaction_id),
          [id]
        )
      }).pipe(Effect.provide(store.layer))
    )
  })
}
