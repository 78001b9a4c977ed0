/** A UTXO chain in memory that can be mined and forked, behind the interface of a source: outputs, spends, coins. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Spend } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import { type Coin, type CoinsAt, keyOf } from "@headwater/core/utxo/Coin"
import type { Unlocking } from "@headwater/core/utxo/Unlocking"
import { BlockMissing } from "@headwater/indexer/families/node/NodeError"
import type { CoinSearch } from "@headwater/indexer/families/SideSources"
import type { Source } from "@headwater/indexer/families/Source"
import * as Effect from "effect/Effect"
import { bytes32 } from "../../sync/FakeChain.ts"

/** One transaction: coins that it spends, scripts and amounts that it pays. */
export interface Payment {
  readonly spends: ReadonlyArray<Coin["outpoint"]>
  readonly pays: ReadonlyArray<{ readonly to: AddressBytes; readonly amount: bigint }>
}

/** How a node finds coins; undefined where it cannot. */
export type Find = (addresses: ReadonlyArray<AddressBytes>) => ReturnType<CoinSearch["find"]>

/** A search of coins that finds them so. */
export const searching = (find: Find): CoinSearch => ({
  isAvailable: Effect.map(find([]), (found) => found !== undefined),
  find: (addresses, ranges = []) => find([...addresses, ...ranges.flatMap(({ addresses }) => addresses)]),
  progress: Effect.undefined
})

/** A search of a node that finds what the node has as the search begins; during some searches blocks come. */
export const interruptedSearch = (node: UtxoChain, mine: (picks: ReadonlyArray<number>) => void) => {
  let meanwhile: Effect.Effect<unknown> = Effect.void
  const find: Find = (addresses) =>
    Effect.suspend(() => {
      const found = node.search(addresses)
      const blocks = meanwhile
      meanwhile = Effect.void
      return Effect.as(blocks, found)
    })
  /** A sync during whose first search some blocks come, and others in place of two where the chain forks, and are followed. */
  const during = Effect.fnUntraced(function* <E, R, E2>(
    sync: Effect.Effect<unknown, E, R>,
    follow: Effect.Effect<unknown, E2>,
    { forks, moves }: { readonly forks: boolean; readonly moves: number }
  ) {
    meanwhile = Effect.suspend(() => {
      for (let i = 0; i < moves; i++) mine([i * 31 + 5, i * 17 + 2])
      if (forks) {
        node.drop(2)
        for (let i = 0; i < 3; i++) mine([i * 13 + 4])
      }
      return Effect.orDie(follow)
    })
    yield* sync
    meanwhile = Effect.void
  })
  return { during, find }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

export class UtxoChain {
  readonly chain: Chain
  readonly blocks: Array<Block> = []
  /** The unspent outputs after each block. */
  readonly #coins: Array<ReadonlyMap<string, Coin>> = []
  readonly #show: (script: AddressBytes) => Unlocking | undefined
  /** Hashes of blocks, as hex, of whose first transaction the node's answer shows only the first output. */
  readonly garbled = new Set<string>()
  #nonce = 0

  /** `show` says what an input shows that spends what a script locks; by default nothing. */
  constructor(chain: Chain, show: (script: AddressBytes) => Unlocking | undefined = () => undefined) {
    this.chain = chain
    this.#show = show
    this.mine([])
  }

  get tip(): Block {
    return this.blocks.at(-1)!
  }

  get coins(): ReadonlyArray<Coin> {
    return [...(this.#coins.at(-1)?.values() ?? [])]
  }

  /** The id that the transaction at `index` of the next block will have. */
  nextId(index: number): Uint8Array {
    return bytes32(2, this.#nonce + 1, index)
  }

  /** Has the newest block shown garbled from now on. */
  garble() {
    this.garbled.add(hex(this.tip.hash))
  }

  /** Inputs show no prevouts, as with most nodes. */
  mine(payments: ReadonlyArray<Payment>): Block {
    const height = this.blocks.length
    const nonce = ++this.#nonce
    const coins = new Map(this.#coins.at(-1) ?? [])
    const transfers: Array<CoinTransfer> = []
    const spends: Array<Spend> = []
    const transactions = payments.map((_, i) => bytes32(2, nonce, i))
    payments.forEach(({ pays }, transaction) => {
      pays.forEach(({ amount, to }, position) => {
        transfers.push({ kind: "coin", transaction, position, from: undefined, to, amount })
        const outpoint = { transactionId: transactions[transaction]!, index: position }
        coins.set(keyOf(outpoint), { outpoint, script: to, amount, height })
      })
    })
    payments.forEach((payment, transaction) => {
      payment.spends.forEach((outpoint, position) => {
        const coin = coins.get(keyOf(outpoint))
        if (coin === undefined) throw new Error("the test spends what is not there")
        coins.delete(keyOf(outpoint))
        spends.push({ transaction, position, outpoint, unlocking: () => this.#show(coin.script) })
      })
    })
    const block: Block = {
      height,
      hash: bytes32(1, height, nonce),
      parent: this.blocks.at(-1)?.hash ?? bytes32(),
      time: 1_700_000_000 + height,
      transactions,
      transfers,
      spends
    }
    this.blocks.push(block)
    this.#coins.push(coins)
    return block
  }

  /** Forgets the newest `depth` blocks. */
  drop(depth: number) {
    const length = Math.max(1, this.blocks.length - depth)
    this.blocks.length = length
    this.#coins.length = length
  }

  /** What `scantxoutset` would find now. */
  search(addresses: ReadonlyArray<AddressBytes>): CoinsAt {
    const wanted = new Set(addresses.map(Bytes.key))
    const { hash, height } = this.tip
    return { height, hash, coins: this.coins.filter(({ script }) => wanted.has(Bytes.key(script))) }
  }

  /** The block as the node's answer is understood. */
  shown(block: Block): Block {
    const [transactionId] = block.transactions
    if (transactionId === undefined || !this.garbled.has(hex(block.hash))) return block
    return {
      ...block,
      transfers: block.transfers.filter(
        (transfer) => transfer.transaction !== 0 || (transfer.kind === "coin" && transfer.position === 0)
      ),
      spends: block.spends.filter(({ transaction }) => transaction !== 0),
      notUnderstood: [{ transactionId, reason: "tx[0].vin", transfers: 1, lacks: ["coin"], raw: "" }]
    }
  }

  get source(): Source {
    const at = (height: number) => {
      const block = this.blocks[height] && this.shown(this.blocks[height])
      return block === undefined
        ? Effect.fail(new BlockMissing({ node: "fake", block: String(height) }))
        : Effect.succeed(block)
    }
    return {
      chain: this.chain,
      head: Effect.sync(() => ({ height: this.tip.height, hash: this.tip.hash, final: undefined })),
      hashAt: (height) => Effect.suspend(() => Effect.map(at(height), (block) => block.hash)),
      blockAt: (height) => Effect.suspend(() => at(height)),
      capabilities: Effect.succeed([])
    }
  }
}
