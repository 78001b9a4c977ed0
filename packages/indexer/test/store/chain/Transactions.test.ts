/**
 * The recorded transactions of addresses against the chain: over random histories with forks, in which addresses come to be
 * watched and their coins to be known, a list has every transaction of the chain from the block on that it names, in the
 * chain's order, and none that the chain has not. HEADWATER_PROPERTY_RUNS sets how many histories.
 */
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TransactionParties } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { keyOf } from "@headwater/core/utxo/Coin"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import fc from "fast-check"
import { takenStores } from "../../../../../test/Stores.ts"
import { type Payment, searching, UtxoChain } from "../../families/utxo/UtxoChain.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"

const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const people = [1, 2, 3, 4].map(address)

/** A chain in memory, with whom its transactions name. */
interface Mined {
  readonly blocks: ReadonlyArray<Block>
  readonly mine: (picks: ReadonlyArray<number>) => void
  readonly drop: (depth: number) => void
  readonly names: (block: Block, transaction: number, address: AddressBytes) => boolean
  /** Looks for the coins of those that are watched. */
  readonly search: (store: ChainStore.ChainStore) => Effect.Effect<unknown, unknown, never>
}

/** Some transactions move nothing, some create a contract, some name one address on both sides. */
const accounts = (): Mined => {
  const fake = new FakeChain(ethereum)
  return {
    get blocks() {
      return fake.blocks
    },
    mine: (picks) => {
      const parties = picks.map(
        (pick, transaction): TransactionParties => ({
          ...{ kind: "transaction", transaction, from: people[pick % 4]! },
          to: pick % 11 === 0 ? undefined : people[(pick >> 4) % 4]!
        })
      )
      const block = fake.mine(picks.map((pick) => ({ from: (pick % 4) + 1, to: ((pick >> 4) % 4) + 1 })))
      const moved = block.transfers.filter((_, i) => picks[i]! % 3 > 0 && picks[i]! % 11 !== 0)
      fake.blocks[fake.blocks.length - 1] = { ...block, transfers: moved, parties }
    },
    drop: (depth) => fake.drop(depth),
    names: ({ parties = [] }, transaction, address) => {
      const { from, to } = parties[transaction]!
      return Bytes.equal(from, address) || (to !== undefined && Bytes.equal(to, address))
    },
    search: () => Effect.void
  }
}

const outputs = (): Mined => {
  const fake = new UtxoChain(litecoin)
  /** Whose output it was, of every output that there ever was. */
  const owners = new Map<string, AddressBytes>()
  let amount = 0n
  return {
    get blocks() {
      return fake.blocks
    },
    mine: (picks) => {
      const free = [...fake.coins]
      const block = fake.mine(
        picks.map((pick): Payment => {
          const spent = pick % 3 > 0 && free.length > 0 ? free.splice(pick % free.length, 1 + (pick % 2)) : []
          return {
            spends: spent.map(({ outpoint }) => outpoint),
            pays: [0, 5].map((shift) => ({ to: people[(pick >> shift) % 4]!, amount: ++amount }))
          }
        })
      )
      for (const transfer of block.transfers) {
        if (transfer.kind !== "coin" || transfer.to === undefined) continue
        const transactionId = block.transactions[transfer.transaction]!
        owners.set(keyOf({ transactionId, index: transfer.position }), transfer.to)
      }
    },
    drop: (depth) => fake.drop(depth),
    names: ({ spends, transfers }, transaction, address) =>
      transfers.some(
        (each) => each.kind === "coin" && each.transaction === transaction && each.to && Bytes.equal(each.to, address)
      ) ||
      spends.some(
        (spend) => spend.transaction === transaction && Bytes.equal(owners.get(keyOf(spend.outpoint))!, address)
      ),
    search: (store) =>
      Effect.flatMap(
        CoinSync.make(
          fake.source,
          searching((addresses) => Effect.sync(() => fake.search(addresses))),
          store,
          { pollInterval: Duration.millis(1), gapLimit: 20 }
        ),
        ({ step }) => step
      ) as Effect.Effect<unknown, unknown, never>
  }
}

/** Somebody has transactions to compare in every history. */
const beginning = [{ mine: [4, 8] }, { watch: 0 }, { search: true }, { mine: [4, 8] }]

const history = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ mine: fc.array(fc.nat(4_095), { maxLength: 6 }) }) },
    { weight: 2, arbitrary: fc.record({ watch: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ fork: fc.integer({ min: 1, max: 5 }) }) },
    { weight: 2, arbitrary: fc.constant({ search: true }) }
  ),
  { minLength: 8, maxLength: 25 }
)

const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 3)

for (const store of takenStores(import.meta.url)) {
  describe(`Recorded transactions on ${store.name}`, () => {
    const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))

    for (const [chain, mined] of [
      [ethereum, accounts],
      [litecoin, outputs]
    ] as const) {
      it.live(
        `of addresses of ${chain.blockchain} are those of the chain`,
        () =>
          Effect.promise(async () => {
            let compared = 0
            await fc.assert(
              fc.asyncProperty(history, fc.integer({ min: 1, max: 5 }), (steps, limit) =>
                Effect.runPromise(
                  Effect.gen(function* () {
                    const node = mined()
                    const opened = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
                    const reader = yield* ChainReader.make(chain)
                    const { create } = yield* Subscriptions
                    yield* opened.commit([node.blocks[0]!])
                    const listed = Effect.fnUntraced(function* (of: AddressBytes, order: "ascending" | "descending") {
                      const found: Array<string> = []
                      for (let after: ChainReader.Position | undefined; ; ) {
                        const page = yield* reader.transactions(of, { order, limit, after })
                        assert.isAtMost(page.transactions.length, limit)
                        for (const { block, height, index, transactionId } of page.transactions) {
                          assert.isTrue(Bytes.equal(block.hash, node.blocks[height]!.hash))
                          assert.isTrue(Bytes.equal(transactionId, node.blocks[height]!.transactions[index]!))
                          found.push(`${height} ${index}`)
                        }
                        after = page.next
                        if (after === undefined) return found
                      }
                    })
                    for (const step of [...beginning, ...steps]) {
                      if ("watch" in step) {
                        yield* create({
                          ...{ account: 1, chain, address: people[step.watch]!, secret: undefined },
                          ...{ callbackUrl: "https://receiver.test/", confirmations: 1, allowDuplicates: true },
                          event: "ADDRESS_COINS_TRANSACTION_CONFIRMED"
                        })
                      } else if ("search" in step) yield* node.search(opened)
                      else if ("mine" in step) {
                        node.mine(step.mine)
                        yield* opened.commit([node.blocks.at(-1)!])
                      } else {
                        const depth = Math.min(step.fork, node.blocks.length - 1)
                        node.drop(depth)
                        if (depth > 0) yield* opened.undo(node.blocks.length - 1)
                      }
                      const known = yield* Completeness.of(chain, people)
                      for (const person of people) {
                        const from = known.get(Bytes.key(person))?.transactions
                        if (from === undefined) continue
                        const all = node.blocks.flatMap((block) =>
                          block.transactions.flatMap((_, i) =>
                            node.names(block, i, person) ? [`${block.height} ${i}`] : []
                          )
                        )
                        const isWhole = (place: string) => Number(place.split(" ")[0]) >= from
                        const oldestFirst = yield* listed(person, "ascending")
                        assert.deepStrictEqual(oldestFirst.filter(isWhole), all.filter(isWhole))
                        assert.includeMembers(all, oldestFirst, "none that the chain has not")
                        assert.deepStrictEqual(yield* listed(person, "descending"), oldestFirst.toReversed())
                        compared += oldestFirst.length
                      }
                    }
                  }).pipe(Effect.scoped, Effect.provide(layer), Effect.orDie)
                )
              ),
              { numRuns: runs, endOnFailure: true }
            )
            assert.isAbove(compared, 0)
          }),
        // A guard against hanging: seconds for each history, on a busy machine too.
        Math.max(300_000, runs * 10_000)
      )
    }
  })
}
