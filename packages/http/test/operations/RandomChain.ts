/** A chain of an account family in memory: what its node has, what is understood of that, and what is committed. */
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { ChainStore } from "@headwater/indexer/store/chain/ChainStore"
import * as Effect from "effect/Effect"
import { FakeChain } from "../../../indexer/test/sync/FakeChain.ts"

export type Kind = Transfer["kind"]

export const isOf = (address: Uint8Array, { from, to }: Transfer) =>
  (from !== undefined && Bytes.equal(from, address)) || (to !== undefined && Bytes.equal(to, address))

export class RandomChain {
  readonly fake: FakeChain
  readonly now = Math.floor(Date.now() / 1000) - 10_000

  /** What is not understood of the node's answers, by the hash of the block. */
  readonly garbled = new Map<string, ReadonlyArray<Kind>>()

  /** Whether blocks come with their internal transactions. */
  traced = true

  /** The first block that is followed, and the first one behind the last skipped ones. */
  begun = 0
  first = 0

  constructor(chain: Chain) {
    this.fake = new FakeChain(chain)
    this.fake.blocks = [{ ...this.fake.tip, time: this.now }]
  }

  /** The next block, with as many transactions, whose transfers are put into the list that is answered. */
  add(transactions: number) {
    const made = this.fake.mine([])
    this.fake.blocks.pop()
    const transfers: Array<Transfer> = []
    this.fake.blocks.push({
      ...made,
      time: this.now + made.height,
      transactions: Array.from({ length: transactions }, (_, i) => Uint8Array.from([...made.hash.slice(0, 31), i])),
      transfers
    })
    return transfers
  }

  transfers<K extends Kind>(kind: K, upTo = this.fake.tip.height) {
    return this.fake.blocks
      .slice(0, upTo + 1)
      .flatMap(({ height, transfers }) =>
        transfers
          .filter((transfer): transfer is Extract<Transfer, { kind: K }> => transfer.kind === kind)
          .map((transfer) => ({ height, transfer }))
      )
  }

  garble(lacks: ReadonlyArray<Kind>) {
    this.garbled.set(Bytes.key(this.fake.tip.hash), lacks)
  }

  /** A block as the node's answer is understood. */
  shown(block: Block): Block {
    const lacks = this.garbled.get(Bytes.key(block.hash))
    if (lacks === undefined) return block
    return {
      ...block,
      transfers: block.transfers.filter(({ kind }) => !lacks.includes(kind)),
      notUnderstood: [{ transactionId: undefined, reason: "a rule", transfers: 0, lacks, raw: "" }]
    }
  }

  /** A block as it is read to be committed. */
  read(block: Block): Block {
    const shown = this.shown(block)
    if (this.traced) return shown
    return { ...shown, transfers: shown.transfers.filter(({ kind }) => kind !== "internal"), untraced: true }
  }

  /** Begins the record with the node's newest block. */
  begin() {
    this.begun = this.fake.tip.height
    this.first = this.begun
  }
}

/** Commits what the node has, behind the last block that both have. */
export const commit = Effect.fnUntraced(function* (world: RandomChain, store: ChainStore) {
  const { fake, first } = world
  const cursor = yield* store.cursor
  let at = cursor
  while (
    at !== undefined &&
    at.hash !== undefined &&
    (fake.blocks[at.height] === undefined || !Bytes.equal(fake.blocks[at.height]!.hash, at.hash))
  ) {
    const stored: Uint8Array | undefined = yield* store.hashAt(at.height - 1)
    if (at.height <= first || stored === undefined) return
    at = { ...at, height: at.height - 1, hash: stored }
  }
  if (at !== undefined && cursor!.height > at.height) yield* store.undo(at.height)
  const next = fake.blocks.slice(at === undefined ? first : at.height + 1).map((block) => world.read(block))
  if (next.length > 0) yield* store.commit(next)
})

/** Leaves out the blocks that the node has and the store has not. Nothing happens in the next one. */
export const skip = Effect.fnUntraced(function* (world: RandomChain, store: ChainStore) {
  yield* store.skip((yield* store.cursor)!.height, world.fake.tip.height)
  world.add(0)
  world.first = world.fake.tip.height
})

/** Understands every block, and enters those again that were not understood. */
export const understand = Effect.fnUntraced(function* (world: RandomChain, store: ChainStore) {
  const before = world.fake.blocks.filter(
    ({ hash, height }) => world.garbled.has(Bytes.key(hash)) && height >= world.begun
  )
  world.garbled.clear()
  for (const block of before) {
    yield* Effect.catchTag(
      store.reprocess(world.read(block), { callbacks: true, internalFrom: world.traced ? 0 : undefined }),
      "NotRecorded",
      () => Effect.void
    )
  }
})
