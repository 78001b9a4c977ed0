/** Owners of coins on Litecoin's regtest, whose inputs show what unlocks them, and a node with their coins. */
import { createHash } from "node:crypto"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { type Coin, keyOf } from "@headwater/core/utxo/Coin"
import type { Unlocking } from "@headwater/core/utxo/Unlocking"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import type { MinedOutputs } from "@headwater/indexer/families/SideSources"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Payment, UtxoChain } from "./UtxoChain.ts"

export const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))

export interface Owner {
  readonly script: AddressBytes
  /** What an input shows that spends a coin of the owner. */
  readonly unlocking: Unlocking
}

/** The owner of a P2WPKH address, where the number is even, or of a P2PKH address. */
export const owner = (number: number): Owner => {
  const publicKey = Buffer.alloc(33, number + 1)
  const hash = createHash("ripemd160").update(createHash("sha256").update(publicKey).digest()).digest()
  const legacy = number % 2 === 1
  const script = legacy ? [0x76, 0xa9, 0x14, ...hash, 0x88, 0xac] : [0x00, 0x14, ...hash]
  const signature = Buffer.alloc(71, 0x30)
  const unlocking = legacy
    ? { scriptSig: Buffer.concat([Buffer.of(71), signature, Buffer.of(33), publicKey]), witness: [] }
    : { scriptSig: Buffer.alloc(0), witness: [signature, publicKey] }
  return { script: Address.fromBytes(Uint8Array.from(script)), unlocking }
}

/** The owner of a taproot address, who signs with the key path (BIP-341), which shows no key. */
export const taprootOwner = (number: number): Owner => ({
  script: Address.fromBytes(Uint8Array.from([0x51, 0x20, ...Buffer.alloc(32, number)])),
  unlocking: { scriptSig: Buffer.alloc(0), witness: [Buffer.alloc(64, number)] }
})

export const chainOf = (owners: ReadonlyArray<Owner>) =>
  new UtxoChain(chain, (script) => owners.find((owner) => Bytes.equal(owner.script, script))?.unlocking)

/** A node's chain, and an index of its transactions that may be off. */
export class IndexedNode {
  readonly chain: UtxoChain
  readonly #owners: ReadonlyArray<Owner>
  readonly #outputs = new Map<string, Coin>()
  hasIndex = true
  broken = false
  /** How many outputs each request asked for. */
  asked: Array<number> = []

  constructor(owners: ReadonlyArray<Owner>) {
    this.#owners = owners
    this.chain = chainOf(owners)
  }

  mine(payments: ReadonlyArray<Payment>): Block {
    const block = this.chain.mine(payments)
    for (const transfer of block.transfers) {
      if (transfer.kind !== "coin" || transfer.to === undefined) continue
      const outpoint = { transactionId: block.transactions[transfer.transaction]!, index: transfer.position }
      const { amount, to: script } = transfer
      this.#outputs.set(keyOf(outpoint), { outpoint, script, amount, height: block.height })
    }
    return block
  }

  /** The first unspent output of the owner with this index, of the amount where one is given. */
  coin(owner: number, amount?: bigint): Coin["outpoint"] {
    const { script } = this.#owners[owner]!
    return this.chain.coins.find(
      (coin) => Bytes.equal(coin.script, script) && (amount === undefined || coin.amount === amount)
    )!.outpoint
  }

  readonly minedOutputs: MinedOutputs = (outpoints) =>
    Effect.suspend(() => {
      this.asked.push(outpoints.length)
      if (this.broken) {
        return Effect.fail(new NodeUnreachable({ node: "fake", method: "getrawtransaction", message: "gone" }))
      }
      return Effect.succeed(
        outpoints.map((outpoint) => (this.hasIndex ? this.#outputs.get(keyOf(outpoint)) : undefined))
      )
    })

  /** A block as a node with prevouts shows it. */
  shown(block: Block): Block {
    const inputs = block.spends.map(({ outpoint, position, transaction }): CoinTransfer => {
      const { amount, script } = this.#outputs.get(keyOf(outpoint))!
      return { kind: "coin", transaction, position, from: script, to: undefined, amount }
    })
    return { ...block, transfers: [...block.transfers, ...inputs].sort((a, b) => a.transaction - b.transaction) }
  }
}
