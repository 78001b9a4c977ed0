/** A chain in memory that can be mined, forked and made to misbehave, behind the interface of a source. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import { BlockMissing, type NodeError } from "@headwater/indexer/families/node/NodeError"
import type { Head, Source } from "@headwater/indexer/families/Source"
import * as Effect from "effect/Effect"

export interface Payment {
  readonly from: number
  readonly to: number
}

/** The 20-byte address with this number. */
export const address = (number: number): AddressBytes => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(16, number + 1)
  return bytes as AddressBytes
}

/** So many bytes, which begin with these numbers. */
export const bytes = (length: number, ...numbers: ReadonlyArray<number>) => {
  const made = new Uint8Array(length)
  const view = new DataView(made.buffer)
  numbers.forEach((number, i) => {
    view.setUint32(i * 4, number)
  })
  return made
}
export const bytes32 = (...numbers: ReadonlyArray<number>) => bytes(32, ...numbers)

export class FakeChain {
  readonly chain: Chain
  blocks: Array<Block> = []
  final: number | undefined
  /** Answers instead of the real head or block, while set. */
  headFault: (() => Effect.Effect<Head, NodeError>) | undefined
  blockFault: ((height: number) => Effect.Effect<Block, NodeError> | undefined) | undefined
  #nonce = 0

  constructor(chain: Chain) {
    this.chain = chain
    this.mine([])
  }

  get tip(): Block {
    return this.blocks.at(-1)!
  }

  mine(payments: ReadonlyArray<Payment>): Block {
    const height = this.blocks.length
    const nonce = ++this.#nonce
    const transfers = payments.map(
      ({ from, to }, transaction): CoinTransfer => ({
        kind: "coin",
        transaction,
        position: 0,
        from: address(from),
        to: address(to),
        amount: BigInt(nonce)
      })
    )
    const block: Block = {
      height,
      hash: bytes32(1, height, nonce),
      parent: this.blocks.at(-1)?.hash ?? bytes32(),
      time: 1_700_000_000 + height,
      transactions: payments.map((_, i) => bytes32(2, nonce, i)),
      transfers,
      spends: []
    }
    this.blocks.push(block)
    return block
  }

  /** Forgets the newest `depth` blocks. */
  drop(depth: number) {
    this.blocks.length = Math.max(1, this.blocks.length - depth)
  }

  get source(): Source {
    const at = (height: number) => {
      const block = this.blocks[height]
      return block === undefined
        ? Effect.fail(new BlockMissing({ node: "fake", block: String(height) }))
        : Effect.succeed(block)
    }
    return {
      chain: this.chain,
      head: Effect.suspend(
        () => this.headFault?.() ?? Effect.succeed({ height: this.tip.height, hash: this.tip.hash, final: this.final })
      ),
      hashAt: (height) => Effect.suspend(() => Effect.map(at(height), (block) => block.hash)),
      blockAt: (height) => Effect.suspend(() => this.blockFault?.(height) ?? at(height)),
      capabilities: Effect.succeed([])
    }
  }
}
